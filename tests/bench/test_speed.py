"""The speed page: its structure and its checks. No test asserts a time or a ratio."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.bench import ensembles, first_call, first_run, loops, pendulums, simulation, speed, whole_calls
from polhode.bench.machines import MACHINES, machine, random_states
from polhode.bench.page import save_report
from polhode.bench.peers import pinocchio_peer, scipy_peer
from polhode.bench.peers.registry import PEERS, TooLargeError, installed_peers
from polhode.bench.provenance import machine_facts
from polhode.bench.quantities import OTHERS, QUANTITIES
from polhode.bench.report import report_from_json, report_json
from polhode.bench.speed import run_bench, work
from polhode.bench.tables import print_report, report_markdown
from polhode.bench.timing import LONG, Contestant, race
from polhode.kernel.backends.llvm import compile as llvm_compile
from polhode.kernel.lru_cache import LruCache
from polhode.simulation import step_state

INSTALLED = [peer.name for peer in installed_peers(machine("chain-2"))[0]]
"""What takes part here: Pinocchio and MuJoCo are always there in tests, the others where someone installed them."""
BATCHED = [name for name in INSTALLED if name not in ("MuJoCo", "Drake")]

SHORT = (
    loops.LoopCase("two four-bars", "n-four-bar-2", 0.5, (1e-2, 5e-3)),
    loops.LoopCase("Bricard", "bricard", 0.3, (1e-2,), planar=False),
)


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_call, "REPEATS", 1)
        return run_bench(["arm-7"], ["inverse", "forward"], batch=50, seconds=0.02)


@pytest.fixture(scope="module")
def others():
    """Everything that is not a quantity of a machine, in short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_call, "REPEATS", 1)
        patch.setattr(pendulums, "LINKS", (2, 3))
        patch.setattr(speed, "THREADED", 1000)
        patch.setattr(loops, "CASES", SHORT)
        patch.setattr(loops, "LENGTHS", (2, 3))
        patch.setattr(ensembles, "RIVALS", (ensembles.Field("arm-7", 8, 20), ensembles.Field("free-body", 8, 20)))
        patch.setattr(ensembles, "THREADED", ensembles.Field("arm-7", 64, 20))
        patch.setattr(first_run, "MODELS", ("pendulum",))
        patch.setattr(first_run, "REPEATS", 1)
        patch.setattr(whole_calls, "MODELS", ("pendulum",))
        patch.setattr(whole_calls, "BATCH", 100)
        return run_bench(None, list(OTHERS), seconds=0.01)


def test_report_has_one_row_for_each_peer_and_size(report):
    found = [(row.model, row.quantity, row.states, row.peer) for row in report.rows]
    each = [*((1, name) for name in INSTALLED), *((50, name) for name in BATCHED)]
    assert {"Pinocchio", "MuJoCo"} <= {*INSTALLED} <= {*PEERS}
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
    text, picture, tables = save_report(report, tmp_path)
    assert report_from_json(text.read_text(encoding="utf-8")) == report
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert tables.read_text(encoding="utf-8") == report_markdown(report)
    with pytest.raises(ph.InputError, match="there already"):
        save_report(report, tmp_path)
    save_report(report, tmp_path, overwrite=True)


def test_markdown_has_a_column_for_each_machine(report):
    lines = [line for line in report_markdown(report).splitlines() if line.startswith("|")]
    assert lines[0] == "| call and peer | arm-7 (7) |"
    assert lines[2 + len(report.rows)] == "| model (nv) | inverse | forward |"
    assert len(lines) == 2 + len(report.rows) + 3 + 2 + 4  # ratios, compile times, times of two quantities


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
    ours = about.call(ph.compile(model, target="python"), *state[: about.arguments])
    for peer in installed_peers(model)[0]:
        if not peer.name.startswith("CasADi") and peer.one(quantity, state):  # CasADi has our graph: see below
            for a, b in zip(ours if isinstance(ours, tuple) else [ours], peer.result(quantity, state), strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=speed.TOLERANCE * np.max(abs(b)))


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_batch_of_pinocchio_runs_every_state(quantity):
    model = machine("arm-7")
    states = random_states(model, 3)
    contestant = installed_peers(model)[0][0].batch(quantity, states)
    exec(contestant.text, dict(contestant.names))
    assert contestant.states == 3


@pytest.mark.parametrize("name", ["CasADi", "CasADi + gcc"])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_casadi_runs_our_graphs_one_by_one_and_mapped(name, quantity):
    assert name in INSTALLED
    model, about = machine("chain-2"), QUANTITIES[quantity]
    peer = next(peer for peer in installed_peers(model)[0] if peer.name == name)
    states = random_states(model, 3)
    contestant = peer.batch(quantity, states)
    exec(contestant.text, dict(contestant.names))
    mapped = contestant.names["bound"].results
    for k, state in enumerate(zip(*states, strict=True)):
        ours = about.call(ph.compile(model, target="python"), *state[: about.arguments])
        theirs = peer.result(quantity, state)
        for a, b, c in zip(ours if isinstance(ours, tuple) else [ours], theirs, mapped, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=speed.TOLERANCE * np.max(abs(b)))
            np.testing.assert_array_equal(c[k], b.ravel())


