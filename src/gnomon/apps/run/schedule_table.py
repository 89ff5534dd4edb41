"""
What does one table of a file of schedules mean?

A table has a name and one recurrence: `cron`, `every` or `once`. Zone, dialect and DST policy,
bounds, what a decision takes, a command and its policies may stand beside it. The words of a file
are short; here they become a record, and the core reads that, so that there is one place where a
definition is understood. An error speaks the words of the file.

A key that is not known is refused, because a misspelt option that does nothing is worse than an
error.

Spec: CLI-14, CLI-15, CLI-18, CLI-19.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches

from gnomon.core.civil.duration import parse_duration
from gnomon.core.civil.instant import parse_instant
from gnomon.core.civil.zone import load_zone
from gnomon.core.reading import Reading
from gnomon.core.schedule import JITTER_MAX_MS, Schedule
from gnomon.core.schedule_record import canonical, read_schedule
from gnomon.errors import DefinitionError
from gnomon.shell.launcher.command import parse_command

__all__ = ["KEYS", "RETRIES_MAX", "Entry", "Table", "read_table"]

RETRIES_MAX = 99
"""How often a launch that failed can be tried again."""

_RECURRENCES = ("cron", "every", "once")
_BOUNDS = ("start_at", "end_at")
_DECISION = ("window", "distribution", "seed", "salt", "only", "avoid", "identity", "jitter")
_TARGET = ("command", "shell", "cwd", "env", "timeout", "grace")
_POLICY = ("overlap", "catchup", "deadline", "retries", "lease", "uncertain")
KEYS = (
    "name", *_RECURRENCES, "zone", "dialect", "dst", "anchor", *_BOUNDS,
    *_DECISION, *_TARGET, *_POLICY,
)  # fmt: skip
"""Every key that a table may have."""

_IN_RECORD = {
    "name": "schedule_id", "cron": "cron_expr", "zone": "timezone", "overlap": "overlap_policy",
    "catchup": "catchup_policy", "jitter": "jitter_ms", "retries": "launches_max",
}  # fmt: skip
_IN_FILE = {there: here for here, there in _IN_RECORD.items()}
_TEXTS = (
    "every", "dialect", "dst", "window", "distribution", "seed", "salt", "only", "avoid",
    "deadline", "cron", "zone", "overlap", "catchup", "lease", "uncertain",
)  # fmt: skip
_ANY_ID = "unnamed"  # stands in for a name that can be shown but not kept
_MS = timedelta(milliseconds=1)

Table = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One schedule of a file."""

    name: str
    reading: Reading
    schedule: Schedule
    decides: bool
    """Whether the schedule says anything about a window, seed, constraint or jitter."""


def read_table(table: Table, *, to_run: bool) -> Entry:
    """The schedule that a table describes; `to_run` asks for all that running it takes."""
    _refuse_unknown(table)
    if "name" not in table:
        raise DefinitionError(
            "must have a name", where="schedule", got=list(table), hint='write name = "..."'
        )
    name = _text(table, "name")
    if not name or not name.isprintable():
        raise DefinitionError(
            "must be printable text", where="name", got=name, hint='write e.g. "nightly-backup"'
        )
    recurs = _check_recurrence(table)
    target = _read_target(table)
    if to_run and target is None:
        raise DefinitionError(
            "must have a command or a shell text to be run", where="schedule", got=[],
            hint='write e.g. command = ["echo", "hello"] or shell = "echo hello"',
        )  # fmt: skip
    identity = _text(table, "identity", name)
    if to_run and identity != name:
        raise DefinitionError(
            "must be the name of a schedule that is run", where="identity", got=identity,
            hint="leave it out, or name the schedule so",
        )  # fmt: skip
    record = _record(table) | {"schedule_id": name, "target": target}
    schedule = _read(record, table, to_run=to_run)
    schedule = replace(schedule, decider=replace(schedule.decider, identity=identity))
    zone = load_zone(schedule.decider.zone)
    return Entry(
        name=name,
        reading=Reading(text=recurs, recurrence=schedule.recurrence, zone=zone),
        schedule=schedule,
        decides=any(key in table for key in _DECISION),
    )


