"""Mass and inertia of MJCF geoms, for bodies that have no <inertial> of their own."""

from collections.abc import Callable, Iterable
from math import isnan, pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import ModelError, message
from polhode.formats.mjcf.spec import Parsed, frame_of, placement, the_mujoco, without_log
from polhode.formats.placement import FramePose, turn_from_z
from polhode.formats.xml_guard import read_bytes, shorten
from polhode.quaternion import rotation_matrix
from polhode.scalar import Vec, vec

MAX_MESH_BYTES = 256 * 2**20
WEIGHTLESS = ("PLANE", "HFIELD", "SDF")
MESH_DATA = frozenset(
    {"file", "content_type", "inertia", "maxhullvert", "refpos", "refquat", "scale", "smoothnormal"}
    | {"uservert", "userface", "usernormal", "userfacenormal", "usertexcoord", "userfacetexcoord"}
)
"""What a mesh is made of, in MuJoCo's names."""


class Solid(NamedTuple):
    """A mass, its centre and its inertia about the centre, in some frame."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray

    def moved(self, frame: FramePose) -> "Solid":
        """The same solid seen from the frame in which its own is placed."""
        R = np.array(rotation_matrix(frame.orientation))
        return Solid(self.mass, R @ self.center + np.array(frame.position), R @ self.inertia @ R.T)

    def weighing(self, mass: float) -> "Solid":
        """The same shape with another mass."""
        return Solid(mass, self.center, self.inertia * (mass / self.mass))


NOTHING = Solid(0.0, np.zeros(3), np.zeros((3, 3)))


def together(solids: Iterable[Solid]) -> Solid:
    """Several solids in one frame as one."""
    parts = [solid for solid in solids if solid.mass != 0]
    mass = sum(part.mass for part in parts)
    if mass == 0:
        return NOTHING
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Solid(mass, center, inertia)


def ball(a: float, b: float, c: float) -> tuple[float, tuple]:
    """Volume of an ellipsoid of semi-axes a, b, c, and its moments per unit of mass."""
    return 4 / 3 * pi * a * b * c, ((b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5)


def box(a: float, b: float, c: float) -> tuple[float, tuple]:
    """A box of half lengths a, b, c."""
    return 8 * a * b * c, ((b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3)


def cylinder(r: float, h: float) -> tuple[float, tuple]:
    """A cylinder of radius r and half length h."""
    across = r * r / 4 + h * h / 3
    return 2 * pi * r * r * h, (across, across, r * r / 2)


def capsule(r: float, h: float) -> tuple[float, tuple]:
    """A cylinder with two half balls; each half ball's centre of mass lies 3r/8 outside the cylinder."""
    (middle, (across, _, along)), (caps, (of_ball, _, _)) = cylinder(r, h), ball(r, r, r)
    volume = middle + caps
    across = (middle * across + caps * (of_ball + h * h + 3 / 4 * h * r)) / volume
    return volume, (across, across, (middle * along + caps * of_ball) / volume)


SHAPES: dict[str, tuple[int, Callable[..., tuple[float, tuple]]]] = {
    "SPHERE": (1, lambda r: ball(r, r, r)),
    "CAPSULE": (2, capsule),
    "CYLINDER": (2, cylinder),
    "ELLIPSOID": (3, ball),
    "BOX": (3, box),
}
"""How many sizes a primitive has, and its volume and moments by them."""


