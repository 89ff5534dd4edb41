"""
The slow judge: the axioms evaluated as formulas, on a trace that is there as a whole.

It is what the quick monitor is held against, and the way to ask for the axioms as they were
printed.

Spec: THEORY-1, THEORY-2, THEORY-17.
"""

from collections.abc import Sequence

from gnomon.theory.axioms import AXIOMS, System, repaired
from gnomon.theory.cron_text import recurs_for_ever
from gnomon.theory.evaluation import NO, UNDECIDED, YES, Evaluation
from gnomon.theory.formula import Formula, Globally
from gnomon.theory.positions import Position, join, positions_of
from gnomon.theory.printed import as_printed
from gnomon.theory.verdict import Finding, Violation
from gnomon.trace import Event, Kind, Witnesses

__all__ = ["find_as_printed", "find_slowly"]

_NEED_COMPUTE = ("EA1", "EA2")


def find_slowly(
    events: Sequence[Event], witnesses: Witnesses, *, is_metered: bool
) -> dict[str, Finding]:
    """What the formulas say about each axiom."""
    domain, positions = positions_of(events)
    judge = _SlowJudge(repaired(domain), positions, witnesses, is_metered=is_metered)
    found = {axiom.id: judge.finding(axiom.id) for axiom in AXIOMS if axiom.id != "EA5"}
    return found | {"EA5": _unlimited_dues(events)}


def find_as_printed(
    events: Sequence[Event], witnesses: Witnesses, *, is_metered: bool
) -> dict[str, Finding]:
    """What the axioms say as they were printed."""
    domain, positions = positions_of(events)
    ends = [index for index, event in enumerate(events) if not event.same] + [len(events)]
    judge = _SlowJudge(
        as_printed(domain), join(events, positions), witnesses, is_metered=is_metered,
        last_events=[end - 1 for end in ends[1:]],
    )  # fmt: skip
    found = {axiom.id: judge.finding(axiom.id) for axiom in AXIOMS if axiom.id != "EA5"}
    return found | {"EA5": _unlimited_dues(events)}


class _SlowJudge:
    def __init__(
        self,
        system: System,
        positions: Sequence[Position],
        witnesses: Witnesses,
        *,
        is_metered: bool,
        last_events: Sequence[int] | None = None,
    ) -> None:
        self._last_events = last_events
        self._system = system
        self._positions = positions
        self._witnesses = witnesses
        self._is_metered = is_metered
        self._evaluations: dict[int, Evaluation] = {}
        self._whole = self._evaluation(len(positions))

    def finding(self, axiom: str) -> Finding:
        law = self._system.laws[axiom]
        position = None
        if self._is_metered or axiom not in _NEED_COMPUTE:
            position = self._first_failure(law)
        return Finding(
            exercised=self._count(self._system.tests[axiom]),
            violation=None if position is None else self._violation(axiom, position),
            violations=int(position is not None),
            open=self._open(axiom),
        )

    def _first_failure(self, law: Formula) -> int | None:
        """The position at which it is first known that the law does not hold."""
        if self._whole.at_start(law) != NO:
            return None
        if isinstance(law, Globally) and self._whole.is_about_past(law.part):
            return self._whole.values(law.part).index(NO)
        good, bad = 0, len(self._positions)
        while bad - good > 1:
            middle = (good + bad) // 2
            if self._evaluation(middle).at_start(law) == NO:
                bad = middle
            else:
                good = middle
        return bad - 1

    def _evaluation(self, length: int) -> Evaluation:
        """The formulas on the first positions alone."""
        found = self._evaluations.get(length)
        if found is None:
            found = self._evaluations[length] = Evaluation(
                self._positions[:length], self._witnesses, is_metered=self._is_metered
            )
        return found

    def _violation(self, axiom: str, position: int) -> Violation:
        event = position if self._last_events is None else self._last_events[position]
        text = "the formula is false from here on"
        return Violation(axiom, event, self._positions[position].t, text)

    def _count(self, tests: Sequence[Formula]) -> int:
        return sum(self._whole.values(test).count(YES) for test in tests)

    def _open(self, axiom: str) -> int:
        """How many promises are neither kept nor broken at the end."""
        promises = self._system.promises.get(axiom, [])
        return sum(UNDECIDED in self._whole.values(promise) for promise in promises)


def _unlimited_dues(events: Sequence[Event]) -> Finding:
    texts: dict[str, tuple[bool | None, int, int]] = {}
    for position, event in enumerate(events):
        if event.kind is Kind.INIT_START:
            for one in event.registrations:
                texts.setdefault(one.cron, (recurs_for_ever(one.cron), position, event.t))
    broken = [(text, where) for text, where in texts.items() if where[0] is False]
    violation = None
    if broken:
        text, (_, position, t) = broken[0]
        violation = Violation("EA5", position, t, f"{text!r} does not occur for ever")
    decided = sum(recurs is not None for recurs, _, _ in texts.values())
    return Finding(exercised=decided, violation=violation, violations=len(broken))
