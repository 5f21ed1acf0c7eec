"""The pictures of an animation: the machine, its ground, trails, frames, arrows and cans at any instant."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import quaternion
from polhode.show.scene.beams import axis, swept, tones
from polhode.show.scene.motion import Arrays, ScenePoses
from polhode.show.scene.raster import NEAREST, Camera, Canvas, Painted, as_bytes
from polhode.show.scene.solids import Mesh, given, mesh
from polhode.show.scene.ties import path_between

if TYPE_CHECKING:
    from PIL.Image import Image

SERIES = ("#0072b2", "#d55e00", "#008f68", "#b8478f", "#3b9fdc", "#c98b00", "#5b4bb5", "#4d555e")
"""The page's colours of bodies; the sixth is that of ω, the seventh that of L."""
HUB, GRID, PAPER, TEXT = "#59636f", "#d3dae1", "#ffffff", "#46505c"
FINER = 2
"""Pixels painted for each pixel of the picture and direction: edges are smooth."""
TRAIL = 720
"""Points of a trail: somewhat more than a motion has poses (MOST_FRAMES); with fewer, fast swings look like corners."""


SHADE = (0.88 * np.arange(256) + 0.5).astype(np.uint8)
"""Bytes of colours in shadow."""
AROUND = np.stack([np.cos(2 * np.pi * np.arange(64) / 64), np.sin(2 * np.pi * np.arange(64) / 64)])
"""Directions in which the edge of a shadow is looked for (2, 64)."""


