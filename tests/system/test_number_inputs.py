"""Numbers as inputs: models of one structure have one text, all others another."""

import numpy as np
import pytest

import polhode as ph
from polhode.model import make_tree
from polhode.scalar import Vec, flat
from polhode.system.number_inputs import NumberInputs


def machine(**changes):
    joints = [
        ph.Joint("hip", "universal", "world", "thigh", axis=(0, 0.6, 0.8), axis2=(1, 0, 0)),
        ph.Joint("hip.0", "revolute", "thigh", "shin", axis=(0.8, 0.6, 0), position=(0, 0, -1)),
    ]
    bodies = [ph.Body("thigh", 1.0, (0.3, 0.2, 0.4), center=(0, 0, -0.5)), ph.Body("shin", 1.5, (0.3, 0.2, 0.4))]
    return ph.Model("leg", bodies=bodies, joints=joints, **changes)


def test_every_number_is_where_it_was():
    """The tree of symbols, with the numbers put back, is the tree; names with dots are no others' numbers."""
    model = machine()
    inputs = NumberInputs(model)
    for made, own in zip(inputs.tree(Vec(inputs.values.tolist())).elements, make_tree(model).elements, strict=True):
        for name in ("axis", "orientation", "turning", "position", "inertia", "damping"):
            assert flat(getattr(made, name)) == flat(getattr(own, name)), name


@pytest.mark.parametrize(
    "values",
    [
        {"bodies.shin.mass": 2.0},
        {"bodies.thigh.mass": 7.0},
        {"bodies.thigh.inertia": [1.0, 1.0, 1.0]},
        {"joints.hip.0.position": [0, 0, 1.0]},
        {"joints.hip.axis": [0, 0.8, 0.6]},
        {"gravity": [0, 0, -1.0]},
    ],
    ids=str,
)
def test_other_values_are_the_same_structure(values):
    one, other = NumberInputs(machine()), NumberInputs(machine().with_numbers(values))
    assert one.text == other.text
    assert one.values.shape == other.values.shape
    assert not np.array_equal(one.values, other.values)


@pytest.mark.parametrize(
    "values",
    [
        {"bodies.shin.center": [0.1, 0, 0]},
        {"bodies.thigh.center": [0, 0, 0]},
        {"joints.hip.damping": [0.1, 0.0]},
        {"joints.hip.damping": 0.1},
        {"joints.hip.axis": [0, 0, 1]},
        {"joints.hip.0.axis": [0, 0, -1]},
        {"gravity": [0, 0, 0]},
    ],
    ids=str,
)
def test_other_zeros_and_ones_are_another_structure(values):
    assert NumberInputs(machine()).text != NumberInputs(machine().with_numbers(values)).text


def test_what_is_no_number_is_part_of_the_structure():
    texts = [
        NumberInputs(model).text
        for model in (
            machine(),
            machine(forces=[ph.Force("push", "shin", force=(1.0, 0, 0))]),
            machine(forces=[ph.Force("push", "thigh", force=(1.0, 0, 0))]),
            machine(forces=[ph.Force("push", "shin", force=(1.0, 0, 0), axes="body")]),
            machine(constraints=[ph.Constraint("rod", "distance", {"body_b": "shin", "length": 2.0})]),
        )
    ]
    assert len(set(texts)) == len(texts)


def test_batches_go_straight_to_the_kernel_and_have_the_bits_of_checked_calls(monkeypatch):
    """Of a machine whose numbers are inputs, as of any other; several machines share the kernel."""
    model = ph.load("four-bar")
    names = [body.name for body in model.bodies][:2]
    systems = [ph.compile(model.with_numbers({f"bodies.{name}.mass": 0.75})) for name in names]
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(20, model.nq)), rng.normal(size=(20, model.nv))
    t = np.linspace(0.0, 1.0, 20)
    checked = [system.forward_dynamics(q.tolist(), v.tolist(), v.tolist(), t=t.tolist()) for system in systems]
    assert not np.array_equal(*checked)
    monkeypatch.setattr(type(systems[0]._backend), "evaluate", None)
    for _ in range(2):
        for system, expected in zip(systems, checked, strict=True):
            np.testing.assert_array_equal(system.forward_dynamics(q, v, v, t=t), expected)
            out = np.empty_like(v)
            assert system.forward_dynamics(q, v, v, t=t, out=out) is out
            np.testing.assert_array_equal(out, expected)
