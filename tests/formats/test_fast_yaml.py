"""The fast reader of YAML and the whole one: the same values, the same lines, the same faults."""

import random
import re
from importlib.resources import files

import pytest
from hypothesis import given, settings, strategies as st

import polhode as ph
from polhode.formats import document, fast_yaml
from polhode.formats.document import read_document, read_whole
from polhode.formats.library import chain
from polhode.formats.yaml import model_from_yaml, to_yaml
from stopwatch import Stopwatch

BUNDLED = {file.name: file.read_text(encoding="utf-8") for file in (files("polhode.formats") / "models").iterdir()}
ODD = """\
---
# a comment
name: odd # another
"quoted key": 'single, with # and: colons'
empty:
nothing: ~
list:
- 1
- -2.5e-3

- - [1, 2.0, .5, +1, 007, 123456789012345678901]
  - 0
- key: 1
  other: [a, "b", {c: d, e: [1,
     2,   # why
     3]}]
-
- 1
- 2
flow: {a: 1, b: [
  ], c: {}, 'd': "e f",
}
deep:
    deeper:
        - 1e3
        - 2
        - x
wide: [1,
   2, 3,

   4]
under:
  [1, 2]
last: 1/12 - pi
"""
TEXTS = {**BUNDLED, "odd.yaml": ODD, "odd-crlf.yaml": ODD.replace("\n", "\r\n"), "chain.yaml": to_yaml(chain(3))}
PIECES = [*"[]{}:-,#'\"|>%@`~\\\0\t\r\x85\u2028\ufeffé ", ": ", "- ", " #", "\n", "\n  ", "\n    ", "  ", "&a ", "*a",
          "!t ", "? ", "...", "---\n", "<<: 1", "1", "1.", ".5", "1e9", "0x1", "\r\n", "null", "true", "a: 1\n",
          "- 1\n", "  - 2\n"]  # fmt: skip


def outcome(read, text):
    """The values with their types and every line, or the message."""
    try:
        found = read(text, "x.yaml")
    except ph.ModelError as error:
        return str(error)
    lines, waiting = {}, [((), found.data)]
    while waiting:
        path, value = waiting.pop()
        lines[path] = found.find(path)
        assert lines[path][1]
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        waiting += [((*path, key), x) for key, x in pairs]
    return repr(found.data), lines


def same(text):
    """Whether the fast reader took a text, with all it finds equal to what the whole reader finds."""
    fast, whole = outcome(read_document, text), outcome(read_whole, text)
    if isinstance(fast, str) and isinstance(whole, str) and fast != whole:  # the whole one reads a little ahead
        assert "a key twice" in fast, text
        assert "not YAML" in whole, text
    else:
        assert fast == whole, text
    try:
        plain = text.replace("\r\n", "\n") + "\n"
        fast_yaml.read(plain, document.scalar, fast_yaml.Limit(50, 500_000, lambda *_: fast_yaml.Beyond()))
    except fast_yaml.Beyond:
        return False
    return True


def mutated(text, chance):
    """A text with a few pieces put in, cut out, or moved."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        size = chance.choice([0, 0, 1, 2, 5, 20])
        put = chance.choice([chance.choice(PIECES), "", text[at : at + chance.randint(1, 40)]])
        text = text[:at] + put + text[at + size :]
    return text


@pytest.mark.parametrize("name", TEXTS)
def test_every_bundled_model_is_read_fast_and_the_same(name):
    assert same(TEXTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_mutated_files_are_read_the_same(name):
    chance = random.Random(name)
    taken = sum(same(mutated(TEXTS[name][:1500], chance)) for _ in range(8))
    assert taken <= 8


@pytest.mark.long
def test_many_mutated_files_are_read_the_same():
    chance = random.Random(7)
    names = list(TEXTS)
    taken = sum(same(mutated(TEXTS[chance.choice(names)][:1200], chance)) for _ in range(6000))
    assert taken > 1000


@settings(max_examples=150)
@given(st.text(alphabet="ab:-[]{}'\"#, \n01.e", max_size=50))
def test_any_text_is_read_the_same(text):
    same(text)


def test_limits_are_those_of_the_whole_reader(monkeypatch):
    monkeypatch.setattr(document, "MOST", 20)
    monkeypatch.setattr(document, "DEEPEST", 4)
    row = ", ".join(map(str, range(18)))
    for text in (
        f"a:\n  [{row}]",
        f"a:\n  [{row}, 1]".replace("5,", "5,\n"),
        "a:\n" + "- 1\n" * 25,
        "a: {b: {c: [[1]]}}",
        "a:\n b:\n  c:\n   - - 1",
        "\n".join(f"k{k}: 1" for k in range(30)),
        "a: [" + "x, " * 30 + "]",
    ):
        assert outcome(read_document, text) == outcome(read_whole, text)


def test_what_needs_the_whole_reader_is_bounded(monkeypatch):
    """The whole reader takes ten times as long: what it may read ends sooner, and the message says where it began."""
    monkeypatch.setattr(document, "WHOLE_MOST", 50)
    many = "a:\n" + "- 1\n" * 200
    assert len(read_document(many, "x.yaml").data["a"]) == 200
    with pytest.raises(ph.ModelError, match=r"x.yaml:20[12]: too much that is not plain YAML[^\0]*no anchors"):
        read_document(many + "- &b 1\n", "x.yaml")
    monkeypatch.setattr(document, "WHOLE_LARGEST", 100)
    with pytest.raises(ph.ModelError, match=r"x.yaml:1: too much that is not plain YAML"):
        read_document("a: &b 1\n" + "# x\n" * 100, "x.yaml")
    monkeypatch.setattr(document, "WHOLE_LARGEST", 10**7)
    with pytest.raises(ph.ModelError, match=r"x.yaml:2: a tag"):
        read_document("a: 1\nb: !" + "x" * 10**6, "x.yaml")


@pytest.mark.long
def test_a_hundred_thousand_values_take_less_than_five_microseconds_each():
    model = chain(4000)
    text = to_yaml(model)
    values = len(re.findall(r"[\[{,:] ", text)) + text.count("[")
    best = 1e9
    for _ in range(3):
        with Stopwatch() as watch:
            found = model_from_yaml(text, "chain.yaml")
        best = min(best, watch.seconds)
    assert found == model
    assert values > 90_000
    assert best / values < 5e-6  # the whole reader takes 40 µs
