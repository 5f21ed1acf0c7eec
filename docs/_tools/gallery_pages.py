"""The gallery of examples: the scripts of examples/ as sphinx-gallery takes them, their figures, tags, and films."""

import builtins
import json
import re
import shutil
from pathlib import Path
from typing import Any

import polhode as ph
from docstring_markup import markup

FOLDER = "examples"
"""Of the gallery in the site."""

TAGS = {
    "one body": r"ph\.acceleration|ph\.forms|ph\.exact\.|free-body|heavy-top|t-handle",
    "runs": r"ph\.simulate|ph\.record|ph\.simulator",
    "studies": r"ph\.sweep|ph\.Study",
    "stability": r"ph\.linearize|ph\.steady_motion|ph\.equilibrium|ph\.buckling",
    "constraints": r"constraints=\[|ph\.Constraint|four-bar|bricard|rolling-|stewart",
    "control": r"ph\.PD|ph\.ComputedTorque|ph\.Sampled|inverse_dynamics",
    "force elements": r"forces=\[|ph\.(?:Spring|Bushing|JointFriction|ImpactStop|Backlash|Thrust|BodyForce)",
    "events": r"ph\.Event|method=\"events\"|ImpactStop",
    "robots": r"arm-[67]|puma|ph\.inverse_kinematics|ph\.identify|\.urdf",
    "spacecraft": r"spacecraft|thrust|satellite|rocket",
    "vehicles": r"bicycle|glider|wheel",
    "beams": r"ph\.Beam|beam",
    "equations": r"ph\.equations",
    "gradients": r"ph\.gradient|sensitivities=",
    "films": r"ph\.animate",
}
"""Tags, and what a script has that gets one: they follow the scripts."""

FILMS = {
    "10_double_pendulum_forgets": ("first", "model"),
    "11_flips_of_a_t_handle": ("run", "model"),
    "18_poinsots_ellipsoid_rolls": ("run", "body"),
    "21_four_bars_pass_their_line": ("run", "model"),
    "22_a_coin_stays_up_by_rolling": ("run", "disk"),
    "23_who_carries_the_platform": ("run", "model"),
    "31_a_pendulum_rattles_a_wheel": ("run", "model"),
    "32_a_cable_goes_slack": ("run", "model"),
    "33_a_chain_and_its_modes": ("run", "chain"),
    "45_a_cardan_shaft_runs_unevenly": ("run", "line"),
    "46_a_falling_chain_outruns_a_stone": ("run", "chain"),
    "49_a_top_falls_asleep": ("run", "top"),
    "53_a_ladder_leaves_its_wall": ("run", "model"),
    "56_a_skater_pulls_in_her_arms": ("run", "skater"),
}
"""Examples whose point is the motion: the run of which the build makes a film, and its model, as the script calls them."""
LARGEST_FILM = 200_000
"""Bytes."""


def film(run: Any, model: Any, path: Path) -> None:
    """Writes a film of a run that loops in five seconds, with fewer pictures a second where it would be too large."""
    for rate in (15, 12, 10, 8):
        ph.animate(run, path, model=model, seconds=5, rate=rate, size=(360, 270), vectors=False, overwrite=True)
        if path.stat().st_size <= LARGEST_FILM:
            return
    raise ValueError(f"{path.name}: a film of {path.stat().st_size} bytes; at most {LARGEST_FILM} are taken")


def tags(text: str) -> list[str]:
    """The tags of a script."""
    return [tag for tag, pattern in TAGS.items() if re.search(pattern, text)]


def staged(text: str) -> str:
    """A script with its docstring as sphinx-gallery reads it: title, underlined, then reStructuredText."""
    docstring = re.match(r'"""(.*?)"""\n', text, re.S)
    if docstring is None:
        return text
    title, _, body = docstring[1].partition("\n")
    title = title.strip().rstrip(".").replace("*", r"\*").replace("|", r"\|").replace("`", "")
    marked = "\n".join(markup(body.strip("\n").split("\n"))).replace("\\", "\\\\")
    line = ", ".join(tags(text))
    note = f".. rst-class:: tags\n\n{line}\n" if line else ""
    rule = "=" * (len(title) + 2)
    return f'"""\n{title}\n{rule}\n\n{marked}\n{note}"""\n{text[docstring.end() :]}'


