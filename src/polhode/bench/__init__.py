"""The speed page: the same quantities of the same machines, ours and others', timed side by side."""

from polhode.bench.page import check_output, save_report
from polhode.bench.report import Report, report_from_json, report_json
from polhode.bench.speed import QUICK, run_bench, work
from polhode.bench.tables import print_report, report_markdown

__all__ = [
    "QUICK",
    "Report",
    "check_output",
    "print_report",
    "report_from_json",
    "report_json",
    "report_markdown",
    "run_bench",
    "save_report",
    "work",
]
