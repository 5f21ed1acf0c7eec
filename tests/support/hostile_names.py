"""Names that try to be something else: code of every language that Polhode writes; and a machine that bears them."""

import polhode as ph

MARK = "pwn"
"""A word that stands in every hostile name, and nowhere else."""

PRINTABLE = [
    "x*/ int pwn(void){return 1;} /*",
    "pwn ??/ \\",
    "</script><script>window.pwn=1</script>",
    '"><img src=x onerror=pwn()>',
    "'); pwn(); ('",
    "\\input{/etc/passwd}pwn",
    "\\immediate\\write18{touch pwn}",
    "$(touch pwn)`touch pwn`;touch pwn|pwn&",
    "}\\end{document}\\catcode`\\$=0 pwn",
    "]]><pwn/><![CDATA[",
    "${pwn}{{pwn}}{0.__class__}%(pwn)s%n",
    "[bold red]pwn[/] [link=http://pwn]",
    "=pwn()",
    "../../pwn",
    "pwn.force",
    "pwn: {a: *b}",
    "%pwn = call i32 @system(ptr @0)",
    "-pwn",
    "пwnпpwn日本",
]
"""Names that a model may have: printable, one line."""

REFUSED = [
    "x\ndeclare i32 @system(ptr)",
    "x\rpwn",
    "x\x0bpwn",
    "x\x0cpwn",
    "x\u2028pwn",
    "x\x85pwn",
    "x\x00pwn",
    "x\x1b]0;pwn\x07",
    "x\u202epwn",
    "x\u2066pwn",
    "x\ud800pwn",
    "x\u200bpwn",
    "\ufeffpwn",
    "p" * 201,
    "",
]
"""Names that no record may have."""


def machine(names: list[str]) -> ph.Model:
    """A small machine with these names for itself, its bodies, joints, forces, constraints and parameters."""
    at = iter(names * 2)
    first, second = next(at), next(at)
    mass = ph.Parameter(next(at), 1.5)
    bodies = [ph.Body(first, mass, (0.1, 0.2, 0.3), (0, 0, -0.4)), ph.Body(second, 1.0, (0.1, 0.2, 0.3))]
    joints = [
        ph.Joint(next(at), "revolute", "world", first, axis=(0, 1, 0)),
        ph.Joint(next(at), "spherical", first, second, position=(0, 0, -1)),
    ]
    forces = [ph.Force(next(at), second, (0.1, 0, 0)), ph.Spring(next(at), first, second, (0, 0, 0.3), stiffness=1.0)]
    rod = ph.Constraint(next(at), "point-on-plane", body_b=second, axis_a=(0, 1, 0))
    return ph.Model(next(at), bodies=bodies, joints=joints, forces=forces, constraints=[rod])


HARMLESS = machine([f"name{k}" for k in range(9)])
"""The same machine with names that are names."""


def hostile(first: int = 0) -> ph.Model:
    """The machine with nine hostile names, from this one on."""
    return machine([*PRINTABLE, *PRINTABLE][first : first + 9])
