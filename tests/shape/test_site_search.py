"""The search of the site: what docs/_static/search.js adds to Sphinx's own, in a browser."""

from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "_static" / "search.js"

PAGES = """
const pages = {"howto/controller": "pole cart rate", "models": "cart pole", "coming-from/drake": "LQR",
               "changelog": "cart pole", "forces": "spring"};
const item = (name, score) => [name, name, "", null, score, name + ".md", "text"];
var Scorer = {};
const Search = {
  _index: {docnames: Object.keys(pages)}, output: document.getElementById("results"),
  performTermsSearch: (words, left) => Object.keys(pages)
    .filter((name) => [...words].every((word) => pages[name].split(" ").includes(word))).map((name) => item(name, 5)),
  _performSearch: (query, words, left) => Search.performTermsSearch(words, left)
    .map((one) => { const copy = [...one]; copy[4] = Scorer.score(one); return copy; }).sort((a, b) => a[4] - b[4]),
};
"""


@pytest.fixture(scope="module")
def found(browser):
    """The names of the pages that a query finds, best first, and the notes that are shown."""
    page = browser.new_page()
    text = SCRIPT.read_text(encoding="utf-8")
    page.set_content(f"<div><ul id=results></ul></div><script>{PAGES}</script><script>{text}</script>")

    def search(*words):
        page.evaluate("document.querySelectorAll('p').forEach((note) => note.remove())")
        names = page.evaluate(
            "(words) => Search._performSearch(words.join(' '), new Set(words), new Set()).map((one) => one[0])",
            list(words),
        )
        return names[::-1], page.locator("p").all_inner_texts()

    yield search
    page.close()


def test_pages_with_all_words_are_found_as_by_sphinx_and_answers_come_before_lists_of_changes(found):
    names, notes = found("cart", "pole")
    assert names == ["howto/controller", "models", "changelog"]
    assert notes == []


def test_where_no_page_has_all_words_those_with_most_are_shown_and_the_page_says_so(found):
    names, (note,) = found("LQR", "cart", "pole")
    assert set(names) == {"howto/controller", "models", "changelog", "coming-from/drake"}
    assert names.index("howto/controller") < names.index("changelog")
    assert "all of these words" in note


def test_a_rare_word_outweighs_a_common_one(found):
    names, _ = found("LQR", "cart")
    assert names[0] == "coming-from/drake"


def test_a_word_that_no_page_has_is_not_found(found):
    assert found("nonsense") == ([], [])
    assert found("nonsense", "gibberish") == ([], [])
