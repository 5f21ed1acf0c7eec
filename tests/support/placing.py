"""Where the bodies of a Model are, in plain NumPy from its records alone: nothing of polhode's own algebra."""

import numpy as np

from plain import matrix_normalised


def frame(R=None, p=(0.0, 0.0, 0.0)):
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if R is None else R
    T[:3, 3] = p
    return T


def about(axis, angle):
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def motion(joint, q):
    """The child frame in the joint frame."""
    match joint.type:
        case "fixed":
            return frame()
        case "revolute":
            return frame(about(joint.axis, q[0]))
        case "prismatic":
            return frame(p=q[0] * np.array(joint.axis) / np.linalg.norm(joint.axis))
        case "planar":
            return frame(about((0, 0, 1), q[2]), (q[0], q[1], 0.0))
        case "spherical":
            return frame(matrix_normalised(q))
        case "free":
            return frame(matrix_normalised(q[3:]), q[:3])
    raise AssertionError(joint.type)


def coordinates(model, q):
    """The part of q of each joint, by name."""
    parts, at = {}, 0
    for joint in model.joints:
        parts[joint.name] = np.asarray(q[at : at + joint.nq], dtype=float)
        at += joint.nq
    return parts


def placements(model, q):
    """The frame of every body in the world, 4×4, by name."""
    parts = coordinates(model, q)
    joint_of = {joint.child: joint for joint in model.joints}
    found = {"world": np.eye(4)}

    def place(name):
        if name not in found:
            joint = joint_of[name]
            origin = frame(matrix_normalised(joint.orientation), joint.position)
            found[name] = place(joint.parent) @ origin @ motion(joint, parts[joint.name])
        return found[name]

    for body in model.bodies:
        place(body.name)
    return found


def random_configuration(model, rng):
    """Angles and travels of order one, unit quaternions."""
    q = []
    for joint in model.joints:
        part = rng.normal(size=joint.nq)
        if joint.type in ("spherical", "free"):
            part[-4:] /= np.linalg.norm(part[-4:])
        q += list(part)
    return np.array(q)


def zero_configuration(model):
    """Zero angles, identity quaternions."""
    q = []
    for joint in model.joints:
        part = np.zeros(joint.nq)
        if joint.type in ("spherical", "free"):
            part[-4] = 1.0
        q += list(part)
    return np.array(q)


def moments(mass, center, inertia):
    """m, m c and the inertia about the frame's origin, as one array."""
    c = np.asarray(center, dtype=float)
    J = np.asarray(inertia, dtype=float) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, J.ravel()])


def moved_moments(body, T):
    """The moments of a body about the origin of another frame in which its own is placed by T."""
    R = T[:3, :3]
    return moments(body.mass, R @ np.array(body.center) + T[:3, 3], R @ body.inertia_matrix() @ R.T)
