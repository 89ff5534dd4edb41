"""
The settings of a service, with the names that seed 002 gives them.

They are read once, from a mapping such as the environment; what is not set has its default, and
what cannot be meant is an error that names it. Times are in milliseconds where the name says so.

Spec: SERVICE-6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.civil.zone import load_zone
from gnomon.core.engine import Limits
from gnomon.core.schedule import Catchup, Overlap
from gnomon.errors import DefinitionError

__all__ = ["NAMES", "Settings"]

LOOKAHEAD_MAX_MS = 24 * 3_600_000
"""Looking further ahead would promise runs that an edit can still change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a service works."""

    tick_ms: int = 1_000
    """How often a worker looks by itself; what is due is known in advance and not waited for."""
    lookahead_ms: int = 60_000
    """Over how long overdue periods are spread; how far ahead jitter may reach back."""
    max_catchup_per_tick: int = 100
    """How many overdue periods of one schedule start within a tick."""
    default_overlap_policy: str = "skip"
    default_catchup_policy: str = "none"
    default_jitter_ms: int = 0
    zones: frozenset[str] = field(default_factory=frozenset)
    """The zones that schedules may name; empty for all of the IANA database."""
    lease: str = "60s"
    """How long a run counts as in flight after its worker was last heard of."""
    launches_at_once: int = 64
    """How many launches one worker has under way."""
    schedules_per_user: int = 0
    """How many schedules each user may have; 0 for any number."""
    keep: str = "2160h"
    """How long what is over is kept; 90 days."""

    def __post_init__(self) -> None:
        _check_range("TICK_MS", self.tick_ms, 10, 60_000)
        _check_range("LOOKAHEAD_MS", self.lookahead_ms, 0, LOOKAHEAD_MAX_MS)
        _check_range("MAX_CATCHUP_PER_TICK", self.max_catchup_per_tick, 1, 10_000)
        _check_range("DEFAULT_JITTER_MS", self.default_jitter_ms, 0, 86_400_000)
        _check_range("LAUNCHES_AT_ONCE", self.launches_at_once, 1, 10_000)
        _check_range("SCHEDULES_PER_USER", self.schedules_per_user, 0, 10_000_000)
        _check_choice("DEFAULT_OVERLAP_POLICY", self.default_overlap_policy, list(Overlap))
        _check_choice("DEFAULT_CATCHUP_POLICY", self.default_catchup_policy, list(Catchup))
        _check_length("LEASE", self.lease, timedelta(seconds=1))
        _check_length("KEEP", self.keep, timedelta(hours=1))
        for zone in self.zones:
            load_zone(zone, where="ZONES")

    @property
    def limits(self) -> Limits:
        """How much the engine does at a time, and what it takes for late."""
        return Limits(
            catchup_max=self.max_catchup_per_tick,
            tick_ms=self.tick_ms,
            lookahead_ms=self.lookahead_ms,
            grace_ms=self.tick_ms + self.lookahead_ms,
            on_time_ms=max(Limits().on_time_ms, 2 * self.tick_ms),
        )

    @property
    def keep_ms(self) -> int:
        return parse_duration(self.keep) // timedelta(milliseconds=1)

    def check_zone(self, zone: str) -> None:
        """Refuse a zone that schedules may not name."""
        if self.zones and zone not in self.zones:
            raise DefinitionError(
                "is not on this service's list of zones", where="timezone", got=zone,
                hint=f"write one of {', '.join(sorted(self.zones)[:20])}",
            )  # fmt: skip

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        """The settings that an environment holds; other names in it are left alone."""
        given: dict[str, str | int | frozenset[str]] = {}
        for name, key in NAMES.items():
            text = environment.get(name)
            if text is None or not text.strip():
                continue
            if key == "zones":
                given[key] = frozenset(part.strip() for part in text.split(",") if part.strip())
            elif key in ("default_overlap_policy", "default_catchup_policy", "lease", "keep"):
                given[key] = text.strip()
            else:
                given[key] = _number(name, text)
        return cls(**given)  # type: ignore[arg-type] # the loop above gives each its kind


NAMES = {
    "TICK_MS": "tick_ms",
    "LOOKAHEAD_MS": "lookahead_ms",
    "MAX_CATCHUP_PER_TICK": "max_catchup_per_tick",
    "DEFAULT_OVERLAP_POLICY": "default_overlap_policy",
    "DEFAULT_CATCHUP_POLICY": "default_catchup_policy",
    "DEFAULT_JITTER_MS": "default_jitter_ms",
    "ZONES": "zones",
    "LEASE": "lease",
    "LAUNCHES_AT_ONCE": "launches_at_once",
    "SCHEDULES_PER_USER": "schedules_per_user",
    "KEEP": "keep",
}
"""What the settings are called in an environment."""


def _number(name: str, text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise DefinitionError("must be a whole number", where=name, got=text, hint="write digits")
    return int(text)


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise DefinitionError(
            f"must lie between {least} and {most}", where=name, got=value, hint=f"write {least}"
        )


def _check_length(name: str, text: str, least: timedelta) -> None:
    if not least <= parse_duration(text, where=name) <= timedelta(days=36_500):
        raise DefinitionError(
            f"must be at least {format_duration(least)}", where=name, got=text,
            hint=f"write {format_duration(least)} or more",
        )  # fmt: skip


def _check_choice(name: str, value: str, choices: list[str]) -> None:
    if value not in choices:
        raise DefinitionError(
            "is not a known choice", where=name, got=value,
            hint=f"write one of {', '.join(choices)}",
        )  # fmt: skip
