"""Manual pages, and exit codes in the help."""

import re
import shutil
import subprocess

import click
import pytest
from click.testing import CliRunner

from polhode.cli import main
from polhode.cli.manual import manual_pages
from polhode.cli.run import BAD_INPUT, CHECKED, FAILED, INTERRUPTED

PAGES = manual_pages(main)


def plain(text):
    return text.replace(r"\-", "-")


def test_a_page_for_every_command_with_all_its_options():
    assert set(PAGES) == {"polhode.1", *(f"polhode-{name}.1" for name in main.commands)}
    for name, command in main.commands.items():
        text = plain(PAGES[f"polhode-{name}.1"])
        for option in (x for x in command.params if isinstance(x, click.Option)):
            assert option.opts[0] in text, (name, option.opts)
        assert "{kinds}" not in text


def test_the_page_of_the_program_lists_the_commands_and_the_exit_codes():
    text = plain(PAGES["polhode.1"])
    for name in main.commands:
        assert re.search(rf"^ *{name} ", text, re.M), name


def test_exit_codes_in_the_help_are_those_of_the_program():
    help_text = CliRunner().invoke(main, ["--help"]).stdout
    for code in (0, 1, BAD_INPUT, FAILED, INTERRUPTED):
        assert re.search(rf"^ +{code} +\w", help_text, re.M), code
    listed = ", ".join(f"{code} {verdict}" for verdict, code in CHECKED.items())
    assert listed in help_text
    assert listed in plain(PAGES["polhode-run.1"])


def test_no_line_of_a_help_text_is_taken_for_a_command_of_roff():
    known = (".TH ", ".SH ", ".B ", ".BR ", ".nf", ".fi")
    for text in PAGES.values():
        for line in text.splitlines():
            assert not line.startswith((".", "'")) or line.startswith(known), line


@pytest.mark.parametrize("page", ["polhode.1", "polhode-run.1"])
def test_pages_are_written_and_not_overwritten(page, tmp_path):
    asked = ["manual", "--out", str(tmp_path / "man1")]
    assert CliRunner().invoke(main, asked).exit_code == 0
    assert (tmp_path / "man1" / page).read_text(encoding="utf-8") == PAGES[page]
    assert CliRunner().invoke(main, asked).exit_code == 2
    assert CliRunner().invoke(main, [*asked, "--overwrite"]).exit_code == 0


def test_groff_has_nothing_to_complain_of():
    program = shutil.which("groff")
    for text in PAGES.values() if program else ():
        ran = subprocess.run(
            [str(program), "-man", "-ww", "-Tutf8", "-Kutf8"], check=False, input=text.encode(), capture_output=True
        )
        assert ran.returncode == 0
        assert b"macro" not in ran.stderr, ran.stderr
