"""The backends by the names of their targets."""

from polhode.kernel.backends.base import Backend
from polhode.kernel.backends.cuda import CudaBackend
from polhode.kernel.backends.llvm.backend import LlvmBackend
from polhode.kernel.backends.python import PythonBackend

BACKENDS: dict[str, type[Backend]] = {
    "cpu": LlvmBackend,
    "cuda": CudaBackend,
    "python": PythonBackend,
}
