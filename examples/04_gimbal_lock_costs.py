"""What a near miss of gimbal lock costs: Euler angles against Euler parameters, at distance θ from lock.

With 3-1-3 angles u = (φ, θ, ψ) the body rates are ω = B(u) u̇, Schwab-Meijaard (15), (16). B is singular
at θ = 0, det B = −sin θ, and cond B = cot(θ/2); the condition of BᵀJB, which (19) solves with, grows as its
square. A body whose third axis passes the vertical at the distance d turns φ and ψ by almost half a turn
within a time of order d/ω. RK4 with a fixed step h sees this as a fast motion: the error of the state form
in angles, (20), (21), grows as d⁻³, that of the second-order form (19) as d⁻⁴ until, at d of about ωh,
little is left of the attitude. The state form in Euler parameters, (45), (46), does not change when the
whole world is turned, p → r∘p, so it cannot know where somebody's angles lock: its error is the same at
every distance.

The body is free; its motion in body axes is always the same, only the space axes are chosen with d.
"""

from pathlib import Path

import numpy as np

import polhode as ph
from polhode.papers.single_body import motion
from polhode.quaternion import angle_between, from_axis_angle, normalise
from polhode.show.figure import COLOURS, new_figure, save_figure

J, omega, h = np.array([1.0, 2.0, 3.0]), (0.0, 1.0, 0.2), 0.005  # kg m², rad/s at the closest point, s
distances = np.array([0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003])  # rad
forms = {
    "schwab-meijaard-19": "Euler angles, (19)",
    "schwab-meijaard-20": "Euler angles, (20), (21)",
    "schwab-meijaard-45": "Euler parameters, (45), (46)",
}


def errors(d):
    """The attitude error, rad, of each form, from 1 s before the closest point to 1 s after it."""
    closest = from_axis_angle([1.0, 0.0, 0.0], d)
    exact = ph.exact.free_body(J, omega, [-1.0, 1.0], p=closest)
    body = ph.SingleBody.make(J, exact.omega[0], normalise(exact.p[0]))
    ends = [motion(form, body, 2.0, h).p[-1] for form in forms]
    return angle_between(normalise(ends), normalise(exact.p[1]))


found = dict(zip(forms, np.transpose([errors(d) for d in distances]), strict=True))
u = np.transpose([0 * distances, distances, 0 * distances])  # the angles at the closest point
B = ph.euler.body_rate_matrix("313", u)
condition = ph.euler.condition("313", u)
condition_mass = np.linalg.cond(B.swapaxes(1, 2) @ np.diag(J) @ B)

figure, (left, right) = new_figure(8.0, 3.5, ncols=2)
for (form, label), colour, marker in zip(forms.items(), (1, 5, 0), "so^", strict=True):
    left.loglog(distances, found[form], marker + "-", color=COLOURS[colour], ms=4.5, label=label)
left.axvline(h, color="black", lw=0.8, ls=":")
left.text(1.08 * h, 3e-15, "distance turned\nin one step", fontsize=8, va="bottom")
left.set(xlabel="closest distance to lock θ (rad)", ylabel="attitude error after 2 s (rad)", ylim=(1e-15, 10))
left.legend(frameon=False, fontsize=8.5)
left.set_title(f"Free body, RK4, h = {1000 * h:g} ms", loc="left", fontsize=10)
right.loglog(distances, condition_mass, "s-", color=COLOURS[1], ms=4.5, label="BᵀJB")
right.loglog(distances, condition, "o-", color=COLOURS[5], ms=4.5, label="B")
right.loglog(distances, 1 / np.tan(distances / 2), "+", color="black", label="cot(θ/2)")
right.set(xlabel="closest distance to lock θ (rad)", ylabel="condition number")
right.legend(frameon=False, fontsize=8.5)
right.set_title("Condition at the closest point", loc="left", fontsize=10)
Path("out").mkdir(exist_ok=True)
save_figure(figure, Path("out", f"{Path(__file__).stem}.png"), f"examples/{Path(__file__).name}", force=True)

print(f"{'attitude error at d =':30s}" + "  ".join(f"{d:<7g}" for d in distances))
for form, label in forms.items():
    print(f"{label:30s}" + "  ".join(f"{x:.1e}" for x in found[form]))
second, first, parameters = found.values()
middle = (distances <= 0.1) & (distances >= 0.02)  # near lock, but far from the step
slopes = [np.polyfit(np.log(distances[middle]), np.log(x[middle]), 1)[0] for x in (first, second)]
print(f"error of (20), (21) as d^{slopes[0]:.2f}, of (19) as d^{slopes[1]:.2f}")
assert np.ptp(parameters) < 0.1 * np.min(parameters)
assert -3.5 < slopes[0] < -2.5
assert -4.5 < slopes[1] < -3.5
assert np.allclose(condition, 1 / np.tan(distances / 2), rtol=1e-12)
