"""
Verdicts: what a judged trace says about each axiom, and who is to blame.

The earliest violation decides who is to blame. Once the surroundings have broken one of their
axioms, or a fault lies outside the happy set, nothing more is asked of the scheduler: its verdicts
are void, unless they were false before. What is not yet decided is presumed, and a verdict on
something that never came up is said to be none.

Spec: THEORY-10 to THEORY-15.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gnomon.theory.axioms import AXIOMS, Axiom
from gnomon.theory.environment import Environment
from gnomon.trace import Reinitialize, Witnesses

__all__ = [
    "AxiomFinding",
    "Judgement",
    "Party",
    "Report",
    "Situation",
    "Verdict",
    "Violation",
    "judge",
]

_NEED_COMPUTE = ("EA1", "EA2", "EA4")
_ABOUT_FOREVER = ("EA4", "EA5")
"""They speak of an endless future, and nothing else leans on them: they make nothing void."""


class Verdict(StrEnum):
    TRUE = "true"
    """Held from the beginning to the end of a trace that is complete."""
    FALSE = "false"
    PRESUMABLY_TRUE = "presumably_true"
    """Held so far, and the trace may go on."""
    PRESUMABLY_FALSE = "presumably_false"
    """Something is owed at the end of the trace that has not come."""
    VOID = "void"
    """The surroundings broke their side first."""
    NOT_APPLICABLE = "not_applicable"
    NOT_EXERCISED = "not_exercised"
    """It never came up."""


class Party(StrEnum):
    NOBODY = "nobody"
    SCHEDULER = "scheduler"
    ENVIRONMENT = "environment"


class Violation(NamedTuple):
    """An axiom that does not hold, where that shows, and why in words."""

    axiom: str
    position: int
    t: int
    explanation: str
    task: str = ""

    @property
    def party(self) -> Party:
        return Party.SCHEDULER if self.axiom[0] in "SL" else Party.ENVIRONMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AxiomFinding:
    """What was seen of one axiom."""

    exercised: int
    violation: Violation | None = None
    violations: int = 0
    open: int = 0
    """How many promises are still to be kept."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What besides the axioms decides a verdict."""

    reinitialize: Reinitialize
    is_metered: bool
    is_complete: bool
    """Stopped or crashed at the end, with nothing under way."""
    unhappy: Violation | None
    """The first fault outside the happy set."""
    granted: str = ""
    """When compute was too little for what is open: how much there was, of how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on one axiom."""

    axiom: str
    verdict: Verdict
    exercised: int
    position: int | None
    explanation: str
    violations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that can be said about a trace."""

    positions: int
    verdicts: Mapping[str, Judgement]
    blame: Party
    first: Violation | None
    """The earliest violation, which decides the blame."""
    judged_with: Witnesses
    witnesses: Witnesses
    """The least witnesses under which the liveness axioms hold on this trace."""
    environment: Environment

    @property
    def is_fine(self) -> bool:
        """Whether no axiom is false."""
        return all(one.verdict is not Verdict.FALSE for one in self.verdicts.values())


def judge(
    findings: Mapping[str, AxiomFinding], situation: Situation
) -> tuple[dict[str, Judgement], Party, Violation | None]:
    """The verdict on every axiom, who is to blame, and for what."""
    broken = [one.violation for one in findings.values() if one.violation is not None]
    if situation.reinitialize is Reinitialize.RECONCILE:
        broken = [one for one in broken if one.axiom != "S6"]
    breaches = [one for one in broken if one.party is Party.ENVIRONMENT]
    breaches = [one for one in breaches if one.axiom not in _ABOUT_FOREVER]
    if situation.unhappy is not None:
        broken.append(situation.unhappy)
        breaches.append(situation.unhappy)
    breach = min(breaches, key=lambda one: one.position, default=None)
    verdicts = {
        axiom.id: _judgement(axiom, findings[axiom.id], situation, breach) for axiom in AXIOMS
    }
    first = min(broken, key=lambda one: (one.position, one.party), default=None)
    if first is not None:
        return verdicts, first.party, first
    starved = situation.granted and any(findings[axiom].open for axiom in ("L1", "L2", "L3"))
    return verdicts, Party.ENVIRONMENT if starved else Party.NOBODY, None


def _judgement(
    axiom: Axiom, found: AxiomFinding, situation: Situation, breach: Violation | None
) -> Judgement:
    verdict, explanation, violation = _decide(axiom, found, situation, breach)
    return Judgement(
        axiom=axiom.id,
        verdict=verdict,
        exercised=0 if verdict is Verdict.NOT_EXERCISED else found.exercised,
        position=None if violation is None else violation.position,
        explanation=explanation,
        violations=found.violations if verdict is Verdict.FALSE else 0,
    )


def _decide(
    axiom: Axiom, found: AxiomFinding, situation: Situation, breach: Violation | None
) -> tuple[Verdict, str, Violation | None]:
    violation = found.violation
    if axiom.id == "S6" and situation.reinitialize is Reinitialize.RECONCILE:
        return Verdict.NOT_APPLICABLE, "initialize() applies a new list in place here", None
    if axiom.id in _NEED_COMPUTE and not situation.is_metered:
        return Verdict.NOT_EXERCISED, "the trace has no Compute", None
    if breach is not None and not axiom.is_environment and _is_after(violation, breach):
        return Verdict.VOID, f"{breach.axiom} was broken first: {breach.explanation}", breach
    if violation is not None:
        return Verdict.FALSE, violation.explanation, violation
    if found.open:
        return Verdict.PRESUMABLY_FALSE, _what_is_open(found, situation), None
    if not found.exercised:
        return Verdict.NOT_EXERCISED, "it never came up", None
    if axiom.id == "EA5" or (situation.is_complete and axiom.id != "EA4"):
        return Verdict.TRUE, found.note or "held throughout", None
    return Verdict.PRESUMABLY_TRUE, found.note or "held so far", None


def _is_after(violation: Violation | None, breach: Violation) -> bool:
    return violation is None or violation.position >= breach.position


def _what_is_open(found: AxiomFinding, situation: Situation) -> str:
    if found.note:
        return found.note
    text = f"{found.open} still to come when the trace ends"
    return f"{text}; {situation.granted}" if situation.granted else text
