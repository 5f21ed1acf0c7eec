"""Kernels in a process whose memory has holes, as beside CUDA."""

import subprocess
import sys

SCRIPT = """
import ctypes, sys
import xarray
import polhode as ph
from polhode.kernel.backends.llvm.target_machine import linker

linker()
if sys.argv[1] == "holes":
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_size_t
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    PAGE, APART = 4096, 3 << 30

    def taken(size):
        return libc.mmap(None, size, 0, 0x4022, -1, 0)  # private, anonymous, without swap

    regions = [taken(APART) for _ in range(16)]
    for size in (PAGE << 12, PAGE << 8, PAGE << 4, PAGE):
        while taken(size) > min(regions):  # nothing is left above
            pass
    for begin in regions:
        libc.munmap(begin + APART // 2, PAGE)
for name in ("arm-7", "bicycle"):
    run = ph.simulate(ph.load(name), duration=0.05, samples=6, verify=False)
    print(name, run["q"].values.tobytes().hex())
"""


def test_kernels_link_where_memory_has_holes(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE", str(tmp_path))
    asked = ["holes", "plain"] if sys.platform == "linux" else ["plain", "plain"]
    found = [
        subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, check=False)
        for how in asked
    ]
    assert [one.returncode for one in found] == [0, 0], found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert "bicycle" in found[0].stdout
