"""The speed page: its structure and its checks. No test asserts a time or a ratio."""

import json
import sys

import numpy as np
import pytest

import polhode as ph
from polhode.bench import (
    first_call,
    print_report,
    report_from_json,
    report_json,
    report_markdown,
    run_bench,
    save_report,
    speed,
)
from polhode.bench.machines import MACHINES, machine, random_states
from polhode.bench.peers import installed_peers
from polhode.bench.provenance import machine_facts
from polhode.bench.quantities import QUANTITIES
from polhode.bench.timing import Contestant, race


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_call, "REPEATS", 1)
        return run_bench(["arm-7"], ["inverse", "forward"], batch=50, seconds=0.02)


def test_report_has_one_row_for_each_peer_and_size(report):
    found = [(row.model, row.quantity, row.states, row.peer) for row in report.rows]
    each = [(1, "Pinocchio"), (1, "MuJoCo"), (50, "Pinocchio")]
    assert found == [("arm-7", quantity, *pair) for quantity in ("inverse", "forward") for pair in each]
    assert [(start.model, start.quantity) for start in report.first_calls] == [
        ("arm-7", "inverse"),
        ("arm-7", "forward"),
    ]
    assert set(report.versions) >= {"polhode", "numpy", "llvmlite", "pinocchio", "mujoco"}
    assert set(report.machine) >= {"cpu", "cores", "os", "python"}


def test_ratios_are_those_of_the_times(report):
    for row in report.rows:
        assert row.ratio == row.theirs.least / row.ours.least
        assert row.ratio_out == row.theirs.least / row.out.least
        for timing in (row.ours, row.out, row.theirs):
            assert 0 < timing.least <= timing.median


def test_results_agreed_before_they_were_timed(report):
    assert all(row.difference <= speed.TOLERANCE for row in report.rows)


def test_report_comes_back_from_json(report):
    assert report_from_json(report_json(report)) == report
    assert json.loads(report_json(report)) == json.loads(json.dumps(report.as_dict()))


def test_report_names_no_host_and_no_folder(report):
    import platform

    text = report_json(report)
    assert platform.node() not in text or len(platform.node()) < 3
    assert sys.prefix not in text


def test_files_are_written(report, tmp_path):
    text, picture = save_report(report, tmp_path)
    assert report_from_json(text.read_text(encoding="utf-8")) == report
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ph.InputError, match="there already"):
        save_report(report, tmp_path)
    save_report(report, tmp_path, overwrite=True)


def test_markdown_has_a_column_for_each_machine(report):
    lines = report_markdown(report).splitlines()
    assert lines[0] == "| call and peer | arm-7 (7) |"
    assert len(lines) == 2 + len(report.rows) + 3 + len(report.first_calls)


def test_table_names_machine_and_peers(report, capsys):
    print_report(report)
    shown = capsys.readouterr().out
    for word in ("arm-7", "rneaInParallel(1)", "mj_forward", str(machine_facts()["cpu"]), "from cache"):
        assert word in shown


def test_missing_matplotlib_is_named(report, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ph.PolhodeError, match=r"polhode\[plot\]"):
        save_report(report, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["quadruped", "humanoid", "chain-7"])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_peers_have_the_same_machine(name, quantity):
    """Free roots too: the physics itself gives what each peer gives, in our coordinates."""
    model, about = machine(name), QUANTITIES[quantity]
    state = [rows[0] for rows in random_states(model, 1)]
    ours = getattr(ph.compile(model, target="python"), about.method)(*state[: about.arguments])
    for peer in installed_peers(model)[0]:
        if peer.one(quantity, state):
            for a, b in zip(ours if about.results > 1 else [ours], peer.result(quantity, state), strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=speed.TOLERANCE * np.max(abs(b)))


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_batch_of_pinocchio_runs_every_state(quantity):
    model = machine("arm-7")
    states = random_states(model, 3)
    contestant = installed_peers(model)[0][0].batch(quantity, states)
    exec(contestant.text, dict(contestant.names))
    assert contestant.states == 3


def test_wrong_results_are_not_timed(monkeypatch):
    monkeypatch.setattr(speed, "TOLERANCE", 0.0)
    with pytest.raises(ph.PolhodeError, match="the results differ"):
        run_bench(["chain-2"], ["inverse"], batch=5, seconds=0.01, first_calls=False)


def test_unknown_quantity_names_those_there_are():
    with pytest.raises(ph.UnknownNameError, match="christoffel"):
        run_bench(["chain-2"], ["velocity"])


def test_what_is_too_large_is_said():
    report = run_bench(["chain-20"], ["christoffel"], first_calls=False)
    assert report.rows == ()
    assert "chain-20" in report.left_out[0]


def test_machines_are_of_the_size_they_claim():
    sizes = {name: machine(name).nv for name in MACHINES}
    assert sizes["humanoid"] == 38
    assert sizes["quadruped"] == 18
    assert all(joint.damping == 0 for joint in machine("arm-7").joints)


def test_contestants_take_turns():
    order = []
    pair = [Contestant(who, who, f"order.append('{who}'); sleep(2e-3)", _slow(order)) for who in "ab"]
    race(pair, 0.0)
    assert "".join(order).endswith("ab" * 10)


def _slow(order):
    from time import sleep

    return {"order": order, "sleep": sleep}
