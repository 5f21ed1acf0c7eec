"""The pictures of an animation: the machine, its ground, trails, frames, arrows and cans at any instant."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.show.scene.motion import Arrays, ScenePoses
from polhode.show.scene.raster import Camera, Canvas
from polhode.show.scene.solids import Mesh, given, mesh
from polhode.show.scene.ties import path_between

if TYPE_CHECKING:
    from PIL.Image import Image

SERIES = ("#0072b2", "#d55e00", "#008f68", "#b8478f", "#3b9fdc", "#c98b00", "#5b4bb5", "#4d555e")
"""The page's colours of bodies; the sixth is that of ω, the seventh that of L."""
HUB, GRID, PAPER, TEXT = "#59636f", "#d3dae1", "#ffffff", "#46505c"
FINER = 2
"""Pixels painted for each pixel of the picture and direction: edges are smooth."""
TRAIL = 240
"""Points of a trail."""


CELLS = 14
"""Lines of the ground to each side."""


def _text(colour: np.ndarray) -> str:
    return "#" + "".join(f"{round(255 * x):02x}" for x in colour.tolist())


def rgb(colour: str) -> np.ndarray:
    """#rrggbb as three numbers 0 … 1."""
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255


@dataclass(frozen=True)
class Shown:
    """What is drawn beside the bodies."""

    trails: bool = True
    frames: bool = False
    vectors: bool = True
    cans: bool = False


