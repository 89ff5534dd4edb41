"""Do the quick monitor and the formulas say the same? For the tests and for the proof."""

from collections import Counter

from gnomon.theory.evaluation import find_slowly
from gnomon.theory.monitor import Monitor
from gnomon.theory.verdict import AxiomFinding
from tests.theory.random_traces import RandomTrace, random_trace

__all__ = ["compare", "disagreements"]


def disagreements(trace: RandomTrace, kind: type[Monitor] = Monitor) -> list[str]:
    """The axioms on which the two differ, with what each says."""
    monitor = kind(witnesses=trace.witnesses, is_metered=trace.is_metered)
    monitor.see_all(trace.events)
    quick = monitor.findings()
    slow = find_slowly(trace.events, trace.witnesses, is_metered=trace.is_metered)
    return [
        f"{axiom}: the monitor says {_said(quick[axiom])}, the formula {_said(slow[axiom])}"
        for axiom in slow
        if _said(quick[axiom]) != _said(slow[axiom])
    ]


def compare(seeds: range) -> tuple[list[str], Counter[str]]:
    """The seeds on which they differ; and the events, and how often each axiom was broken."""
    different, counts = [], Counter[str]()
    for seed in seeds:
        trace = random_trace(seed)
        different += [f"seed {seed}: {line}" for line in disagreements(trace)]
        monitor = Monitor(witnesses=trace.witnesses, is_metered=trace.is_metered)
        monitor.see_all(trace.events)
        counts["events"] += len(trace.events)
        counts.update(axiom for axiom, one in monitor.findings().items() if one.violation)
    return different, counts


def _said(found: AxiomFinding) -> tuple[int | None, int, bool]:
    """Where it is first broken, how often it was put to the test, whether something is open."""
    if found.violation is not None:
        return found.violation.position, found.exercised, False
    return None, found.exercised, found.open > 0