class Geoms:
    """Weighs the geoms of a spec; meshes are measured once."""

    def __init__(self, parsed: Parsed, files: dict[str, Path]) -> None:
        self.parsed, self.files = parsed, files
        self.without_mesh: list[str] = []
        self.measured: dict[tuple, Solid] = {}

    def of_body(self, body: Any) -> Solid | None:
        """All geoms of a body that count, in its frame; None where there is none."""
        first, last = (int(x) for x in body.compiler.inertiagrouprange)
        solids = [self._weigh(geom) for geom in body.geoms if first <= geom.group <= last]
        return together(solids) if solids else None

    def _weigh(self, geom: Any) -> Solid:
        kind = geom.type.name.removeprefix("mjGEOM_")
        mass = float(geom.mass)
        if kind in WEIGHTLESS or mass == 0 or (isnan(mass) and geom.density == 0):
            return NOTHING
        if geom.meshname and self.parsed.spec.mesh(geom.meshname) is None:
            self.without_mesh.append(geom.parent.name)
            return NOTHING
        frame, size = self.frame_and_size(geom, kind)
        if geom.meshname or geom.typeinertia.name == "mjINERTIA_SHELL":
            unit = self._measure(geom, size)
        else:
            unit = self._solid(geom, kind, size)
        if unit.mass == 0:
            self._refuse(geom, "shape", "a volume of 0", "a larger one")
        return unit.weighing(float(geom.density) * unit.mass if isnan(mass) else mass).moved(frame)

    def frame_and_size(self, geom: Any, kind: str) -> tuple[FramePose, list[float]]:
        """Where a geom is in its body; `fromto` gives place, direction and length."""
        size = [float(x) for x in geom.size]
        if isnan(geom.fromto[0]):
            return placement(geom), size
        start, end = (np.array(geom.fromto[i : i + 3], dtype=float) for i in (0, 3))
        along = end - start
        if not along.any():
            self._refuse(geom, "fromto", "two equal points", "two points apart")
        half = float(np.linalg.norm(along)) / 2
        size = [size[0], half, 0.0] if kind in ("CAPSULE", "CYLINDER") else [size[0], size[0], half]
        own = FramePose(Vec(float(x) for x in (start + end) / 2), turn_from_z(along))
        return frame_of(geom).then(own), size

    def _solid(self, geom: Any, kind: str, size: list[float]) -> Solid:
        """A filled primitive of density one."""
        if kind not in SHAPES:
            self._refuse(geom, kind.lower(), "no mesh named", "the name of a mesh")
        count, shape = SHAPES[kind]
        sizes = size[:count]
        if not all(x > 0 for x in sizes):
            self._refuse(geom, "size", ", ".join(f"{x:g}" for x in sizes), f"{count} numbers above 0")
        volume, moments = shape(*sizes)
        return Solid(volume, np.zeros(3), volume * np.diag(moments))

    def _measure(self, geom: Any, size: list[float]) -> Solid:
        """A mesh, or a shell, of density one, measured by MuJoCo in a model of its own."""
        key = (geom.meshname, geom.type, geom.typeinertia, geom.fitscale, *([] if geom.meshname else size))
        if key in self.measured:
            return self.measured[key]
        mujoco = the_mujoco()
        spec = mujoco.MjSpec()
        files = {}
        if geom.meshname:
            mesh = self.parsed.spec.mesh(geom.meshname)
            spec.add_mesh(name=mesh.name, **{name: getattr(mesh, name) for name in MESH_DATA})
            if mesh.file:
                files[mesh.file] = read_bytes(self.files[mesh.file], str(self.files[mesh.file]), MAX_MESH_BYTES)
        body = spec.worldbody.add_body()
        data = {
            "type": geom.type,
            "meshname": geom.meshname,
            "typeinertia": geom.typeinertia,
            "fitscale": geom.fitscale,
        }
        body.add_geom(size=size, density=1.0, contype=0, conaffinity=0, **data)
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        spec.assets = files
        with without_log():
            try:
                model = spec.compile()
            except Exception as error:
                said = shorten(str(error).strip().splitlines()[0], 200)
                what = f"mesh '{geom.meshname}' has no mass" if geom.meshname else "its shell has no mass"
                raise ModelError(message(self._where(geom), what, said, "a shape that MuJoCo can weigh")) from None
        R = np.array(rotation_matrix(vec(*map(float, model.body_iquat[1]))))
        found = Solid(float(model.body_mass[1]), model.body_ipos[1].copy(), R @ np.diag(model.body_inertia[1]) @ R.T)
        self.measured[key] = found
        return found

    def _where(self, geom: Any) -> str:
        return f"{self.parsed.place(geom)}, body '{geom.parent.name}', geom" + (f" '{geom.name}'" if geom.name else "")

    def _refuse(self, geom: Any, name: str, found: str, expected: str) -> None:
        raise ModelError(message(self._where(geom), f"{name} has no volume", found, expected))
