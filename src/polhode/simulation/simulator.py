"""`ph.simulator`: a model made ready for many runs, or for one step at a time in a loop of one's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from polhode.check.joint_limits import has_limits, with_limits
from polhode.errors import InputError, IntegrationError, UnknownNameError, message
from polhode.kernel import trace
from polhode.kernel.backends.base import into, real_array
from polhode.kernel.backends.llvm.compile import Kernel, kernel_for, single_call
from polhode.kernel.backends.llvm.hoisted_kernel import HoistedKernel, hoisted_kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.model import Model, check_model
from polhode.model.layout import spelled_out
from polhode.model.other_numbers import other_numbers
from polhode.scalar import Array, Vec, a_list, shown
from polhode.scalar.arrays import batch_shape
from polhode.simulation.compiled_run import CompiledRun, RunSpec
from polhode.simulation.events.element_events import element_events
from polhode.simulation.option_table import RUN_OPTIONS, check_keywords, takes_options
from polhode.simulation.run_loop import RunLoop, method_of
from polhode.simulation.run_options import RunKeywords, RunOptions
from polhode.simulation.scenario import Scenario
from polhode.simulation.simulate import followed
from polhode.system.calls import own_value
from polhode.system.constrained_model import number_inputs
from polhode.system.parameter_call import ParameterCall

if TYPE_CHECKING:
    import xarray as xr


class Stepped(NamedTuple):
    """The state after one step: q (..., nq), v (..., nv)."""

    q: Any
    v: Any


class Simulator:
    """A model with the options of its runs: see `ph.simulator`. What is made of them is made once.

    model       the Model
    options     RunOptions
    parameters  paths of the numbers that runs and steps may change
    """

    def __init__(self, model: Model, options: RunOptions, parameters: Sequence[str] = ()) -> None:
        self.parameters = tuple(a_list("simulator, parameters", parameters, "a list of paths, as ['gravity']"))
        self._defaults = {path: own_value(model, path) for path in self.parameters}
        if self.parameters and options.specialise:
            fix = "Leave one of them out: specialised kernels are those of one model."
            raise InputError(message("simulator, parameters", "not with specialise=True", "both", "one", fix))
        if self.parameters or options.specialise == model.number_inputs:
            model = other_numbers(model, {}, "simulator", inputs=not options.specialise)
        self.model, self.options = model, options

    def __repr__(self) -> str:
        step = "controlled steps" if self.options.step is None else f"steps of {self.options.step:g} s"
        return f"<Simulator of '{self.model.name}': {self.options.method or 'default method'}, {step}>"

    def __reduce__(self) -> tuple:
        return Simulator, (self.model, self.options, self.parameters)

    def run(
        self,
        q: Array | None = None,
        v: Array | None = None,
        duration: float | None = None,
        tau: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> "xr.Dataset":
        """A run from a state: the graded Dataset of `ph.simulate` with these options.

        q, v, duration, tau  as in `ph.simulate`
        parameters           numbers of the model for this run alone, by path: those that the Simulator was made with
        more                 options for this run alone, such as verify=False
        """
        check_keywords("Simulator.run", ("tolerance", "step", "method", *RunKeywords.__annotations__), more)
        duration = self.options.duration if duration is None else duration
        model = self._with("Simulator.run", parameters)
        return followed(model, q, v, tau, replace(self.options, duration=duration, **more))

    def _with(self, where: str, parameters: Mapping[str, Any] | None) -> Model:
        """The model with other numbers."""
        if not parameters:
            return self.model
        for path in parameters if isinstance(parameters, Mapping) else ():
            if path not in self.parameters:
                expected = ", ".join(map(repr, self.parameters)) or "none: name them in ph.simulator(…, parameters=[…])"
                raise UnknownNameError(message(f"{where}, parameters", "not an input", shown(path), expected))
        return other_numbers(self.model, parameters, f"{where}, parameters")

    def _limited(self, model: Model) -> Model:
        """A model with its limits as stops, where they act."""
        return with_limits(model) if self.options.limits and has_limits(model) else model

    @cached_property
    def step(self) -> Callable[..., Stepped]:
        """One step of equal size: step(q, v, tau=None, t=0.0) -> (q, v), the state a step later.

        q, v   (..., nq), (..., nv), of one state or a batch; or by joint, {name: numbers}
        tau    (..., nv)  generalised forces, held over the step; None: none
        t      s, of the beginning of the step, where forces of the model depend on it
        out    a pair of arrays for the result
        parameters  {path: value}, numbers of the model that the Simulator was made with

        It is not graded: shapes are checked, values are not, and no step ends at a switch or an event of the run. One
        state given as arrays (q, v, tau) goes straight to machine code. Of machines whose force elements have events
        these take place within the step, in Python, one state after the other; v holds their modes.
        """
        if element_events(self.model):
            return self._step
        kernel = self._kernel
        if isinstance(kernel, Kernel):
            return (None if self.parameters else single_call(kernel, "step", self._step, Stepped)) or self._step
        direct = single_call(kernel.main, "step", lambda *arrays, **options: NotImplemented, Stepped)
        return ParameterCall(direct, self._kept, self._step, self._defaults, (self, "step")) if direct else self._step

    def _kept(self, parameters: np.ndarray) -> np.ndarray | None:
        """What follows from the parameters (n,), for the step's kernel; None where theirs is another structure."""
        kernel, own, left = self._kernel, self._compiled.inputs, iter(parameters.tolist())
        assert isinstance(kernel, HoistedKernel)
        assert own is not None
        values = {path: [next(left) for _ in range(np.size(x))] for path, x in self._defaults.items()}
        inputs = number_inputs(self._limited(self._with("Simulator.step", values)), self._compiled.spec.policy)
        return kernel.kept(inputs.values) if inputs.text == own.text else None

    def _step(
        self,
        q: Array,
        v: Array,
        tau: Array | None = None,
        t: float = 0.0,
        out: tuple[Any, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Stepped:
        """The step of any arguments."""
        if parameters:
            return Simulator(self._with("Simulator.step", parameters), self.options)._step(q, v, tau, t, out)
        nq, nv = self.model.nq, self.model.nv
        q, v, tau = (
            spelled_out(f"Simulator.step, {name}", self.model, name, x)
            for name, x in (("q", q), ("v", v), ("tau", tau))
        )
        wanted = {"q": (q, (nq,)), "v": (v, (nv,)), "tau": (np.zeros(nv) if tau is None else tau, (nv,)), "t": (t, ())}
        arrays = {name: real_array(f"Simulator.step, {name}", *each) for name, each in wanted.items()}
        depths = {"q": 1, "v": 1, "tau": 1, "t": 0}
        batch = batch_shape("Simulator.step", {x: y.shape[: y.ndim - depths[x]] for x, y in arrays.items()})
        rows = [np.broadcast_to(y, (*batch, *y.shape[y.ndim - depths[x] :])) for x, y in arrays.items()]
        if element_events(self.model):
            found = self._through_events(batch, *rows)
            return found if out is None else into("Simulator.step", out, found)
        rows, kernel, inputs = [np.array(x, order="C") for x in rows], self._kernel, self._compiled.inputs
        if isinstance(kernel, HoistedKernel) and inputs:
            rows.insert(3, kernel.kept(inputs.values))
            kernel = kernel.main
        assert isinstance(kernel, Kernel)
        found = Stepped(*kernel(*rows))
        return found if out is None else into("Simulator.step", out, found)

    def _through_events(
        self, batch: tuple[int, ...], q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: np.ndarray
    ) -> Stepped:
        """The step of states whose force elements have events, one after the other."""
        h, found = self.options.step, Stepped(np.array(q), np.array(v))
        for k in np.ndindex(*batch):
            options = self.options.changed(
                duration=h, method=self._compiled.spec.method.name, samples=None, every=None, events=()
            )
            scenario = Scenario(self._compiled.model, q[k].copy(), v[k].copy(), None, options)
            loop = RunLoop(scenario, warn=False, compiled=self._compiled)
            loop.one_step(float(t[k]), tau[k].copy())
            if loop.ending.status != "finished":
                raise IntegrationError(f"Simulator.step: {loop.ending.reason}")
            found.q[k], found.v[k] = loop.position.q, loop.position.v
        return found

    @cached_property
    def _compiled(self) -> CompiledRun:
        model, options = self._limited(self.model), self.options.for_model(self.model)
        if options.step is None:
            fix = "Give one: ph.simulator(model, step=1e-3)."
            raise InputError(message("Simulator.step", "no size of a step", "controlled steps", "step=…, s", fix))
        method = method_of(options)
        if method.start is not None:
            fix = "Take a method of single steps, such as rk4 or implicit-midpoint."
            found = f"method '{method.name}', whose steps hand a memory on"
            raise InputError(message("Simulator.step", "not one step by itself", found, "a state alone", fix))
        spec = RunSpec(model, method, True, norm=options.norm, held=True, policy=options.policy)
        compiled = CompiledRun(spec, warn=False)
        if compiled.in_python:
            fix = "Write it on generic scalars: ph.sin, ph.where, …"
            raise InputError(message("Simulator.step", "needs compiled forces", compiled.in_python[0], "none", fix))
        return compiled

    @cached_property
    def _kernel(self) -> Kernel | HoistedKernel:
        compiled, h = self._compiled, self.options.step
        method, model, inputs = compiled.spec.method, self.model, compiled.inputs

        def step(q: Vec, v: Vec, tau: Vec, t: Any, numbers: Vec | None = None) -> dict[str, Vec]:
            run = compiled if inputs is None or numbers is None else compiled.on_numbers(inputs, numbers)
            setup = run.setup(tau)
            end = method.step(setup.machine, t, q, setup.begun(t, q, v), h)
            q, v = setup.project(t + h, end.q, end.v) if setup.project else (end.q, end.v)
            return {"q": q, "v": v}

        shapes: dict[str, tuple[int, ...]] = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,), "t": ()}
        title, words = f"{model.name}: a step of {method.name}", ("one step", repr(h))
        if inputs is None:
            key = cache_key(compiled.key, *words) if compiled.key else ""
            return kernel_for(key, lambda: trace(step, **shapes), title)
        shapes["numbers"] = inputs.values.shape
        return hoisted_kernel_for(compiled.key_of(inputs, *words), lambda: trace(step, **shapes), ["numbers"], title)


@takes_options(RUN_OPTIONS, RunKeywords)
def simulator(
    model: Model,
    step: float | None = None,
    method: str | None = None,
    tolerance: float = RUN_OPTIONS["tolerance"].default,
    *,
    parameters: Sequence[str] = (),
    **options: Unpack[RunKeywords],
) -> Simulator:
    """A Simulator of a model: `run` for many runs, `step` for one step at a time.

    {options}
    parameters     paths of numbers that runs and steps may change: parameters={path: value} there; nothing is compiled
                   for other values

        sim = ph.simulator(model, step=1e-3, method="rk4", parameters=["bodies.load.mass"])
        q, v = sim.step(q, v, tau, parameters={"bodies.load.mass": 3.0})
        run = sim.run(q, v, duration=2.0)
    """
    check_model("simulator", model)
    check_keywords("simulator", RunKeywords.__annotations__, options)
    return Simulator(model, RunOptions(step=step, method=method, tolerance=tolerance, **options), parameters)
