"""Forces by functions of how bodies move: closed forms, axes, numbers, expressions of files."""

import math
from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from close import assert_close
from polhode.dynamics.kinematics import machine_state
from polhode.formats.yaml import model_from_yaml, to_yaml
from polhode.kernel.backends.cuda import cuda_source
from polhode.model import make_tree
from polhode.scalar import Vec
from polhode.system.identity import identity_text

BODIES = [ph.Body("ball", 2.0, (0.3, 0.4, 0.5)), ph.Body("hull", 5.0, (1.0, 1.2, 1.4))]
JOINTS = [ph.Joint(f"air-{body.name}", "free", "world", body.name) for body in BODIES]
OPTIONS = {"duration": 0.5, "step": 0.01, "method": "rk4"}


def flying(*forces, g=9.81):
    return ph.Model("flying", (0, 0, -g), BODIES, JOINTS, forces)


def drag(t, body, c):
    return -c * ph.length(body.velocity) * body.velocity


DRAG = ph.BodyForce("drag", drag, "ball", numbers={"c": 0.3})

TEXT = """name: flying
bodies:
  ball: {mass: 2, inertia: [0.3, 0.4, 0.5]}
  hull: {mass: 5, inertia: [1, 1.2, 1.4]}
joints:
  air-ball: {type: free, parent: world, child: ball}
  air-hull: {type: free, parent: world, child: hull}
forces:
  drag:
    type: body-force
    body: ball
    numbers: {c: 0.3}
    force: ["-c*vx*length(vx, vy, vz)", "-c*vy*length(vx, vy, vz)", "-c*vz*length(vx, vy, vz)"]
"""

FIRST = '"-c*vx*length(vx, vy, vz)"'


def at(model, seed=0):
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=14), rng.normal(size=12)
    for k in (3, 10):
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, v


def wrenches(model, q, v, t=0.7):
    tree = make_tree(model)
    state = machine_state(tree, t, Vec(q.tolist()), Vec(v.tolist()))
    return {body: (np.array(f), np.array(n)) for body, f, n in tree.forces[0].wrenches(state)}, state


def test_a_falling_body_comes_to_its_limit_by_the_closed_form():
    run = ph.simulate(sliding(DRAG), duration=3.0, tolerance=1e-11)
    g = 0.8 * 9.81  # along the rail
    limit = math.sqrt(2.0 * g / 0.3)
    assert np.max(abs(run.v.values[:, 0] + limit * np.tanh(g * run.time.values / limit))) < 1e-8
    assert "given forces at drag" in str(run.attrs)


def test_expressions_of_a_file_are_the_same_function():
    model = model_from_yaml(TEXT, "text")
    q, v = at(model)
    assert_close(ph.compile(model).bias(q, v), ph.compile(flying(DRAG)).bias(q, v))
    assert model_from_yaml(to_yaml(model), "text") == model
    assert identity_text(model)  # kernels are kept on disk
    assert not identity_text(flying(DRAG))


@pytest.mark.parametrize("axes", ["world", "body", "other"])
def test_velocities_and_results_are_in_the_axes_that_are_named(axes):
    seen = {}

    def function(t, body, other):
        seen.update(t=t, body=body, other=other)
        return (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)

    element = ph.BodyForce("f", function, "ball", "hull", (0.1, 0.2, 0.3), axes)
    found, state = wrenches(flying(element), *at(None))
    ball, hull = (state.frame(name) for name in ("ball", "hull"))
    E = {"world": np.eye(3), "body": np.array(ball.R), "other": np.array(hull.R)}[axes]
    point = np.array(ball.o) + np.array(ball.R) @ np.array((0.1, 0.2, 0.3))
    assert seen["t"] == 0.7
    assert_close(seen["body"].position, point)
    assert_close(seen["other"].position, hull.o)
    assert_close(E @ np.array(seen["body"].velocity), state.velocity("ball", Vec((0.1, 0.2, 0.3))))
    assert_close(E @ np.array(seen["other"].velocity), state.twist("hull").linear)
    assert_close(E @ np.array(seen["other"].angular_velocity), state.twist("hull").angular)
    assert_close(seen["body"].R, ball.R)
    assert_close(ph.quaternion.rotation_matrix(np.array(seen["body"].quaternion)), ball.R)
    force, torque = E @ (1, 2, 3), E @ (4, 5, 6)
    assert_close(found["ball"][0], force)
    assert_close(found["ball"][1], torque + np.cross(point - np.array(ball.o), force))
    assert_close(found["hull"][0], -force)
    assert_close(found["hull"][1], -torque - np.cross(point - np.array(hull.o), force))


