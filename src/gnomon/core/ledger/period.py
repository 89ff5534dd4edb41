"""
The facts about a period, as the engine reads and writes them.

A row stands for a period, for a range of periods, for a boot of the machine, or for a run that a
caller asked for: by hand, or to make up for a period of the past (a backfill). What was asked for
has a key of its own kind, so that it is never taken for a period, and no period is used up or moved
by it. So has a boot; else it is judged as a period is.

Instants are integers: a period's nominal instant in seconds, because that is its identity; every
other instant in milliseconds, with a name that says so.

Spec: LEDGER-1, LEDGER-2, LEDGER-41, ASK-1.
"""

from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Outcome, Reason, State

__all__ = [
    "Fact",
    "InFlight",
    "Kind",
    "Waiting",
    "backfill_key",
    "boot_key",
    "is_backfill",
    "is_boot",
    "is_manual",
    "kind_of",
    "manual_key",
    "period_key",
    "range_key",
]

_MANUAL, _BACKFILL, _RANGE, _BOOT = "manual:", "backfill:", "range:", "boot:"


class Kind(StrEnum):
    """What a row stands for."""

    PERIOD = "period"
    RANGE = "range"
    MANUAL = "manual"
    """A run that a caller asked for; its nominal instant is when."""
    BACKFILL = "backfill"
    """A run that makes up for a period of the past; its nominal instant is that period's."""
    BOOT = "boot"
    """A boot of the machine; its nominal instant is when that was."""


class Waiting(NamedTuple):
    """A period that has a row, no outcome yet, and no claim."""

    key: str
    nominal: int
    fire_ms: int
    queued: bool
    launches: int
    """How often a launch has been tried."""
    may_have_run: bool = False
    """Whether one of them may have worked, for all that the ledger knows."""
    fence: int = 0
    """The number of the last try, under which an end of it would be told."""
    chosen_ms: int = 0
    """Its chosen instant, where `fire_ms` is that of a further try; else 0."""
    has_failed: bool = False
    """Whether its last launch has failed; not if it was lost, or given back."""


class InFlight(NamedTuple):
    """A period that is claimed or running; or planned, and may be running for all that is known."""

    key: str
    nominal: int
    fire_ms: int
    state: State
    fence: int
    launches: int
    detached: bool = False
    """Whether it goes on without its worker, and another process reports its end."""
    kill_ms: int | None = None
    """When a caller asked to end it; None when no caller has."""
    chosen_ms: int = 0
    """As above."""


class Fact(NamedTuple):
    """What a row says from now on."""

    key: str
    nominal: int
    fire_ms: int
    state: State
    outcome: Outcome | None = None
    reason: Reason | None = None
    launches: int = 0
    is_new: bool = False
    last_nominal: int = 0
    """For a range, its last period; else 0."""
    periods: int = 1
    """How many periods the row stands for."""
    chosen_ms: int = 0
    """As above."""


def period_key(schedule_id: str, nominal: int) -> str:
    """The unique key of a period: the claim, and the key that launchers see."""
    return sha256(f"{schedule_id}:{nominal}".encode()).hexdigest()


def range_key(schedule_id: str, first: int) -> str:
    """The key of a row that stands for many periods; never equal to a period's."""
    return f"{_RANGE}{schedule_id}:{first}"


def manual_key(schedule_id: str, name: str) -> str:
    """The key of a run that was asked for under a name: asking twice asks once."""
    return f"{_MANUAL}{schedule_id}:{name}"


def backfill_key(schedule_id: str, name: str, nominal: int) -> str:
    """The key of the run that a backfill of that name makes up for a period with."""
    return f"{_BACKFILL}{schedule_id}:{name}:{nominal}"


def boot_key(schedule_id: str, boot_id: str) -> str:
    """The key of the run at a boot, of which there is one for each schedule."""
    return f"{_BOOT}{schedule_id}:{boot_id}"


def kind_of(key: str) -> Kind:
    """What the row with this key stands for."""
    word, colon, _ = key.partition(":")
    return Kind(word) if colon else Kind.PERIOD


def is_manual(key: str) -> bool:
    return key.startswith(_MANUAL)


def is_backfill(key: str) -> bool:
    return key.startswith(_BACKFILL)


def is_boot(key: str) -> bool:
    return key.startswith(_BOOT)
