"""
Seeds: what a decision depends on, condensed to 32 bytes, of which the first eight start a stream.

The seed is SHA-256 over identity, period key and salt, joined by line feeds. The strategy says
which key a period has: `stable` gives each period its own, `daily` and `weekly` give one to all
periods whose nominal instants share a local date or an ISO week.

The strategy reads local time only to name the day or the week; no instant is moved here.

Spec: SEED-1 to SEED-6.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import assert_never

from gnomon.core.civil.calendar import DAY, civil_from_days, iso_week
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import Zone
from gnomon.errors import DefinitionError

__all__ = [
    "TEXT_MAX",
    "SeedStrategy",
    "check_identity",
    "check_text",
    "parse_seed_strategy",
    "period_key",
    "period_key_of",
    "seed_digest",
    "seed_material",
    "seed_state_of",
    "state_of",
]

TEXT_MAX = 4096
"""How many characters an identity, a salt or a jitter key may have."""

_CLOCK = [f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(1440)]
_SECOND = [f"{second:02d}Z" for second in range(60)]
_DATES_MAX = 4096
_dates: dict[int, str] = {}
"""Texts of days that were asked about; a memo, nothing else."""
_first_eight = Struct(">Q24x").unpack


class SeedStrategy(StrEnum):
    STABLE = "stable"
    DAILY = "daily"
    WEEKLY = "weekly"


def parse_seed_strategy(text: str, *, where: str = "seed") -> SeedStrategy:
    """`stable`, `daily` or `weekly`."""
    for strategy in SeedStrategy:
        if text == strategy.value:
            return strategy
    known = ", ".join(SeedStrategy)
    raise DefinitionError(
        "is not a known seed strategy", where=where, got=text, hint=f"use {known}"
    )


def period_key(strategy: SeedStrategy, nominal: int, zone: Zone) -> str:
    """The key of the period at `nominal`: its id, its local date or its local ISO week."""
    return period_key_of(strategy, zone)(nominal)


def period_key_of(strategy: SeedStrategy, zone: Zone) -> Callable[[int], str]:
    """`period_key` with the strategy and the zone settled."""
    match strategy:
        case SeedStrategy.STABLE:
            return format_instant
        case SeedStrategy.DAILY:
            return lambda nominal: _date_of((nominal + zone.offset_at(nominal)) // DAY)
        case SeedStrategy.WEEKLY:
            return lambda nominal: _week_of((nominal + zone.offset_at(nominal)) // DAY)
        case _:
            assert_never(strategy)


def seed_material(identity: str, key: str, salt: str) -> str:
    """The text that is hashed."""
    return f"{identity}\n{key}\n{salt}"


def seed_digest(material: str) -> bytes:
    """SHA-256 of the text in UTF-8; its hexadecimal form is the seed hash of logs and records."""
    return sha256(material.encode()).digest()


def state_of(digest: bytes) -> int:
    """The starting state that a digest gives: its first eight bytes, big-endian."""
    return int.from_bytes(digest[:8], "big")


def seed_state_of(
    identity: str, strategy: SeedStrategy, salt: str, zone: Zone
) -> Callable[[int], int]:
    """From a nominal instant straight to the state that starts its stream."""
    head, tail = f"{identity}\n", f"\n{salt}"
    if strategy is not SeedStrategy.STABLE:
        key_of = period_key_of(strategy, zone)
        return lambda nominal: state_of(seed_digest(f"{head}{key_of(nominal)}{tail}"))

    def state_at(t: int) -> int:
        # `format_instant`, `seed_digest` and `state_of` written out, for the calls they cost.
        try:
            date = _dates[t // 86_400]
        except KeyError:
            date = _date_of(t // 86_400)
        text = f"{head}{date}{_CLOCK[t % 86_400 // 60]}{_SECOND[t % 60]}{tail}"
        (state,) = _first_eight(sha256(text.encode()).digest())
        return state  # type: ignore[no-any-return]

    return state_at


def check_identity(identity: object, *, where: str = "identity") -> None:
    """Refuse an identity that could not name one schedule, or not in one way."""
    check_text(identity, where=where)
    if not identity:
        raise DefinitionError(
            "must not be empty", where=where, got=identity,
            hint="write the stable name of the schedule, e.g. prod/db-backup",
        )  # fmt: skip
    if "\n" in str(identity):
        # A line feed ends the identity in the seed material; a second one would make it ambiguous.
        raise DefinitionError(
            "must be one line", where=where, got=identity, hint="leave the line feed out"
        )


def check_text(text: object, *, where: str) -> None:
    """Refuse what cannot be hashed as text, or is far too long; the empty text is fine."""
    if not isinstance(text, str):
        raise DefinitionError("must be text", where=where, got=text, hint="write a string")
    if len(text) > TEXT_MAX:
        raise DefinitionError(
            f"is longer than {TEXT_MAX} characters", where=where, got=text, hint="shorten it"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DefinitionError(
            "must be text that UTF-8 can express", where=where, got=text,
            hint="leave lone surrogates out",
        ) from None  # fmt: skip


def _date_of(day: int) -> str:
    text = _dates.get(day)
    if text is None:
        if len(_dates) >= _DATES_MAX:
            _dates.clear()
        year, month, day_of_month = civil_from_days(day)
        text = _dates[day] = f"{year:04d}-{month:02d}-{day_of_month:02d}"
    return text


@lru_cache(1024)
def _week_of(day: int) -> str:
    year, week = iso_week(day)
    return f"{year:04d}-W{week:02d}"