def test_a_force_between_two_bodies_keeps_their_momenta():
    def magnet(t, body, other):
        line = other.position - body.position
        return 3.0 * line / ph.dot(line, line) ** 2, 0.2 * ph.cross(body.R @ (0, 0, 1.0), other.R @ (0, 0, 1.0))

    model = flying(ph.BodyForce("magnet", magnet, "ball", "hull"), g=0.0)
    q = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0.8, 0.6, 0, 0]
    run = ph.simulate(model, q=q, v=[0, 0.4, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0], duration=1.0, tolerance=1e-11)
    for momentum in (run.linear_momentum.values, run.angular_momentum.values):
        assert np.max(abs(momentum - momentum[0])) < 1e-9


def sliding(*forces):
    joint = ph.Joint("rail", "prismatic", "world", "ball", axis=(0.6, 0, 0.8))
    return ph.Model("sliding", (0, 0, -9.81), BODIES[:1], [joint], forces)


@pytest.mark.parametrize("element", [DRAG, model_from_yaml(TEXT, "text").forces[0]], ids=["function", "expressions"])
def test_named_numbers_have_paths_and_are_varied_and_differentiated(element):
    """From rest, where the drag has a derivative although √ has none."""
    model, path = sliding(element), "forces.drag.numbers.c"
    assert model.numbers()[path] == 0.3
    expected = ph.simulate(sliding(replace(DRAG, numbers={"c": 0.5})), **OPTIONS).v.values[-1]
    assert_close(ph.simulate(model.with_numbers({path: 0.5}), **OPTIONS).v.values[-1], expected)
    swept = ph.sweep(model, {path: ph.Grid([0.3, 0.5])}, **OPTIONS)
    assert_close(swept.v.values[1, -1], expected)
    slope = ph.simulate(model, sensitivities=[path], **OPTIONS).sensitivity_v.values[-1, :, 0]
    ends = [ph.simulate(model.with_numbers({path: 0.3 + h}), **OPTIONS).v.values[-1] for h in (-1e-5, 1e-5)]
    assert_close(slope, (ends[1] - ends[0]) / 2e-5, condition=1e5)


def test_named_numbers_may_be_parameters():
    text = TEXT.replace("name: flying", "name: flying\nparameters: {k: 0.3, g: 4}").replace("{c: 0.3}", "{c: k}")
    model = model_from_yaml(text.replace("-c*vx*length", "-c/g*g*vx*length"), "text")
    assert model.forces[0].numbers == {"c": ph.Parameter("k", 0.3)}
    assert model_from_yaml(to_yaml(model), "text") == model
    q, v = at(model)
    assert_close(ph.compile(model).bias(q, v), ph.compile(flying(DRAG)).bias(q, v))


