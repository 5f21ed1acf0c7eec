"""Contact sheets: `python docs/gallery.py` draws every kind of picture there is into docs/gallery.png.

`python docs/gallery.py --examples` runs all examples and puts their figures on docs/examples.png;
`python docs/gallery.py --cans` draws docs/cans-*.svg.
"""

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont

import polhode as ph
from polhode.papers.compare import compare
from polhode.show.forms_comparison import compare_figure
from polhode.show.plots.kinds import draw
from polhode.show.scene.film import Film, Shown
from polhode.show.scene.motion import Arrays
from polhode.show.scene.scene import scene

DOCS = Path(__file__).parent
CELL, CAPTION, GAP, COLUMNS = (520, 380), 34, 14, 5
DEGREES = math.pi / 180
README = ("11", "18", "19")
"""Examples whose figures the README shows."""


# the motions that are drawn


@cache
def free() -> Any:
    """A free body that tumbles."""
    body = ph.Body("b", 1.0, (1.0, 2.0, 2.8))
    model = ph.Model("free body", (0, 0, 0), [body], [ph.Joint("flight", "free", "world", "b")])
    return ph.simulate(model, v=[0, 0, 0, 1.0, 0.9, 0.6], duration=24.0, samples=1201, tolerance=1e-11)


@cache
def top() -> Any:
    """A heavy top that nutates."""
    body = ph.Body("top", 1.0, (0.01, 0.01, 0.005), center=(0, 0, 0.2))
    model = ph.Model("top", bodies=[body], joints=[ph.Joint("tip", "spherical", "world", "top")])
    tilted = ph.quaternion.from_axis_angle((1, 0, 0), 0.5)
    return ph.simulate(model, q=tilted, v=(0, 0, 120), duration=1.2, samples=1201)


@cache
def damped() -> Any:
    """A double pendulum with dampers, which an input pushes."""
    model = ph.load("double-pendulum").with_numbers({"joints.hinge.damping": 0.4, "joints.elbow.damping": 0.1})
    return ph.simulate(model, duration=8.0, tau={"hinge": 3.0}, samples=801)


@cache
def swinging(tolerance: float = 1e-9) -> Any:
    """A double pendulum."""
    return ph.simulate(ph.load("double-pendulum"), duration=8.0, samples=1601, tolerance=tolerance)


@cache
def linkage() -> Any:
    """A four-bar linkage, a closed loop."""
    return ph.simulate(ph.load("four-bar"), duration=2.0, samples=801)


@cache
def by_form() -> Any:
    """One body by a form with a multiplier."""
    model = ph.Model(
        "pendulum in space",
        bodies=[ph.Body("b", 1.0, (0.1, 0.2, 0.25), center=(0, 0, -0.5))],
        joints=[ph.Joint("tip", "spherical", "world", "b")],
    )
    tilted = ph.quaternion.from_axis_angle((1, 0, 0), 1.2)
    return ph.simulate(model, q=tilted, v=(0.5, 1.0, 3.0), duration=4.0, step=0.005, form="sherif-29")


def stability() -> Any:
    """The bicycle's eigenvalues against its speed."""
    bicycle = ph.bicycle()
    start = np.array(bicycle.start.v)

    def small(speed: float) -> Any:
        v = start * speed / start[0]
        v[3] = 0.0
        return ph.linearize(bicycle, v=v).part(["frame.omega_x", "steer"])

    speeds = np.concatenate([np.linspace(0.05, 1.0, 20), np.linspace(1.2, 10.0, 45)])
    return ph.plot.eigenvalues(speeds, [small(v) for v in speeds], title="Stability: bicycle", limits=(-10, 10))


def rotor() -> Any:
    """Frequencies of two blades on a shaft against its speed."""
    hub, blade = ph.Body("hub", 2.0, (0.01, 0.01, 0.02)), ph.Section.rectangle(0.03, 0.004, material="aluminium")
    shaft = ph.Joint("shaft", "revolute", "world", "hub", axis=(0, 0, 1))
    blades = [
        ph.Beam(name, blade, start=("hub", (side * 0.05, 0, 0)), end=(side * 0.6, 0, 0), elements=3)
        for name, side in (("left", -1), ("right", 1))
    ]
    model = ph.Model("rotor", (0, 0, 0), [hub], [shaft], beams=blades)
    return ph.plot.campbell(ph.campbell(model, np.linspace(0, 300, 13), modes=6))


