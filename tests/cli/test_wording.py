"""Errors of the library in the words of the command line."""

import pytest
from click.testing import CliRunner

from polhode.cli import main
from polhode.cli.run import run
from polhode.cli.wording import in_options
from polhode.errors import message


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("simulate, step", "x", "1", "seconds"), "run, --step: x.\n  found 1; expected seconds."),
        (("simulate, tolerance, more", "x", "1", "y"), "run, --tolerance, more: x.\n  found 1; expected y."),
        (("simulate, tau", "x", "1", "y"), "simulate, tau: x.\n  found 1; expected y."),
        (("animate a/run.html, step", "x", "1", "y"), "run a/run.html, --step: x.\n  found 1; expected y."),
        (("sweep, out 'a b'", "x", "1", "y"), "run, --out 'a b': x.\n  found 1; expected y."),
        (("arm.yaml:3, step", "x", "1", "y"), "arm.yaml:3, step: x.\n  found 1; expected y."),
        (("load", "x", "step=3", "step=…"), "load: x.\n  found step=3; expected --step …."),
        (("load", "x", "1", "y", "rank_tolerance=1"), "load: x.\n  found 1; expected y.\n  --rank-tolerance 1"),
        (("load", "x", "1", "y", "(force=True; --overwrite)"), "load: x.\n  found 1; expected y.\n  (--overwrite)"),
        (("load", "x", "1", "y", "'my.step=3' stays"), "load: x.\n  found 1; expected y.\n  'my.step=3' stays"),
    ],
)  # fmt: skip
def test_arguments_are_told_as_options(given, told):
    assert in_options(message(*given), run) == told


@pytest.mark.parametrize("command", sorted(set(main.commands) - {"compare"}))
def test_the_help_shows_one_word_for_overwriting(command):
    options = [option for option in main.commands[command].params if "--overwrite" in option.opts]
    text = CliRunner().invoke(main, [command, "--help"]).output
    assert "--force" not in text
    for option in options:
        assert option.opts == ["--overwrite", "--force"]
        assert "--overwrite" in text
