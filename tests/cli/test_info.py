"""What `polhode info` prints of a model, and says in JSON."""

import io
import json
import math

import pytest
from rich.console import Console

import polhode as ph
from polhode.formats.library import names
from polhode.formats.load import load_with_notes
from polhode.model import plain
from polhode.show.model_text import info_dict, model_text, print_info


def printed(model, notes=(), width=80, full=False, terminal=False):
    page = io.StringIO()
    options = {"force_terminal": terminal, "color_system": None, "legacy_windows": False}
    print_info(model, notes, full, Console(file=page, width=width, highlight=False, **options))
    return page.getvalue()


def crane(name="crane", **more):
    bodies = [
        ph.Body("mast", ph.Parameter("m", 5.0), (1, 1, 1)),
        ph.Body("boom", 2, ((1, 0.1, 0), (0.1, 1, 0), (0, 0, 1))),
    ]
    joints = [
        ph.Joint("slew", "revolute", "world", "mast", axis=(0, 0, -2), lower=-1, damping=0.5, armature=0.1),
        ph.Joint(
            "luff", "universal", "mast", "boom", axis=(0.6, 0, 0.8), axis2=(0, 1, 0), upper=(1, 2), stiffness=(3, 4)
        ),
    ]
    return ph.Model(name, bodies=bodies, joints=joints, **more)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", [*names(), "chain-500"])
def test_every_bundled_model_prints_within_the_page(name, width):
    model, notes = load_with_notes(name)
    page = printed(model, notes, width)
    lines = page.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 100
    assert lines[0].startswith(f"{model.name}: {len(model.bodies)} bod")
    assert f"nq {model.nq}, nv {model.nv}" in page
    assert f"duration {model.start.duration:g} s" in page
    assert ("notes:" in page) == bool(notes)


def test_the_tree_is_drawn_from_the_world_down():
    quadruped = model_text(load_with_notes("quadruped")[0]).splitlines()
    assert quadruped[:6] == [
        "world",
        "└─ trunk ← flight, free",
        "   ├─ front-left-hip ← front-left-roll, revolute x",
        "   │  └─ front-left-thigh ← front-left-pitch, revolute y",
        "   │     └─ front-left-calf ← front-left-knee, revolute y",
        "   ├─ front-right-hip ← front-right-roll, revolute x",
    ]
    assert quadruped[-3:] == [
        "   └─ hind-right-hip ← hind-right-roll, revolute x",
        "      └─ hind-right-thigh ← hind-right-pitch, revolute y",
        "         └─ hind-right-calf ← hind-right-knee, revolute y",
    ]
    assert "└─ mast ← slew, revolute -z" in model_text(crane())
    assert "└─ boom ← luff, universal (0.6, 0, 0.8) y" in model_text(crane())


def test_a_long_chain_is_shown_unless_asked():
    chain = load_with_notes("chain-500")[0]
    short = model_text(chain).splitlines()
    assert len(short) == 11
    assert short[7].strip() == "└─ … 491 more"
    assert short[-1].endswith("link500 ← hinge500, revolute x")
    long = model_text(chain, full=True).splitlines()
    assert len(long) == 501
    assert max(map(len, long)) < 100
    assert "link250" not in printed(chain)
    assert "link250" in printed(chain, full=True)


def test_many_children_of_one_body_are_shown_too():
    bodies = [ph.Body(f"b{k}", 1.0, (1, 1, 1)) for k in range(100)]
    joints = [ph.Joint(f"j{k}", "free", "world", f"b{k}") for k in range(100)]
    text = model_text(ph.Model("swarm", bodies=bodies, joints=joints))
    assert "├─ … 91 more" in text
    assert text.endswith("└─ b99 ← j99, free")


