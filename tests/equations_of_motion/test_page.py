"""Pages that can be handed out: complete, escaped, typeset, and clear about what is wrong."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.equations_of_motion.abbreviate import abbreviated
from polhode.equations_of_motion.letters import escaped, symbol_latex
from polhode.equations_of_motion.mathematics import bracketed, broken, latex, visible, with_factor

ROOT = Path(__file__).resolve().parents[2]
ODD = r"50%_load\input{x}$^~#&{}<>|é中θ"


def run(*args):
    return CliRunner().invoke(main, ["equations", *args])


def odd_model():
    return ph.Model(
        f"model {ODD}",
        bodies=[ph.Body(f"body {ODD}", ph.Parameter(f"m {ODD}", 1.0), (0, 0.1, 0), center=(0, 0, -1), physical=False)],
        joints=[ph.Joint(f"joint {ODD}", "revolute", "world", f"body {ODD}", axis=(0, 1, 0))],
    )


@pytest.fixture
def odd():
    with pytest.warns(ph.PolhodeWarning):
        return odd_model()


def test_a_page_has_every_part():
    text = ph.equations(ph.load("double-pendulum")).markdown()
    parts = [
        "Notation",
        "Equations of motion",
        "Metric tensor",
        "Christoffel symbols",
        "Lagrange’s form",
        "Newton–Euler form",
    ]
    places = [text.index(f"## {part}") for part in parts]
    assert places == sorted(places)
    for word in (
        "Zoric (109)",
        "docs/equations.md",
        "right-handed",
        "SI units",
        "rad/s",
        "N m",
        "9.81 m/s²",
        "'hinge'",
    ):
        assert word in text
    assert r"M_{11} &= (m_{1} + m_{2}) l_{1}^{2} + m_{2} l_{2} (l_{2} + 2 l_{1} \cos {\theta_{2}})" in text
    assert r"\Gamma_{11,2} &= m_{2} l_{1} l_{2} \sin {\theta_{2}}" in text


def _without_version(text):
    return re.sub(r"(?<=^Derived by Polhode )\S+", "…", text, flags=re.M)


def test_the_page_in_the_documents_is_what_is_printed_now():
    kept = (ROOT / "docs" / "equations-double-pendulum.md").read_text(encoding="utf-8")
    made = ph.equations(ph.load("double-pendulum")).markdown()
    assert _without_version(made) == _without_version(kept), "polhode equations double-pendulum --out … --overwrite"


def test_a_page_of_constraints_says_where_their_forces_stand():
    text = ph.equations(ph.load("chaplygin-sleigh")).markdown()
    assert r"M\dot v + \dots = \tau + A^{T}\lambda" in text
    assert "Udwadia (3)–(5)" in text
    assert "blade.across" in text


def test_a_page_of_forms_says_where_the_multiplier_stands():
    text = ph.equations(ph.load("heavy-top"), forms=["sherif-29"]).markdown()
    assert "… + p λ = Q" in text
    assert "Sherif (29), (30)" in text
    assert "= 4T" in text
    assert r"\lambda &= 2 [I_{y} \omega_{y}^{2} + (I_{x} + m l^{2}) (\omega_{x}^{2} + \omega_{z}^{2})]" in text


def test_letters_without_influence_are_told():
    text = ph.equations(ph.load("cart-pole")).markdown()
    told = re.search(r"Without influence on the motion: (.*)", text).group(1)
    assert "moment of body 'cart' about x" in told
    assert "mass of body" not in told


def test_odd_names_command_nothing(odd):
    text = ph.equations(odd, subscripts="names").latex()
    inside = text.split(r"\begin{document}")[1]
    assert r"\input" not in inside.replace(r"\textbackslash{}input", "")
    for c in ("%", "#", "~", "中"):
        assert c not in re.sub(r"\\[%#]", "", inside)
    assert "[U+4E2D]" in inside
    assert inside.count("{") - inside.count(r"\{") == inside.count("}") - inside.count(r"\}")
    eq = ph.equations(odd, subscripts="names")
    assert eq.evaluate("newton_euler", [0.5], [0.0], [0.0]) == pytest.approx(9.81 * np.sin(0.5))
    assert eq.evaluate("bias", [0.5], [0.0]) == pytest.approx(9.81 * np.sin(0.5))
    page = ph.equations(odd).markdown()
    assert r"50%\_load\\input\{x\}\$" in page


@pytest.mark.parametrize(
    "text",
    ["\\", "a_b", "100%", "$x$", "{", "}}", "^", "~", "é", "θ", "ﬁ", "中", "\n", "\x00", "$$\\input{/etc/passwd}"],
)
def test_escaped_text_is_text_alone(text):
    found = escaped(text)
    bare = re.sub(
        r"\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar|ensuremath)\b", "", found
    )
    bare = re.sub(r"\\[%_${}&#a-z]+", "", bare)
    assert "\\" not in bare
    assert not re.search(r"(?<!\\)[%$#&_~^]", found)


def test_the_code_of_the_document_gives_what_it_says():
    text = (ROOT / "docs" / "equations-of-a-model.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    names = {}
    exec(code, names)
    told = re.findall(r"^(eq\.\w+\[.*?\])\s+# (.*)$", code, re.M)
    assert len(told) == 3
    for formula, said in told:
        assert str(eval(formula, names)) == said
    for name in re.findall(r"`eq\.(\w+)`", text):
        assert hasattr(ph.Equations, name) or name in vars(names["eq"]), name


@pytest.mark.parametrize("letter", "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ")
def test_greek_letters_have_their_commands(letter):
    assert re.fullmatch(r"\\ensuremath\{\\[A-Za-z]+\}", escaped(letter))
    assert re.fullmatch(r"\\[A-Za-z]+_\{1\}", symbol_latex(f"{letter}_1"))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("theta_1", r"\theta_{1}"),
        ("m1", "m_{1}"),
        ("I_2x", "I_{2x}"),
        ("l", "l"),
        ("θ", r"\theta"),
        ("l_upper arm", r"l_{\text{upper arm}}"),
        ("mass", r"\mathrm{mass}"),
        ("a%b", r"\text{a\%b}"),
    ],
)
def test_names_become_letters(name, written):
    assert symbol_latex(name) == written


def test_rates_carry_their_dots():
    assert symbol_latex("theta_1", 1) == r"\dot{\theta}_{1}"
    assert symbol_latex("x", 2) == r"\ddot{x}"


def test_factors_stand_in_the_order_of_textbooks():
    m, g, l, x = sympy.symbols("m g l x", real=True)
    names = {m: "m", g: "g", l: "l", x: r"\dot{x}"}
    assert latex(l * g * m * sympy.sin(l) * x**2, names) == r"m g l \dot{x}^{2} \sin {l}"
    assert latex(1 - 2 * l, names) == "1 - 2 l"
    assert latex(sympy.Rational(981, 100) * l, names) == "9.81 l"
    assert latex((m + g) / 2, names) == r"\tfrac{1}{2} (m + g)" or "tfrac" in latex(l * (m + g) / 2, names)


def test_a_sum_of_minuses_has_one_in_front():
    a, b = sympy.symbols("a b", real=True)
    assert with_factor(-a - b, "x", {}) == r"-(a + b)\,x"
    assert with_factor(a - b, "x", {}) == r"(a - b)\,x"


def test_an_acceleration_stands_before_a_cosine():
    a, b = sympy.symbols("a b", real=True)
    assert with_factor(a * sympy.cos(b), r"\ddot{b}", {}) == r"a \ddot{b} \cos {b}"
    assert with_factor(-sympy.sin(b), r"\lambda", {}) == r"- \lambda \sin {b}"


def test_what_is_too_long_for_a_root_gets_a_name():
    x = sympy.symbols("x_0:12", real=True)
    inside = sum(a**2 for a in x)
    names = {}
    (pair,), (short,) = abbreviated([sympy.sqrt(inside) + 1], names)
    assert pair == (sympy.Symbol("kappa_1", real=True), inside)
    assert short == sympy.sqrt(pair[0]) + 1
    assert names == {pair[0]: r"\kappa_{1}"}
    assert abbreviated([sympy.sqrt(x[0] + x[1])], {}) == ([], [sympy.sqrt(x[0] + x[1])])


def test_long_formulas_are_cut_into_lines_that_fit():
    text = " + ".join(f"m_{{{k}}} (l_{{{k}}} + x)" for k in range(40))
    lines = broken(text, 60)
    assert " ".join(line.strip() for line in lines).replace("  ", " ") == text
    assert max(map(visible, lines)) <= 62
    assert all(line.count("(") == line.count(")") for line in lines)


def test_parentheses_around_parentheses_are_brackets():
    assert bracketed("(a + (b)) (c)") == "[a + (b)] (c)"
    assert bracketed("((a) (b (c)))") == "((a) [b (c)])"


LATEX = shutil.which("pdflatex") or shutil.which("lualatex") or shutil.which("xelatex")
needs_latex = pytest.mark.skipif(not LATEX, reason="no LaTeX is installed")


@needs_latex
@pytest.mark.parametrize("name", ["double-pendulum", "heavy-top", "four-bar"])
def test_pages_are_typeset(tmp_path, name):
    options = {"forms": ["sherif-29", "udwadia-29"]} if name == "heavy-top" else {}
    path = ph.equations(ph.load(name), **options).save(tmp_path / "page.pdf")
    assert path.read_bytes()[:5] == b"%PDF-"
    assert list(tmp_path.iterdir()) == [path]


@needs_latex
def test_odd_names_are_typeset(tmp_path, odd):
    assert ph.equations(odd, subscripts="names").save(tmp_path / "page.pdf").read_bytes()[:5] == b"%PDF-"


@needs_latex
def test_what_latex_refuses_is_shown(tmp_path):
    from polhode.equations_of_motion.pdf import write_pdf

    with pytest.raises(ph.PolhodeError, match="Undefined control sequence"):
        write_pdf(r"\documentclass{article}\begin{document}\nonsense\end{document}", tmp_path / "page.pdf")


def test_latex_may_run_nothing(tmp_path, monkeypatch):
    seen = {}

    def record(command, **options):
        seen.update(options, command=command)
        return subprocess.CompletedProcess(command, 1, b"! stopped", b"")

    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("subprocess.run", record)
    with pytest.raises(ph.PolhodeError, match="refused"):
        ph.equations(ph.load("pendulum")).save(tmp_path / "page.pdf")
    assert "-no-shell-escape" in seen["command"]
    assert seen["env"]["openin_any"] == seen["env"]["openout_any"] == "p"
    assert seen["timeout"] > 0


def test_without_latex_the_message_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = run("pendulum", "--out", str(tmp_path / "page.pdf"))
    assert found.exit_code == 2
    assert "texlive-latex-base" in found.output
    assert ".tex or .md" in found.output


def test_without_sympy_the_message_names_what_to_install():
    code = "import sys; sys.modules['sympy'] = None; from polhode.cli import main; main(['equations', 'pendulum'])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "pip install 'polhode[equations]'" in found.stderr


def test_the_command_prints_markdown_and_latex(tmp_path):
    assert run("pendulum").output.startswith("# Equations of motion of “pendulum”")
    assert run("pendulum", "--latex").output.startswith(r"\documentclass")
    path = tmp_path / "page.md"
    assert run("pendulum", "--out", str(path)).exit_code == 0
    assert path.read_text(encoding="utf-8").startswith("# Equations")
    again = run("pendulum", "--out", str(path))
    assert again.exit_code == 2
    assert "--overwrite" in again.output
    assert run("pendulum", "--out", str(path), "--force").exit_code == 0


def test_the_command_says_what_is_too_large():
    found = run("puma-560")
    assert found.exit_code == 0
    assert "too many to read" in found.stderr
    assert "the recursion" in found.stderr


def test_letters_of_ones_own_make_the_equations_of_a_rod():
    model = ph.Model(
        "rod",
        bodies=[ph.Body("rod", 2.0, (0.5, 0.5, 0), center=(0, 0, -0.75))],
        joints=[ph.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0))],
    )
    whole = {"bodies.rod.center.2": "-L/2", "bodies.rod.inertia.1": "m*L^2/9", "hinge": "phi"}
    eq = ph.equations(model, names=whole)
    m, L, phi, g = sympy.symbols("m L phi g", real=True)
    assert eq.values[L] == pytest.approx(1.5)
    assert sympy.expand(eq.metric[0] - sympy.Rational(13, 36) * m * L**2) == 0
    assert sympy.expand(eq.gravity[0] - m * g * L * sympy.sin(phi) / 2) == 0


def test_parameters_keep_their_names_and_are_shared():
    m = ph.Parameter("M", 2.0)
    model = ph.Model(
        "pair",
        bodies=[ph.Body("a", m, (0, 0, 0), center=(0, 0, -1)), ph.Body("b", m, (0, 0, 0), center=(0, 0, -1))],
        joints=[
            ph.Joint("one", "revolute", "world", "a", axis=(0, 1, 0)),
            ph.Joint("two", "revolute", "world", "b", axis=(0, 1, 0)),
        ],
    )
    eq = ph.equations(model)
    assert sympy.Symbol("M", real=True) in eq.metric[0, 0].free_symbols & eq.metric[1, 1].free_symbols
    assert eq.metric[0, 1] == 0


BAD = [
    ({"symbolic": ["mases"]}, "Did you mean 'masses'"),
    ({"names": {"bodies.upper.mas": "m"}}, "Did you mean 'bodies.upper.mass'"),
    ({"names": {"bodies.upper.mass": ""}}, "not a formula"),
    ({"names": {"bodies.upper.mass": "f(x)"}}, "not a formula"),
    ({"names": {"bodies.upper.mass": "a*b"}}, "letters without a value"),
    ({"names": {"bodies.upper.mass": "m", "gravity.2": "m"}}, "one letter, two values"),
    ({"names": {"hinge": 3}}, "not a name"),
    ({"names": {"hinge": "theta_2"}}, "one name for two coordinates"),
    ({"subscripts": "both"}, "'numbers' or 'names'"),
    ({"limit": 0}, "not a count"),
    ({"forms": ["sherif-29"]}, "no single body"),
]


@pytest.mark.parametrize(("options", "told"), BAD)
def test_bad_input_is_told(options, told):
    with pytest.raises(ph.InputError) as error:
        ph.equations(ph.load("double-pendulum"), **options)
    assert told in str(error.value)


def test_bad_calls_are_told(tmp_path):
    eq = ph.equations(ph.load("pendulum"))
    with pytest.raises(ph.InputError, match="no such quantity"):
        eq.evaluate("mass", [0.0])
    with pytest.raises(ph.InputError, match="wrong shape"):
        eq.evaluate("metric", [0.0, 1.0])
    with pytest.raises(ph.InputError, match="unknown kind of file"):
        eq.save(tmp_path / "page.docx")
    with pytest.raises(ph.InputError, match="not a model"):
        ph.equations("pendulum")
    fixed = ph.Model("still", bodies=[ph.Body("b", 1.0, (1, 1, 1))], joints=[ph.Joint("j", "fixed", "world", "b")])
    with pytest.raises(ph.InputError, match="nothing moves"):
        ph.equations(fixed)
    with pytest.raises(ph.InputError, match="has no constraints"):
        _ = eq.constraint_steps
    assert run("pendulum", "--name", "nonsense").exit_code == 2
    assert run("pendulum", "--out", "page.docx").exit_code == 2
