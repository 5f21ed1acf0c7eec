"""A row of the table of tableaus is a method: nothing else names it."""

from polhode.integrate import tableaus
from polhode.integrate.methods import METHODS


def test_every_tableau_is_a_method_by_its_name():
    for kind, listed in ((tableaus.Tableau, tableaus.EXPLICIT), (tableaus.Collocation, tableaus.IMPLICIT)):
        rows = [row for row in vars(tableaus).values() if isinstance(row, kind)]
        assert sorted(row.name for row in rows) == sorted(row.name for row in listed)
        for row in rows:
            assert (METHODS[row.name].order, METHODS[row.name].source) == (row.order, row.source)
            assert not METHODS[row.name].on_group
