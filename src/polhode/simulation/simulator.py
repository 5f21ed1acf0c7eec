"""`ph.simulator`: a model made ready for many runs, or for one step at a time in a loop of one's own."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from polhode.errors import InputError, message
from polhode.kernel import trace
from polhode.kernel.backends.base import into, real_array
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for, single_call
from polhode.kernel.cache import key as cache_key
from polhode.model import Model, check_model
from polhode.scalar import Array, Vec
from polhode.scalar.arrays import batch_shape
from polhode.simulation.compiled_run import CompiledRun, RunSpec
from polhode.simulation.option_table import RUN_OPTIONS, check_keywords, takes_options
from polhode.simulation.run_loop import method_of
from polhode.simulation.run_options import RunKeywords, RunOptions
from polhode.simulation.simulate import followed

if TYPE_CHECKING:
    import xarray as xr


class Stepped(NamedTuple):
    """The state after one step: q (..., nq), v (..., nv)."""

    q: Any
    v: Any


class Simulator:
    """A model with the options of its runs: see `ph.simulator`. What is made of them is made once.

    model    the Model
    options  RunOptions
    """

    def __init__(self, model: Model, options: RunOptions) -> None:
        self.model, self.options = model, options

    def __repr__(self) -> str:
        step = "controlled steps" if self.options.step is None else f"steps of {self.options.step:g} s"
        return f"<Simulator of '{self.model.name}': {self.options.method or 'default method'}, {step}>"

    def __reduce__(self) -> tuple:
        return Simulator, (self.model, self.options)

    def run(
        self,
        q: Array | None = None,
        v: Array | None = None,
        duration: float | None = None,
        tau: Any = None,
        **more: Any,
    ) -> "xr.Dataset":
        """A run from a state: the graded Dataset of `ph.simulate` with these options.

        q, v, duration, tau  as in `ph.simulate`
        more                 options for this run alone, such as verify=False
        """
        check_keywords("Simulator.run", ("tolerance", "step", "method", *RunKeywords.__annotations__), more)
        duration = self.options.duration if duration is None else duration
        return followed(self.model, q, v, tau, replace(self.options, duration=duration, **more))

    @cached_property
    def step(self) -> Callable[..., Stepped]:
        """One step of equal size: step(q, v, tau=None, t=0.0) -> (q, v), the state a step later.

        q, v   (..., nq), (..., nv), of one state or a batch
        tau    (..., nv)  generalised forces, held over the step; None: none
        t      s, of the beginning of the step, where forces of the model depend on it
        out    a pair of arrays for the result

        It is not graded: shapes are checked, values are not, and no step ends at a switch or an event. One state given
        as arrays (q, v, tau) goes straight to machine code.
        """
        return single_call(self._kernel, "step", self._step, Stepped) or self._step

    def _step(
        self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0, out: tuple[Any, Any] | None = None
    ) -> Stepped:
        """The step of any arguments."""
        nq, nv = self.model.nq, self.model.nv
        wanted = {"q": (q, (nq,)), "v": (v, (nv,)), "tau": (np.zeros(nv) if tau is None else tau, (nv,)), "t": (t, ())}
        arrays = {name: real_array(f"Simulator.step, {name}", *each) for name, each in wanted.items()}
        depths = {"q": 1, "v": 1, "tau": 1, "t": 0}
        batch = batch_shape("Simulator.step", {x: y.shape[: y.ndim - depths[x]] for x, y in arrays.items()})
        rows = [np.broadcast_to(y, (*batch, *y.shape[y.ndim - depths[x] :])) for x, y in arrays.items()]
        found = Stepped(*self._kernel(*(np.array(x, order="C") for x in rows)))
        return found if out is None else into("Simulator.step", out, found)

    @cached_property
    def _kernel(self) -> Kernel:
        model, options = self.model, self.options.for_model(self.model)
        if options.step is None:
            fix = "Give one: ph.simulator(model, step=1e-3)."
            raise InputError(message("Simulator.step", "no size of a step", "controlled steps", "step=…, s", fix))
        method, h = method_of(options), options.step
        if method.start is not None:
            fix = "Take a method of single steps, such as rk4 or implicit-midpoint."
            found = f"method '{method.name}', whose steps hand a memory on"
            raise InputError(message("Simulator.step", "not one step by itself", found, "a state alone", fix))
        spec = RunSpec(model, method, True, norm=options.norm, held=True, policy=options.policy)
        compiled = CompiledRun(spec, warn=False)
        if compiled.in_python:
            fix = "Write it on generic scalars: ph.sin, ph.where, …"
            raise InputError(message("Simulator.step", "needs compiled forces", compiled.in_python[0], "none", fix))

        def step(q: Vec, v: Vec, tau: Vec, t: Any) -> dict[str, Vec]:
            setup = compiled.setup(tau)
            end = method.step(setup.machine, t, q, v, h)
            q, v = setup.project(t + h, end.q, end.v) if setup.project else (end.q, end.v)
            return {"q": q, "v": v}

        key = cache_key(compiled.key, "one step", repr(h)) if compiled.key else ""
        shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "t": ()}
        return kernel_for(key, lambda: trace(step, **shapes), f"{model.name}: a step of {method.name}")


@takes_options(RUN_OPTIONS, RunKeywords)
def simulator(
    model: Model,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = RUN_OPTIONS["tolerance"].default,
    **options: Unpack[RunKeywords],
) -> Simulator:
    """A Simulator of a model: `run` for many runs, `step` for one step at a time.

    {options}

        sim = ph.simulator(model, step=1e-3, method="rk4")
        q, v = sim.step(q, v, tau)
        run = sim.run(q, v, duration=2.0)
    """
    check_model("simulator", model)
    check_keywords("simulator", RunKeywords.__annotations__, options)
    return Simulator(model, RunOptions(step=step, method=method, tolerance=tolerance, **options))
