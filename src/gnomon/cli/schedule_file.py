"""
A file of schedules in TOML, read into values.

Each `[[schedule]]` has a name and one recurrence: `cron`, `every` or `once`. Zone, dialect and DST
policy, bounds, and what a decision takes may stand beside it. A key that is not known is refused,
because a misspelt option that does nothing is worse than an error.

Spec: CLI-14, CLI-15.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from gnomon.cli.problem import LocatedError
from gnomon.cli.reading import Reading
from gnomon.core.civil.instant import parse_instant
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import (
    Decider,
    parse_constraint,
    parse_distribution,
    parse_seed_strategy,
    parse_window,
)
from gnomon.core.recurrence import Recurrence, cron, every, once
from gnomon.errors import DefinitionError

__all__ = ["BYTES_MAX", "Entry", "load_schedules"]

BYTES_MAX = 16_000_000
"""The largest file that is read."""

_RECURRENCES = ("cron", "every", "once")
_DECISION_KEYS = ("window", "distribution", "seed", "salt", "only", "avoid", "identity")
_KEYS = (
    "name", *_RECURRENCES, "zone", "dialect", "dst", "anchor", "start_at", "end_at",
    *_DECISION_KEYS,
)  # fmt: skip

Table = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One schedule of a file."""

    name: str
    reading: Reading
    decider: Decider | None
    """None when the schedule says nothing about a window, seed or constraint."""


def load_schedules(path: Path) -> list[Entry]:
    """Every schedule of the file, in its order."""
    with path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    try:
        tables = _tables(data)
    except DefinitionError as error:
        raise LocatedError(error, place=str(path)) from error
    entries: dict[str, Entry] = {}
    for number, table in enumerate(tables, 1):
        place = f"{path}: schedule {_label(table, number)}"
        try:
            entry = _entry(table)
            if entry.name in entries:
                raise DefinitionError(
                    "must not be used twice", where="name", got=entry.name, hint="write another"
                )
        except DefinitionError as error:
            raise LocatedError(error, place=place) from error
        entries[entry.name] = entry
    return list(entries.values())


def _tables(data: bytes) -> list[Table]:
    hint = 'write [[schedule]] and below it name = "..." and cron = "..."'
    if len(data) > BYTES_MAX:
        raise DefinitionError(
            f"must have at most {BYTES_MAX} bytes", where="file", got=len(data), hint="split it"
        )
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # also text that is not UTF-8, endless numbers
        reason = f"must be TOML in UTF-8 ({error})"
        raise DefinitionError(reason, where="file", got=_start(data), hint=hint) from None
    for key in document:
        if key != "schedule":
            raise DefinitionError("is not a known table", where="file", got=key, hint=hint)
    tables = document.get("schedule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DefinitionError("must be a list of tables", where="schedule", got=tables, hint=hint)
    return tables


def _entry(table: Table) -> Entry:
    for key in table:
        if key not in _KEYS:
            close = get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(_KEYS)}"
            raise DefinitionError("is not a known key", where="schedule", got=key, hint=hint)
    if "name" not in table:
        raise DefinitionError(
            "must have a name", where="schedule", got=list(table), hint='write name = "..."'
        )
    name = _text(table, "name")
    if not name or not name.isprintable():
        raise DefinitionError(
            "must be printable text", where="name", got=name, hint='write e.g. "nightly-backup"'
        )
    zone = _text(table, "zone", "UTC")
    text, recurrence = _recurrence(table, zone)
    if "start_at" in table or "end_at" in table:
        recurrence = recurrence.bounded(
            start_at=_instant(table, "start_at"), end_at=_instant(table, "end_at")
        )
    reading = Reading(text=text, recurrence=recurrence, zone=load_zone(zone))
    return Entry(name=name, reading=reading, decider=_decider(table, name, zone))


def _recurrence(table: Table, zone: str) -> tuple[str, Recurrence]:
    """The recurrence and the text that stands for it."""
    given = [key for key in _RECURRENCES if key in table]
    if len(given) != 1:
        raise DefinitionError(
            "must have exactly one of cron, every and once", where="schedule", got=given,
            hint='write e.g. cron = "0 3 * * *", every = "15m" or once = "2026-03-01T00:00:00Z"',
        )  # fmt: skip
    for key, owner in (("dialect", "cron"), ("dst", "cron"), ("anchor", "every")):
        if key in table and given[0] != owner:
            raise DefinitionError(
                f"applies to {owner} only", where=key, got=table[key], hint="leave it out"
            )
    if given == ["cron"]:
        text = _text(table, "cron")
        dst = _text(table, "dst") if "dst" in table else None
        return text, cron(text, zone=zone, dialect=_text(table, "dialect", "standard"), dst=dst)
    if given == ["every"]:
        text = _text(table, "every")
        return f"every {text}", every(text, anchor=_instant(table, "anchor"))
    at = _instant(table, "once")
    assert at is not None
    return f"once {at.isoformat()}", once(at)


def _decider(table: Table, name: str, zone: str) -> Decider | None:
    if not any(key in table for key in _DECISION_KEYS):
        return None
    only, avoid = _text(table, "only", ""), _text(table, "avoid", "")
    return Decider(
        identity=_text(table, "identity", name),
        zone=zone,
        window=parse_window(_text(table, "window", "after,0s")),
        distribution=parse_distribution(_text(table, "distribution", "uniform")),
        seed=parse_seed_strategy(_text(table, "seed", "stable")),
        salt=_text(table, "salt", ""),
        only=parse_constraint(only, where="only") if "only" in table else None,
        avoid=parse_constraint(avoid, where="avoid") if "avoid" in table else None,
    )


def _text(table: Table, key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise DefinitionError("must be text", where=key, got=value, hint=f'write {key} = "..."')
    return value


def _instant(table: Table, key: str) -> datetime | None:
    """An instant as TOML has them, or as text; None when the key is not there."""
    value = table.get(key)
    if isinstance(value, str):
        return parse_instant(value, where=key)
    if value is None or (isinstance(value, datetime) and value.utcoffset() is not None):
        return value
    raise DefinitionError(
        "must be an instant with an offset", where=key, got=str(value),
        hint="write e.g. 2026-03-01T00:00:00Z or with +02:00",
    )  # fmt: skip


def _label(table: Table, number: int) -> str:
    name = table.get("name")
    return f'"{name}"' if isinstance(name, str) and name else f"number {number}"


def _start(data: bytes) -> str:
    return data[:40].decode("utf-8", "replace")