def test_a_peer_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polhode.bench.peers.drake_peer", None)
    peers, missing = installed_peers(machine("chain-2"))
    assert "Drake" not in [peer.name for peer in peers]
    assert "Drake: not installed" in missing


def test_a_machine_too_large_for_a_peer_is_named(monkeypatch):
    def refuse(nv):
        raise TooLargeError("its data would take 8 GB")

    monkeypatch.setattr(pinocchio_peer, "_check_memory", refuse)
    assert "Pinocchio, chain-2: its data would take 8 GB" in installed_peers(machine("chain-2"))[1]


@pytest.mark.long
def test_motions_are_raced_three_times_against_each_peer(others):
    found = [(row.model, row.timed, row.peer, row.call) for row in others.simulations]
    stepped = [("MuJoCo", "rollout"), ("MuJoCo", "mj_step(nstep)")]
    solved = [("SciPy", "DOP853, NumPy"), ("SciPy", "DOP853, floats")]
    rivals = {"arm-7": stepped, "free-body": stepped, "heavy-top": solved}
    timed = ("engine", "unverified", "simulate")
    assert found == [(m, what, *r) for m, rs in rivals.items() for what in timed for r in rs]
    assert all(row.difference <= 1e-8 for row in others.simulations)
    assert {row.steps for row in others.simulations if row.step} == {1000}


def test_motions_that_differ_are_not_timed(monkeypatch):
    monkeypatch.setattr(simulation, "CASES", (replace(simulation.CASES[1], largest=0.0),))
    with pytest.raises(ph.PolhodeError, match="the last states differ"):
        run_bench(None, ["simulation"], seconds=0.01)


@pytest.mark.parametrize("made", [scipy_peer.on_arrays, scipy_peer.on_floats])
def test_right_hand_sides_by_hand_are_our_dynamics(made):
    model = machine("heavy-top")
    system = ph.compile(model, target="python")
    q, v, _ = (rows[0] for rows in random_states(model, 1))
    ours = np.concatenate([system.rate(q, v), system.forward_dynamics(q, v, np.zeros(3))])
    np.testing.assert_allclose(made(model)(0.0, np.concatenate([q, v])), ours, rtol=0, atol=1e-13 * np.max(abs(ours)))


@pytest.mark.long
def test_pendulums_take_turns_with_sympy(others):
    """SymPy's accelerations were compared with ours on the way."""
    assert [(p.who, p.links) for p in others.pendulums] == [("polhode", 2), ("polhode", 3), ("SymPy", 5)]
    assert all(0 < p.least <= p.median and p.samples == 1 for p in others.pendulums)


@pytest.mark.long
def test_threads_share_a_batch(others):
    if machine_facts()["cores"] == 1:
        assert others.left_out == ("two threads: 1 core",)
        return
    (row,) = others.threads
    assert (row.model, row.quantity, row.states, row.threads) == ("arm-7", "forward", 1000, 2)
    assert row.ratio == row.one.least / row.several.least


@pytest.mark.long
def test_page_shows_everything(report, others, tmp_path, capsys):
    both = replace(report, simulations=others.simulations, pendulums=others.pendulums, threads=others.threads)
    assert report_from_json(report_json(both)) == both
    save_report(both, tmp_path)
    print_report(both)
    shown, text = capsys.readouterr().out, report_markdown(both)
    for word in ("heavy top", "SciPy DOP853, NumPy", "SymPy, 5 links", "compiled run alone", "whole ph.simulate"):
        assert word in shown
        assert word in text


@pytest.mark.long
def test_a_page_without_races_can_be_drawn(others, tmp_path):
    save_report(replace(others, simulations=(), pendulums=(), threads=()), tmp_path)


def test_work_names_other_races_only_where_no_machine_is_named():
    assert work() == [*((m, q) for m in MACHINES for q in QUANTITIES), *(("", other) for other in OTHERS)]
    assert work(["arm-7"], ["inverse"]) == [("arm-7", "inverse")]
    assert ("", "simulation") not in work(["arm-7"])
    assert work(["arm-7"], ["simulation"]) == [("", "simulation")]


def test_wrong_results_are_not_timed(monkeypatch):
    monkeypatch.setattr(speed, "TOLERANCE", 0.0)
    with pytest.raises(ph.PolhodeError, match="the results differ"):
        run_bench(["chain-2"], ["inverse"], batch=5, seconds=0.01, first_calls=False)


def test_unknown_quantity_names_those_there_are():
    with pytest.raises(ph.UnknownNameError, match="christoffel"):
        run_bench(["chain-2"], ["velocity"])


def test_what_is_too_large_is_said():
    report = run_bench(["chain-100"], ["christoffel"], first_calls=False)
    assert report.rows == ()
    assert "chain-100" in report.left_out[0]


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


def test_a_first_call_that_compiles_is_not_timed():
    calls = []

    def first_is_long():
        calls.append(len(calls))
        if len(calls) == 1:
            time.sleep(2 * LONG)

    race([Contestant("a", "a", "call()", {"call": first_is_long})], 0.0, fewest=1)
    assert len(calls) > 100  # one call would not fill a sample


