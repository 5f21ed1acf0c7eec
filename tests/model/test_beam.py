"""Beams: closed forms of statics, frequencies, free flight, rigid limits, ends, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import polhode as ph
from polhode.bench import beams

UNIT = ph.Section(axial=1e8, torsion=1.0, bending_y=1.0, bending_z=2.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
SOFT = ph.Section(axial=1e3, torsion=1.0, bending_y=1.0, bending_z=2.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
ELASTICA = {2: (0.160641720825, 0.493457480397), 5: (0.387628360724, 0.713791523612)}
"""1 − x/L and w/L of a cantilever by PL²/EI.                                          Bisshopp, Drucker (1945)"""


def cantilever(section, n, force=(0, 0, 0), torque=(0, 0, 0), **more):
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=n, **more)
    return ph.Model("c", gravity=(0, 0, 0), beams=[beam], forces=[ph.Force("tip", f"b-{n}", force, torque)])


def tip(model):
    return np.asarray(ph.equilibrium(model).q)[-7:]


def elastica_error(n, k, measure):
    x, w = ELASTICA[k]
    return np.max(abs(tip(cantilever(UNIT, n, (0, 0, -float(k)), measure=measure))[:3] - [-x, 0, -w]))


def test_a_cantilever_is_the_elastica_with_order_four():
    coarse, fine = (elastica_error(n, 5, "angle") for n in (2, 4))
    assert fine < 2e-4
    assert np.log2(coarse / fine) > 3.6


@pytest.mark.long
@pytest.mark.parametrize(("measure", "order", "error"), [("angle", 3.8, 1e-6), ("sine", 1.9, 2e-3)])
def test_sixteen_elements_are_the_elastica(measure, order, error):
    coarse, fine = (elastica_error(n, 5, measure) for n in (8, 16))
    assert fine < error
    assert np.log2(coarse / fine) > order


@pytest.mark.long
def test_an_end_moment_closes_the_circle():
    model = cantilever(UNIT, 8, torque=(0, -2 * np.pi, 0))
    q = np.asarray(ph.equilibrium(model, loads=16).q)[-7:]
    np.testing.assert_allclose(q[:3], [-1, 0, 0], atol=1e-11)


def test_an_end_moment_bends_an_arc():
    angle = 1.2
    q = tip(cantilever(UNIT, 3, torque=(0, -angle, 0)))
    np.testing.assert_allclose(q[:3], [np.sin(angle) / angle - 1, 0, (1 - np.cos(angle)) / angle], atol=5e-5)
    np.testing.assert_allclose(q[3:], [np.cos(angle / 2), 0, -np.sin(angle / 2), 0], atol=1e-12)


@pytest.mark.long
def test_the_bend_of_bathe_and_bolourchi():
    n, stiff = 16, 1e7 / 12
    a = np.linspace(0, np.pi / 4, n + 1)
    points = np.column_stack([100 * np.sin(a), 100 * (1 - np.cos(a)), 0 * a]).tolist()
    section = ph.Section(1e7, stiff, stiff, stiff, 5e6, 5e6, 1.0, 0.1, 0.1)
    bend = ph.Beam("b", section, start=("world", points[0]), end=points[-1], through=points[1:-1])
    model = ph.Model("bend", gravity=(0, 0, 0), beams=[bend], forces=[ph.Force("tip", f"b-{n}", (0, 0, 600.0))])
    found = ph.compile(model).pose(ph.equilibrium(model).q, f"b-{n}").position
    np.testing.assert_allclose(found, [47.15044, 15.68480, 53.47486], atol=0.03)


@pytest.mark.long
def test_the_princeton_beam():
    section = ph.Section(2.841909e6, 3.1033383, 2.428734443, 36.279363544, 9.03915e5, 9.03915e5, 1.0, 1e-4, 1e-4)
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(0.508, 0, 0), elements=16)
    across = 8.896 / np.sqrt(2)
    model = ph.Model("p", gravity=(0, 0, 0), beams=[beam], forces=[ph.Force("tip", "b-16", (0, across, across))])
    q = tip(model)
    A = ph.quaternion.rotation_matrix(q[3:])
    found = 1e3 * np.array([q[1], q[2], q[0], np.arctan2(A[2][1], A[1][1])])
    np.testing.assert_allclose(found, [8.888858, 109.041568, -14.389320, -29.060176], atol=0.02)


def test_shear_adds_to_the_deflection():
    """One element: P L³/3EI + P L/GA for small loads."""
    section = ph.Section(1e6, 1.0, 1.0, 2.0, 4.0, 5.0, 1.0, 1e-4, 1e-4)
    P = 1e-6
    np.testing.assert_allclose(tip(cantilever(section, 1, (0, P, P)))[1:3], [P / 6 + P / 4, P / 3 + P / 5], rtol=1e-6)


def test_frequencies_converge_with_order_two():
    def first(n):
        model = cantilever(UNIT, n)
        A = ph.linearize(model, np.array(model.zero), np.zeros(model.nv)).A
        return np.min(abs(np.linalg.eigvals(A).imag))

    coarse, fine = (first(n) - 3.516015269 for n in (2, 4))
    assert abs(fine) < 0.01
    assert np.log2(abs(coarse / fine)) == pytest.approx(2, abs=0.4)


@pytest.mark.parametrize(("method", "bound"), [("dop853", 1e-9), pytest.param("radau", 1e-7, marks=pytest.mark.long)])
def test_a_free_beam_keeps_momenta_and_energy(method, bound):
    """By radau up to its iteration: a fiftieth of the tolerance a step."""
    beam = ph.Beam("b", SOFT, start=(0, 0, 0), end=(1, 0, 0), elements=2)
    model = ph.Model("free", gravity=(0, 0, 0), beams=[beam])
    v = [0, 1, 0, 0, 0, 0, 0, 0, -0.5, 0, 0, 0, 0.1, 0.3, 0.7, 0.5, 0.2, 0.3]
    run = ph.simulate(model, v=v, duration=0.3, tolerance=1e-9, method=method)
    assert run.verdict == "good"
    assert float(abs(run.linear_momentum - run.linear_momentum[0]).max()) < bound
    assert float(abs(run.angular_momentum - run.angular_momentum[0]).max()) < bound
    assert float(abs(run.potential_energy).max()) > 1e-3


def test_sections_bear_what_a_cantilever_does():
    """A tip force P: bending moments P (L − x), shear P, no torque."""
    P, model = 1e-3, cantilever(SOFT, 2, (0, 0, -1e-3), damping=0.02)
    run = ph.simulate(model, q=ph.equilibrium(model).q, duration=0.01, samples=2, verify=False)
    first = run.section_force.sel(beam_element="b-1").isel(time=-1)
    assert list(first.section_load.values) == ["N", "Mx", "My_start", "My_end", "Mz_start", "Mz_end", "Qy", "Qz"]
    np.testing.assert_allclose(first, [0, 0, P, P / 2, 0, 0, 0, -P], atol=1e-6)


def test_a_beam_whose_strains_are_held_is_a_rod():
    end = ph.BeamEnd("world", (0, 0, 0), "revolute", (0, 1, 0))
    beam = ph.Beam("b", SOFT, start=end, end=(1, 0, 0), elements=2, held="all")
    rod = ph.Model(
        "rod",
        bodies=[ph.Body("b", 1.0, (2e-4, 1 / 12 + 1e-4, 1 / 12 + 1e-4), center=(0.5, 0, 0))],
        joints=[ph.Joint("j", "revolute", "world", "b", axis=(0, 1, 0))],
    )
    asked = {"duration": 0.5, "tolerance": 1e-10, "samples": 5}
    bar, found = ph.simulate(rod, **asked), ph.simulate(ph.Model("p", beams=[beam]), **asked)
    np.testing.assert_allclose(found.q[:, 0], bar.q[:, 0], atol=1e-9)


@pytest.mark.long
def test_a_driven_elongation_is_a_slider():
    others = ("torsion", "bending-xz-start", "bending-xz-end", "bending-xy-start", "bending-xy-end")
    way = lambda t: 0.1 * ph.sin(3 * t) ** 2
    model = cantilever(SOFT, 1, held=others, driven={"elongation": way})
    run = ph.simulate(model, duration=1.0, tolerance=1e-9, samples=5)
    np.testing.assert_allclose(run.q[:, 0], 0.1 * np.sin(3 * run.time) ** 2, atol=1e-8)


def test_beams_branch_from_nodes_and_bodies_hang_on_them():
    first = ph.Beam("a", SOFT, start=("world", (0, 0, 0)), end=(1, 0, 0), elements=2)
    branch = ph.Beam("b", SOFT, start=("a-1", (0, 0, 0)), end=(0.5, 1, 0), elements=1)
    model = ph.Model(
        "branched",
        bodies=[ph.Body("ball", 1.0, (0.1, 0.1, 0.1))],
        joints=[ph.Joint("grip", "fixed", "b-1", "ball", position=(0.1, 0, 0))],
        beams=[first, branch],
    )
    system, q = ph.compile(model), np.array(model.zero)
    np.testing.assert_allclose(system.pose(q, "ball").position, [0.5, 1.1, 0], atol=1e-14)
    assert sum(body.mass for body in model.bodies) == pytest.approx(3.0)


def test_the_mass_and_inertia_of_a_beam_are_those_of_a_bar():
    model = ph.Model("bar", beams=[ph.Beam("b", SOFT, start=(1, 2, 3), end=(2, 4, 5), elements=5)])
    found = ph.compile(model).center_of_mass(np.array(model.zero))
    np.testing.assert_allclose(found, [1.5, 3, 4], atol=1e-13)
    assert sum(body.mass for body in model.bodies) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("section", "area", "second_y", "second_z", "torsion"),
    [
        (ph.Section.circle(0.1), np.pi / 400, np.pi / 640000, np.pi / 640000, np.pi / 320000),
        (ph.Section.rectangle(0.1, 0.1), 0.01, 1e-4 / 12, 1e-4 / 12, 0.1405770e-4),
        (ph.Section.rectangle(0.1, 0.01), 1e-3, 1e-7 / 12, 1e-5 / 12, 0.312325e-7),
    ],
)
def test_sections_by_shape(section, area, second_y, second_z, torsion):
    steel = ph.Material(210e9, 0.3, 7850.0)
    assert section.axial == pytest.approx(210e9 * area)
    assert section.bending_y == pytest.approx(210e9 * second_y)
    assert section.bending_z == pytest.approx(210e9 * second_z)
    assert section.torsion == pytest.approx(steel.shear * torsion, rel=1e-5)
    assert section.mass == pytest.approx(7850 * area)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end": (0, 0, 0)}, "no length"),
        ({"up": (1, 0, 0)}, "along the beam"),
        ({"elements": 0}, "not a count"),
        ({"elements": 10**9}, "elements: too many"),
        ({"through": [(2, 0, 0)]}, "through: turns back"),
        ({"through": [(0.5, 0, 0), (0.2, 0, 1e-4)]}, r"half a turn at node [12]"),
        ({"prestrain": (-2, 0, 0, 0, 0, 0)}, "prestrain: shorter than nothing"),
        ({"start": ("wall", (0, 0, 0))}, "unknown body"),
        ({"held": "streching"}, "no such strain"),
        ({"held": "torsion", "driven": {"torsion": ph.sin}}, "both held and driven"),
        ({"measure": "tangent"}, "unknown"),
        ({"section": 3}, "not a section"),
        ({"start": 3}, "not an end"),
        ({"damping": -1}, "beam 'b', damping: out of range"),
        ({"prestrain": (1,)}, "beam 'b', prestrain: not six strains"),
        ({"load": (1,)}, "beam 'b', load: wrong size"),
        ({"follower": 3}, "beam 'b', follower"),
        ({"driven": {"torsion": 3}}, "beam 'b', driven: not functions"),
        ({"held": 3}, "beam 'b', held: not a list"),
        ({"through": 3}, "beam 'b', through: not a list"),
        ({"through": [(0, 0, 0)]}, "no length"),
        ({"up": (0, 0, 0)}, "beam 'b', up: is zero"),
        ({"end": (1, 0, np.inf)}, "beam 'b', end: not a finite"),
    ],
)
def test_what_is_no_beam_is_told(change, said):
    given = {"section": SOFT, "start": ("world", (0, 0, 0)), "end": (1, 0, 0)} | change
    with pytest.raises(ph.ModelError, match=said):
        ph.Model("c", beams=[ph.Beam("b", **given)])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ph.Section(axial=-1, mass=1), "section, axial: out of range"),
        (lambda: ph.Section(axial=1), "section, mass: out of range"),
        (lambda: ph.Section(axial="200 kN", mass=1), r"section, axial: text.\n.*'200 kN'.*\n.*Files take units"),
        (lambda: ph.Section(mass=1, round=3), "section, round"),
        (lambda: ph.Section.circle(0.1, "stele"), "section, material: unknown"),
        (lambda: ph.Section.circle("6 mm"), "section, circle, diameter: text"),
        (lambda: ph.Section.circle(0), "section, circle, diameter: out of range"),
        (lambda: ph.Section.circle(0.1, shear_factor=0), "section, shear_factor: out of range"),
        (lambda: ph.Section.tube(1, 2), "no wall"),
        (lambda: ph.Section.rectangle(0, 1), "section, rectangle, width: out of range"),
        (lambda: ph.Material(-1, 0.3, 7850), "material, young: out of range"),
        (lambda: ph.Material(1e9, 0.7, 7850), "material, poisson"),
        (lambda: ph.BeamEnd("hub", (0, 0)), "beam end on 'hub', position: wrong size"),
        (lambda: ph.BeamEnd("hub", axis=(0, 0, 0)), "beam end on 'hub', axis: is zero"),
        (lambda: ph.BeamEnd(3), "beam end, body: not a name"),
    ],
)
def test_what_is_no_section_material_or_end_is_told(make, said):
    with pytest.raises(ph.ModelError, match=said):
        make()


@pytest.mark.parametrize(
    ("section", "beam", "said"),
    [
        ("{shape: circle, diameter: 6 mmm}", "", "sections.rod.diameter: no such unit"),
        ("{shape: circle, diameter: 6 kg}", "", "sections.rod.diameter: a unit of another dimension"),
        ("{axial: 200 GPa, mass: 1}", "", "sections.rod.axial: a unit of another dimension"),
        ("{shape: circle, diameter: 6 mm}", ", load: [0, 0, -3 N]", "beams.b.load.2: a unit of another dimension"),
        ("{shape: circle, diameter: 6 mm}", ", damping: -1", "beams.b.damping: out of range"),
        ("{shape: circle, diameter: 6 mm}", ", up: [1, 0, 0]", r"b.yaml:3, beams.b.up: along the beam"),
        (
            "{shape: circle, diameter: 6 mm}",
            ", lod: 3",
            r"beams.b.lod: an unknown key(.|\n)*one of section.*(.|\n)*'load'",
        ),
        ("{shape: circle, diameter: 6 mm}", ", elements: 1.5", "beams.b.elements: not a whole number"),
        ("{shape: circle, diameter: 6 mm}", ", held: [stretch]", "beams.b.held: no such strain"),
        ("{shape: circle, diametre: 6 mm}", "", r"sections.rod.diametre: an unknown key(.|\n)*'diameter'"),
        ("{shape: oval, diameter: 6 mm}", "", r"b.yaml:2, sections.rod.shape: unknown"),
    ],
)
def test_files_are_told_by_place(tmp_path, section, beam, said):
    path = tmp_path / "b.yaml"
    path.write_text(
        f"name: b\nsections: {{rod: {section}}}\n"
        f"beams: {{b: {{section: rod, start: {{body: world}}, end: [1, 0, 0]{beam}}}}}\n"
    )
    with pytest.raises(ph.ModelError, match=said):
        ph.load(path)


def test_files_give_materials_with_units(tmp_path):
    path = tmp_path / "b.yaml"
    path.write_text(
        "name: b\nmaterials: {hard: {young: 200 GPa, poisson: 0.3, density: 7800 kg/m3}}\n"
        "sections: {rod: {shape: circle, diameter: 6 mm, material: hard}}\n"
        "beams: {b: {section: rod, start: {body: world}, end: [1, 0, 0], elements: 1}}\n"
    )
    (element,) = ph.load(path).forces
    assert element.axial == pytest.approx(200e9 * np.pi / 4 * 0.006**2)


def test_an_element_bent_past_its_measure_is_refused():
    element = ph.BeamElement("e", "world", "b", 1.0, 1.0, 1.0, 1.0, 1.0, measure="sine")
    turned = (np.cos(1.0), 0.0, -np.sin(1.0), 0.0)
    model = ph.Model(
        "bent", bodies=[ph.Body("b", 1.0, (1, 1, 1))], joints=[ph.Joint("j", "free", "world", "b")], forces=[element]
    )
    with pytest.raises(ph.PolhodeError, match="bent by more than 90"):
        ph.simulate(model, q=[1, 0, 0, *turned], duration=0.1)


def test_an_element_that_bends_past_its_measure_ends_the_run():
    section = ph.Section(axial=1e4, torsion=10, bending_y=1.0, bending_z=1.0, mass=1.0, inertia_y=1e-4, inertia_z=1e-4)
    model = cantilever(section, 2, torque=(0, -8.0, 0), measure="sine")
    run = ph.simulate(model, duration=5.0, tolerance=1e-4, samples=20, verify=False)
    assert run.attrs["status"] == "failed"
    assert "beam element 'b-2' is bent by more than 90°" in run.attrs["reason"]
    assert 0 < float(run.time[-1]) < 0.1


def test_runs_keep_strain_energy_and_name_their_method():
    model = ph.Model("free", (0, 0, 0), beams=[ph.Beam("b", SOFT, start=(0, 0, 0), end=(1, 0, 0), elements=2)])
    v = np.zeros(model.nv)
    v[[2, 8, 14]] = 0.3, -0.3, 0.3
    run = ph.simulate(model, v=v, duration=0.2, tolerance=1e-6, samples=5)
    assert run.attrs["method"] == "radau"
    assert "the usual method" in run.attrs["grade"]
    assert run.strain_energy.dims == ("time", "beam_element")
    np.testing.assert_allclose(run.strain_energy.sum("beam_element"), run.potential_energy, atol=1e-14)
    assert ph.simulate(model, v=v, duration=0.01, tolerance=1e-6, method="rk4", step=1e-3).attrs["method"] == "rk4"


@pytest.mark.parametrize("method", ["radau", pytest.param("dop853", marks=pytest.mark.long)])
def test_a_stiff_damped_beam_at_rest_is_no_failure(method):
    """Its energy does not move: the scale of its balance is the strain energy that it stores."""
    section = ph.Section.rectangle(0.02, 0.002)
    beam = ph.Beam("b", section, start=("world", (0, 0, 0)), end=(0.5, 0, 0), elements=2, damping=1e-3)
    model = ph.Model("rest", beams=[beam])
    duration = 0.2 if method == "radau" else 0.02
    run = ph.simulate(model, q=ph.equilibrium(model).q, duration=duration, tolerance=1e-6, samples=11, method=method)
    assert run.attrs["verdict"] == "good"
    assert abs(float(run.work[-1])) < 1e-3 * float(run.strain_energy[0].sum())


# dynamics: digits of reference problems


def spin_up(n, **more):
    """Simo and Vu-Quoc (1986): the root turns by ψ(t)."""
    w = 2 * np.pi / 15

    def angle(t):
        return ph.where(t < 15, 0.4 * (t * t / 2 + (ph.cos(w * t) - 1) / w**2), 6 * t - 45)

    section = ph.Section(2.8e7, 1e4, 1.4e4, 1.4e4, 1e7, 1e7, 1.2, 6e-4, 6e-4)
    hub = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    beam = ph.Beam("b", section, start=("hub", (0, 0, 0)), end=(10, 0, 0), elements=n, **more)
    drive = ph.Constraint("drive", "prescribed", {"joint": "shaft", "value": angle})
    bodies = [ph.Body("hub", 1.0, (1, 1, 1))]
    return ph.Model("spin-up", (0, 0, 0), bodies=bodies, joints=[hub], beams=[beam], constraints=[drive])


def turning_tip(n, **more):
    """u and w of the tip after 3, 6 and 6.762 s, in axes that turn with the root."""
    times = [3.0, 6.0, 6.762]
    run = ph.simulate(spin_up(n, **more), duration=6.762, samples=times, tolerance=1e-5, verify=False)
    assert run.attrs["status"] == "finished", run.attrs["reason"]
    x, y = run.position.sel(body=f"b-{n}").values[1:, :2].T
    angle = run.q.values[1:, 0]
    return np.cos(angle) * x + np.sin(angle) * y - 10, np.cos(angle) * y - np.sin(angle) * x


@pytest.mark.long
def test_the_spin_up_of_simo_and_vu_quoc():
    reference = np.array([-0.2172674, -0.5435964, -0.5738348])
    errors = []
    for n in (4, 8, 16):
        u, w = turning_tip(n)
        errors.append(np.max(abs(w - reference)) / 0.574)
    assert errors[2] < 1e-3
    assert errors[0] > 2.9 * errors[1] > 8 * errors[2]
    np.testing.assert_allclose(u[:2], [-0.00272829, -0.01697125], atol=1e-5)


@pytest.mark.long
def test_the_slider_crank_of_jonker_and_meijaard():
    errors = []
    for n in (4, 8, 16):
        model, v = beams.slider_crank(n)
        run = ph.simulate(model, v=v, duration=4 * np.pi / 150, samples=9, tolerance=1e-5, verify=False)
        errors.append(beams.error(beams.deflection(run, n)))
    assert errors[2] < 1e-3
    assert errors[0] > 2.9 * errors[1] > 8 * errors[2]


def test_a_very_stiff_beam_moves_as_a_rigid_body():
    """A pendulum of a beam a million times as stiff as steel, hinged, and the rigid bar of its nodes."""
    steel = ph.Material(210e15, 0.3, 7850.0)
    end = ph.BeamEnd("world", (0, 0, 0), "revolute", (0, 1, 0))
    beam = ph.Beam("b", ph.Section.circle(0.01, steel), start=end, end=(1, 0, 0), elements=4)
    model = ph.Model("stiff", beams=[beam])
    run = ph.simulate(model, duration=1.0, tolerance=1e-8, samples=11, verify=False)
    mass, across = ph.Section.circle(0.01, steel).mass, ph.Section.circle(0.01, steel).inertia_y
    bar = ph.Body("bar", mass, (2 * across, mass / 12 + across, mass / 12 + across), center=(0.5, 0, 0))
    rigid = ph.Model("bar", bodies=[bar], joints=[ph.Joint("j", "revolute", "world", "bar", axis=(0, 1, 0))])
    best = ph.simulate(rigid, duration=1.0, tolerance=1e-12, samples=11, verify=False).q.values[:, 0]
    tip, bound = run.position.sel(body="b-4").values, run.attrs["steps_taken"] * 1e-8  # what all steps may err by
    np.testing.assert_allclose(tip[:, [0, 2]], np.column_stack([np.cos(best), -np.sin(best)]), atol=bound)


@pytest.mark.long
def test_a_sweep_of_stiffness_is_its_runs():
    """Slider-cranks with other stiffness side by side, by the usual method, and one of them alone."""
    section = replace(beams.SECTION, bending_z=ph.Parameter("EI", 12.7))
    model, v = beams.slider_crank(2, section)
    options = {"v": v, "duration": 0.01, "step": 1e-4, "every": 100, "verify": False}
    found = ph.sweep(model, {"EI": ph.Grid([11.0, 12.0, 13.0])}, **options)
    assert (found.status == 1).all()
    other, _ = beams.slider_crank(2, replace(section, bending_z=12.0))
    alone = ph.simulate(other, **options)
    assert alone.attrs["method"] == "radau"
    np.testing.assert_allclose(found.q.values[1, -1], alone.q.values[-1], atol=1e-9)


@pytest.mark.parametrize(("measure", "limit"), [("angle", 170), ("sine", 90)])
@pytest.mark.parametrize("method", ["radau", "dop853"])
def test_an_element_that_twists_past_its_measure_ends_the_run(measure, limit, method):
    """Beyond half a turn its twist would change sides, and with it the torque: it is told, by name and time."""
    section = ph.Section(
        axial=100, torsion=0.05, bending_y=0.1, bending_z=0.1, mass=1.0, inertia_y=1e-3, inertia_z=1e-3
    )
    beam = ph.Beam("b", section, ("world", (0, 0, 0)), (0.3, 0, 0), elements=1, measure=measure)
    model = ph.Model("rod", gravity=(0, 0, 0), beams=[beam], forces=[ph.Force("f", "b-1", torque=(0.6, 0, 0))])
    run = ph.simulate(model, duration=1.0, tolerance=1e-6, method=method, verify=False)
    assert run.attrs["status"] == "failed"
    assert f"beam element 'b-1' is twisted by more than {limit}°" in run.attrs["reason"]
    assert 0.03 < float(run.time[-1]) < 0.08


def test_an_element_twisted_past_its_measure_is_refused():
    element = ph.BeamElement("e", "world", "b", 1.0, 1.0, 1.0, 1.0, 1.0)
    turned = (np.cos(1.5), np.sin(1.5), 0.0, 0.0)
    joints = [ph.Joint("j", "free", "world", "b")]
    model = ph.Model("twisted", bodies=[ph.Body("b", 1.0, (1, 1, 1))], joints=joints, forces=[element])
    with pytest.raises(ph.PolhodeError, match="twisted by more than 170"):
        ph.simulate(model, q=[1, 0, 0, *turned], duration=0.1)
