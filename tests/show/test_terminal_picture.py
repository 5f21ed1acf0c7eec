"""Pictures in characters show what is there, where it is, in its colour."""

import numpy as np
import pytest

import polhode as ph
from polhode.show.terminal_picture import LOWER, UPPER, terminal_picture

COLUMNS, ROWS = 24, 8


def cells(*positions):
    """A machine of balls that fly, each in its own colour, seen from the side."""
    bodies = [ph.Body(f"b{k}", 1.0, (0.1, 0.1, 0.1)) for k in range(len(positions))]
    joints = [ph.Joint(f"j{k}", "free", "world", body.name) for k, body in enumerate(bodies)]
    model = ph.Model("balls", bodies=bodies, joints=joints)
    return terminal_picture(
        model, np.array(positions, float), np.tile([1.0, 0, 0, 0], (len(positions), 1)), COLUMNS, ROWS
    )


def test_a_picture_has_the_size_that_is_asked_for():
    found = cells((0, 0, 0))
    assert [len(row) for row in found] == [COLUMNS] * ROWS
    assert all(cell.text in (UPPER, LOWER, " ") for row in found for cell in row)


def test_a_cell_without_anything_has_no_colour():
    for row in cells((0, 0, 0), (0, 0, 3)):
        for cell in row:
            assert (cell.text == " ") == (cell.front is None)
            assert cell.back is None or cell.text == UPPER


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_higher_is_drawn_higher(order):
    """Two balls above each other: the first is blue, the second orange."""
    found = cells((0, 0, 2.0 * order), (0, 0, -2.0 * order))
    rows = {"blue": [], "orange": []}
    for k, row in enumerate(found):
        for cell in row:
            for colour in (cell.front, cell.back):
                if colour is not None:
                    rows["blue" if colour[2] > colour[0] else "orange"].append(k)
    assert rows["blue"]
    assert rows["orange"]
    assert (np.mean(rows["blue"]) < np.mean(rows["orange"])) == (order == 1)
