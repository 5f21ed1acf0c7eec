"""The backends by the names of their targets, each imported when it is first asked for."""

from polhode.kernel.backends.base import Backend
from polhode.loading import NamedClasses

BACKENDS: NamedClasses[Backend] = NamedClasses(
    {
        "cpu": "polhode.kernel.backends.llvm.backend:LlvmBackend",
        "cuda": "polhode.kernel.backends.cuda:CudaBackend",
        "python": "polhode.kernel.backends.python:PythonBackend",
    }
)
