"""How accurate beam elements are: closed forms and geometrically exact rods, in the plane and in space."""

from itertools import product

import numpy as np
import pytest

import polhode as ph
from polhode.model.beams.element_law import ElementNumbers, EndMotion, pull_slopes
from polhode.model.beams.strains import chord, second_order, with_second_order
from polhode.scalar import Vec, dot
from support.exact_rod import exact_rod

ELASTICA = {
    1: (0.056433236283, 0.301720773800, 0.461351949712),
    2: (0.160641720825, 0.493457480397, 0.781749831557),
    5: (0.387628360724, 0.713791523612, 1.21536811761),
    10: (0.554995597754, 0.810609024880, 1.43028553880),
}
"""1 − x/L, w/L and the angle of the tip of a cantilever by PL²/EI.                    Bisshopp, Drucker (1945)"""

BEND = np.array([47.15044, 15.68480, 53.47486])
"""The tip of the 45° bend of Bathe and Bolourchi (1979) under 600, by an exact rod; R = 100."""


# against closed forms and exact rods


def tip_at_rest(beam, force, rod):
    """Place (3,) and axes (3, 3) of the tip, looked for near an exact rod: places and axes along it."""
    model = ph.Model("m", gravity=(0, 0, 0), beams=[beam], forces=[ph.Force("tip", beam.nodes[-1], force)])
    system, near, every = ph.compile(model), [], (len(rod[0]) - 1) // beam.elements
    for name, x, R in zip(beam.nodes[1:], *(part[every::every] for part in rod), strict=True):
        rest = system.pose(np.array(model.zero), name)
        axes = np.array(ph.quaternion.rotation_matrix(rest.quaternion))
        near += [*axes.T @ (x - rest.position), *ph.quaternion.from_matrix(axes.T @ R)]
    place, turn = system.pose(ph.equilibrium(model, near, loads=1).q, beam.nodes[-1])
    return np.array(place), np.array(ph.quaternion.rotation_matrix(turn))


@pytest.mark.parametrize("k", ELASTICA)
def test_sixteen_elements_are_the_elastica_to_a_millionth(k):
    """Tip and its angle, in lengths and rad."""
    numbers, force = (1e10, 1.0, 1.0, 2.0, 0.0, 0.0), (0, 0, -float(k))
    rod = exact_rod(1.0, numbers, force)

    def error(n):
        beam = ph.Beam("b", ph.Section(*numbers, 1.0, 1e-4, 1e-4), ("world", (0, 0, 0)), (1, 0, 0), elements=n)
        (x, _, z), R = tip_at_rest(beam, force, rod)
        return np.max(np.abs(np.array([1 - x, -z, np.arctan2(-R[2, 0], R[0, 0])]) - ELASTICA[k]))

    coarse, fine = error(8), error(16)
    assert fine < 1e-6
    assert np.log2(coarse / fine) > 3.8


BENT = (1e7, 1e7 / 12, 1e7 / 12, 1e7 / 12, 5e6, 5e6)


@pytest.fixture(scope="module")
def bent():
    """The bend as an exact rod."""
    return exact_rod(25 * np.pi, BENT, (0, 0, 600.0), (0, 0, 0.01))


def bend_error(n, rod, **more):
    """Parts of each component of the tip."""
    a = np.linspace(0, np.pi / 4, n + 1)
    points = np.column_stack([100 * np.sin(a), 100 * (1 - np.cos(a)), 0 * a]).tolist()
    section = ph.Section(*BENT, 1.0, 0.1, 0.1)
    beam = ph.Beam("b", section, ("world", points[0]), points[-1], through=points[1:-1], **more)
    return np.abs(tip_at_rest(beam, (0, 0, 600.0), rod)[0] / BEND - 1)


def test_the_exact_rod_of_these_tests_has_the_digits_of_the_bend(bent):
    np.testing.assert_allclose(bent[0][-1], BEND, atol=1e-5)


