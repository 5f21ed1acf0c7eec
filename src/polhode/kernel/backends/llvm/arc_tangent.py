"""atan2 of all lanes at once, as a function that kernels call: one division and fdlibm's polynomial.

    |y| ≤ |x|:  atan2(y, x) = atan(a/b),  a = |y|, b = |x|;  the other octants by π/2 − …, π − … and the sign of y
    a/b near c:  atan(a/b) = atan c + atan((a − b c)/(b + a c)),  c = 1/2 or 1

The C library rounds correctly, and takes 10 to 14 ns for each lane. This errs by 1.5 units in the last place at most,
and takes as long for all lanes together.
"""

from polhode.kernel.backends.llvm.function_text import FunctionText

ATAN = (3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
        6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02)  # fmt: skip
"""Coefficients on |t| ≤ 7/16: atan t = t − t³ P(t²), as in fdlibm."""

NEAR = (7 / 16, 11 / 16)
"""Quotients from which on c is 1/2, and 1."""

HALF_ARC = ("0x3FDDAC670561BB4F", "0x3C7A2B7F222F65E2")
QUARTER_TURN = ("0x3FE921FB54442D18", "0x3C81A62633145C07")
HALF_TURN = ("0x3FF921FB54442D18", "0x3C91A62633145C07")
"""atan 1/2, π/4 and π/2, each as a sum of two doubles."""

HUGE, SMALLER = 1e300, 2.0**-60
"""Numbers whose sum may overflow, and what both are multiplied by then: the quotient stays."""


def arc_tangent_text(width: int) -> str:
    """The function `atan2_width` of y and x."""
    body = FunctionText(width)
    found = _angle(body, "%y", "%x")
    head = f"define internal {body.real} @atan2_{width}({body.real} %y, {body.real} %x) noinline alignstack(64) {{"
    return "\n".join([head, "entry:", *body.lines, f"  ret {body.real} {found}", "}"])


def _angle(body: FunctionText, y: str, x: str) -> str:
    """The angle of (x, y)."""
    zero, one, two = map(body.real_constant, (0.0, 1.0, 2.0))
    size_y, size_x = body.intrinsic("fabs", y), body.intrinsic("fabs", x)
    steep = _test(body, "ogt", size_y, size_x)
    a, b = _bounded(body, _choice(body, steep, size_x, size_y), _choice(body, steep, size_y, size_x))
    arc = _arc(body, a, b)
    back = body.put(f"icmp slt {body.whole} {_bits(body, x)}, {body.all_lanes('0', 'i64')}")
    falls = body.put(f"xor {body.truth} {steep}, {back}")
    arc = _choice(body, falls, body.put(f"fneg {body.real} {arc}"), arc)
    turns = _choice(body, steep, one, _choice(body, back, two, zero))
    high, low = map(body.all_lanes, HALF_TURN)
    return _signed_as(body, body.fma(turns, high, body.fma(turns, low, arc)), y)


def _bounded(body: FunctionText, a: str, b: str) -> tuple[str, str]:
    """Numbers a ≤ b of the same quotient, whose sum does not overflow: for infinities 1, beside them 0."""
    zero, one, endless = map(body.real_constant, (0.0, 1.0, float("inf")))
    scale = _choice(body, _test(body, "ogt", b, body.real_constant(HUGE)), body.real_constant(SMALLER), one)
    a, b = body.binary("fmul", a, scale), body.binary("fmul", b, scale)
    beside = _choice(body, _test(body, "oeq", a, endless), one, body.binary("fmul", a, zero))  # NaN stays
    is_endless = _test(body, "oeq", b, endless)
    return _choice(body, is_endless, beside, a), _choice(body, is_endless, one, b)


def _arc(body: FunctionText, a: str, b: str) -> str:
    """atan a/b of 0 ≤ a ≤ b; 0 where both are."""
    zero, one, two = map(body.real_constant, (0.0, 1.0, 2.0))
    half, whole = (_test(body, "ogt", a, body.binary("fmul", b, body.real_constant(c))) for c in NEAR)

    def by_place(near_one: str, near_half: str, else_: str) -> str:
        return _choice(body, whole, near_one, _choice(body, half, near_half, else_))

    above = by_place(body.binary("fsub", a, b), body.fma(two, a, body.put(f"fneg {body.real} {b}")), a)
    below = by_place(body.binary("fadd", a, b), body.fma(two, b, a), b)
    below = _choice(body, _test(body, "oeq", b, zero), one, below)
    t = body.binary("fdiv", above, below)
    high, low = (
        by_place(body.all_lanes(quarter), body.all_lanes(part), zero)
        for quarter, part in zip(QUARTER_TURN, HALF_ARC, strict=True)
    )
    return body.binary("fadd", high, body.binary("fadd", low, _small_arc(body, t)))


def _small_arc(body: FunctionText, t: str) -> str:
    """atan t, in two chains that do not wait for each other."""
    z = body.binary("fmul", t, t)
    w = body.binary("fmul", z, z)
    even, odd = body.real_constant(ATAN[10]), body.real_constant(ATAN[9])
    for k in (8, 6, 4, 2, 0):
        even = body.fma(even, w, body.real_constant(ATAN[k]))
    for k in (7, 5, 3, 1):
        odd = body.fma(odd, w, body.real_constant(ATAN[k]))
    rest = body.fma(odd, w, body.binary("fmul", z, even))
    return body.fma(body.put(f"fneg {body.real} {t}"), rest, t)


def _signed_as(body: FunctionText, size: str, y: str) -> str:
    """A number with the sign of another one, which may be that of zero."""
    sign = body.put(f"and {body.whole} {_bits(body, y)}, {body.all_lanes(str(-(2**63)), 'i64')}")
    bits = body.put(f"or {body.whole} {_bits(body, size)}, {sign}")
    return body.put(f"bitcast {body.whole} {bits} to {body.real}")


def _bits(body: FunctionText, x: str) -> str:
    return body.put(f"bitcast {body.real} {x} to {body.whole}")


def _test(body: FunctionText, kind: str, x: str, y: str) -> str:
    return body.put(f"fcmp {kind} {body.real} {x}, {y}")


def _choice(body: FunctionText, condition: str, one: str, other: str) -> str:
    """One number where a condition holds, else the other."""
    return body.put(f"select {body.truth} {condition}, {body.real} {one}, {body.real} {other}")
