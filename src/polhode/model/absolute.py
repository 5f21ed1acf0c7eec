"""Tree → Tree: the same bodies, each flying on its own: absolute coordinates."""

from polhode.model.joints.base import Element
from polhode.model.joints.registry import JOINTS
from polhode.model.parts import Joint
from polhode.model.topology import WORLD
from polhode.model.tree import GROUND, Numbers, Tree, joint_elements


def flown(tree: Tree) -> Tree:
    """The bodies of a tree in its order, each on a free joint of its own; gravity acts, no other force."""
    elements: list[Element] = []
    of_body = {WORLD: GROUND}
    free = JOINTS["free"]
    for e in tree.elements:
        if e.body is None:
            continue
        count = len(of_body) - 1
        joint = Joint(e.body, "free", WORLD, e.body)
        at = len(elements), free.nq * count, free.nv * count
        elements += joint_elements(joint, GROUND, *at, e.inertia, Numbers({}))
        of_body[e.body] = len(elements) - 1
    count = len(of_body) - 1
    return Tree(
        tree.name, tree.gravity, tuple(elements), of_body, (), free.nq * count, free.nv * count, tree.constraints
    )
