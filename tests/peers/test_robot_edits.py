"""Public robots, edited: each moves as it did, or as its image does."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import polhode as ph
from edited_machines import motions
from machines import random_q

ROBOTS = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
BROKEN = ("ur3", "falcon")
READ = [path for path in sorted(ROBOTS.rglob("*.urdf")) if not path.stem.startswith(BROKEN)]
TOLERANCE = 1e-10


def agree(found, expected):
    expected = np.array(expected)
    np.testing.assert_allclose(found, expected, atol=TOLERANCE * (1 + np.max(abs(expected), initial=0.0)), rtol=0)


@pytest.mark.parametrize("path", READ, ids=[path.stem for path in READ])
def test_an_edited_robot_moves_as_before(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ph.load(path, mimic="free")
        model = replace(model, joints=[replace(x, lower=-np.inf, upper=np.inf) for x in model.joints])
        rng = np.random.default_rng(1)
        v = rng.normal(size=model.nv)
        model = replace(model, start=ph.Start(q=random_q(model, rng), v=v))
        names = [joint.name for joint in model.joints if joint.nv == 1][::3]
        merged, image, larger = model.merged(), model.mirrored((0, 1, 0)), model.scaled(2.0, 3.0, 0.5)
        still = replace(model, start=ph.Start(q=model.start.q, v=None))
        locked = still.with_locked(names)
    before = ph.compile(model, target="python")
    q = np.array(model.start.q)
    energy = np.array(before.energy(q, v))
    after = ph.compile(merged, target="python")
    M = np.array(before.mass_matrix(q))
    agree(after.mass_matrix(q), M)
    agree(after.energy(q, v), energy)
    agree(ph.compile(image, target="python").energy(image.start.q, image.start.v), energy)
    agree(ph.compile(larger, target="python").energy(larger.start.q, larger.start.v), energy * 48)
    free = [k for k, name in enumerate(_owners(model)) if name not in names]
    agree(ph.compile(locked, target="python").mass_matrix(locked.start.q), M[np.ix_(free, free)])


def _owners(model):
    return [joint.name for joint in model.joints for _ in range(joint.nv)]


def test_a_quadruped_moves_as_before_with_a_foot_as_its_base():
    path = next(path for path in READ if path.stem == "solo12")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ph.load(path, base="free").merged()
    rng = np.random.default_rng(2)
    model = replace(model, start=ph.Start(q=random_q(model, rng), v=rng.normal(size=model.nv)))
    foot = model.bodies[-1].name
    (found, energy), (expected, before) = motions(model.with_base(foot)), motions(model)
    agree(energy, before)
    for body, motion in expected.items():
        for one, other in zip(motion, found[body], strict=True):
            agree(other, one)
