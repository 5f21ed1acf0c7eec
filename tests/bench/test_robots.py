"""Robots as published: the machine that Pinocchio reads from the same file; left out, with a reason, without it."""

from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import polhode as ph
from polhode.bench import robots, speed
from polhode.bench.machines import machine, random_states
from polhode.bench.peers.pinocchio_peer import OF_MOVING_MASSES
from polhode.bench.peers.registry import READERS, installed_peers
from polhode.bench.quantities import QUANTITIES
from polhode.bench.speed import run_bench


@pytest.mark.parametrize("name", robots.ROBOTS)
def test_pinocchio_reads_the_same_machine_from_the_file(name):
    model = machine(name)
    ((peer,), missing) = installed_peers(model, READERS)
    state = [rows[0] for rows in random_states(model, 1)]
    system = ph.compile(model, target="python")
    assert (peer.model.nq, peer.model.nv, missing) == (model.nq, model.nv, [])
    for quantity in ("inverse", "forward", "mass", "jacobian", "com", "centroidal"):
        about = QUANTITIES[quantity]
        if quantity in OF_MOVING_MASSES and peer.grounded:
            assert peer.one(quantity, state) is None
            continue
        ours, (theirs,) = about.call(system, *state[: about.arguments]), peer.result(quantity, state)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=speed.TOLERANCE * np.max(abs(theirs)))


def test_robots_are_of_the_size_they_claim():
    assert {name: machine(name).nv for name in robots.ROBOTS} == {
        "panda": 9, "panda-arm": 7, "ur5": 6, "solo": 18, "talos": 50
    }  # fmt: skip
    assert all(joint.damping == 0 for joint in machine("panda").joints)


@pytest.mark.parametrize("found", [None, PackageNotFoundError("example-robot-data")])
def test_without_the_package_a_robot_is_left_out_with_the_reason(monkeypatch, found):
    def files(name):
        if found:
            raise found

    monkeypatch.setattr(robots, "files", files)
    report = run_bench(["ur5"], ["inverse"], first_calls=False)
    assert report.rows == ()
    assert report.left_out == (
        "ur5: no ur_description/urdf/ur5_robot.urdf of example-robot-data, which pip install '.[bench]' brings",
    )