def test_it_is_compiled_for_every_target(tmp_path):
    model = flying(DRAG)
    system = ph.compile(model)
    assert "sqrt" in system.export_c(tmp_path / "flying.c").read_text()
    assert "sqrt" in cuda_source(system._kernel("test", "forward_dynamics").graph, "forward", "double")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("-c*vx*", "-c*vX*", ["forces.drag", "'vX'", "Did you mean 'vx'?"]),
        ("-c*vx*", "-k*vx*", ["unknown name", "'k'"]),
        ("-c*vx*", "-c*vx.__class__*", ["unknown name", "'vx.__class__'"]),
        ("-c*vx*", "__import__('os')*", ["unknown name", "'__import__'"]),
        ("-c*vx*", "9^9^9^9*", ["without a value"]),
        ("-c*vx*", "(" * 60 + "1" + ")" * 60 + "*", ["nested too deeply"]),
        (FIRST, '"where(vx > 0, 1)"', ["where of 2", "3 arguments"]),
        (FIRST, '"where(vx, 1, 0)"', ["a comparison"]),
        (FIRST, "where(vx < 0, 0, c)", ["force of 5 expressions", "Put quotes around"]),
        ("-c*vx*", "other.x*", ["unknown name", "'other.x'"]),
        ("{c: 0.3}", "{vx: 0.3}", ["cannot be called so", "'vx'"]),
        ("{c: 0.3}", "{c: fast}", ["unknown name", "'fast'"]),
        ("force: [", "force: [0, ", ["force of 4 expressions", "three"]),
        ("force: [", "forse: [", ["unknown key", "force"]),
        ("name: flying", "name: flying\nparameters: {vx: 3}", ["a name of two", "'vx'"]),
        ("body: ball\n", "body: bal\n", ["unknown body", "Did you mean 'ball'?"]),
    ],
)
def test_what_is_wrong_in_a_file_is_told(old, new, words):
    assert old in TEXT
    with pytest.raises(ph.ModelError) as caught:
        model_from_yaml(TEXT.replace(old, new, 1), "text")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"axes": "other"}, ["axes", "no other body"]),
        ({"other": "ball"}, ["both ends on one body"]),
        ({"numbers": {"t": 1.0}}, ["numbers", "cannot be called so", "'t'"]),
        ({"numbers": {"a b": 1.0}}, ["numbers", "'a b'"]),
        ({"numbers": [1.0]}, ["numbers", "not numbers by name"]),
        ({"numbers": {"c": math.nan}}, ["numbers.c", "not a finite number"]),
        ({"function": 3.0}, ["function", "not a function"]),
    ],
)
def test_what_is_no_body_force_is_told(values, words):
    with pytest.raises(ph.ModelError) as caught:
        ph.BodyForce("f", **{"function": drag, "body": "ball", **values})
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("result", [[1.0, 2.0], 3.0, ([1.0] * 3, [2.0] * 2), [[1.0] * 3] * 3])
def test_a_wrong_result_is_named_with_its_line(result):
    def wrong(t, body):
        return result

    line = wrong.__code__.co_firstlineno
    with pytest.raises(ph.PolhodeError, match=rf"force 'f' \(test_body_force.py:{line}\): wrong result"):
        ph.simulate(flying(ph.BodyForce("f", wrong, "ball")), duration=0.1)


def test_another_body_is_called_by_its_name_in_expressions():
    text = TEXT.replace("body: ball\n", "body: ball\n    other: hull\n    axes: body\n")
    text = (
        text[: text.index("    force:")]
        + "    torque: [other.wx - wx, c*other.R11, 'where(t < 1, max(x, other.x), 0)']\n"
    )
    model = model_from_yaml(text, "text")

    def function(t, body, other, c):
        w = other.angular_velocity - body.angular_velocity
        last = ph.where(t < 1, ph.maximum(body.position[0], other.position[0]), 0.0)
        return (0.0, 0.0, 0.0), (w[0], c * other.R[0][0], last)

    same = flying(ph.BodyForce("drag", function, "ball", "hull", axes="body", numbers={"c": 0.3}))
    q, v = at(model)
    assert_close(ph.compile(model).bias(q, v), ph.compile(same).bias(q, v), scale=10)


@pytest.mark.parametrize(
    ("function", "numbers", "words"),
    [
        (lambda t, body, c: -c * body.velocity, {}, r"missing a required argument: 'c'; expected function\(t, body\)"),
        (lambda t, body: body.velocity, {"c": 1.0}, r"keyword argument 'c'; expected function\(t, body, c\)"),
    ],
)
def test_a_function_that_does_not_take_its_numbers_is_told_as_the_model_is_made(function, numbers, words):
    ball = ph.Body("ball", 1.0, (0.1, 0.1, 0.1))
    with pytest.raises(ph.ModelError, match=rf"function \(test_body_force.py:\d+\): cannot be called so[^$]*{words}"):
        ph.Model(
            "m",
            bodies=[ball],
            joints=[ph.Joint("air", "free", "world", "ball")],
            forces=[ph.BodyForce("drag", function, "ball", numbers=numbers)],
        )