def _slow(order):
    from time import sleep

    return {"order": order, "sleep": sleep}


@pytest.mark.long
def test_loops_are_raced_at_equal_accuracy(others):
    found = [(row.title, row.step, row.timed) for row in others.loops]
    timed = ("engine", "unverified", "simulate")
    assert found == [(c.title, step, what) for c in SHORT for step in c.steps for what in timed]
    for row in others.loops:
        assert row.error <= row.their_error < 0.05
        assert row.ratio == row.theirs.least / row.ours.least
    assert [row.links for row in others.growth] == [2, 3]
    assert "Closed loops at equal accuracy" in report_markdown(others)


@pytest.mark.long
def test_exudyn_has_the_same_machine(others):
    """Halving the step of a method of second order takes its error against ours to a quarter."""
    coarse, fine = [row.their_error for row in others.loops if row.model == "n-four-bar-2" and row.timed == "engine"]
    assert coarse / fine == pytest.approx(4, rel=0.1)


def test_without_exudyn_loops_are_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "polhode.bench.peers.exudyn_peer", None)
    monkeypatch.delattr("polhode.bench.peers.exudyn_peer", raising=False)
    assert loops.loop_times(0.01) == ([], ["Exudyn: not installed"])


def test_only_hinges_go_to_exudyn():
    from polhode.bench.peers import exudyn_peer

    with pytest.raises(ph.PolhodeError, match=r"joint 'tip'.*\n.*found spherical; expected revolute"):
        exudyn_peer.hinges(ph.load("heavy-top"))


def test_the_report_that_is_kept_can_be_read():
    """benchmarks/speed.json: names in it are an interface."""
    kept = Path(__file__).resolve().parents[2] / "benchmarks" / "speed.json"
    assert len(report_from_json(kept.read_text(encoding="utf-8")).rows) > 100


@pytest.mark.long
def test_first_runs_tell_where_their_time_goes(others):
    (run,) = others.first_runs
    assert run.model == "pendulum"
    assert run.cold > sum(run.stages.values()) > 0
    assert run.stages["LLVM"] > run.stages["link"] > 0
    assert 0 < run.cached < run.cold + 1


def test_timed_processes_have_bytecode_as_an_installed_package_has(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    script = "import json, sys, polhode.errors as x; print(json.dumps([sys.dont_write_bytecode, x.__cached__]))"
    without, file = first_call.told_by(["-c", script], tmp_path, "bytecode")
    assert not without
    assert Path(file).stat().st_size > 0


def test_first_runs_read_robots_by_their_options_where_their_files_are_installed(monkeypatch):
    given = []

    def told(arguments, kernels, what):
        given.append((arguments[2], json.loads(arguments[3])))
        return {"seconds": 1.0, "xarray": 0.1, "stages": {}}

    monkeypatch.setattr(first_run, "told_by", told)
    monkeypatch.setattr(first_run, "MODELS", ("pendulum", "talos"))
    monkeypatch.setattr(first_run, "missing", lambda name: "no talos" if name == "talos" else "")
    runs, left_out = first_run.first_runs()
    assert [run.model for run in runs] == ["pendulum"]
    assert left_out == ["no talos"]
    assert given[0] == ("pendulum", {})
    monkeypatch.setattr(first_run, "missing", lambda name: "")
    monkeypatch.setattr(first_run, "file_of", lambda name: Path(f"{name}.urdf"))
    runs, left_out = first_run.first_runs()
    assert [run.model for run in runs] == ["pendulum", "talos"]
    assert not left_out
    assert given[-1] == ("talos.urdf", {"base": "free", "mimic": "free"})


@pytest.mark.long
def test_whole_calls_are_compared_with_what_they_should_not_exceed(others):
    motions = [row for row in others.calls if row.model == "pendulum"]
    assert [row.call.partition("(")[0] for row in motions] == ["simulate"] * 4
    assert motions[0].ratio is None
    calls = [row for row in others.calls if row.model == "arm-7"]
    assert len(calls) == 4
    assert all(row.ratio == row.ours.least / row.other.least for row in (*motions[1:], *calls))


def test_a_compiled_run_that_is_handed_back_goes_on_to_its_end(monkeypatch):
    """Compiled code tries four steps before it returns; the motion has 405."""
    monkeypatch.setenv("POLHODE_CACHE", "")
    monkeypatch.setattr(llvm_compile, "_kept", LruCache(8))
    monkeypatch.setattr(step_state, "WORK", 1)
    case = simulation.CASES[-1]
    contestant = simulation.compiled_run(case, simulation.start_of(case))
    exec(contestant.text, dict(contestant.names))
    compiled, state = contestant.names["compiled"], contestant.names["table"][1]
    assert compiled.field(state, "t") == case.duration
    assert compiled.field(state, "accepted") > 300
    compiled.run(contestant.names["table"], contestant.names["settings"])
    contestant.names["table"][0] = contestant.names["first"]
    compiled.run(contestant.names["table"], contestant.names["settings"])
    assert compiled.field(state, "t") < case.duration  # one call alone does not reach it