@cache
def leaf() -> tuple[Any, Any]:
    """A leaf under a load along it and a twisted tip, and its rest."""
    section = ph.Section.rectangle(0.05, 0.004)
    beam = ph.Beam("leaf", section, start=("world", (0, 0, 0)), end=(0.5, 0, 0), elements=4, load=(0, 0, -150))
    tip = ph.Force("tip", "leaf-4", force=(0, 0, -10), torque=(6, 0, 0))
    model = ph.Model("leaf", (0, 0, 0), beams=[beam], forces=[tip])
    return model, ph.equilibrium(model)


def beam_still(run: Any, **shown: Any) -> Image.Image:
    """One picture of a machine with beams."""
    model, arrays = leaf()[0], Arrays()
    return Film(scene(run, model, arrays, **shown), arrays, Shown(), CELL, caption=run.attrs.get("caption", "")).draw(
        0.0
    )


def still(name: str, t: float, duration: float, **shown: bool) -> Image.Image:
    """One picture of an animation."""
    model, arrays = ph.load(name), Arrays()
    run = ph.simulate(model, duration=duration, samples=401)
    return Film(scene(run, model, arrays), arrays, Shown(**shown), CELL).draw(t)


PICTURES: dict[str, Callable[[], Any]] = {
    "cans: 313": lambda: ph.draw_cans("313", at=[30 * DEGREES, 40 * DEGREES, 50 * DEGREES]),
    "cans: rates add up to ω": lambda: ph.draw_cans("313", at=[0.5, 0.7, 0.6], rates=[1.0, 0.8, 1.2]),
    "cans: gimbal lock": lambda: ph.draw_cans("321", at=[0.3, math.pi / 2, 0.2]),
    "cans: classical stages and panels": lambda: ph.draw_cans("313", panels=True, classical=True),
    "cans: dark": lambda: ph.draw_cans("extrinsic-321", at=[0.4, 0.6, 0.5], theme="dark"),
    "cans: a manipulator": lambda: ph.draw_cans("manipulator"),
    "cans: a telescope": lambda: ph.draw_cans("rprr"),
    "cans: the bicycle": lambda: ph.draw_cans("bicycle", sequence="312"),
    "cans: a closed loop": lambda: ph.draw_cans("four-bar"),
    "poinsot": lambda: draw("poinsot", free()),
    "polhode": lambda: draw("polhode", free()),
    "herpolhode": lambda: draw("herpolhode", free()),
    "quaternions": lambda: draw("quaternions", free()),
    "angles": lambda: ph.plot.angles(free(), "321", near=30.0),
    "rates": lambda: draw("rates", top()),
    "energies": lambda: draw("energies", swinging()),
    "balance": lambda: draw("balance", damped()),
    "momenta": lambda: draw("momenta", top()),
    "drift": lambda: draw("drift", linkage()),
    "joints": lambda: draw("joints", swinging()),
    "phase": lambda: draw("phase", swinging()),
    "reactions": lambda: draw("reactions", linkage()),
    "multipliers": lambda: draw("multipliers", by_form()),
    "compare": lambda: ph.plot.compare([swinging(), swinging(1e-6), swinging(1e-4)]),
    "section_force": lambda: ph.plot.section_force(leaf()[1], model=leaf()[0]),
    "eigenvalues": stability,
    "campbell": rotor,
    "polhode compare": lambda: compare_figure(compare(duration=10.0)),
    "animation: an arm": lambda: still("arm-7", 1.1, 1.5, trails=True, vectors=False),
    "animation: ω and L": lambda: still("t-handle", 4.4, 8.0, trails=False),
    "animation: frames": lambda: still("heavy-top", 0.9, 1.5, frames=True),
    "animation: cans": lambda: still("four-bar", 0.7, 1.2, cans=True, vectors=False),
    "animation: a beam by its moment": lambda: beam_still(ph.still(*leaf())),
    "animation: a mode of a beam": lambda: beam_still(ph.mode_motion(leaf()[0], 4, leaf()[1]), color="My"),
    "animation: the bicycle": lambda: still("bicycle", 1.0, 1.0, trails=True, vectors=False),
}
"""Every kind of picture, by its caption."""


