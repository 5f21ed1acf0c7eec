"""Variables of a motion at samples: poses and velocities of all bodies, energies and momenta."""

from typing import Any

import numpy as np

from polhode.dynamics import energy, kinematics
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import kernel_for
from polhode.kernel.cache import key as cache_key
from polhode.model import Model, make_tree
from polhode.model.per_model_cache import once_each
from polhode.quaternion import conjugate, rotate
from polhode.scalar import Vec, dot
from polhode.system.identity import identity_text


class Observer:
    """The variables of one model's motion at samples, by one kernel; compiled when first used."""

    def __init__(self, model: Model) -> None:
        self.model, self.tree = model, make_tree(model)
        self.zero = [x for joint in model.joints for x in joint.kind.zero]
        self._kernel: Any = None
        self._names = list(self.on_scalars(Vec(self.zero), Vec([0.0] * model.nv)))

    def on_scalars(self, q: Vec, v: Vec) -> dict[str, Any]:
        """All variables of one sample."""
        tree = self.tree
        places = [tree.of_body[body.name] for body in self.model.bodies]
        at, turned = kinematics.frames(tree, q), kinematics.orientations(tree, q)
        moving = kinematics.velocities(tree, q, at, v)
        own = [(1 / dot(turned[i], turned[i])) * rotate(conjugate(turned[i]), moving[i].angular) for i in places]
        kinetic, potential = energy.energy(tree, q, v)
        linear, angular = energy.momentum(tree, q, v)
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
        }

    def __call__(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """The variables of samples q (n, nq), v (n, nv), by their names in a Dataset."""
        model = self.model
        if not model.nv:  # nothing moves: all samples are one
            seen = self.on_scalars(Vec(), Vec())
            return {name: np.tile(np.array(x, dtype=float), (len(q), *[1] * np.ndim(x))) for name, x in seen.items()}
        if self._kernel is None:
            text = identity_text(model)
            key = cache_key(text, "observe") if text else ""
            shapes = {"q": (model.nq,), "v": (model.nv,)}
            self._kernel = kernel_for(key, lambda: trace(self.on_scalars, **shapes), f"{model.name}: observe")
        found = self._kernel(np.ascontiguousarray(q), np.ascontiguousarray(v))
        whole = [
            np.broadcast_to(x, (len(q), *shape)) for x, shape in zip(found, self._kernel.facts["outputs"], strict=True)
        ]
        return dict(zip(self._names, whole, strict=True))


@once_each
def observer_of(model: Model) -> Observer:
    """The observer of a model, made once."""
    return Observer(model)
