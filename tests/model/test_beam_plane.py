"""Beams in a plane: the same machine as in space with fewer velocities, and what does not fit a plane is refused."""

import numpy as np
import pytest

import polhode as ph
from polhode.bench import beams
from polhode.formats.yaml import model_from_yaml
from polhode.model.forces.base import DrawnBeam

SECTION = ph.Section(1e4, 2.0, 3.0, 1.0, 5e3, 4e3, 0.5, 2e-4, 1e-4)
IN_SPACE, ACROSS_Z = None, (0, 0, 1)


def machine(plane, **more):
    """A hub that turns, a rod clamped to it along a kink, and a link that is hinged to the rod's end."""
    hub = ph.Body("hub", 1.0, (0.1, 0.2, 0.3))
    shaft = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1), position=(0.1, 0.2, 0.3))
    rod = ph.Beam(
        "rod",
        SECTION,
        start=("hub", (0.1, 0.2, 0)),
        end=(1.0, 1.0, 0.3),
        through=[(0.5, 0.5, 0.3)],
        plane=plane,
        **more,
    )
    pin = ph.BeamEnd("rod-2", (0, 0, 0), "revolute", (0, 0, 1))
    link = ph.Beam("link", SECTION, start=pin, end=(2.0, 1.2, 0.3), elements=2, plane=plane, damping=1e-3, **more)
    return ph.Model("m", (0.5, -9.81, 3.0), [hub], [shaft], beams=[rod, link])


def in_space(model, q, v):
    """A state of planar nodes as that of free ones: every other joint stays as it is."""
    found_q, found_v, i, j = [], [], 0, 0
    for joint in model.joints:
        (own, rate), i, j = (q[i : i + joint.nq], v[j : j + joint.nv]), i + joint.nq, j + joint.nv
        if joint.type == "planar":
            x, y, angle = own
            own, rate = [x, y, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2)], [rate[0], rate[1], 0, 0, 0, rate[2]]
        found_q.extend(own)
        found_v.extend(rate)
    return np.array(found_q), np.array(found_v)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"mass": "consistent"},
        {"measure": "sine", "load": (1.0, -2.0, 0.5)},
        {"load": (1.0, -2.0, 0.5), "follower": True, "prestrain": (1e-3, 0, 0, 0, 2e-3, 1e-3)},
        {"held": "elongation"},
        {"held": "all"},
        {"driven": {"bending-xy-start": lambda t: 0.01 + 0.1 * t}},
    ],
    ids=lambda more: "-".join(more) or "plain",
)
def test_nodes_in_a_plane_move_as_those_in_space(more):
    flat, whole = machine(ACROSS_Z, **more), machine(IN_SPACE, **more)
    assert (flat.nv, whole.nv) == (1 + 3 + 3 + 1 + 6, 1 + 6 + 6 + 1 + 12)
    rng = np.random.default_rng(4)
    bent = 0.0 if "held" in more or "driven" in more else 0.03
    q, v = bent * rng.standard_normal(flat.nq), rng.standard_normal(flat.nv)
    found = ph.compile(flat).forward_dynamics(q, v, np.zeros(flat.nv))
    expected = ph.compile(whole).forward_dynamics(*in_space(flat, q, v), np.zeros(whole.nv))
    size, kept = (
        np.max(abs(expected)),
        [[0, 1, 5] if joint.type == "planar" else range(joint.nv) for joint in flat.joints],
    )
    begins = np.cumsum([0, *(joint.nv for joint in whole.joints)])
    inside = [begin + k for begin, places in zip(begins, kept, strict=False) for k in places]
    np.testing.assert_allclose(found / size, expected[inside] / size, atol=1e-12)


@pytest.mark.parametrize(
    ("normal", "end", "up"),
    [
        ((0, 0, 1), (1, 1, 0), None),
        ((0, 0, 1), (1, 1, 0), (0, 0, -1)),
        ((0, 0, 1), (1, 1, 0), (1, -1, 0)),
        ((0, -2, 0), (0, 0, 1), None),
        ((1, 1, 1), (1, -1, 0), (1, 1, -2)),
    ],
)
def test_any_plane_and_sections_across_it_or_in_it(normal, end, up):
    n = np.array(normal) / np.linalg.norm(normal)
    push = np.array([0.3, -0.2, 0.4])
    inside = push - (push @ n) * n
    found = []
    for plane, force in ((None, inside), (normal, push)):  # what acts across a plane is borne
        more = {"up": n if up is None else up, "plane": plane}
        beam = ph.Beam("b", SECTION, start=("world", (0, 0, 0)), end=end, elements=3, **more)
        model = ph.Model("c", (0, 0, 0), beams=[beam], forces=[ph.Force("f", "b-3", force)])
        assert model.nv == (9 if plane else 18)
        found.append(ph.still(model, ph.equilibrium(model)).position.values[0])
    assert np.max(abs(found[0] - found[0][0])) > 0.01
    np.testing.assert_allclose(found[1], found[0], atol=1e-10)