def stage(examples: Path, folder: Path, chosen: str = "") -> None:
    """Writes the scripts into a folder of the build; those that did not change stay as they are, with what they made."""
    folder.mkdir(parents=True, exist_ok=True)
    names = set()
    for path in sorted(examples.glob("[0-9]*.py")):
        if re.search(chosen, path.name):
            names.add(path.name)
            write(folder / path.name, staged(path.read_text(encoding="utf-8")))
    for path in folder.glob("*.py"):
        if path.name not in names:
            path.unlink()
    write(folder / "GALLERY_HEADER.rst", HEADER)
    for path in examples.iterdir():  # what scripts read beside them
        if path.suffix not in {".py", ""} and path.is_file():
            shutil.copyfile(path, folder / path.name)


def write_tags(examples: Path, target: Path) -> None:
    """Writes tags and words of all scripts, for the filter on the gallery's page."""
    found = {}
    for path in sorted(examples.glob("[0-9]*.py")):
        text = path.read_text(encoding="utf-8")
        words = {
            *re.findall(r"\w{4,}", text.split('"""')[1].lower()),
            *(name.lower() for name in re.findall(r"ph\.[\w.]+", text)),
        }
        found[path.stem] = {"tags": tags(text), "words": " ".join(sorted(words)), "film": path.stem in FILMS}
    write(target, f"window.POLHODE_EXAMPLES = {json.dumps(found, ensure_ascii=False)};\n")


HEADER = """Gallery
=======

Each example is one idea in at most 80 lines: a phenomenon, a model, a run, one figure, and an ``assert`` of what it claims. All of them ran
when this site was built; figures and printed lines are what they made. Where motion is the point there is a small film, on the card too.
Run one with ``python examples/11_flips_of_a_t_handle.py``.

.. raw:: html

   <div id="gallery-filter" hidden></div>

"""


def write(path: Path, text: str) -> None:
    """Writes a file, unless it says the same already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Figures:
    """The scraper: after the last block of a script, the figure that it saved as out/NAME.png, and its film where there is one."""

    def __repr__(self) -> str:
        return "Figures"

    def __call__(self, block: Any, block_vars: dict, gallery_conf: dict, **_: Any) -> str:
        """reStructuredText that shows what was made since the last block."""
        script = Path(block_vars["src_file"])
        made = script.parent / "out"
        known = block_vars["example_globals"]
        seen = known.setdefault("__scraped__", set())
        run, model = FILMS.get(script.stem, ("", ""))
        if run in known and model in known and f"{script.stem}.mp4" not in seen:
            film(known[run], known[model], made / f"{script.stem}.mp4")
        shown = []
        for path in sorted(made.glob(f"{script.stem}.*")):
            if path.name in seen:
                continue
            seen.add(path.name)
            if path.suffix == ".png":
                target = Path(next(block_vars["image_path_iterator"]))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                place = target.relative_to(gallery_conf["src_dir"]).as_posix()
                shown.append(
                    f".. image-sg:: /{place}\n   :alt: {script.stem.replace('_', ' ')}\n   :srcset: /{place}\n   :class: sphx-glr-single-img\n"
                )
            elif path.suffix in {".mp4", ".webm"}:
                target = Path(gallery_conf["src_dir"]).parent / "static" / "films" / path.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                shown.append(
                    f'.. raw:: html\n\n   <video class="film" src="../_static/films/{path.name}" autoplay loop muted playsinline controls></video>\n'
                )
        return "\n\n".join(shown)


def name_script(_: dict, script: str) -> None:
    """Scripts name their figure by `__file__`, which sphinx-gallery does not give them."""
    builtins.__file__ = script  # type: ignore[attr-defined]


def configuration(root: Path, source: Path) -> dict[str, Any]:
    """Settings of sphinx-gallery."""
    return {
        "examples_dirs": [str(root / "build" / "examples")],
        "gallery_dirs": [FOLDER],
        "filename_pattern": r"[/\\]\d\d_",
        "ignore_pattern": r"__init__",
        "image_scrapers": (FIGURES,),
        "reset_modules": (name_script,),
        "within_subsection_order": "FileNameSortKey",
        "plot_gallery": "True",
        "download_all_examples": False,
        "show_memory": False,
        "show_signature": False,
        "min_reported_time": 0,
        "remove_config_comments": True,
        "nested_sections": False,
        "thumbnail_size": (720, 330),
        "abort_on_example_error": False,
        "only_warn_on_example_error": True,
        "write_computation_times": False,
        "copyfile_regex": r".*\.(?:urdf|yaml|csv|srdf|xml)$",
        "capture_repr": (),
    }


FIGURES = Figures()