def test_the_curved_bend_of_bathe_and_bolourchi_converges_with_order_four(bent):
    coarse, fine, finest = (bend_error(n, bent, curved=True) for n in (4, 8, 16))
    assert np.max(finest) < 2e-6
    assert np.log2(np.max(coarse) / np.max(fine)) > 3.6


def test_the_bend_of_straight_elements_converges_with_order_two(bent):
    """Their chords are not the arc."""
    coarse, fine = (bend_error(n, bent) for n in (8, 16))
    assert np.max(fine) < 1e-3
    assert np.log2(np.max(coarse) / np.max(fine)) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    ("section", "force", "error"),
    [
        ((1e6, 1.0, 1.0, 5.0, 0.0, 0.0), (0.0, 3.0, 2.0), 2e-5),
        ((1e6, 1.0, 4.0, 2.0, 0.0, 0.0), (-1.0, 2.0, -4.0), 2e-5),
        ((1e6, 1.0, 1.0, 3.0, 2e4, 3e4), (0.5, 2.0, 2.0), 2e-5),
    ],
    ids=["strip", "pushed", "shear"],
)
def test_a_rod_bent_and_twisted_in_space_converges_with_order_four(section, force, error):
    rod = exact_rod(1.0, section, force)

    def off(n):
        beam = ph.Beam("b", ph.Section(*section, 1.0, 1e-4, 1e-4), ("world", (0, 0, 0)), (1, 0, 0), elements=n)
        return max(
            np.max(abs(found - exact[-1])) for found, exact in zip(tip_at_rest(beam, force, rod), rod, strict=True)
        )

    coarse, fine = off(4), off(8)
    assert fine < error
    assert np.log2(coarse / fine) > 3.6