@pytest.mark.parametrize("mass", ["half-bars", pytest.param("consistent", marks=pytest.mark.long)])
def test_a_slider_crank_in_the_plane_is_that_in_space(mass):
    runs = []
    for plane in (IN_SPACE, ACROSS_Z):
        model, v = beams.slider_crank(2, mass=mass, plane=plane)
        runs.append(ph.simulate(model, v=v, duration=0.01, step=5e-4, samples=3, verify=False).position.values)
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("mass", ["half-bars", "consistent"])
def test_a_spin_up_in_the_plane_is_that_in_space(mass):
    runs = []
    for plane in (IN_SPACE, ACROSS_Z):
        model = beams.spin_up(2, mass, plane)
        runs.append(ph.simulate(model, duration=2.0, step=0.05, samples=3, verify=False).position.values)
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-10)


def test_a_column_buckles_in_its_plane():
    strip = ph.Section(1e6, 1.0, 4.0, 1.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
    beam = ph.Beam("b", strip, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=4, plane=(0, 1, 0), up=(0, 0, 1))
    model = ph.Model("c", (0, 0, 0), beams=[beam], forces=[ph.Force("tip", "b-4", (-1.0, 0, 0))])
    factor = ph.buckling(model, load="tip").factor  # EI_z, 1, would give way first, out of the plane
    assert abs(factor / (4.0 * np.pi**2 / 4) - 1) < 1e-3


def test_a_beam_in_a_plane_is_drawn_and_bears_sections():
    model = machine(ACROSS_Z)
    drawn = [x for force in model.forces for x in force.drawing() if isinstance(x, DrawnBeam)]
    assert len(drawn) == 4
    run = ph.simulate(model, duration=0.01, samples=2, verify=False)
    assert run.attrs["method"] == "radau"
    loads = run.section_force.sel(beam_element="rod-1")
    assert float(abs(loads.sel(section_load="Mz_start")[-1])) > 0
    assert float(abs(loads.sel(section_load=["Mx", "My_start", "My_end", "Qz"])).max()) < 1e-12


def test_a_file_gives_the_plane():
    text = """\
name: strip
sections:
  rod: {shape: circle, diameter: 6 mm}
beams:
  blade: {section: rod, start: [0, 0, 0], end: [1, 0, 0], elements: 2, plane: [0, 1, 0]}
"""
    model = model_from_yaml(text, "strip.yaml")
    assert [joint.type for joint in model.joints] == ["planar"] * 3


def refused(words, **more):
    given = {"start": ("world", (0, 0, 0)), "end": (1, 0, 0), "elements": 2, "plane": (0, 0, 1)} | more
    bodies, joints = given.pop("bodies", []), given.pop("joints", [])
    with pytest.raises(ph.ModelError, match=words):
        ph.Model("m", bodies=bodies, joints=joints, beams=[ph.Beam("b", SECTION, **given)])


def test_what_does_not_fit_a_plane_is_refused_by_name():
    refused("beam 'b', plane: a beam that leaves its plane", end=(1, 0, 0.1))
    refused("beam 'b', plane: a beam that leaves its plane", through=[(0.5, 0, 0.01)])
    refused("beam 'b', up: sections that lean", up=(0, 1, 1))
    refused("beam 'b', driven: a strain out of the plane", driven={"torsion": lambda t: t})
    refused("beam 'b', start: not in the plane", start=ph.BeamEnd("world", (0, 0, 0), "spherical"))
    refused("beam 'b', start: not in the plane", start=ph.BeamEnd("world", (0, 0, 0), "revolute", (0, 1, 0)))
    refused("beam 'b', plane", plane=(0, 0, 0))
    hub = {"bodies": [ph.Body("hub", 1.0, (1, 1, 1))], "start": ("hub", (0, 0, 0))}
    for kind, axis in (
        ("free", (0, 0, 1)),
        ("revolute", (0, 1, 0)),
        ("prismatic", (0, 0, 1)),
        ("universal", (0, 0, 1)),
    ):
        refused("start, joint 'j': not in the plane", joints=[ph.Joint("j", kind, "world", "hub", axis=axis)], **hub)
