"""`ph.compile(model)` → System: every quantity of a model as a call on arrays.

`target="cpu"` compiles each quantity when it is first called, `target="cuda"` does so for a GPU.
`target="python"` evaluates the physics on floats and NumPy batches, with no graph: the oracle of the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np

from polhode.constrain.constraint_policy import DEFAULT, TOLERANCE, constraint_policy_of
from polhode.errors import CompileError, InputError, ModelError, UnknownNameError, message
from polhode.kernel.backends import c
from polhode.kernel.backends.base import Computation
from polhode.kernel.backends.registry import BACKENDS
from polhode.model import Model, check_model, make_tree
from polhode.model.layout import layout_html
from polhode.scalar import Array, a_list, one_of
from polhode.system.algorithms import graph_of, on_numbers
from polhode.system.body_call import MOST_SPOKEN, body_call, put, spoken_call
from polhode.system.calls import checked_call, own_value, thread_count
from polhode.system.catalogue.registry import QUANTITIES
from polhode.system.constrained_model import constrained_dynamics, number_inputs
from polhode.system.identity import identity_text
from polhode.system.mass_matrix_check import check_mass, check_mass_matrix
from polhode.system.methods.base import ORIGIN
from polhode.system.methods.centroidal import CentroidalMethods
from polhode.system.methods.configuration import ConfigurationMethods
from polhode.system.methods.constraints import ConstraintMethods
from polhode.system.methods.dynamics import DynamicsMethods
from polhode.system.methods.kinematics import KinematicsMethods
from polhode.system.methods.regressors import RegressorMethods
from polhode.system.parameter_call import ParameterCall
from polhode.system.quantity import CHOICES, FIELDS, NUMBERS, Argument, Quantity, Subject, SystemSpec


def compile(  # the public name, as in `ph.compile`
    model: Model,
    target: str = "cpu",
    parameters: Sequence[str] = (),
    fast: bool = False,
    threads: int = 1,
    engine: str = DEFAULT,
    rank_tolerance: float = TOLERANCE,
) -> "System":
    """The System of a model.

    target      "cpu": kernels compiled by LLVM; "cuda": kernels on a GPU, for CuPy's arrays; "python": the physics
                on floats and NumPy batches, with no kernels
    parameters  paths or Parameter names that become inputs: parameters={path: value or batch} in every call
    fast        whether kernels may reassociate sums: results then differ in the last digits from those of others
    threads     how many threads share a batch (of target "cpu"), unless a call says otherwise: threads=…
    engine      how constraints are met: "fundamental" (Udwadia's equation), "multipliers", "null-space", or "absolute"
                (Euler parameters of every body, joints as constraints too)
    rank_tolerance  remainder of a constraint row after elimination, relative to its natural size; below it the row
                counts as dependent
    """
    return System(model, target, parameters, fast, threads, engine, rank_tolerance)


class System(
    DynamicsMethods, ConstraintMethods, KinematicsMethods, CentroidalMethods, ConfigurationMethods, RegressorMethods
):
    """Every quantity of one model. Arguments are arrays with any leading batch axes; lists are accepted.

    Every call takes `out=` (an array, or a tuple of them for several results), `threads=` and, where parameters
    were named, `parameters={path: value or batch}`. Shapes are checked, values are not: NaN in, NaN out.

    After the first call of a quantity its method is bound to the kernel (`_bind`): a call with one state then goes
    straight to machine code, any other back to the method of the class.
    """

    def __init__(
        self,
        model: Model,
        target: str = "cpu",
        parameters: Sequence[str] = (),
        fast: bool = False,
        threads: int = 1,
        engine: str = DEFAULT,
        rank_tolerance: float = TOLERANCE,
        baumgarte: tuple[float, float] | None = None,
        quick: bool = False,
    ) -> None:
        """As `compile`; quick: single states are asked for a few times only, so their kernels are made in less time."""
        check_model("compile", model)
        if not isinstance(target, str) or target not in BACKENDS:
            raise CompileError(message("compile", "no such target", repr(target), " or ".join(map(repr, BACKENDS))))
        policy = replace(constraint_policy_of("compile", engine, rank_tolerance), baumgarte=baumgarte)
        parameters = tuple(a_list("compile, parameters", parameters, "a list of paths, as parameters=['gravity']"))
        self.model, self.target, self.parameters = model, target, parameters
        self.engine, self.rank_tolerance, self.baumgarte = engine, float(rank_tolerance), baumgarte
        self.fast, self.threads = bool(fast), thread_count("compile", threads)
        self._defaults = {path: own_value(model, path) for path in parameters}
        make_tree(model, self._defaults)  # refuses unknown paths
        takes_numbers = model.number_inputs and target == "cpu" and not parameters and engine != "absolute"
        inputs = number_inputs(model, policy) if takes_numbers and identity_text(model) else None
        self._spec = SystemSpec.of(model, make_tree(model), policy, constrained_dynamics(model, policy), inputs)
        self._backend = BACKENDS[target](self.fast)
        self._backend.quick = quick
        self._computations: dict[tuple[str, ...], Computation] = {}
        self._direct: dict[tuple[str, ...], Callable] = {}  # built-ins of quantities of one body
        self._of_bodies: dict[str, dict[str, Any]] = {}  # the same by quantity, as `body_call` looks them up
        self._origin = self._backend.constant(ORIGIN)
        self.nq, self.nv = model.nq, model.nv

    @cached_property
    def _identity(self) -> str:
        """The text that kernels on disk are known by: model and constraint policy; "" where no text tells all."""
        model, policy, inputs = identity_text(self.model), self._spec.policy, self._spec.inputs
        text = f"{inputs.text if inputs else model}{policy.identity if policy else ''}"
        return model and f"{text}{self.model.frames or ''}"

    def __repr__(self) -> str:
        return f"<System of '{self.model.name}': nq {self.nq}, nv {self.nv}, target {self.target!r}>"

    def _repr_html_(self) -> str:
        head = f"System of <b>{escape(self.model.name)}</b>: nq {self.nq}, nv {self.nv}, target {escape(self.target)}"
        made = ", ".join(dict.fromkeys(key[0] for key in self._computations))
        return f"<p>{head}{f'; called so far: {escape(made)}' if made else ''}</p>{layout_html(self.model)}"

    def __reduce__(self) -> tuple:
        more = self.engine, self.rank_tolerance, self.baumgarte, self._backend.quick
        return System, (self.model, self.target, self.parameters, self.fast, self.threads, *more)

    def source(self, quantity: str, *of: str) -> str:
        """The generated text of a quantity's kernel, as in source("forward_dynamics"), source("pose", "hand"),
        source("jacobian", "hand", "local")."""
        return self._of_kernel("source", "source", quantity, *of)

    def bound(self, quantity: str, *of: str) -> Callable[..., Any]:
        """The call of a quantity for one body or frame and its words, for inner loops: it takes the arrays alone.

            jacobian = system.bound("jacobian", "hand", "local")
            J = jacobian(q, point)                      # as system.jacobian(q, "hand", point, "local"), sooner

        All arguments of the quantity must be given, a point among them. Takes out= and batches as every call does.
        """
        known = QUANTITIES.get(quantity) if isinstance(quantity, str) else None
        if known is None:
            raise UnknownNameError(message("bound", "no such quantity", repr(quantity), "a method of System"))
        words = _subject("bound", known, of)[: 1 + len(known.choices)] if of else ()
        zeros = [np.zeros(self._spec.shape(FIELDS[argument.field])) for argument in known.arguments]
        self._checked(known, words, {}, tuple(zeros))
        checked = lambda *arrays, **options: self._checked(known, words, options, arrays)  # noqa: E731
        return self._direct.get((quantity, *words), checked) if words else getattr(self, quantity)

    def export_c(self, path: str | Path, *quantities: str) -> Path:
        """Write stand-alone C99 of some quantities (inverse and forward dynamics unless named), for controllers.

        One function each, named <model>_<quantity>: pointers to its arguments in the order of the call, the
        time t (a pointer to one number), then its results.
        """
        texts = []
        for name in quantities or ("inverse_dynamics", "forward_dynamics"):
            function = c.identifier(f"{c.identifier(self.model.name)}_{name}")
            texts.append(c.c_source(self._of_kernel("export_c", "graph", name), function))
        try:
            Path(path).write_text("\n".join(texts), encoding="utf-8")
        except (OSError, TypeError, ValueError) as fault:
            found = getattr(fault, "strerror", None) or str(fault)
            raise InputError(message(f"export_c, {path!r}", "cannot be written", found, "the path of a file")) from None
        return Path(path)

    def _of_kernel(self, where: str, part: str, name: str, *of: str) -> Any:
        """The `source` or the `graph` of a quantity's kernel; a CompileError where kernels of this target have none."""
        kernel = self._kernel(where, name, *of)
        asked = getattr(kernel, part, None)
        if asked is None:
            what, found = f"its kernel has no `{part}`", f"{type(kernel).__name__} of target '{self.target}'"
            raise CompileError(message(f"{where} of {name}", what, found, "a target that has one, as 'cpu'"))
        return asked

    def _kernel(self, where: str, name: str, *of: str) -> Any:
        """The kernel of a quantity for the arguments of a call that gives no more than it must."""
        quantity = QUANTITIES.get(name) if isinstance(name, str) else None
        if quantity is None:
            raise UnknownNameError(message(where, "no such quantity", repr(name), "a method of System"))
        subject = _subject(where, quantity, of)
        zeros = [np.zeros(self._spec.shape(FIELDS[argument.field])).tolist() for argument in quantity.arguments]
        call = checked_call(self._spec, self._defaults, quantity, zeros, {}, self._backend.array)
        return self._backend.kernel(self._computation(quantity, subject), call)

    # how a call works

    def _call(self, quantity: Quantity, options: dict[str, Any], *values: Array, of: tuple = ()) -> Any:
        """The result of a quantity; of a body, one state may go straight to the kernel."""
        if not of:
            return self._checked(quantity, of, options, values)
        try:
            direct = self._direct.get((quantity.name, *of))
        except TypeError:  # no name at all
            direct = None
        return direct(*values, **options) if direct else self._checked(quantity, of, options, values)

    def _checked(self, quantity: Quantity, of: tuple, options: dict[str, Any], values: tuple[Array, ...]) -> Any:
        """The result of a quantity, from arguments of any kind."""
        if quantity.of_subtree and of and isinstance(of[0], str) and not of[0]:
            self.model.frame(of[0])  # refuses it: no name is not the whole machine
        if len(values) != len(quantity.arguments):
            asked = ", ".join(map(str, quantity.arguments))
            raise TypeError(f"{quantity.name}() takes {len(quantity.arguments)} arrays ({asked}), found {len(values)}")
        known = None if of else self._computations.get((quantity.name,))  # saves 2 µs of 9 in a batch of 64
        computation = known or self._computation(quantity, _subject(quantity.name, quantity, of))
        if options.keys() <= {"out", "t"} and options.get("t", 0.0) is not None:
            given = self._with_kept(computation, values)
            more = options.get("out"), self.threads, options.get("t")
            quick = None if given is None else self._backend.quickly(computation, given, *more)
            if quick is not None:
                return quick
        options.setdefault("threads", self.threads)
        call = checked_call(self._spec, self._defaults, quantity, values, options, self._backend.array)
        result = self._backend.evaluate(computation, call)
        self._bind(quantity, computation, of)
        return result

    def _with_kept(self, computation: Computation, values: tuple[Array, ...]) -> tuple[Any, ...] | None:
        """The arguments of a call as `Backend.quickly` takes them; None where numbers may be others in every call."""
        if not computation.numbers:
            return values
        inputs = self._spec.inputs
        kept = self._backend.kept(computation, inputs.values) if inputs else None
        return None if kept is None else (*values, kept)

    def _computation(self, quantity: Quantity, subject: Subject) -> Computation:
        """The computation of a quantity for the backend; an error where this model has no such quantity."""
        if not isinstance(subject.body, str):
            self.model.frame(subject.body)  # refuses what is no name
        key, spec = (quantity.name, *subject.words), self._spec
        known = self._computations.get(key)
        if known is not None:
            return known
        if subject.body or quantity.of_body:
            self.model.frame(subject.body)  # refuses unknown names
        if quantity.needs_constraints and spec.constrained is None:
            where = f"model '{self.model.name}'"
            raise ModelError(message(where, "has no constraints", "a tree alone", "constraints=[…]"))
        if quantity.inverts_mass and spec.constrained is None:
            check_mass_matrix("forward_dynamics", self.model, spec.tree)
        if quantity.divides_by_mass:
            check_mass(quantity.name, self.model, subject.body)
        self._computations[key] = computation = Computation(
            key=key,
            arguments=tuple(map(str, quantity.arguments)),
            title=f"{self.model.name}: {' '.join(key)}",
            identity=self._identity,
            graph=partial(graph_of, quantity, spec, subject),
            on_numbers=on_numbers(quantity, spec, subject),
            results=tuple(map(spec.shape, quantity.results)),
            record=quantity.record,
            numbers=(str(NUMBERS),) if spec.inputs else tuple(str(Argument("parameter", x)) for x in self.parameters),
            is_empty=self.nv == 0,
        )
        return computation

    def _bind(self, quantity: Quantity, computation: Computation, of: tuple) -> None:
        """Bind the method of a quantity to its kernel, if there is one, for calls with one state."""
        known = (quantity.name, *of) in self._direct or (not of and quantity.name in vars(self))
        if known or quantity.is_watched:
            return

        def of_subject(*arrays: Array, **options: Any) -> Any:
            return self._checked(quantity, of, options, arrays)

        def as_given(*arrays: Any, **options: Any) -> Any:
            plain = options.keys() <= {"out", "t"} and len(arrays) == len(quantity.arguments) + 1
            more = options.get("out"), self.threads, options.get("t")
            found = self._backend.quickly(computation, arrays, *more) if plain else None
            return NotImplemented if found is None else found

        checked = of_subject if of else getattr(self, quantity.name)
        direct = self._backend.direct(computation, as_given if computation.numbers else checked)
        if direct is not None and computation.numbers:
            inputs, backend = self._spec.inputs, self._backend
            kept = lambda numbers: backend.kept(computation, inputs.values if inputs else numbers)  # noqa: E731
            direct = ParameterCall(direct, kept, checked, self._defaults, (self, quantity.name))
        if direct is not None and of:
            self._direct[quantity.name, *of] = direct
            if quantity.of_body:
                self._bind_body(quantity, direct, of)
        elif direct is not None:
            setattr(self, quantity.name, direct)

    def _bind_body(self, quantity: Quantity, direct: Callable, of: tuple) -> None:
        """Bind the method of a quantity of bodies to the built-ins of those that it was called for."""
        built_ins = self._of_bodies.setdefault(quantity.name, {})
        put(built_ins, direct, *of)
        if quantity.name not in vars(self):
            method = body_call(quantity, getattr(System, quantity.name), built_ins, self._origin)
            setattr(self, quantity.name, MethodType(method, self))  # a bound method can be pickled
        spoken = spoken_call(quantity, getattr(System, quantity.name), *of) if len(of) > len(quantity.choices) else None
        if spoken is None or sum(key[0] == quantity.name for key in self._direct) > MOST_SPOKEN:
            return
        origin = self._origin if spoken.of_point else None
        fallback = getattr(self, quantity.name)
        named = self._backend.named(direct, spoken.before, spoken.names, origin, fallback)
        if named is not None:
            setattr(self, quantity.name, named)


def _subject(where: str, quantity: Quantity, of: tuple) -> Subject:
    """What a quantity is asked of: a body, then words of its choices; an InputError where it has no such subject."""
    if len(of) > 1 + len(quantity.choices) or (of and not (quantity.of_body or quantity.of_subtree)):
        raise InputError(message(where, "too many words", ", ".join(map(repr, of)), quantity.call))
    if quantity.of_body and not of:
        raise InputError(message(where, "which body?", "none", quantity.call))
    for name, word in zip(quantity.choices, of[1:], strict=False):
        one_of(f"{where}, {name}", word, CHOICES[name], f"no such {name}")
    return Subject(*of)
