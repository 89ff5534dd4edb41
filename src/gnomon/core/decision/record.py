"""
The record of a decision: what was chosen, and everything it was chosen from.

A decision carries its whole input beside its result, so its JSON form is enough to compute it again
anywhere (`decide.recompute`). Keys are in camelCase, instants are RFC 3339 in UTC, durations are
Go-style text, and every key is always there.

Nothing is computed here; a record that exists was made by `decide`.

Spec: DEC-6 to DEC-9.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from gnomon.core.civil.duration import format_duration
from gnomon.core.civil.instant import format_instant, from_epoch
from gnomon.core.decision.constraint import Constraint
from gnomon.core.decision.constraint_text import render_constraint
from gnomon.core.decision.distribution import Distribution
from gnomon.core.decision.distribution_text import name_of, params_of
from gnomon.core.decision.seed import SeedStrategy, seed_material
from gnomon.core.decision.window import Window, WindowRule

__all__ = [
    "ATTEMPTS_MAX",
    "DECISION_VERSION",
    "NO_CANDIDATE",
    "Chosen",
    "Decision",
    "JsonRecord",
    "Unschedulable",
]

ATTEMPTS_MAX = 64
"""How many candidates are drawn before a period counts as unschedulable."""

DECISION_VERSION = "1"
"""Moves when the same input would give another result, and with it the major version."""

NO_CANDIDATE = "no candidate accepted within MaxAttempts"

JsonRecord = dict[str, str | int | bool | dict[str, str | float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The period runs at this instant, in epoch seconds."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unschedulable:
    """No candidate met the constraints; the period does not run."""

    reason: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One period's decision; instants are epoch seconds, `*_at` gives them as datetimes."""

    identity: str
    nominal: int
    zone: str
    rule: WindowRule
    window: Window
    distribution: Distribution
    """With every default filled in."""
    seed: SeedStrategy
    salt: str
    only: Constraint | None
    avoid: Constraint | None
    period_key: str
    seed_hash: str
    outcome: Chosen | Unschedulable
    attempt_count: int
    attempts_max: int
    version: str
    tzdata_version: str

    @property
    def period_id(self) -> str:
        """The nominal instant in RFC 3339 UTC: one instant, one period, in whichever zone."""
        return format_instant(self.nominal)

    @property
    def seed_material(self) -> str:
        """The text whose SHA-256 is the seed hash."""
        return seed_material(self.identity, self.period_key, self.salt)

    @property
    def nominal_at(self) -> datetime:
        return from_epoch(self.nominal)

    @property
    def chosen_at(self) -> datetime | None:
        """The chosen instant; None when the period is unschedulable."""
        match self.outcome:
            case Chosen(at=at):
                return from_epoch(at)
            case Unschedulable():
                return None
            case _:
                assert_never(self.outcome)

    def to_json(self) -> JsonRecord:
        """The record of logs and of the command line."""
        return {
            "identity": self.identity,
            "periodId": self.period_id,
            "nominalTime": format_instant(self.nominal),
            "timezone": self.zone,
            "windowMode": self.rule.placement.value,
            "windowDuration": format_duration(self.rule.length),
            "windowStart": format_instant(self.window.start),
            "windowEnd": format_instant(self.window.end),
            "distribution": name_of(self.distribution),
            "distributionParams": params_of(self.distribution),
            "seedStrategy": self.seed.value,
            "salt": self.salt,
            "periodKey": self.period_key,
            "seedMaterial": self.seed_material,
            "seedHash": self.seed_hash,
            **_outcome_json(self.outcome),
            "attemptCount": self.attempt_count,
            "maxAttempts": self.attempts_max,
            "only": _constraint_json(self.only),
            "avoid": _constraint_json(self.avoid),
            "decisionVersion": self.version,
            "tzdataVersion": self.tzdata_version,
        }


def _outcome_json(outcome: Chosen | Unschedulable) -> dict[str, str | bool]:
    match outcome:
        case Chosen(at=at):
            return {"chosenTime": format_instant(at), "unschedulable": False, "reason": ""}
        case Unschedulable(reason=reason):
            return {"chosenTime": "", "unschedulable": True, "reason": reason}
        case _:
            assert_never(outcome)


def _constraint_json(constraint: Constraint | None) -> str:
    return "" if constraint is None else render_constraint(constraint)
