"""Checks of masses: that there is one, and that a mass matrix can be inverted, else an error names the joint."""

from collections.abc import Iterable, Sequence

import numpy as np

from polhode.dynamics import coupled_inertia, inertia, kinematics, with_forces
from polhode.dynamics.arguments import Arguments
from polhode.dynamics.large_trees.loops import is_large
from polhode.errors import ModelError, message
from polhode.linalg.rank import symmetric_eigenpairs
from polhode.model import Body, ForceElement, Model, Tree, plain
from polhode.model.per_model_cache import once_each
from polhode.model.per_record_cache import once_per_record
from polhode.scalar import Vec, trace
from polhode.system.identity import identity_text
from polhode.system.tree_kernel import tree_kernel

SINGULAR = 1e-13
"""An eigenvalue of the mass matrix, scaled to unit diagonal, that counts as zero."""

SYMMETRIC = 1e-9
"""What may be left of M − Mᵀ of an inertia of a force element, relative to M: far above rounding."""

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
    coupling = [force for force in tree.forces if force.inertia_bodies]
    if not model.nv or (_is_solid(model) and not coupling):
        return
    rng, zero = np.random.default_rng(0), Vec(model.zero)
    steps = [Vec(rng.normal(size=model.nv).tolist()) for _ in range(TRIES)]
    for force in coupling:
        _check_symmetric(where, force, tree, [kinematics.integrate(tree, zero, step) for step in steps])
    positions = [kinematics.integrate(tree, zero, step) for step in steps]
    for q, M in zip(positions, _matrices(model, tree, positions), strict=True):
        if not np.all(np.isfinite(M)):
            fix = "Look for a number that is much too large: model.numbers() lists them all."
            raise ModelError(message(f"{where}, model '{model.name}'", "no mass matrix", "inf or NaN", "numbers", fix))
        size, largest = np.diag(M).copy(), float(np.max(np.diag(M), initial=0.0))
        if np.any(size <= SINGULAR * largest):  # beside a large inertia, or none
            size[size <= SINGULAR * _moments(tree, q)] = largest or 1.0
        values, vectors = symmetric_eigenpairs(M / np.sqrt(np.outer(size, size)))
        if values[0] <= SINGULAR:
            dof = int(np.argmax(abs(vectors[:, 0])))
            joint = next(e.joint for e in tree.elements if dof in e.v)
            if coupling:
                _refuse_negative(where, coupling, joint, float(values[0]))
            place, fix = f"{where}, joint '{joint}'", "Give the bodies it moves mass, or the joint armature."
            raise ModelError(message(place, "the mass matrix is singular", "nothing that resists it", "inertia", fix))


def _moments(tree: Tree, q: Vec) -> np.ndarray:
    """What rounding of each diagonal entry of the mass matrix is a part of: mass and second moments that it moves."""
    found = np.zeros(tree.nv)
    whole = inertia.composites(tree, [kinematics.placement(e, q) for e in tree.elements])
    for e, (mass, _, second) in zip(tree.elements, whole, strict=True):
        for k, is_linear in zip(e.v, e.kind.linear, strict=True):
            found[k] = float(mass if is_linear else trace(second)) + sum(float(a) for a in e.armature)
    return found


def _check_symmetric(where: str, force: ForceElement, tree: Tree, positions: Sequence[Vec]) -> None:
    """Refuse inertia of a force element that is not symmetric."""
    for q in positions:
        M = np.array(coupled_inertia.matrix(force, kinematics.machine_state(tree, 0.0, q, Vec([0.0] * tree.nv))))
        M = M.astype(float)
        apart = abs(M - M.T)
        if not np.max(apart) <= SYMMETRIC * np.max(abs(M)):
            i, j = (int(k) for k in np.unravel_index(int(np.argmax(apart)), M.shape))
            place, found = (
                f"{where}, {force.kind} '{force.name}'",
                f"[{i}, {j}] is {M[i, j]:.6g}, [{j}, {i}] {M[j, i]:.6g}",
            )
            raise ModelError(message(place, "its inertia is not symmetric", found, "a symmetric matrix"))


def _refuse_negative(where: str, coupling: Sequence[ForceElement], joint: str, least: float) -> None:
    """Refuse a mass matrix that inertia of force elements makes singular, or takes too much of."""
    names = ", ".join(f"{force.kind} '{force.name}'" for force in coupling[:4])
    found = f"an eigenvalue {least:.3g} of 1 along joint '{joint}', with {names}"
    fix = "Give the bodies that it couples more mass, or it less."
    raise ModelError(message(where, "the mass matrix is not positive definite", found, "above 0", fix))


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