TIP = 0.036
"""Radius of the tip of an arrow, in parts of the longest."""
Arrow = tuple[np.ndarray, np.ndarray, str, int, float]
"""Start, way, name, colour and largest length of an arrow."""
CELLS = 14
"""Lines of the ground to each side."""


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
        self,
        scene: dict[str, Any],
        arrays: Arrays,
        shown: Shown,
        size: tuple[int, int],
        view: Any = None,
        caption: str = "",
    ) -> None:
        self.caption = caption
        """What stands below the picture in place of the time."""
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
        self.stands = [Painted(mesh(part), rgb(HUB)) for part in scene["stands"]]

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
            for beam in self.scene["beams"]:
                bent = axis(beam, x, q, np.array([0.0, 0.5, 1.0])).points - (x[0] if self.scene["follow"] else 0.0)
                found += [[*point, beam["reach"]] for point in bent.tolist()]
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
        solids = [*self.stands]
        for b, body, parts in self.bodies:
            for made, part in parts:
                tone = rgb(HUB) if part.get("tone") == "hub" else 0.88 * rgb(SERIES[body["colour"]]) + 0.12
                shade = 0.84 if part["kind"] == "box" else 0.62
                alpha = 0.34 if body["glass"] and not part.get("tone") else 1.0
                solids.append(Painted(made.moved(R[b], x[b]), tone, shade, alpha))
        solids += self._beams(t, x, q)
        ground = self._ground(camera, x[0]) if self.scene["follow"] else self._still_ground
        canvas = Canvas(camera, self._shaded(ground, camera, [solid.mesh for solid in solids]))
        arrows = self._arrows(t, x, q)
        canvas.solids([*solids, *self._tips(arrows)], self.key, self.up)
        self._lines(canvas, t, x, R)
        names = self._shafts(canvas, arrows)
        picture = Image.frombuffer("RGBX", camera.size, canvas.pixels, "raw", "RGBX", 0, 1).reduce(FINER).convert("RGB")
        self._write(picture, t, names)
        return picture

    def _beams(self, t: float, x: np.ndarray, q: np.ndarray) -> list[Painted]:
        """The bent beams, in the colours of what their sections bear."""
        shade = self.scene.get("loads", {}).get(self.scene.get("color"))
        ends = self.motion.between(self.arrays.kept[shade["values"]], t) if shade else None
        found = []
        for k, beam in enumerate(self.scene["beams"]):
            made = swept(beam, x, q, self.scene["steps"])
            colour = 0.88 * rgb(SERIES[beam["colour"]]) + 0.12
            if shade is not None and ends is not None:
                (low, high), value = shade["range"], ends[k, 0] + (ends[k, 1] - ends[k, 0]) * made.part
                colour = tones(shade["colours"], (value - low) / (high - low))
            found.append(Painted(made.mesh, colour))
        return found

    @cached_property
    def _still_ground(self) -> np.ndarray:
        return self._ground(self.camera, np.array(self.scene["target"]))

    def _ground(self, camera: Camera, middle: np.ndarray) -> np.ndarray:
        """Lines of the ground, paler with distance, as colours."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGBA", camera.size, PAPER)
        pen = ImageDraw.Draw(picture)
        height, cell, (e1, e2) = self.scene["ground"], self.scene["cell"], _flat(self.up)
        paper, line, steps = rgb(PAPER), rgb(GRID), np.arange(-CELLS, CELLS + 1)
        fade = np.hypot(steps[:, None], steps[:-1] + 0.5) / CELLS  # of the line k at the step s
        near = [round(float(middle @ e) / cell) for e in (e1, e2)]
        for e, other, at, along in ((e1, e2, near[0], near[1]), (e2, e1, near[1], near[0])):
            points = height * self.up + cell * ((at + steps)[:, None, None] * e + (along + steps)[:, None] * other)
            page = camera.on_page(points)
            ends = np.concatenate([page[:, :-1, :2], page[:, 1:, :2]], axis=-1)
            low, high = np.minimum(ends[..., :2], ends[..., 2:]), np.maximum(ends[..., :2], ends[..., 2:])
            seen = (high > 0).all(-1) & (low < camera.size).all(-1) & (fade < 1)
            seen &= (page[:, :-1, 2] < NEAREST) & (page[:, 1:, 2] < NEAREST)
            share = (1 - np.minimum(fade, 1.0) ** 1.5) * np.where((at + steps) % 5 == 0, 1.0, 0.55)[:, None]
            tones = as_bytes(paper + (line - paper) * share[..., None])
            for place, tone in zip(ends[seen].tolist(), tones[seen].tolist(), strict=True):
                pen.line(place, fill=tuple(tone), width=FINER)
        return np.array(picture)

    def _shaded(self, ground: np.ndarray, camera: Camera, solids: list[Mesh]) -> np.ndarray:
        """The ground with what the light from above leaves dark: the hull of each solid on it."""
        from PIL import Image, ImageDraw

        pixels = ground.copy()
        height, (e1, e2) = self.scene["ground"], _flat(self.up)
        light = self.up + 0.16 * e1 + 0.22 * e2
        if camera.eye @ self.up < height:
            return pixels
        dark = Image.new("L", camera.size, 0)
        pen = ImageDraw.Draw(dark)
        for solid in solids:
            points = solid.corners.reshape(-1, 3)
            page = camera.on_page(points - np.outer(points @ self.up - height, light) / (light @ self.up))[:, :2]
            if np.isfinite(page).all():
                pen.polygon([tuple(x) for x in hull(page).tolist()], fill=255)
        if box := dark.getbbox():
            part = pixels[box[1] : box[3], box[0] : box[2]]
            shaded = np.asarray(dark.crop(box), bool)
            part[shaded] = SHADE[part[shaded]]
        return pixels

    @cached_property
    def _trails(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Instants of the trails (TRAIL,), and the points of each then, (TRAIL, 3)."""
        moments = np.linspace(self.motion.time[0], self.motion.time[-1], TRAIL)
        poses = [self.motion.at(t) for t in moments.tolist()]
        return moments, [
            np.array([_point(pose, trail["body"], np.array(trail["point"])) for pose in poses])
            for trail in self.scene["trails"]
        ]

    def _lines(self, canvas: Canvas, t: float, x: np.ndarray, R: list[np.ndarray]) -> None:
        """Springs and cables, trails up to now, and body frames."""
        wide = 1.6 * FINER
        for tie in self.scene["ties"]:
            pairs = zip(tie["bodies"], tie["points"], strict=True)
            ends = [np.array(p) if b < 0 else x[b] + R[b] @ np.array(p) for b, p in pairs]
            canvas.line(path_between(tie["path"], *ends), rgb(HUB), wide)
        if self.shown.trails:
            moments, paths = self._trails
            for trail, path in zip(self.scene["trails"], paths, strict=True):
                b = trail["body"]
                past = np.vstack([path[moments < t], x[b] + R[b] @ np.array(trail["point"])])
                canvas.line(past, rgb(SERIES[self.scene["bodies"][b]["colour"]]), wide)
        if self.shown.frames:
            for b, body, _ in self.bodies:
                for k, colour in enumerate((1, 2, 0)) if not body.get("overlay") else ():
                    canvas.line(
                        np.array([x[b], x[b] + body["axes"] * R[b][:, k]]), rgb(SERIES[colour]), 1.6 * FINER, lift=1.01
                    )

    def _arrows(self, t: float, x: np.ndarray, q: np.ndarray) -> list[Arrow]:
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

    def _tips(self, arrows: list[Arrow]) -> list[Painted]:
        """The cones of the arrows that are long enough to be seen."""
        found = []
        for start, along, _, colour, most in arrows:
            length, size = float(np.linalg.norm(along)), TIP * most
            if length >= 1.5 * size:
                d = along / length
                tip = {"kind": "cone", "r": size, "h": 2.6 * size, "at": start + along - 2.6 * size * d, "toward": d}
                found.append(Painted(mesh(tip), rgb(SERIES[colour])))
        return found

    def _shafts(self, canvas: Canvas, arrows: list[Arrow]) -> list[tuple[str, np.ndarray, str]]:
        """The lines of the arrows; where their names go."""
        names = []
        for start, along, name, colour, most in arrows:
            length, size = float(np.linalg.norm(along)), TIP * most
            if length >= 1.5 * size:
                end = start + along - 2 * size * along / length
                canvas.line(np.array([start, end]), rgb(SERIES[colour]), 1.8 * FINER)
                names.append((name, canvas.camera.on_page(start + 1.07 * along)[:2] / FINER, SERIES[colour]))
        return names

    @cached_property
    def _letters(self) -> int:
        """The size of letters, pixels: that of a page in pictures up to 480 pixels high."""
        return round(13 * max(1.0, self.size[1] / 480))

    @cached_property
    def _font(self) -> Any:
        from matplotlib import get_data_path
        from PIL import ImageFont

        return ImageFont.truetype(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf", self._letters)

    def _write(self, picture: "Image", t: float, names: list[tuple[str, np.ndarray, str]]) -> None:
        from PIL import ImageDraw

        pen, font = ImageDraw.Draw(picture), self._font
        span = self.motion.time[-1] - self.motion.time[0]
        digits = int(np.clip(2 - np.floor(np.log10(span)), 0, 6)) if span > 0 else 2
        clock = f"t = {t:.{digits}f} s" if len(self.motion.time) > 1 else ""
        told = (self.caption or clock).split("; ")
        for k, line in enumerate(reversed(told)):
            pen.text((10, self.size[1] - (1.85 + 1.4 * k) * self._letters), line, fill=TEXT, font=font)
        self._write_scale(pen)
        for name, at, colour in names:
            if np.isfinite(at).all():
                pen.text((float(at[0]) + 3, float(at[1]) - 0.6 * self._letters), name, fill=colour, font=font)

    def _write_scale(self, pen: Any) -> None:
        """The bar of colours of what beams bear, at the right, with its range and its name."""
        shade = self.scene.get("loads", {}).get(self.scene.get("color"))
        if not shade:
            return
        letter, (width, height) = self._letters, self.size
        right, top, high = width - 12, 2.6 * letter, round(0.36 * height)
        for row in range(high):
            colour = tones(shade["colours"], np.array([1 - row / (high - 1)]))[0]
            place = [right - 0.9 * letter, top + row, right, top + row]
            pen.line(place, fill=tuple(np.rint(255 * colour).astype(int).tolist()))
        title = f"{shade['words']} ({shade['unit']})"
        pen.text((right, 0.8 * letter), title, fill=TEXT, font=self._font, anchor="ra")
        low, most = shade["range"]
        for value in dict.fromkeys((low, 0.0, most)):
            at = top + (high - 1) * (most - value) / (most - low)
            pen.text(
                (right - 1.3 * letter, at), f"{value:.3g}".replace("-", "−"), fill=TEXT, font=self._font, anchor="rm"
            )


def hull(points: np.ndarray) -> np.ndarray:
    """The outermost of points (n, 2) in 64 directions, in order: their hull, but for edges too short to be seen."""
    places = np.argmax(points @ AROUND, axis=0)
    return points[places[np.flatnonzero(np.diff(places, prepend=-1))]]


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