def helix(turn):
    """Axes and place of the end of a rod of length 1 with constant curvature and twist."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    along = sum(w / 2 * rotation((1 + s) / 2 * turn)[:, 0] for s, w in zip(nodes, weights, strict=True))
    return rotation(turn), along


def rotation(w):
    return np.array(ph.quaternion.rotation_matrix(ph.quaternion.exp(np.asarray(w) / 2)))


@pytest.mark.parametrize("shear", [(0.0, 0.0), (0.4, 2.0)])
def test_helices_have_the_strains_of_their_curvature(shear):
    """Up to fifth order; those that differ from end to end, up to fourth."""
    law, direction = numbers(shear=shear), np.array([0.7, 0.5, -0.9])

    def off(size):
        _, twist, *bent = law.strains(line_of(np.eye(3), *helix(size * direction)))
        whole = np.array([twist, bent[0] + bent[1], bent[2] + bent[3]]) - size * direction
        return np.max(abs(whole)), max(abs(bent[0] - bent[1]), abs(bent[2] - bent[3]))

    (coarse, uneven), (fine, less) = off(0.4), off(0.2)
    assert np.log2(coarse / fine) > 4.7
    assert np.log2(uneven / less) > 3.7


def test_arcs_have_the_length_of_their_chord():
    """Up to sixth order."""
    coarse, fine = (
        abs(numbers().strains(line_of(np.eye(3), *helix(np.array([0, 0.6, 0.8]) * x)))[0]) for x in (1, 0.5)
    )
    assert coarse < 1e-5
    assert np.log2(coarse / fine) > 5.7


# laws of one element


def numbers(bending=(2.0, 5.0), shear=(0.3, 0.6), torsion=1.5, prestrain=(0.01, 0.2, 0.1, -0.1, 0.3, 0.2)):
    return ElementNumbers(1.0, 40.0, torsion, *bending, *shear, 0.0, Vec(prestrain))


def line_of(R_p, R_q, way, sine=False):
    matrices = [Vec([Vec(row) for row in R]) for R in (R_p, R_q)]
    return chord(*matrices, Vec(list(way)), 1.0, sine)


R_P, R_Q, WAY = rotation([0.3, -0.2, 0.5]), rotation([0.9, 0.3, -0.4]), np.array([0.8, 0.35, -0.25])
STEP = 1e-30


def moved(k, by=1j * STEP):
    """The ends, the k-th of nine coordinates moved: the way, and small turns of both in world axes."""
    way, turns = WAY.astype(complex), [np.eye(3, dtype=complex) for _ in range(2)]
    if k < 3:
        way[k] += by
    else:
        i, j = ((k - 3) % 3 + 1) % 3, ((k - 3) % 3 + 2) % 3
        turns[k // 3 - 1][j, i], turns[k // 3 - 1][i, j] = by, -by
    return turns[0] @ R_P, turns[1] @ R_Q, way


@pytest.mark.parametrize("sine", [False, True])
@pytest.mark.parametrize("torsion", [1.5, 0.0])
def test_forces_are_the_slopes_of_the_energy(sine, torsion):
    law = numbers(torsion=torsion)
    slopes = [law.energy(line_of(*moved(k), sine)).imag / STEP for k in range(9)]
    line = line_of(R_P, R_Q, WAY, sine)
    force, on_p, on_q = line.wrenches(law.raw_loads(line, None))
    np.testing.assert_allclose([*force, *on_p, *on_q], -np.array(slopes), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("sine", [False, True])
def test_rates_are_the_slopes_of_strains(sine):
    law, line = numbers(), line_of(R_P, R_Q, WAY, sine)
    for k in range(9):
        unit = np.eye(9)[k].tolist()
        found = law.strain_rates(line, EndMotion(*(Vec(unit[i : i + 3]) for i in (0, 3, 6))))
        expected = [x.imag / STEP for x in law.strains(line_of(*moved(k), sine))]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_forces_and_couples_balance():
    """Both on the whole: no rigid motion does work."""
    law, line = numbers(), line_of(R_P, R_Q, WAY)
    force, on_p, on_q = (np.array(x) for x in line.wrenches(law.raw_loads(line, None)))
    np.testing.assert_allclose(np.cross(WAY, force) + on_p + on_q, 0, atol=1e-13)


def test_a_round_section_may_be_turned_about_its_axis():
    """With its rest shape: energies are one, whichever way y looks."""
    pre = np.array([0.01, 0.2, 0.1, -0.1, 0.3, 0.2])
    found = []
    for angle in (0.0, 0.7, 2.0):
        c, s = np.cos(angle), np.sin(angle)
        turned = [*pre[:2], *(c * pre[2:4] + s * pre[4:]), *(c * pre[4:] - s * pre[2:4])]
        law, about = numbers((3.0, 3.0), (0.4, 0.4), prestrain=turned), rotation([angle, 0, 0])
        found.append(law.energy(line_of(R_P @ about, R_Q @ about, WAY)))
    np.testing.assert_allclose(found, found[0], rtol=1e-13)


def test_an_element_seen_from_its_other_end_is_the_same():
    """Turned by half a turn about z, strains of the ends are exchanged, and those about y change their signs."""
    half, pre = rotation([0, 0, np.pi]), (0.01, 0.2, 0.1, -0.1, 0.3, 0.2)
    there = numbers(prestrain=pre).energy(line_of(R_P, R_Q, WAY))
    exchanged = (pre[0], pre[1], pre[3], pre[2], -pre[5], -pre[4])
    back = numbers(prestrain=exchanged).energy(line_of(R_Q @ half, R_P @ half, -WAY))
    assert back == pytest.approx(there, rel=1e-13)


def test_energy_stays_positive_however_thin_a_strip_is():
    law = numbers((1e-4, 10.0), (0.0, 0.0), 1e-4, prestrain=(0.0,) * 6)
    for y, z in product((0.3, 1.0, 2.0), repeat=2):
        R, way = helix(np.array([0.0, y, z]))
        assert law.energy(line_of(np.eye(3), R, way)) > 0


def test_the_matrix_of_stiff_steps_has_the_softness_of_a_bent_strip():
    """By uneven torsion a strip that is bent resists bending across the bend with half its stiffness."""
    law, (R, way) = numbers((1.0, 40.0), (0.0, 0.0), 1.0, (0.0,) * 6), helix(np.array([0.0, 0.55, 0.0]))
    given = [Vec(np.eye(3).ravel().tolist()), Vec(R.ravel().tolist()), Vec(way.tolist())]
    below = pull_slopes(False, False)(tuple(range(9)))(*given, Vec([*law[:8], *law.prestrain]), Vec([0.0]))
    K = np.zeros((9, 9))
    K[np.tril_indices(9)] = below
    across = np.array([0, 0, 0, *(-R[:, 2] / 2), *(R[:, 2] / 2)])  # both ends turn about the section's z, apart

    def pull(by):
        turned = [rotation(by * across[i : i + 3]) @ axes for i, axes in ((3, np.eye(3)), (6, R))]
        line = line_of(*turned, way)
        return across[3:] @ np.concatenate([np.array(x) for x in line.wrenches(law.raw_loads(line, None))[1:]])

    found = across @ (K + np.tril(K, -1).T) @ across
    assert found == pytest.approx((pull(-1e-5) - pull(1e-5)) / 2e-5, rel=0.05)
    assert found < 0.6 * 40.0


def test_sines_have_terms_of_second_order_alone():
    """As SPACAR."""
    law, line = numbers(), line_of(R_P, R_Q, WAY, sine=True)
    strains = with_second_order(line.strains, second_order(1.0, 0.3, 0.6))
    stretched = strains - law.prestrain
    assert list(law.strains(line)) == list(strains)
    assert law.energy(line) == dot(stretched, law.stiff(stretched)) / 2


# curved beams at rest


def arc(n, **more):
    a = np.sort(np.random.default_rng(3).uniform(0.1, 1.4, n - 1))
    a = np.array([0.0, *a, 1.5])
    points = np.column_stack([np.sin(a), 0 * a, 1 - np.cos(a)]).tolist()
    section = ph.Section(1e4, 1.0, 1.0, 2.0, 1e3, 1e3, 1.0, 1e-4, 1e-4)
    return ph.Beam("b", section, ("world", points[0]), points[-1], through=points[1:-1], curved=True, **more), a


@pytest.mark.parametrize(
    "more", [{}, {"held": "elongation"}, {"held": "all"}, {"mass": "consistent"}, {"plane": (0, 1, 0)}]
)
def test_a_curved_beam_is_at_rest_as_it_lies(more):
    beam, angles = arc(4, **more)
    model = ph.Model("arc", gravity=(0, 0, 0), beams=[beam])
    system, q = ph.compile(model), np.array(model.zero)
    assert np.max(abs(np.array(system.forward_dynamics(q, *np.zeros((2, model.nv)))))) < 1e-9
    lengths = [force.length for force in model.forces if isinstance(force, ph.BeamElement)]
    np.testing.assert_allclose(lengths, np.diff(angles), rtol=1e-12)
    assert sum(body.mass for body in model.bodies) == pytest.approx(1.5)
    tangent = ph.quaternion.rotate(system.pose(q, "b-2").quaternion, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(tangent, [np.cos(angles[2]), 0, np.sin(angles[2])], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"through": ()}, "beam 'b', curved: no points"),
        ({"driven": {"torsion": ph.sin}}, "beam 'b', driven: strains of a curved beam"),
        ({"curved": 3}, "beam 'b', curved"),
        ({"section": ph.Section(1, 1, ph.Parameter("EI", 1.0), 1, 1, 1, 1)}, "a shape at rest by a parameter"),
    ],
)
def test_what_is_no_curve_is_told(change, said):
    given = {"section": ph.Section(1, 1, 1, 1, 0, 0, 1), "through": [(0.5, 0.1, 0)], "curved": True} | change
    with pytest.raises(ph.ModelError, match=said):
        ph.Model("c", beams=[ph.Beam("b", start=("world", (0, 0, 0)), end=(1, 0, 0), **given)])
