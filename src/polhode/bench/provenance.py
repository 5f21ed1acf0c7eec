"""Where and with what numbers were measured; no names of hosts, users or folders."""

import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from polhode import __version__
from polhode.kernel.backends.llvm.compile import lanes
from polhode.kernel.work_threads import processors

PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "llvmlite": "llvmlite",
    "pinocchio": "pin",
    "mujoco": "mujoco",
    "drake": "drake",
    "casadi": "casadi",
    "exudyn": "exudyn",
    "sympy": "sympy",
}
"""The packages whose versions matter, and what they are called where packages are installed from."""


def machine_facts() -> dict[str, str | int]:
    """Processor, cores, operating system, Python."""
    return {
        "cpu": _cpu_name(),
        "cores": processors(),
        "simd_lanes": lanes(),
        "os": platform.system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def versions() -> dict[str, str]:
    """Of polhode and of all that it is measured with."""
    found = {"polhode": __version__}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {**found, "gcc": _gcc()}


def _gcc() -> str:
    if not shutil.which("gcc"):
        return "not installed"
    done = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
