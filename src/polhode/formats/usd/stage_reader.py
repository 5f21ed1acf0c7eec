"""The prims of a USD file as JSON: a program of its own, since Pixar's reader may crash on damaged binary files.

    python stage_reader.py < {"path": "/…/arm.usda", "folders": ["/…"]} > {"prims": […], …} or {"fault": […]}

It imports nothing of this package. Sizes, time and memory are bounded; no layer outside of the folders is opened.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 256 * 2**20
"""Of all files of a stage together."""
MAX_LAYERS = 200
MAX_PRIMS = 100_000
MAX_DEPTH = 200
MAX_MEMORY = 4 * 2**30
MAX_SECONDS = 60
"""Of processor time."""
SUFFIXES = (".usd", ".usda", ".usdc")
SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Mesh", "Plane", "Cylinder_1", "Capsule_1")
SIZES = ("size", "radius", "height", "axis", "visibility", "purpose", "radiusTop", "radiusBottom")
FAMILIES = ("physics:", "drive:", "limit:", "physx", "mjc:", "newton:")
"""Beginnings of the names of attributes that are read, or told."""


class StageFault(Exception):
    """What is wrong with a file: where, what, found, expected, fix."""


def main() -> None:
    """Read the request from stdin, write the answer to stdout; what the library prints goes nowhere."""
    answer_to = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    request = json.load(sys.stdin)
    sys.path[:] = request["modules"]
    bound_process()
    answer = stage_answer(request["path"], request["folders"])
    with os.fdopen(answer_to, "w", encoding="utf-8") as file:
        json.dump(answer, file)
        file.flush()
        os._exit(0)  # the library's threads are not waited for


def stage_answer(path: str, folders: list[str]) -> dict[str, Any]:
    """What the reader needs of a stage, or what is wrong with it."""
    try:
        return stage_data(path, folders)
    except StageFault as fault:
        return {"fault": list(fault.args)}
    except ImportError as error:
        return {"missing": str(error)}
    except MemoryError:
        return {"fault": ["", "too large", f"more than {MAX_MEMORY // 2**30} GiB of memory", "less", ""]}
    except Exception as error:
        said = " ".join(str(error).split("' at line")[-1].partition(" : ")[2].split()) or type(error).__name__
        return {"fault": ["", "cannot be read", said.replace(f"{path}:", "line ")[:300], "a USD file", ""]}


def bound_process() -> None:
    """Bound memory and processor time, where the system can."""
    try:
        import resource
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CPU, MAX_SECONDS), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def stage_data(path: str, folders: list[str]) -> dict[str, Any]:
    """What the reader needs of a stage."""
    from pxr import Usd, UsdGeom, UsdPhysics

    layer = checked_layers(path, [os.path.realpath(folder) for folder in folders])
    stage = Usd.Stage.Open(layer, Usd.Stage.LoadAll)
    if not stage:
        raise StageFault("", "cannot be read", "no stage", "a USD file", "")
    if errors := stage.GetCompositionErrors():
        said = " ".join(str(errors[0]).split())[:300]
        raise StageFault("", f"parts that do not fit together ({len(errors)})", said, "references that resolve", "")
    prims = list(records(stage))
    return {
        "meters": float(UsdGeom.GetStageMetersPerUnit(stage)),
        "meters_given": bool(UsdGeom.StageHasAuthoredMetersPerUnit(stage)),
        "kilograms": float(UsdPhysics.GetStageKilogramsPerUnit(stage)),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "name": stage.GetDefaultPrim().GetName() if stage.GetDefaultPrim() else "",
        "prims": prims,
    }


# layers


def checked_layers(path: str, folders: list[str]) -> Any:
    """The root layer, after all that it is composed of was found inside the folders."""
    from pxr import Sdf

    waiting, seen, total, first = [(path, path)], set(), 0, None
    while waiting:
        file, named = waiting.pop()
        real = os.path.realpath(file)
        if real in seen:
            continue
        seen.add(real)
        total += checked_size(real, named)
        if len(seen) > MAX_LAYERS or total > MAX_BYTES:
            found = f"{len(seen)} files, {total / 2**20:.0f} MiB"
            raise StageFault("", "too large", found, f"at most {MAX_LAYERS} files, {MAX_BYTES // 2**20} MiB", "")
        layer = Sdf.Layer.FindOrOpen(file)
        if layer is None:
            raise StageFault("" if first is None else named, "cannot be read", "damaged contents", "a USD file", "")
        first = first or layer
        check_clips(layer, named)
        for asset in filter(None, layer.GetCompositionAssetDependencies()):  # none: the layer itself
            waiting.append((inside(layer, asset, folders), asset))
    return first


def checked_size(file: str, named: str) -> int:
    """The size of a plain file."""
    try:
        found = os.stat(file)
    except (OSError, ValueError) as error:
        raise StageFault("", "a file that it refers to is missing", repr(named[:200]), str(error)[:80], "") from None
    if not stat.S_ISREG(found.st_mode):
        raise StageFault("", "not a plain file", repr(named[:200]), "a file", "")
    return found.st_size


def inside(layer: Any, asset: str, folders: list[str]) -> str:
    """The path of a layer that another one names."""
    from pxr import Sdf

    fix = "Put the files into the folder of the model and refer to them as ./part.usda, or name their folder: packages."
    wrong = "://" in asset or asset.startswith("`") or "[" in asset or ":SDF_FORMAT_ARGS:" in asset
    if wrong or not asset.lower().endswith(SUFFIXES):
        raise StageFault("", "a reference that is not read", repr(asset[:200]), "a .usd, .usda or .usdc file", fix)
    found = Sdf.ComputeAssetPathRelativeToLayer(layer, asset)
    if not os.path.isabs(found):
        found = os.path.join(os.path.dirname(layer.realPath), found)
    real = os.path.realpath(found)
    if not any(os.path.commonpath([real, folder]) == folder for folder in folders):
        raise StageFault("", "a reference that leaves the model's folder", repr(asset[:200]), "a file inside", fix)
    return found


def check_clips(layer: Any, named: str) -> None:
    """Refuse value clips: other files with motions."""

    def look(path: Any) -> None:
        if path.IsPrimPath():
            spec = layer.GetPrimAtPath(path)
            if spec is not None and spec.HasInfo("clips"):
                fix = "Flatten the stage: usdcat --flatten."
                raise StageFault(f"prim '{path}'", "value clips", repr(named[:100]), "none", fix)

    layer.Traverse("/", look)


# prims


def records(stage: Any) -> Iterator[dict[str, Any]]:
    """Prims with physics or a shape, and the prims that joints name."""
    from pxr import Usd, UsdGeom

    cache = UsdGeom.XformCache(Usd.TimeCode.Default())
    varies: dict[str, bool] = {}
    wanted: dict[str, None] = {}
    made: set[str] = set()
    for count, prim in enumerate(stage.Traverse(Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))):
        path = str(prim.GetPath())
        if count >= MAX_PRIMS:
            raise StageFault("", "too many prims", f"more than {MAX_PRIMS}", f"at most {MAX_PRIMS}", "")
        if path.count("/") > MAX_DEPTH:
            raise StageFault(
                f"prim '{path[:60]}…'", "nested too deep", f"more than {MAX_DEPTH}", f"at most {MAX_DEPTH}", ""
            )
        moving = is_moving(prim, UsdGeom)
        above = not moving[1] and varies.get(path.rpartition("/")[0], False)
        varies[path] = moving[0] or above
        kind, schemas = str(prim.GetTypeName()), applied(prim)
        if kind in SHAPES or kind == "PointInstancer" or "hysics" in kind or any("hys" in name for name in schemas):
            made.add(path)
            record = record_of(prim, kind, schemas, cache)
            record["moving"] = varies[path]
            wanted.update(dict.fromkeys(t for targets in record["targets"].values() for t in targets))
            yield record
    for path in wanted:
        prim = stage.GetPrimAtPath(path)
        if path not in made and path in varies and prim:
            record = record_of(prim, str(prim.GetTypeName()), applied(prim), cache)
            record["moving"] = varies[path]
            yield record


def applied(prim: Any) -> list[str]:
    """The names of applied schemas, those that the library does not know too."""
    names = dict.fromkeys(str(name) for name in prim.GetAppliedSchemas())
    given = prim.GetMetadata("apiSchemas")
    for items in (given.explicitItems, given.prependedItems, given.appendedItems) if given else ():
        names.update(dict.fromkeys(str(name) for name in items))
    return list(names)


def is_moving(prim: Any, UsdGeom: Any) -> tuple[bool, bool]:
    """Whether the own pose of a prim changes with time, and whether it ignores that of its parent."""
    xform = UsdGeom.Xformable(prim)
    if not xform:
        return False, False
    ops = xform.GetOrderedXformOps()
    return any(timed(op.GetAttr()) for op in ops), bool(xform.GetResetXformStack())


def timed(attribute: Any) -> bool:
    """Whether an attribute has values of certain times."""
    return attribute.GetNumTimeSamples() > 0 or (hasattr(attribute, "HasSpline") and attribute.HasSpline())


def record_of(prim: Any, kind: str, schemas: list[str], cache: Any) -> dict[str, Any]:
    """A prim as plain data."""
    from pxr import UsdShade

    values, over_time = {}, []
    for attribute in prim.GetAuthoredAttributes():
        name = attribute.GetName()
        if not name.startswith(FAMILIES) and not (kind in SHAPES and name in SIZES):
            continue
        if timed(attribute):
            over_time.append(name)
        elif (value := plain(attribute.Get())) is not None:
            values[name] = value
    targets = {
        relation.GetName(): [str(path.GetPrimPath()) for path in relation.GetForwardedTargets()]
        for relation in prim.GetAuthoredRelationships()
        if relation.GetName().startswith(("physics:", "prototypes"))
    }
    record = {"path": str(prim.GetPath()), "kind": kind, "schemas": schemas, "values": values, "timed": over_time,
              "targets": targets, "matrix": [float(x) for row in cache.GetLocalToWorldTransform(prim) for x in row],
              "density": 0.0}  # fmt: skip
    if "PhysicsCollisionAPI" in schemas:
        material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")[0]
        if material and "PhysicsMaterialAPI" in applied(material.GetPrim()):
            attribute = material.GetPrim().GetAttribute("physics:density")
            record["density"] = float((attribute.Get() if attribute else 0.0) or 0.0)
    return record


def plain(value: Any) -> Any:
    """A value as JSON has it: a number, a flag, a text, or a list of numbers (quaternions w, x, y, z); else None."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "GetReal") and hasattr(value, "GetImaginary"):
        return [float(value.GetReal()), *(float(x) for x in value.GetImaginary())]
    if type(value).__name__.startswith("Vec"):
        return [float(x) for x in value]
    return None


if __name__ == "__main__":
    main()
