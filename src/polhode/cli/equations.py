"""`polhode equations`: the equations of motion of a model, to read."""

from pathlib import Path

import click

from polhode.cli.completion import models
from polhode.cli.options import loaded, loading, overwriting
from polhode.errors import InputError, message


@click.command(short_help="Write the equations of motion of a model.")
@click.argument("source", metavar="MODEL", shell_complete=models)
@click.option("--latex", "kind", flag_value="latex", help="Print a LaTeX document.")
@click.option("--markdown", "kind", flag_value="markdown", default=True, help="Print a Markdown page.  [default]")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Write FILE.md, FILE.tex or FILE.pdf.")
@overwriting("Overwrite an existing file.", "force")
@click.option("--factored", is_flag=True, help="Give the recursion, step by step, even for small machines.")
@click.option(
    "--keep",
    "kept",
    multiple=True,
    metavar="WORD",
    help="What stays a letter: masses, inertias, lengths, gravity, joints, none, or a path; may be repeated.  [default: all that is not zero]",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="PATH=LETTER",
    help="A letter or formula of your own: bodies.rod.mass=m, bodies.rod.inertia.0=m*l^2/12, hinge=phi; may be repeated.",
)
@click.option(
    "--form",
    "forms",
    multiple=True,
    metavar="FORM",
    help="Of one body: a form of `polhode compare`, as sherif-29; may be repeated.",
)
@click.option(
    "--subscripts", type=click.Choice(["numbers", "names"]), default="numbers", show_default=True, help="Of letters."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=None, help="Operations up to which equations are written out."
)
@click.option("--set", "sets", multiple=True, metavar="PATH=VALUE", help="Another number: bodies.arm.mass=2.")
@loading
def equations(
    source: str,
    kind: str,
    out: Path | None,
    force: bool,
    factored: bool,
    kept: tuple[str, ...],
    names: tuple[str, ...],
    forms: tuple[str, ...],
    subscripts: str,
    limit: int | None,
    sets: tuple[str, ...],
    base: str,
    mimic: str,
    packages: tuple[str, ...],
) -> None:
    """Equations of motion of MODEL: metric tensor, Christoffel symbols, Lagrange's and Newton–Euler's form, constraints.

    A machine that is too large to read gets its recursion instead, with named intermediate quantities.
    """
    from polhode.equations_of_motion.equations import equations as derived

    if out is not None and out.suffix not in (".md", ".tex", ".pdf"):
        raise InputError(message("equations, --out", "unknown kind of file", repr(out.name), ".md, .tex or .pdf"))
    if out is not None and out.exists() and not force:
        raise InputError(
            message("equations, --out", "there already", repr(str(out)), "a new file", "--overwrite replaces it.")
        )
    model = loaded(source, sets, base=base, mimic=mimic, packages=packages)
    symbolic = tuple(word for word in kept if word != "none") if kept else None
    options = {"limit": limit} if limit is not None else {}
    found = derived(
        model, symbolic, _named(names), factored=factored, forms=forms or None, subscripts=subscripts, **options
    )
    if not found.readable and not factored:
        click.echo(
            f"note: written out these equations take {found.operations:,} operations, too many to read "
            f"(--limit {found.limit}); the recursion, {found.newton_euler.operations} operations, is given instead.",
            err=True,
        )
    if out is not None:
        click.echo(found.save(out))
    else:
        click.echo(found.latex() if kind == "latex" else found.markdown(), nl=False)


def _named(names: tuple[str, ...]) -> dict[str, str]:
    """PATH=LETTER each."""
    found = {}
    for text in names:
        path, equals, letter = (part.strip() for part in text.partition("="))
        if not (path and equals and letter):
            expected = "PATH=LETTER, as in bodies.rod.mass=m"
            raise InputError(message("equations, --name", "not a name", repr(text), expected))
        found[path] = letter
    return found
