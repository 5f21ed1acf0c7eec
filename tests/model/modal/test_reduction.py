"""Parts of the reduction of finite-element matrices that a whole body does not show."""

import numpy as np

from finite_elements import block
from polhode.model.modal.matrices import finite_elements, rigid_motions
from polhode.model.modal.reduction import interfaces_of, neighbours_turn


def test_a_node_without_rotations_turns_with_its_neighbours():
    """In a rigid motion that is the rotation itself."""
    fe = finite_elements("block", *block((3, 2, 1), (0.6, 0.2, 0.1)))
    node = next(k for k, x in enumerate(fe.nodes) if np.allclose(x, (0.2, 0.1, 0.0)))
    (interface,) = interfaces_of("block", fe, {"node": np.array([node])})
    assert not interface.turns
    found = neighbours_turn("block", fe, interface, rigid_motions(fe))
    np.testing.assert_allclose(found, np.hstack([np.zeros((3, 3)), np.eye(3)]), atol=1e-13)


def test_several_nodes_move_as_one_rigid_piece():
    fe = finite_elements("block", *block((3, 1, 1), (0.6, 0.1, 0.05)))
    rows = np.flatnonzero(fe.nodes[:, 0] == 0.0)
    (interface,) = interfaces_of("block", fe, {"face": rows})
    assert interface.turns
    np.testing.assert_allclose(interface.place, (0.0, 0.05, 0.025))
    own = np.linalg.lstsq(interface.motion, rigid_motions(fe)[interface.freedoms], rcond=None)[0]
    np.testing.assert_allclose(own[3:, 3:], np.eye(3), atol=1e-13)
    np.testing.assert_allclose(interface.motion @ own, rigid_motions(fe)[interface.freedoms], atol=1e-13)
