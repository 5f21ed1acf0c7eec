"""Rest under growing loads: where constraints of beams hold more often than needed, and are told."""

import numpy as np
import pytest

import polhode as ph

LENGTH, GAP = 0.1, 0.08
LEAF = ph.Section.rectangle(width=0.02, height=0.0004, material="steel")
STIFF = ["elongation", "torsion", "bending-xy-start", "bending-xy-end"]


def leaf_guide(load):
    leaves = [
        ph.Beam(
            f"leaf{k}", LEAF, start=("world", (side * GAP / 2, 0, 0)), end=("stage", (side * GAP / 2, 0, 0)),
            up=(1, 0, 0), elements=1, held=STIFF,
        )
        for k, side in enumerate((-1, 1))
    ]  # fmt: skip
    return ph.Model(
        "guide",
        gravity=(0, 0, 0),
        bodies=[ph.Body("stage", 0.5, (5e-4, 5e-4, 8e-4))],
        joints=[ph.Joint("stage", "free", "world", "stage", position=(0, 0, LENGTH))],
        beams=leaves,
        forces=[ph.Force("push", "stage", force=(load, 0, 0))],
    )


def test_redundant_strains_of_a_leaf_guide_are_told():
    found = ph.diagnose(leaf_guide(0.0))
    assert (len(found.rows), found.rank, found.freedoms) == (8, 5, 1)
    assert set(found.redundant) == {f"leaf{k}-1-{mode}.strain" for k in (0, 1) for mode in STIFF[1:]}


@pytest.mark.parametrize("load", [0.01, 0.5])
def test_a_leaf_guide_rests_though_its_constraints_are_redundant(load):
    """24 EI/L³ along, and 3/5 x²/L down since leaves keep their length."""
    rest = ph.equilibrium(leaf_guide(load))
    x, y, z = rest.q[:3]
    assert load / x == pytest.approx(24 * LEAF.bending_y / LENGTH**3, rel=1e-4)
    assert z == pytest.approx(-0.6 * x * x / LENGTH, rel=1e-4)
    np.testing.assert_allclose([y, *rest.q[4:]], 0, atol=1e-12)
