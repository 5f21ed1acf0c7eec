"""Variables of a motion at samples: poses and velocities of all bodies, energies and momenta."""

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any

import numpy as np

from polhode.dynamics import energy, kinematics
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import batch_kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.model import ForceElement, Model, Tree, make_tree
from polhode.model.per_model_cache import once_each
from polhode.quaternion import conjugate, rotate
from polhode.result.dataset import completed
from polhode.result.deferred import DOUBLE
from polhode.scalar import Vec, dot
from polhode.system.identity import identity_text
from polhode.system.tree_kernel import tree_kernel

OBSERVED = (
    "position", "quaternion", "velocity", "omega_body", "omega_world",
    "kinetic_energy", "potential_energy", "linear_momentum", "angular_momentum",
)  # fmt: skip
"""The variables, in their order; of machines with beams, what their sections bear comes after them."""


def with_sections(forces: Iterable[ForceElement]) -> list[ForceElement]:
    """The elements among the forces of a model or a tree that have sections."""
    return [force for force in forces if force.section_labels]


class Observer:
    """The variables of one model's motion at samples, by one kernel; compiled when first used."""

    def __init__(self, model: Model) -> None:
        self.model, self.tree = model, make_tree(model)

    def on_scalars(self, tree: Tree, q: Vec, v: Vec) -> dict[str, Any]:
        """All variables of one sample; tree: of the model, its numbers perhaps symbols."""
        places = [tree.of_body[body.name] for body in self.model.bodies]
        at, turned = kinematics.frames(tree, q), kinematics.orientations(tree, q)
        moving = kinematics.velocities(tree, q, at, v)
        own = [(1 / dot(turned[i], turned[i])) * rotate(conjugate(turned[i]), moving[i].angular) for i in places]
        kinetic, potential = energy.energy(tree, q, v)
        linear, angular = energy.momentum(tree, q, v)
        beams = with_sections(tree.forces)
        state = kinematics.machine_state(tree, 0.0, q, v) if beams else None
        loads: dict[str, Any] = {}
        if state:
            loads["section_force"] = Vec([beam.section_loads(state) for beam in beams])
            loads["strain_energy"] = Vec([beam.strain_energy(state) for beam in beams])
        return {
            "position": Vec([at[i].o for i in places]),
            "quaternion": Vec([turned[i] for i in places]),
            "velocity": Vec([moving[i].linear for i in places]),
            "omega_body": Vec(own),
            "omega_world": Vec([moving[i].angular for i in places]),
            "kinetic_energy": kinetic,
            "potential_energy": potential,
            "linear_momentum": linear,
            "angular_momentum": angular,
            **loads,
        }

    def __call__(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """The variables of samples q (n, nq), v (n, nv), by their names in a Dataset."""
        model = self.model
        if not model.nv:  # nothing moves: all samples are one
            seen = self.on_scalars(self.tree, Vec(), Vec())
            return {name: np.tile(np.array(x, dtype=float), (len(q), *[1] * np.ndim(x))) for name, x in seen.items()}
        found, n = self.kernel(np.ascontiguousarray(q), np.ascontiguousarray(v)), len(q)
        return {
            name: x if x.shape == (n, *shape) else np.broadcast_to(x, (n, *shape))
            for x, (name, shape) in zip(found, self._outputs, strict=True)
        }

    def whole(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """The same, and the total energy."""
        return completed(self.model, self(q, v))

    @cached_property
    def kinds(self) -> dict[str, np.dtype]:
        """The types of the variables of `whole`, by their names."""
        return dict.fromkeys((*self.names, "total_energy"), DOUBLE)

    @cached_property
    def _outputs(self) -> list[tuple[str, tuple[int, ...]]]:
        """The name and the shape of each variable that the kernel gives."""
        shapes = [tuple(shape) for shape in self.kernel.facts["outputs"]]
        return list(zip(self.names, shapes, strict=True))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return (*OBSERVED, "section_force", "strain_energy") if with_sections(self.tree.forces) else OBSERVED

    @property
    def is_made(self) -> bool:
        """Whether the kernel is there."""
        return "kernel" in vars(self)

    @cached_property
    def kernel(self) -> Any:
        """The variables of batches of samples, compiled."""
        model, text = self.model, identity_text(self.model)
        shapes = {"q": (model.nq,), "v": (model.nv,)}
        if text and model.number_inputs:
            return tree_kernel(model, "observe", self.on_scalars, shapes, single=False, later=True)
        graph = lambda: trace(partial(self.on_scalars, self.tree), **shapes)  # noqa: E731
        name, title = cache_key(text, "observe") if text else "", f"{model.name}: observe"
        return batch_kernel_for(name, graph, title)


@once_each
def observer_of(model: Model) -> Observer:
    """The observer of a model, made once."""
    return Observer(model)
