"""
The slow judge: what is a formula worth on a finite trace, straight from the definitions?

A trace that is known only so far makes a formula about the future true, false or not yet decided;
the operators are those of Kleene's three values. Every formula is given a value at every position,
so this takes time and memory in proportion to both. The quick monitor is held against it, and it
is the way to ask for the axioms as they were printed.

Spec: THEORY-1, THEORY-2, THEORY-17.
"""

from collections.abc import Callable, Sequence
from typing import Final

from gnomon.theory.axioms import System, repaired
from gnomon.theory.budget import allowance, excess
from gnomon.theory.environment import recurs_for_ever
from gnomon.theory.formula import (
    And,
    Atom,
    Constant,
    Eventually,
    Formula,
    Globally,
    Next,
    Not,
    Or,
    Since,
    Until,
    Within,
    Yesterday,
    parts_of,
)
from gnomon.theory.positions import Position, join, positions_of
from gnomon.theory.printed import as_printed
from gnomon.theory.verdict import AxiomFinding, Violation
from gnomon.trace import Event, Kind, Witnesses

__all__ = ["NO", "UNDECIDED", "YES", "Evaluation", "find_as_printed", "find_slowly"]

NO: Final = 0
UNDECIDED: Final = 1
YES: Final = 2

Values = list[int]

_FUTURE = (Next, Until, Eventually, Globally, Within)

_NEED_COMPUTE = ("EA1", "EA2")


class Evaluation:
    """The values of formulas on one trace, each computed once."""

    def __init__(
        self, positions: Sequence[Position], witnesses: Witnesses, *, is_metered: bool
    ) -> None:
        self.positions = positions
        self.witnesses = witnesses
        self.is_metered = is_metered
        # By identity: formulas share their parts, and comparing them would cost more than that.
        self._known: dict[int, tuple[Formula, Values]] = {}
        self._settled: dict[int, bool] = {}

    def values(self, formula: Formula) -> Values:
        """The value at every position."""
        known = self._known.get(id(formula))
        if known is None:
            known = self._known[id(formula)] = (formula, self._computed(formula))
        return known[1]

    def at_start(self, formula: Formula) -> int:
        """The value of the formula for the trace as a whole; of nothing, nothing is decided."""
        return self.values(formula)[0] if self.positions else UNDECIDED

    def is_about_past(self, formula: Formula) -> bool:
        """Whether its value at a position is settled there, whatever follows."""
        known = self._settled.get(id(formula))
        if known is None:
            known = not isinstance(formula, _FUTURE) and all(
                map(self.is_about_past, parts_of(formula))
            )
            self._settled[id(formula)] = known
        return known

    def _computed(self, formula: Formula) -> Values:
        match formula:
            case Constant(value):
                return [YES if value else NO] * len(self.positions)
            case Atom(word, subject):
                wanted = (word, subject)
                return [YES if wanted in one.atoms else NO for one in self.positions]
            case Not(part):
                return [YES - value for value in self.values(part)]
            case And(parts):
                return self._together(parts, min, YES)
            case Or(parts):
                later = [part for part in parts if isinstance(part, Within)]
                sooner = [part for part in parts if not isinstance(part, Within)]
                return self._unless(self._together(sooner, max, NO), later)
            case Yesterday(part):
                return [NO, *self.values(part)][: len(self.positions)]
            case Since():
                return self._since(formula)
            case Next(part):
                return [*self.values(part)[1:], UNDECIDED][: len(self.positions)]
            case Until(left, right):
                # Strong and weak differ only in a trace that never ends.
                return self._backwards(self.values(left), self.values(right))
            case Eventually(part):
                return self._backwards([YES] * len(self.positions), self.values(part))
            case Globally(part):
                never = [YES - value for value in self.values(part)]
                found = self._backwards([YES] * len(self.positions), never)
                return [YES - value for value in found]
            case Within():
                return [self._within(formula, index) for index in range(len(self.positions))]
        raise TypeError(f"not a formula: {formula!r}")

    def _together(
        self, parts: Sequence[Formula], pick: Callable[[tuple[int, ...]], int], empty: int
    ) -> Values:
        if not parts:
            return [empty] * len(self.positions)
        return [pick(values) for values in zip(*map(self.values, parts), strict=True)]

    def _unless(self, found: Values, later: Sequence[Within]) -> Values:
        """What is dear to compute is computed only where it matters."""
        for formula in later:
            found = [
                value if value == YES else max(value, self._within(formula, index))
                for index, value in enumerate(found)
            ]
        return found

    def _since(self, formula: Since) -> Values:
        left, right = self.values(formula.left), self.values(formula.right)
        if not formula.at_least_ms:
            found, before = [], NO
            for holds, began in zip(left, right, strict=True):
                before = max(began, min(holds, before))
                found.append(before)
            return found
        return [
            max(
                (
                    min(right[start], *left[start + 1 : index + 1], YES)
                    for start in range(index + 1)
                    if self._elapsed_ms(start, index) >= formula.at_least_ms
                ),
                default=NO,
            )
            for index in range(len(self.positions))
        ]

    def _backwards(self, left: Values, right: Values) -> Values:
        found, after = [], UNDECIDED
        for holds, comes in zip(reversed(left), reversed(right), strict=True):
            after = max(comes, min(holds, after))
            found.append(after)
        return found[::-1]

    def _within(self, formula: Within, start: int) -> int:
        """Whether the goal is met before the budget is spent, however many positions follow."""
        goal, lag_ms = self.values(formula.part), self.witnesses.lag_ms
        budget = allowance(self.witnesses, formula.bits, self.positions[start].t)
        spent: list[tuple[int, int]] = []
        for index in range(start, len(self.positions)):
            here = self.positions[index]
            if not self.is_metered and self._elapsed_ms(start, index) > lag_ms:
                return NO
            if self.is_metered and here.compute and index > start:
                spent.append((here.t, here.compute))
                if excess(spent, lag_ms) > budget:
                    return NO
            if goal[index] == YES:
                return YES
        return UNDECIDED

    def _elapsed_ms(self, start: int, index: int) -> int:
        return self.positions[index].t - self.positions[start].t


def find_slowly(
    events: Sequence[Event], witnesses: Witnesses, *, is_metered: bool
) -> dict[str, AxiomFinding]:
    """What the formulas say about each axiom."""
    domain, positions = positions_of(events)
    judge = _SlowJudge(repaired(domain), positions, witnesses, is_metered=is_metered)
    return judge.findings() | {"EA5": _unlimited_dues(events)}


def find_as_printed(
    events: Sequence[Event], witnesses: Witnesses, *, is_metered: bool
) -> dict[str, AxiomFinding]:
    """What the axioms say as they were printed."""
    domain, positions = positions_of(events)
    ends = [index for index, event in enumerate(events) if not event.same] + [len(events)]
    judge = _SlowJudge(
        as_printed(domain), join(events, positions), witnesses, is_metered=is_metered,
        last_events=[end - 1 for end in ends[1:]],
    )  # fmt: skip
    return judge.findings() | {"EA5": _unlimited_dues(events)}


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

    def findings(self) -> dict[str, AxiomFinding]:
        """Of every axiom that is a formula."""
        return {axiom: self._finding(axiom) for axiom in self._system.laws}

    def _finding(self, axiom: str) -> AxiomFinding:
        law = self._system.laws[axiom]
        position = None
        if self._is_metered or axiom not in _NEED_COMPUTE:
            position = self._first_failure(law)
        return AxiomFinding(
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


def _unlimited_dues(events: Sequence[Event]) -> AxiomFinding:
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
    return AxiomFinding(exercised=decided, violation=violation, violations=len(broken))
