"""The rows of M⁻¹ in loops: where elements keep what they hand on (their numbers: `test_derivatives.py`)."""

from machines import random_model
from polhode.dynamics.large_trees.inverse_rows import moving_places
from polhode.dynamics.large_trees.subtree_rows import depth_first
from polhode.model import make_tree


def test_no_place_is_written_that_a_later_element_reads():
    tree = depth_first(make_tree(random_model(["revolute"] * 30, 11)))
    before, after, most = moving_places(tree)
    holds = {0: -1}
    for i, e in enumerate(tree.elements):
        assert holds[before[i]] == e.parent
        holds[after[i]] = i
    assert max(after) < most
