"""Studies whose runs take their time, or end the process that runs them."""

import os
import time

from ensembles.cases import small
from polhode.ensemble.study import Study
from polhode.ensemble.study_runner import StudyRunner

DEADLY, FAULTY = (33,), (33, 150)
"""Runs that end their process; runs that raise."""


class Deadly(Study):
    def fleet(self):
        return DeadlyFleet(self)


class DeadlyFleet(StudyRunner):
    def run(self, first, last, threads=1, lanes=None, skip=None):
        if any(first <= k < last and k not in (skip or {}) for k in DEADLY):
            os._exit(1)
        return super().run(first, last, threads, lanes, skip)


class Faulty(Study):
    def fleet(self):
        return FaultyFleet(self)


class FaultyFleet(StudyRunner):
    def run(self, first, last, threads=1, lanes=None, skip=None):
        if any(first <= k < last and k not in (skip or {}) for k in FAULTY):
            raise ArithmeticError("poison")
        return super().run(first, last, threads, lanes, skip)


class Slow(Study):
    def fleet(self):
        return SlowFleet(self)


class SlowFleet(StudyRunner):
    def run(self, first, last, threads=1, lanes=None, skip=None):
        time.sleep(0.15)
        return super().run(first, last, threads, lanes, skip)


def of_kind(kind):
    return kind(**vars(small()))