def _refuse_unknown(table: Table) -> None:
    for key in table:
        if key not in KEYS:
            close = get_close_matches(str(key), KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(KEYS)}"
            raise DefinitionError("is not a known key", where="schedule", got=key, hint=hint)


def _check_recurrence(table: Table) -> str:
    """The text that stands for the recurrence, of which there must be exactly one."""
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
    if given == ["once"]:
        return f"once {_instant(table, 'once').isoformat()}"
    return _text(table, "cron") if given == ["cron"] else f"every {_text(table, 'every')}"


def _record(table: Table) -> dict[str, object]:
    """The table in the words of the core, except for name and target."""
    record: dict[str, object] = {
        _IN_RECORD.get(key, key): _text(table, key) for key in _TEXTS if key in table
    }
    record |= {key: _instant(table, key) for key in ("anchor", *_BOUNDS) if key in table}
    if "once" in table:
        record["once"] = _instant(table, "once").isoformat()
    if "jitter" in table:
        record["jitter_ms"] = _jitter_ms(_text(table, "jitter"))
    if "retries" in table:
        record["launches_max"] = _retries(table["retries"]) + 1
    return record


def _read(record: dict[str, object], table: Table, *, to_run: bool) -> Schedule:
    try:
        return read_schedule(record)
    except DefinitionError as error:
        if error.where == "schedule_id" and not to_run:
            return read_schedule(record | {"schedule_id": _ANY_ID})
        key = _IN_FILE.get(error.where, error.where)
        if type(error) is DefinitionError and key in table:  # then it shows what was written
            raise DefinitionError(
                error.reason, where=key, got=table[key], hint=error.hint
            ) from None
        raise


def _read_target(table: Table) -> dict[str, object] | None:
    """What to start, as a launcher reads it; None when there is nothing to start."""
    found = {key: table[key] for key in _TARGET if key in table}
    if not found:
        return None
    for key in ("shell", "cwd", "timeout", "grace"):
        if key in found:
            _text(table, key)
    if len([key for key in ("command", "shell") if key in found]) != 1:
        raise DefinitionError(
            "must have exactly one of command and shell", where="schedule", got=list(found),
            hint='write e.g. command = ["echo", "hello"] or shell = "echo hello"',
        )  # fmt: skip
    _check_texts(found)
    try:
        parse_command(canonical(found))
    except DefinitionError as error:
        where = error.where.removeprefix("target.")
        raise DefinitionError(error.reason, where=where, got=error.got, hint=error.hint) from None
    return found


def _check_texts(found: Table) -> None:
    command, env = found.get("command", []), found.get("env", {})
    if not isinstance(command, list) or not all(isinstance(part, str) for part in command):
        raise DefinitionError(
            "must be a list of texts", where="command", got=command,
            hint='write e.g. command = ["tar", "--create", "--file", "a.tar", "photos"]',
        )  # fmt: skip
    if not isinstance(env, dict) or not all(
        isinstance(part, str) for pair in env.items() for part in pair
    ):
        raise DefinitionError(
            "must be a table of texts", where="env", got=env, hint='write env = { NAME = "value" }'
        )


def _jitter_ms(text: str) -> int:
    found_ms = parse_duration(text, where="jitter") // _MS
    if 0 <= found_ms <= JITTER_MAX_MS:
        return found_ms
    raise DefinitionError(
        "must lie between 0s and 24h", where="jitter", got=text, hint="write e.g. 30s"
    )


def _retries(found: object) -> int:
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= RETRIES_MAX:
        return found
    raise DefinitionError(
        f"must be a whole number from 0 to {RETRIES_MAX}", where="retries", got=found,
        hint="write 0 to never try again",
    )  # fmt: skip


def _text(table: Table, key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise DefinitionError("must be text", where=key, got=value, hint=f'write {key} = "..."')
    return value


def _instant(table: Table, key: str) -> datetime:
    """An instant as TOML and YAML have them, or as text."""
    value = table[key]
    if isinstance(value, str):
        return parse_instant(value, where=key)
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return value
    raise DefinitionError(
        "must be an instant with an offset", where=key, got=str(value),
        hint="write e.g. 2026-03-01T00:00:00Z or with +02:00",
    )  # fmt: skip
