"""Studies whose runs take their time, or end the process that runs them."""

import os
import time

from polhode.ensemble.study import Study
from polhode.ensemble.study_runner import StudyRunner
from study_cases import small

DEADLY, FAULTY = (33,), (33, 150)
"""Runs that end their process; runs that raise."""


class DeadlyRunner(StudyRunner):
    def run(self, first, last, threads=1, batch=None, skip=None):
        if any(first <= k < last and k not in (skip or {}) for k in DEADLY):
            os._exit(1)
        return super().run(first, last, threads, batch, skip)


class FaultyRunner(StudyRunner):
    def run(self, first, last, threads=1, batch=None, skip=None):
        if any(first <= k < last and k not in (skip or {}) for k in FAULTY):
            raise ArithmeticError("poison")
        return super().run(first, last, threads, batch, skip)


class SlowRunner(StudyRunner):
    def run(self, first, last, threads=1, batch=None, skip=None):
        time.sleep(0.15)
        return super().run(first, last, threads, batch, skip)


class Deadly(Study):
    runner = DeadlyRunner


class Faulty(Study):
    runner = FaultyRunner


class Slow(Study):
    runner = SlowRunner


def of_kind(kind):
    return kind(**vars(small()))
