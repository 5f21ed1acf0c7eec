"""docs/system.md: its code runs; its tables are generated (test_generated.py), and say what the joints do."""

from pathlib import Path

import numpy as np

import polhode as ph
from page_runner import run_page
from polhode.model import JOINTS

PATH = Path(__file__).resolve().parents[2] / "docs" / "system.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_the_code_runs(tmp_path):
    assert len(run_page(PATH, tmp_path)) == 3


def test_the_table_has_a_row_for_every_joint_with_as_many_numbers():
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in PAGE.splitlines() if line.startswith("| ")}
    for name, kind in JOINTS.items():
        if type(kind).__module__.startswith("polhode."):
            q, v, tau = (0 if cell == "–" else cell.count(",") + 1 for cell in rows[name][1:4])
            assert (q, v, tau) == (kind.nq, kind.nv, kind.nv)


def test_a_free_joint_moves_in_the_axes_that_the_page_says():
    """The velocity is in the axes of the joint frame, ω in those of the child."""
    turned = np.array([0.6, 0.0, 0.8, 0.0])
    joint = ph.Joint("fly", "free", "world", "a", orientation=turned)
    system = ph.compile(ph.Model("m", bodies=[ph.Body("a", 1.0, (1, 1, 1))], joints=[joint]), target="python")
    p = np.array([0.5, 0.5, 0.5, 0.5])
    q, v = np.array([0, 0, 0, *p]), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    found = system.velocity(q, v, "a")
    rotate, product = ph.quaternion.rotate, ph.quaternion.product
    np.testing.assert_allclose(found.linear, rotate(turned, v[:3]), atol=1e-14)
    np.testing.assert_allclose(found.angular, rotate(product(turned, p), v[3:]), atol=1e-14)
