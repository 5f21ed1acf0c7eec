"""The least time that the operations of a kernel can take: counted from its graph, at rates measured here."""

import pytest

from polhode.bench.issue_limit import CHAINS, LENGTH, IssueRates, _products, _products_and_sums
from polhode.bench.report import report_from_json, report_json
from polhode.bench.speed import run_bench
from polhode.bench.tables import report_markdown
from polhode.kernel import trace
from polhode.kernel.operations import SINE
from polhode.kernel.schedule import fused
from polhode.scalar import iterate, sin, vec


@pytest.fixture(scope="module")
def report():
    return run_bench(["ur5"], ["inverse"], batch=16, seconds=0.01, first_calls=False)


def test_a_robot_has_its_operations_and_their_limit_beside_its_batch(report):
    (row,) = report.limits
    assert (row.model, row.nv, row.quantity) == ("ur5", 6, "inverse")
    assert row.ours == report.rows[-1].out.least
    assert min(row.multiplications, row.additions, row.sign_changes, row.limit) > 0
    assert report_from_json(report_json(report)) == report
    assert "issue limit" in report_markdown(report)


def test_streams_are_of_the_operations_they_measure():
    counts = [fused(trace(f, x=(CHAINS,), y=(2,))).operations for f in (_products, _products_and_sums)]
    assert counts[0] == {"fma": CHAINS * LENGTH}
    assert counts[1] == {"fma": CHAINS * LENGTH / 2, "add": CHAINS * LENGTH / 2}


def test_limit_is_that_of_the_products_or_of_all_operations():
    graph = fused(trace(lambda x, y: sin(x) * y + x + y - x * y / 2, x=(), y=()))
    few, many = IssueRates(3.0, 1.0), IssueRates(3.0, 2.9)
    products, sums = SINE + 3, 1
    for rates, expected in ((few, 3.0 * products), (many, 2.9 * (products + sums))):
        found = rates.limit("m", 1, "inverse", graph, 1.0)
        assert (found.multiplications, found.additions, found.limit) == (products, sums, expected)


def test_a_kernel_with_loops_has_no_count():
    graph = trace(lambda x: iterate(lambda s: (vec(s[0] + 1.0), s[0] < 3.0), vec(x), 5), x=())
    assert IssueRates(1.0, 1.0).limit("m", 1, "inverse", graph, 1.0) is None
