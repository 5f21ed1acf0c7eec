"""The shape of a machine: which body hangs on which. Every check of names and of the tree."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from polhode.errors import ModelError, check_name, did_you_mean, message

WORLD = "world"
"""The name of the ground."""


def check_names(model: str, kind: str, names: Sequence[str], reserved: str | None = None) -> None:
    """Names are one line of printable text each, and unique."""
    where = f"model '{model}'"
    for name in names:
        check_name(where, kind, name)
    doubles = [name for name, count in Counter(names).items() if count > 1]
    if doubles:
        raise ModelError(message(where, f"two {kind} records of one name", f"'{doubles[0]}' twice", "unique names"))
    if reserved in names:
        raise ModelError(
            message(where, f"a {kind} named '{reserved}'", f"'{reserved}'", "another name: it is the ground")
        )


def parent_first(model: str, bodies: Sequence[str], joints: Sequence[tuple[str, str, str]]) -> list[int]:
    """The order of joints in which every parent comes before its children.

    joints  (name, parent, child) each
    ->      indices into `joints`; raises a ModelError unless they make a tree on the world
    """
    where = f"model '{model}'"
    known = {WORLD, *bodies}
    of_child: dict[str, str] = {}
    for name, parent, child in joints:
        for end, role in ((parent, "parent"), (child, "child")):
            if not isinstance(end, str) or end not in known:
                fix = did_you_mean(end, known, "Add the body, or mend the name.")
                raise ModelError(message(f"joint '{name}', {role}", "unknown body", repr(end), "a body", fix))
        if child == WORLD:
            raise ModelError(message(f"joint '{name}'", "the world as a child", f"'{WORLD}'", "a body"))
        if child in of_child:
            found = f"'{child}' is the child of '{of_child[child]}' and of '{name}'"
            fix = "A closed loop is a constraint, not a second joint."
            raise ModelError(message(where, "a body with two parents", found, "one joint for each body", fix))
        of_child[child] = name
    loose = [body for body in bodies if body not in of_child]
    if loose:
        fix = "A body that flies freely is the child of a free joint on the world."
        raise ModelError(message(where, "a body without a joint", f"'{loose[0]}'", "one joint for each body", fix))
    below = defaultdict(list)
    for index, (_, parent, _) in enumerate(joints):
        below[parent].append(index)
    order: list[int] = []
    waiting = list(reversed(below[WORLD]))
    while waiting:  # depth first, in the order written
        index = waiting.pop()
        order.append(index)
        waiting += reversed(below[joints[index][2]])
    if len(order) < len(joints):
        left = next(joints[i] for i in range(len(joints)) if i not in set(order))
        found = f"joint '{left[0]}' ('{left[1]}' → '{left[2]}') is not reached from the world"
        raise ModelError(message(where, "the joints make a cycle", found, "a tree on the world"))
    return order
