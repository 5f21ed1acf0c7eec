"""The speed page: the same quantities of the same machines, ours and others', timed side by side."""

from polhode.bench.page import check_output, print_report, report_from_json, report_json, report_markdown, save_report
from polhode.bench.speed import QUICK, Report, run_bench, work

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
