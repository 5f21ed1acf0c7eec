"""What notebooks show of models, systems and linear equations: tables with nothing in them that runs."""

from html.parser import HTMLParser

import pytest

import polhode as ph

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def model():
    body = ph.Body(HOSTILE, 1.0, (1, 1, 1), center=(0, 0, -1))
    joint = ph.Joint(f"{HOSTILE} joint", "revolute", "world", HOSTILE, axis=(0, 1, 0), upper=1.0)
    spring = ph.Spring(HOSTILE, "world", HOSTILE, point_a=(0, 0, 1), stiffness=1.0)
    rod = ph.Constraint(HOSTILE, "distance", body_b=HOSTILE, position_a=(0, 0, 1), length=1.0)
    return ph.Model(
        HOSTILE, bodies=[body], joints=[joint], forces=[spring], constraints=[rod], configurations={HOSTILE: (1,)}
    )


def test_a_model_shows_its_parts_and_runs_nothing(model):
    html = model._repr_html_()
    assert Tags(html).seen == {"p", "b", "table", "caption", "tr", "th", "td"}
    for part in ("joints", "bodies", "forces", "constraints", "configurations", "-inf to 1"):
        assert part in html
    assert html.count("&lt;script&gt;") > 5


def test_a_system_shows_which_numbers_are_whose(model):
    html = ph.compile(model, target="python")._repr_html_()
    assert "script" not in Tags(html).seen
    assert "rad; rad/s; N m" in html


def test_linear_equations_show_their_modes():
    small = ph.linearize(ph.load("pendulum"), q=[0.0])
    assert repr(small) == "<Linear of 'pendulum': 2 states, 1 inputs, 2 outputs, steady>"
    assert "eigenvalue, 1/s" in small._repr_html_()
    Tags(small._repr_html_())


def test_long_models_are_cut():
    chain = ph.load("chain-100")
    assert "… 40 more" in chain._repr_html_()
    assert len(repr(chain)) < 100
