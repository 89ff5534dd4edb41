"""Aware datetimes in a schedule's zone: what most of the peers take and return."""

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

__all__ = ["aware", "epoch_of", "zone_of"]


@cache
def zone_of(name: str) -> tzinfo:
    """UTC as the standard library's constant, which several peers treat as the easy case it is."""
    return UTC if name == "UTC" else ZoneInfo(name)


def aware(epoch: int, zone: str) -> datetime:
    return datetime.fromtimestamp(epoch, zone_of(zone))


def epoch_of(found: datetime | None) -> int | None:
    return None if found is None else int(found.timestamp())
