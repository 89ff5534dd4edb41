"""
How long one operation takes: the mean over whole passes, the collector off, for at least a time.

The mean of one sample, not its best pass: a fast engine makes many passes in the time in which a
slow one makes one, and taking the best of many against the best of one would favour the fast. The
best is taken over rounds, of which every engine gets the same number.

The clock counts the processor time of the worker, with all its threads, so that other processes on
the machine are not counted. A job that waits for something else chooses the wall clock instead.
"""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time_ns

from benchmarks.harness.protocol import Answer, Timed

__all__ = ["Job", "time_job"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A cell made ready on one engine: everything that is not to be timed is already done."""

    run: Callable[[], object]
    operations: int
    answers: Callable[[], list[Answer]]
    facts: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], int] = process_time_ns


def time_job(job: Job, *, seconds: float) -> Timed:
    """Whole passes until `seconds` have gone by; at least one."""
    run, clock = job.run, job.clock
    budget = int(seconds * 1e9)
    passes = spent = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        began = clock()
        while passes == 0 or spent < budget:
            run()
            passes += 1
            spent = clock() - began
    finally:
        if collecting:
            gc.enable()
    operations = passes * job.operations
    return Timed(ns=spent / operations, operations=operations, facts=job.facts)
