"""Runs by a form of `ph.forms`, in the form's own variables, by equal steps of RK4: one body, or all of a machine."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from polhode.result.dataset import Extra
from polhode.simulation.by_form.run_by_form import RunByForm, is_single
from polhode.simulation.by_form.tree_run_by_form import TreeRunByForm
from polhode.simulation.driven_model import DrivenModel
from polhode.simulation.run_records import Ending, Position, Samples, first_sample
from polhode.simulation.scenario import Scenario
from polhode.simulation.step_state import LARGEST


class FormRun:
    """A run by a published form, up to where its state leaves all bounds."""

    def __init__(self, scenario: Scenario) -> None:
        options, start = scenario.options, (scenario.q, scenario.v)
        assert options.form is not None
        assert options.step is not None
        self.h, self.segments, self.norm_policy = options.step, scenario.segments, options.norm
        self.driven = DrivenModel(scenario.model, scenario.tau, options.policy, start=start)
        self.watches_events = False
        self.policy = options.policy if options.policy.baumgarte else replace(options.policy, keeping="none")
        self.position, self.ending = Position(0.0, *start), Ending()
        asked = scenario.model, options.form, options.norm, *start, scenario.tau
        single = is_single(scenario.model)
        self.equations = RunByForm(*asked) if single else TreeRunByForm(*asked, options.policy)

    def __iter__(self) -> Iterator[Samples]:
        """Blocks of samples; a run that leaves all bounds ends as failed."""
        at, ending = self.position, self.ending
        for block in self.equations.blocks(self.segments):
            good = int(np.sum(np.cumprod(np.all(abs(np.hstack([block.q, block.v])) < LARGEST, axis=1))))
            at.t = float(block.time[good - 1]) if good else at.t
            ending.accepted, ending.smallest = round(at.t / self.h), self.h
            if good:
                yield Samples(*(part[:good] for part in block[:4]))
            if good < len(block.time):
                ending.status, ending.reason = "failed", f"after t = {at.t:.9g}: the state is beyond all bounds"
                return

    def start(self) -> Samples:
        """The first sample."""
        return first_sample(self.position)

    def reached(self) -> Iterator[Samples]:
        """Nothing: a form's own state is known at samples only."""
        return iter(())

    def extras(self, q: np.ndarray, v: np.ndarray) -> dict[str, Extra]:
        """The multiplier and its prediction; of machines also lengths of p and residuals of joints."""
        return self.equations.extras(q, v)
