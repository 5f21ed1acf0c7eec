"""The angular velocity of a body over time."""

from typing import TYPE_CHECKING, Any

from polhode.errors import InputError, message
from polhode.show.figure import COLOURS, new_figure, styled
from polhode.show.plots.axes import HIGH, WIDE, draw_curves, headed, legend, over_time
from polhode.show.plots.run_source import Run, body_of, instants, opened, variable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def rates(run: Run, body: str | None = None, axes: str = "body", model: Any = None) -> "Figure":
    """The angular velocity of a body over time, in its own axes or (axes="world") in the world's.

    model  of the run: checked to be its own; it need not be given here
    """
    run = opened(run, model)
    if axes not in ("body", "world"):
        raise InputError(message("plot rates, argument axes", "no such choice", repr(axes), "'body' or 'world'"))
    place, name = body_of("rates", run, body)
    time, omega = instants("rates", run), variable("rates", run, f"omega_{axes}")[:, place]
    figure, panel = new_figure(WIDE + 0.6, HIGH + 0.4)
    draw_curves(panel, time, [(rf"$\omega_{x}$", omega[:, k], {"color": COLOURS[k]}) for k, x in enumerate("xyz")])
    over_time(panel, run, time, f"angular velocity, {axes} axes", "rad/s")
    legend(panel)
    return headed(figure, run, f"Angular velocity of '{name}'")
