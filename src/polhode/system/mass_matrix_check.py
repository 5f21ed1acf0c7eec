"""Checks of masses: that there is one, and that a mass matrix can be inverted, else an error names the joint."""

from collections.abc import Iterable, Sequence

import numpy as np

from polhode.dynamics import inertia, kinematics, with_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.large_trees.loops import is_large
from polhode.errors import ModelError, message
from polhode.model import Body, Model, Tree, plain
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record
from polhode.scalar import Vec
from polhode.system.identity import identity_text
from polhode.system.tree_kernel import tree_kernel

SINGULAR = 1e-13
"""An eigenvalue of the mass matrix, scaled to unit diagonal, that counts as zero."""

TRIES = 2
"""Random configurations at which it is evaluated: a matrix that is singular in general is so in each."""


def check_mass(where: str, model: Model, body: str) -> None:
    """Refuse what has no mass: a model, or what a body carries.  body: "" for the whole model"""
    mass = model.subtree_mass(model.frame(body).body) if body else model.total_mass
    if not mass > 0:
        what = f"'{body}' and what it carries" if body else f"model '{model.name}'"
        raise ModelError(message(f"{where}, {what}", "no mass", f"{mass:g} kg", "above 0: it has no mass centre"))


def check_mass_matrix(where: str, model: Model, tree: Tree) -> None:
    """Refuse a model whose mass matrix is singular in general, and name the joint.  where: the call that inverts it"""
    if not model.nv or _is_solid(model):
        return
    rng, zero = np.random.default_rng(0), Vec(model.zero)
    steps = [Vec(rng.normal(size=model.nv).tolist()) for _ in range(TRIES)]
    for M in _matrices(model, tree, [kinematics.integrate(tree, zero, step) for step in steps]):
        if not np.all(np.isfinite(M)):
            fix = "Look for a number that is much too large: model.numbers() lists them all."
            raise ModelError(message(f"{where}, model '{model.name}'", "no mass matrix", "inf or NaN", "numbers", fix))
        size = np.diag(M).copy()
        size[size <= SINGULAR * np.max(size, initial=0.0)] = np.max(size, initial=0.0) or 1.0
        values, vectors = np.linalg.eigh(M / np.sqrt(np.outer(size, size)))
        if values[0] <= SINGULAR:
            dof = int(np.argmax(abs(vectors[:, 0])))
            joint = next(e.joint for e in tree.elements if dof in e.v)
            place, fix = f"{where}, joint '{joint}'", "Give the bodies it moves mass, or the joint armature."
            raise ModelError(message(place, "the mass matrix is singular", "nothing that resists it", "inertia", fix))


def _matrices(model: Model, tree: Tree, positions: Sequence[Vec]) -> Iterable[np.ndarray]:
    """The mass matrices at some configurations; where numbers are inputs, by a kernel that other models share."""
    if not (model.number_inputs and identity_text(model)):
        return (np.array(inertia.mass_matrix(tree, q), dtype=float).reshape(model.nv, model.nv) for q in positions)
    rolled = is_large(tree)

    def function(tree: Tree, q: Vec) -> Vec:
        return with_forces.mass_matrix(Arguments(tree, q, rolled=rolled))

    return tree_kernel(model, "mass matrix", function, {"q": (model.nq,)}, 1)(np.array(positions, dtype=float))[0]


@once_each
def _is_solid(model: Model) -> bool:
    """Whether every body resists every motion, so that no mass matrix can be singular."""
    return all(map(_resists, model.bodies))


@once_per_record
def _resists(body: Body) -> bool:
    mass, moments = float(plain(body.mass)), np.linalg.eigvalsh(body.inertia_matrix())
    return mass > 0 and float(np.min(moments)) > SINGULAR * mass