ANGLES = ("psi", "theta", "phi")
BICYCLE = {"φ": "psi", "θ": "phi", "ψ": "theta_B", "steer": "delta", "front-axle": "theta_F", "rear-axle": "theta_R"}
CANS: dict[str, tuple[str, dict[str, Any]]] = {
    "313": ("313", {"lost": False}),
    "313-classical": ("313", {"classical": True, "lost": False}),
    "313-sequence": ("313", {"panels": True}),
    "313-rates": ("313", {"at": [28 * DEGREES, 40 * DEGREES, 35 * DEGREES], "rates": [1.0, 0.8, 1.2]}),
    "321-dark": ("321", {"theme": "dark", "names": ANGLES}),
    "321-lock": ("321", {"at": [25 * DEGREES, 90 * DEGREES, 0.0], "rates": True, "names": ANGLES}),
    "bicycle": ("bicycle", {"sequence": "312", "width": 120, "names": BICYCLE}),
    "manipulator": ("manipulator", {}),
    "telescope": ("rprr", {}),
}
"""Drawings that are kept as SVG, by their names."""


def picture(found: Any) -> Image.Image:
    """A figure, a drawing or a picture as pixels."""
    if isinstance(found, Image.Image):
        return found
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        if hasattr(found, "savefig"):
            found.savefig(path, dpi=200)
        else:
            found.save(path)
        with Image.open(path) as opened:
            return opened.convert("RGBA")


def sheet(pictures: dict[str, Image.Image]) -> Image.Image:
    """All pictures, each in a cell with its caption."""
    rows = -(-len(pictures) // COLUMNS)
    wide, high = CELL[0] + GAP, CELL[1] + CAPTION + GAP
    page = Image.new("RGB", (COLUMNS * wide + GAP, rows * high + GAP), "#eef1f4")
    pen = ImageDraw.Draw(page)
    font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", 17)
    for k, (caption, image) in enumerate(pictures.items()):
        x, y = GAP + (k % COLUMNS) * wide, GAP + (k // COLUMNS) * high
        flat = Image.new("RGBA", image.size, "white")
        flat.alpha_composite(image.convert("RGBA"))
        corner = flat.getpixel((0, 0))
        pen.rectangle((x, y, x + CELL[0], y + CELL[1]), fill=corner[:3])
        scale = min((CELL[0] - 16) / flat.width, (CELL[1] - 16) / flat.height)
        small = flat.convert("RGB").resize(
            (round(flat.width * scale), round(flat.height * scale)), Image.Resampling.LANCZOS
        )
        page.paste(small, (x + (CELL[0] - small.width) // 2, y + (CELL[1] - small.height) // 2))
        pen.text((x + 4, y + CELL[1] + 7), caption, fill="#18202a", font=font)
    return page


def examples() -> dict[str, Image.Image]:
    """The figures of all examples."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((DOCS.parent / "examples").glob("*.py")):
            subprocess.run([sys.executable, str(path)], cwd=folder, env={**os.environ, "PYTHONUTF8": "1"}, check=True)
            with Image.open(Path(folder) / "out" / f"{path.stem}.png") as opened:
                found[path.stem.replace("_", " ")] = opened.convert("RGBA")
                if path.stem[:2] in README:
                    opened.convert("RGB").save(DOCS / f"example-{path.stem[:2]}.png", optimize=True)
    return found


def main(*args: str) -> None:
    """Write a sheet, or the drawings."""
    if "--cans" in args:
        for name, (what, options) in CANS.items():
            (DOCS / f"cans-{name}.svg").write_text(ph.draw_cans(what, **options).svg, encoding="utf-8")
        return
    wanted = "--examples" in args
    page = sheet(examples() if wanted else {caption: picture(make()) for caption, make in PICTURES.items()})
    path = DOCS / ("examples.png" if wanted else "gallery.png")
    page.save(path, optimize=True)
    print(f"{path.name}: {page.width} × {page.height}, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
