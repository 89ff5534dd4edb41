"""
Checking a trace that is there as a whole: the axioms, or the axioms as they were printed.

Spec: THEORY-10, THEORY-17.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gnomon.theory.monitor import Monitor
from gnomon.theory.slow import find_as_printed
from gnomon.theory.verdict import Report, judge
from gnomon.trace import Event, Header, Kind, Witnesses

__all__ = ["check", "is_metered"]


def is_metered(events: Iterable[Event]) -> bool:
    """Whether the trace records compute."""
    return any(event.kind is Kind.COMPUTE for event in events)


def check(
    header: Header,
    events: Sequence[Event],
    *,
    as_printed: bool = False,
    happy: Iterable[str] | None = None,
    witnesses: Witnesses | None = None,
) -> Report:
    """Judge a whole trace, with its pulses in it."""
    monitor = Monitor(
        header, witnesses=witnesses, is_metered=is_metered(events), happy=happy
    )  # fmt: skip
    monitor.see_all(events)
    report = monitor.verdicts()
    if not as_printed:
        return report
    situation = monitor.situation()
    findings = find_as_printed(events, report.judged_with, is_metered=situation.is_metered)
    verdicts, blame, first = judge(findings, situation)
    return replace(report, verdicts=verdicts, blame=blame, first=first)
