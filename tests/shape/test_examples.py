"""Every example runs, draws its figure, is short, and ends with what it claims."""

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

GALLERY = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
CAMPAIGNS = {
    "02_renormalising_p_alone_harms",
    "03_multiplier_23_is_blind_to_drift",
    "04_gimbal_lock_costs",
    "07_norm_policies",
    "08_a_million_periods",
    "11_flips_of_a_t_handle",
    "12_arm_under_control",
    "14_reaction_wheels_take_the_tumble",
    "15_every_method_on_one_top",
    "16_staying_on_the_manifold",
    "19_a_bicycle_balances_itself",
    "20_twice_the_speed_four_times_the_force",
    "22_a_coin_stays_up_by_rolling",
    "23_who_carries_the_platform",
    "24_detumbling_under_uncertainty",
    "26_when_a_double_pendulum_flips",
    "27_an_arm_with_an_unknown_payload",
    "28_bicycles_that_stay_up",
    "30_a_door_on_bushings",
    "31_a_pendulum_rattles_a_wheel",
    "34_a_glider_finds_its_speed",
    "36_where_an_arm_reaches",
    "37_an_arm_weighs_what_it_carries",
    "38_a_ruler_buckles_sideways",
    "39_a_connecting_rod_bends",
    "40_foucaults_pendulum_turns",
    "41_a_pendulum_stands_on_its_head",
    "42_a_bead_finds_its_place_on_a_hoop",
    "43_a_cycloid_keeps_time",
    "44_seven_bars_draw_a_straight_line",
    "45_a_cardan_shaft_runs_unevenly",
    "46_a_falling_chain_outruns_a_stone",
    "47_a_spinning_rod_falls_flat",
    "48_gravity_keeps_a_face_to_the_earth",
    "50_a_ball_circles_on_a_turntable",
    "52_a_rope_bears_three_times_the_weight",
    "53_a_ladder_leaves_its_wall",
    "54_the_quickest_way_down_is_no_straight_line",
    "55_a_swing_is_pumped_in_tongues",
    "56_a_skater_pulls_in_her_arms",
    "57_a_spring_turns_bouncing_into_swinging",
    "58_a_propeller_stiffens_as_it_turns",
    "59_two_leaves_guide_a_stage",
    "60_a_beam_is_spun_up",
    "61_panels_shake_a_satellite",
    "62_a_rod_casts_its_lure",
    "63_a_cranes_jib_is_coloured_by_its_moment",
}
"""Examples that work for seconds: `make test-all` runs them."""

each_example = pytest.mark.parametrize("example", GALLERY, ids=[path.stem for path in GALLERY])
each_run = pytest.mark.parametrize(
    "example",
    [pytest.param(path, marks=[pytest.mark.long] if path.stem in CAMPAIGNS else []) for path in GALLERY],
    ids=[path.stem for path in GALLERY],
)


@each_run
def test_an_example_runs_and_draws_its_figure(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")  # a warning is an error here
    assert capsys.readouterr().out.strip(), "prints what it measured"
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")] == [f"out/{example.stem}.png"]
    picture = imread(tmp_path / "out" / f"{example.stem}.png")[..., :3]
    assert min(picture.shape[:2]) >= 400
    assert np.mean(np.any(picture < 0.9, axis=-1)) > 0.01, "hardly anything is drawn"


@each_example
def test_an_example_is_short_and_ends_with_an_assert(example):
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    tree = ast.parse(text)
    assert isinstance(tree.body[-1], ast.Assert)
    assert len(ast.get_docstring(tree).split()) >= 60, "a paragraph on the phenomenon"


def test_an_example_runs_by_itself(tmp_path):
    """In a process of its own, where there is nothing but what it imports."""
    settings = {**os.environ, "PYTHONUTF8": "1"}
    run = subprocess.run(
        [sys.executable, str(GALLERY[0])],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Warning" not in run.stderr, run.stderr
    assert run.stdout.strip()
    assert (tmp_path / "out" / f"{GALLERY[0].stem}.png").exists()


def test_the_gallery_is_numbered_without_gaps():
    numbers = [int(re.fullmatch(r"(\d\d)_\w+", path.stem).group(1)) for path in GALLERY]
    assert numbers == list(range(1, len(numbers) + 1))
