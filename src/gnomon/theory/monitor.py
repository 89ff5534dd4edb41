"""
The monitor: does this trace keep the axioms, judged event by event as it happens?

It gives the same answers as `evaluation` does from the formulas, and takes the same short time for
every event, however long the trace. What sees the events feeds it: a running scheduler and the
simulator as they act, `check` from a trace that is there as a whole. It never raises because of
what it sees; a violation is a value.

Spec: THEORY-2, THEORY-10 to THEORY-17.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gnomon.theory.axiom_state import AxiomState
from gnomon.theory.axioms import AXIOMS
from gnomon.theory.budget import fit
from gnomon.theory.environment import Environment
from gnomon.theory.evaluation import find_as_printed
from gnomon.theory.verdict import AxiomFinding, Report, Situation, Violation, judge
from gnomon.trace import Event, Header, Kind, Witnesses

__all__ = ["Monitor", "check", "is_metered"]


class Monitor(AxiomState):
    """
    Judges a trace as it grows.

    `is_metered` says whether compute is recorded; without, lag alone is judged. `happy` holds the
    kinds of faults under which the scheduler must still be right; None means all.
    """

    __slots__ = ()

    def __init__(
        self,
        header: Header | None = None,
        *,
        witnesses: Witnesses | None = None,
        is_metered: bool = False,
        happy: Iterable[str] | None = None,
    ) -> None:
        super().__init__(header, witnesses=witnesses, is_metered=is_metered, happy=happy)

    def see(self, event: Event) -> Sequence[Violation]:
        """Take the next event into account; the violations that it brings to light."""
        self._position += 1
        self._t = event.t
        if event.same:
            self._look_at_instant(event)
        if event.t > self._obligations.deadline and not self._is_metered:
            self._look_for_late()
        self._handlers[event.kind](event)
        self._latest = event
        if not self._fresh:
            return ()
        fresh, self._fresh = self._fresh, []
        return fresh

    def see_all(self, events: Iterable[Event]) -> None:
        """Take many events into account."""
        # The same as `see`, written out, because a call for each event is a third of the time.
        account, handlers = self._obligations, self._handlers
        for event in events:
            self._position += 1
            self._t = t = event.t
            if event.same:
                self._look_at_instant(event)
            if t > account.deadline and not self._is_metered:
                self._look_for_late()
            handlers[event.kind](event)
            self._latest = event
        self._fresh.clear()

    def look(self, t: int) -> Sequence[Violation]:
        """Nothing has happened up to `t`: what the waiting brings to light, lag alone."""
        if t > self._obligations.deadline and not self._is_metered:
            self._t = t
            self._look_for_late()
        fresh, self._fresh = self._fresh, []
        return fresh

    def excuse(self, frozen_ms: int) -> None:
        """The scheduler could not act for so long: no open obligation grows older by it."""
        self._obligations.excuse(frozen_ms)

    def forget(self) -> None:
        """Drop what is neither registered nor running; for a caller that watches without an end."""
        self._known.forget()
        listed = {one.cron for one in self._known.listed or ()}
        self._texts = {text: recurs for text, recurs in self._texts.items() if text in listed}

    def verdicts(self) -> Report:
        """What can be said about the events so far; more may follow."""
        findings = self.findings()
        situation = self.situation()
        verdicts, blame, first = judge(findings, situation)
        worst, worst_ms = self._obligations.samples(self._t)
        return Report(
            positions=self._position + 1,
            verdicts=verdicts,
            blame=blame,
            first=first,
            judged_with=self._obligations.witnesses,
            witnesses=fit(worst, worst_ms, is_metered=self._is_metered),
            environment=self._environment(),
        )

    def findings(self) -> dict[str, AxiomFinding]:
        """What was seen of each axiom."""
        return {axiom.id: self._finding(axiom.id) for axiom in AXIOMS}

    def _finding(self, axiom: str) -> AxiomFinding:
        violation, violations = self._broken.get(axiom, (None, 0))
        return AxiomFinding(
            exercised=self._exercised(axiom),
            violation=violation,
            violations=violations,
            open=self._open(axiom),
            note=self._freezes() if axiom == "EA4" else "",
        )

    def _freezes(self) -> str:
        freeze = self._environment().longest_freeze_ms
        return f"no finite trace decides it; the longest stretch without compute took {freeze} ms"

    def _exercised(self, axiom: str) -> int:
        match axiom:
            case "S1":
                return self._starts
            case "S2":
                return self._successes
            case "L1":
                return self._obligations.opened
            case "L3":
                return self._quiet
            case "EA1":
                return self._crashes
            case "EA2" | "EA3":
                return self._starts + self._ends + self._call_actions
            case "EA4":
                return self._position + 1 - self._gauge.gifts
            case "EA5":
                return sum(recurs is not None for recurs in self._texts.values())
            case "EA6":
                return self._ends
            case "EA7":
                return self._ends + self._counts["EA7"]
            case _:
                return self._counts[axiom]

    def _open(self, axiom: str) -> int:
        if axiom == "L1":
            return len(self._obligations.open_starts())
        if axiom == "EA4":
            return int(self._latest is not None and self._latest.kind is Kind.COMPUTE)
        return sum(one.axiom == axiom for one in self._obligations.waiting)

    def situation(self) -> Situation:
        """What besides the axioms decides the verdicts."""
        at_rest = not (self._is_up or self._calls or self._stops or self._running)
        given, needed = self._obligations.granted()
        starved = self._is_metered and given < needed
        return Situation(
            reinitialize=self._header.reinitialize,
            is_metered=self._is_metered,
            is_complete=at_rest,
            unhappy=self._unhappy,
            granted=f"compute granted {given} of {needed:g}" if starved else "",
        )

    def _environment(self) -> Environment:
        return self._gauge.read(self._t)


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