class Film:
    """Draws a scene at any instant."""

    def __init__(
        self, scene: dict[str, Any], arrays: Arrays, shown: Shown, size: tuple[int, int], view: Any = None
    ) -> None:
        self.scene, self.arrays, self.shown, self.size = scene, arrays, shown, size
        self.motion = ScenePoses.of(scene, arrays)
        self.bodies = [
            (b, body, [(self._mesh(part), part) for part in body["parts"]])
            for b, body in enumerate(scene["bodies"])
            if shown.cans or not body.get("overlay")
        ]
        self.up = np.array(scene["up"])
        look = np.array(scene["look"]) if view is None else _look(view, self.up)
        whole = (size[0] * FINER, size[1] * FINER)
        self.camera = Camera.seeing(look, self.up, self._cloud(), whole)
        right, _, back = self.camera.axes
        key = self.up - 0.45 * right + 0.55 * back
        self.key = key / np.linalg.norm(key)

    def _mesh(self, part: dict[str, Any]) -> Mesh:
        if part["kind"] != "mesh":
            return mesh(part)
        return given(self.arrays.kept[part["mesh"]]).moved(np.eye(3), np.array(part["at"]))

    def _cloud(self) -> np.ndarray:
        """What must be in the picture: all parts over the whole time, and the tips of arrows."""
        found = [[*part.get("at", (0, 0, 0)), part["reach"]] for part in self.scene["stands"]]
        if not self.scene["follow"]:
            ends = [pair for tie in self.scene["ties"] for pair in zip(tie["bodies"], tie["points"], strict=True)]
            found += [[*point, 0.0] for body, point in ends if body < 0]
        times = self.motion.time
        for t in np.linspace(times[0], times[-1], 60):
            x, q = self.motion.at(t)
            for b, _, parts in self.bodies:
                at = np.array([part.get("at", (0.0, 0.0, 0.0)) for _, part in parts]).reshape(-1, 3)
                centres = x[b] + at @ np.asarray(quaternion.rotation_matrix(_unit(q[b]))).T
                if self.scene["follow"]:
                    centres = centres - x[0]
                found += [[*c, part["reach"]] for c, (_, part) in zip(centres, parts, strict=True)]
            shift = x[0] if self.scene["follow"] else 0.0
            found += [[*(start + along - shift), 0.0] for start, along, *_ in self._arrows(t, x, q)]
        return np.array(found)

    def draw(self, t: float) -> "Image":
        """The picture of an instant."""
        from PIL import Image

        x, q = self.motion.at(t)
        camera = self.camera
        if self.scene["follow"]:
            camera = Camera(camera.axes, camera.eye + x[0], camera.size)
        R = [np.asarray(quaternion.rotation_matrix(_unit(one))) for one in q]
        solids = [(mesh(part), rgb(HUB), 1.0, 1.0) for part in self.scene["stands"]]
        for b, body, parts in self.bodies:
            for made, part in parts:
                tone = rgb(HUB) if part.get("tone") == "hub" else 0.88 * rgb(SERIES[body["colour"]]) + 0.12
                shade = 0.84 if part["kind"] == "box" else 0.62
                solids.append(
                    (made.moved(R[b], x[b]), tone, shade, 0.34 if body["glass"] and not part.get("tone") else 1.0)
                )
        ground = self._ground(camera, x[0]) if self.scene["follow"] else self._still_ground
        canvas = Canvas(camera, self._shaded(ground, camera, [solid[0] for solid in solids]))
        for made, colour, shade, alpha in sorted(solids, key=lambda solid: -solid[3]):
            canvas.solid(made, colour, shade, self.key, self.up, alpha)
        self._lines(canvas, t, x, R)
        names = self._vectors(canvas, t, x, q)
        picture = Image.fromarray((255 * canvas.colours + 0.5).astype(np.uint8))
        picture = picture.resize(self.size, Image.Resampling.BOX)
        self._write(picture, t, names)
        return picture

    @cached_property
    def _still_ground(self) -> np.ndarray:
        return self._ground(self.camera, np.array(self.scene["target"]))

    def _ground(self, camera: Camera, middle: np.ndarray) -> np.ndarray:
        """Lines of the ground, paler with distance, as colours."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", camera.size, PAPER)
        pen = ImageDraw.Draw(picture)
        height, cell, (e1, e2) = self.scene["ground"], self.scene["cell"], _flat(self.up)
        near = [round(float(middle @ e) / cell) for e in (e1, e2)]
        paper, line, steps = rgb(PAPER), rgb(GRID), np.arange(-CELLS, CELLS)
        for k in range(-CELLS, CELLS + 1):
            for e, other, at, along in ((e1, e2, near[0] + k, near[1]), (e2, e1, near[1] + k, near[0])):
                points = height * self.up + cell * (at * e + (along + np.arange(-CELLS, CELLS + 1))[:, None] * other)
                page = camera.on_page(points)
                for i, s in enumerate(steps):
                    fade = min(1.0, float(np.hypot(k, s + 0.5)) / CELLS)
                    if fade < 1 and page[i : i + 2, 2].max() < 1e8:
                        share = (1 - fade**1.5) * (1.0 if at % 5 == 0 else 0.55)
                        ends = [tuple(x) for x in page[i : i + 2, :2].tolist()]
                        pen.line(ends, fill=_text(paper + (line - paper) * share), width=FINER)
        return np.asarray(picture, dtype=np.float32) / 255

    def _shaded(self, ground: np.ndarray, camera: Camera, solids: list[Mesh]) -> np.ndarray:
        """The ground with what the light from above leaves dark: the hull of each solid on it."""
        from PIL import Image, ImageDraw
        from scipy.spatial import ConvexHull, QhullError

        colours = ground.copy()
        height, (e1, e2) = self.scene["ground"], _flat(self.up)
        light = self.up + 0.16 * e1 + 0.22 * e2
        if camera.eye @ self.up < height:
            return colours
        dark = Image.new("L", camera.size, 0)
        pen = ImageDraw.Draw(dark)
        for solid in solids:
            points = solid.corners.reshape(-1, 3)
            page = camera.on_page(points - np.outer(points @ self.up - height, light) / (light @ self.up))
            try:
                edge = page[ConvexHull(page[:, :2]).vertices, :2]
            except (QhullError, ValueError):
                continue
            pen.polygon([tuple(x) for x in edge.tolist()], fill=1)
        colours[np.asarray(dark, bool)] *= 0.88
        return colours

    @cached_property
    def _poses(self) -> list[tuple[float, tuple[np.ndarray, np.ndarray]]]:
        """Instants of the trails, and the poses then."""
        moments = np.linspace(self.motion.time[0], self.motion.time[-1], TRAIL).tolist()
        return [(t, self.motion.at(t)) for t in moments]

    def _lines(self, canvas: Canvas, t: float, x: np.ndarray, R: list[np.ndarray]) -> None:
        """Springs and cables, trails up to now, and body frames."""
        wide = 1.6 * FINER
        for tie in self.scene["ties"]:
            pairs = zip(tie["bodies"], tie["points"], strict=True)
            ends = [np.array(p) if b < 0 else x[b] + R[b] @ np.array(p) for b, p in pairs]
            canvas.line(path_between(tie["path"], *ends), rgb(HUB), wide)
        if self.shown.trails:
            for trail in self.scene["trails"]:
                b = trail["body"]
                past = [poses for s, poses in self._poses if s < t]
                path = np.array([_point(poses, b, np.array(trail["point"])) for poses in [*past, self.motion.at(t)]])
                canvas.line(path, rgb(SERIES[self.scene["bodies"][b]["colour"]]), wide)
        if self.shown.frames:
            length = self.scene["reach"] * (0.16 if len(self.bodies) > 1 else 0.5)
            for b, body, _ in self.bodies:
                for k, colour in enumerate((1, 2, 0)) if not body.get("overlay") else ():
                    canvas.line(
                        np.array([x[b], x[b] + length * R[b][:, k]]), rgb(SERIES[colour]), 1.6 * FINER, lift=1.01
                    )

    def _arrows(self, t: float, x: np.ndarray, q: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, str, int, float]]:
        """Start, way, name, colour and largest length of each arrow."""
        found = []
        if not self.shown.vectors:
            return []
        if "vectors" in self.scene:
            v = self.scene["vectors"]
            J, omegas = np.array(v["inertia"]).reshape(3, 3), self.arrays.kept[v["omega"]]
            start = x[0] + _turned(q[0], v["pivot"])
            for values, name, colour in ((omegas, "ω", 5), (omegas @ J, "L", 6)):
                most = float(np.linalg.norm(values, axis=-1).max()) or 1.0
                along = _turned(q[0], self.motion.between(values, t)) * v["length"] / most
                found.append((start, along, name, colour, v["length"]))
        if "spins" in self.scene:
            v = self.scene["spins"]
            omega = self.motion.between(self.arrays.kept[v["omega"]], t)
            for b, centre in enumerate(v["centers"]):
                along = _turned(q[b], omega[b]) * v["length"] / (v["fastest"] or 1.0)
                found.append((x[b] + _turned(q[b], centre), along, "ω", 5, v["length"]))
            if "momentum" in v:
                along = self.motion.between(self.arrays.kept[v["momentum"]], t) * 1.4 * v["length"] / v["largest"]
                found.append((np.zeros(3), along, "L", 6, v["length"]))
        return found

    def _vectors(self, canvas: Canvas, t: float, x: np.ndarray, q: np.ndarray) -> list[tuple[str, np.ndarray, str]]:
        """The arrows; where their names go."""
        names = []
        for start, along, name, colour, most in self._arrows(t, x, q):
            length, size, tone = float(np.linalg.norm(along)), 0.036 * most, rgb(SERIES[colour])
            if length < 1.5 * size:
                continue
            d = along / length
            canvas.line(np.array([start, start + along - 2 * size * d]), tone, 1.8 * FINER)
            tip = {"kind": "cone", "r": size, "h": 2.6 * size, "at": start + along - 2.6 * size * d, "toward": d}
            canvas.solid(mesh(tip), tone, 1.0, self.key, self.up)
            names.append((name, canvas.camera.on_page(start + 1.07 * along)[:2] / FINER, SERIES[colour]))
        return names

    def _write(self, picture: "Image", t: float, names: list[tuple[str, np.ndarray, str]]) -> None:
        from matplotlib import get_data_path
        from PIL import ImageDraw, ImageFont

        font = ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", 13)
        pen = ImageDraw.Draw(picture)
        span = self.motion.time[-1] - self.motion.time[0]
        digits = int(np.clip(2 - np.floor(np.log10(span)), 0, 6)) if span > 0 else 2
        pen.text((10, self.size[1] - 24), f"t = {t:.{digits}f} s", fill=TEXT, font=font)
        for name, at, colour in names:
            if np.isfinite(at).all():
                pen.text((float(at[0]) + 3, float(at[1]) - 8), name, fill=colour, font=font)


def _unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q)


def _turned(q: np.ndarray, x: Any) -> np.ndarray:
    return np.asarray(quaternion.rotate(_unit(q), np.asarray(x, dtype=float)))


def _point(pose: tuple[np.ndarray, np.ndarray], b: int, point: np.ndarray) -> np.ndarray:
    return pose[0][b] + _turned(pose[1][b], point)


def _flat(up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions of the ground."""
    other = np.array([1.0, 0.0, 0.0]) if abs(up[2]) > 0.8 else np.array([0.0, 0.0, 1.0])
    e2 = np.cross(up, other)
    e2 /= np.linalg.norm(e2)
    return np.cross(e2, up), e2


def _look(view: Any, up: np.ndarray) -> np.ndarray:
    """The direction of a viewer by azimuth and elevation, degrees."""
    a, e = np.radians(np.asarray(view, dtype=float))
    e1, e2 = _flat(up)
    return np.cos(e) * (np.cos(a) * e1 + np.sin(a) * e2) + np.sin(e) * up
