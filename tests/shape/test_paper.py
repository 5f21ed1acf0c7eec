"""The paper cites what its bibliography has, shows figures that exist, and the citation file names the five papers."""

import re
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
PAPER = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
ENTRIES = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")


def test_the_paper_cites_every_entry_of_its_bibliography_and_no_other():
    text = PAPER.split("---", 2)[2]
    assert set(re.findall(r"@(\w+)", text)) == set(re.findall(r"^@\w+\{(\w+),", ENTRIES, re.M))


def test_the_figures_of_the_paper_exist_and_are_made_by_its_script():
    script = (ROOT / "paper/figures.py").read_text(encoding="utf-8")
    figures = re.findall(r"\]\((\w+\.png)\)", PAPER)
    assert len(figures) == 3
    for name in figures:
        assert (ROOT / "paper" / name).exists()
        assert f'HERE / "{name}"' in script


def test_the_citation_file_has_the_papers_of_the_index():
    found = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert [author["name"] for author in found["authors"]] == ["The Polhode developers"]
    titles = {re.sub(r"\W+", " ", entry["title"]).lower() for entry in found["references"]}
    index = (ROOT / "docs/references.bib").read_text(encoding="utf-8")
    for key in ("Sherif", "Udwadia", "Schwab-Meijaard", "Schwab", "Zoric"):
        title = re.search(rf"^@\w+\{{{key},.*?title = \{{(.*?)\}},\n", index, re.M | re.S).group(1)
        assert re.sub(r"\W+", " ", title).lower() in titles
