"""Verdicts are coloured on terminals, and stand there as words everywhere."""

import click
import pytest

from polhode.cli.colours import COLOURS, coloured, echo_verdict
from polhode.result.verdict import SENTENCES, VERDICTS, Check, Grade


def test_every_verdict_has_a_colour_of_its_own():
    assert set(COLOURS) == set(VERDICTS)
    assert len(set(COLOURS.values())) == len(VERDICTS)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_sentence_and_the_table_are_coloured_and_nothing_else(verdict):
    check = Check("a good check, loose in words", 1.0, 2.0, 3.0, "", verdict, "a note on what failed")
    text = str(Grade(verdict, (check,), "good is what is good"))
    found = coloured(text)
    assert click.unstyle(found) == text
    assert found.count(click.style(verdict, fg=COLOURS[verdict], bold=True)) == 2
    assert found.count("\x1b[0m") == 2
    assert SENTENCES[verdict].split()[0] in found


def test_counts_of_verdicts_are_coloured():
    found = coloured("  verdicts  900 good, 12 failed; errors of 12 runs")
    assert click.style("good", fg="green", bold=True) in found
    assert click.style("failed", fg="red", bold=True) in found


def test_a_file_gets_plain_words(capsys, monkeypatch):
    echo_verdict("This run is good.")
    assert capsys.readouterr().out == "This run is good.\n"
    monkeypatch.setenv("NO_COLOR", "1")
    echo_verdict("This run failed.")
    assert capsys.readouterr().out == "This run failed.\n"