def test_a_short_chain_with_a_branch_at_its_end_keeps_all_bodies():
    bodies = [ph.Body(f"b{k}", 1.0, (1, 1, 1)) for k in range(30)]
    joints = [ph.Joint(f"j{k}", "revolute", f"b{k - 1}" if k else "world", f"b{k}") for k in range(28)]
    joints += [ph.Joint(f"j{k}", "revolute", "b27", f"b{k}") for k in (28, 29)]
    text = model_text(ph.Model("fork", bodies=bodies, joints=joints))
    assert "… 19 more" in text
    for end in ("b27", "├─ b28", "└─ b29"):
        assert end in text


def test_the_page_shows_every_kind_of_thing():
    more = {
        "forces": [
            ph.Force("wind", "boom", (0, 40, 0)),
            ph.Force("gust", "boom", lambda t: (t, 0, 0)),
            ph.Spring("band", "world", "boom", stiffness=10, rest=0.5),
            ph.ForceFunction("drag", lambda t, q, v: v),
        ],
        "constraints": [ph.Constraint("both", "mimic", {"joint": "slew", "multiplier": 2.0})],
        "start": ph.Start(q=(0, 0, 0), duration=3, method="rk4"),
    }
    page = printed(crane(**more), ["crane.urdf:3, link 'x': colour is not used."], width=120)
    for text in (
        "7 kg", "gravity (0, 0, -9.81) m/s²", "-1 … ∞", "-∞ … 1, -∞ … 2", "3, 4", "0.5", "0.1", "1–2",
        "m = 5", "wind: on boom, force (0, 40, 0) N", "gust: on boom, force a function of t",
        "band: spring, world (0, 0, 0) – boom (0, 0, 0), stiffness 10, damping 0, rest 0.5",
        "drag: a function of t, q, v",
        "both: mimic, joint slew, multiplier 2.0", "q (0, 0, 0)", "duration 3 s", "method rk4", "colour is not used.",
    ):  # fmt: skip
        assert text in page, text


def test_names_are_printed_never_obeyed():
    evil = "[red]x[/red] [link=http://a]"
    body, joint = ph.Body(evil, 1.0, (1, 1, 1)), ph.Joint("[bold]j", "revolute", "world", evil)
    force = ph.Force("[blink]f", evil, (1, 0, 0))
    start = ph.Start(method="[/nothing]")
    model = ph.Model("[green]m", bodies=[body], joints=[joint], forces=[force], start=start)
    page = printed(model, ["[on red]note\x1b[0m"], width=300, terminal=True)
    for text in (
        evil,
        "[bold]j",
        "[blink]f",
        "[/nothing]",
        "[green]m",
        "[on red]note\\x1b[0m",
    ):
        assert text in page
    assert "\x1b[31m" not in page  # neither the colour of a markup nor of an escape
    assert "\x1b]8" not in page


def test_a_model_without_bodies_prints():
    assert "0 bodies" in printed(ph.Model("nothing"))


@pytest.mark.parametrize("name", [*names(), "chain-500"])
def test_the_json_says_the_same_and_is_json(name):
    model, notes = load_with_notes(name)
    told = json.loads(json.dumps(info_dict(model, notes), allow_nan=False))
    assert (told["name"], told["nq"], told["nv"]) == (model.name, model.nq, model.nv)
    assert [joint["child"] for joint in told["joints"]] == [joint.child for joint in model.joints]
    assert [k for joint in told["joints"] for k in joint["q"]] == list(range(model.nq))
    assert [k for joint in told["joints"] for k in joint["v"]] == list(range(model.nv))
    assert told["mass"] == pytest.approx(math.fsum(plain(body.mass) for body in model.bodies))
    assert told["start"]["q"] == list(model.start.q)
    assert told["notes"] == notes


def test_the_json_of_forces_parameters_and_limits_is_plain():
    drag = ph.ForceFunction("drag", lambda t, q, v: v)
    told = info_dict(crane(forces=[drag, ph.Spring("band", "world", "boom")]))
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["parameters"] == {"m": 5.0}
    assert told["bodies"][0]["mass"] == 5.0
    assert (told["joints"][0]["lower"], told["joints"][0]["upper"]) == (-1.0, None)
    assert [force["kind"] for force in told["forces"]] == ["ForceFunction", "Spring"]
