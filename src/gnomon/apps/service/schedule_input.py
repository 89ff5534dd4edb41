"""
What a request says about a schedule: read once, at the edge, with every field checked.

`ScheduleInput` holds the fields of the request as they were written; what was left out is None and
gets the service's default. `schedule_of` makes the schedule that the core knows. Windows,
constraints and the like are texts that the core reads; an error names the field of the request.

Spec: SERVICE-1, SERVICE-2, SERVICE-5.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from functools import lru_cache

from gnomon.apps.service.parameters import Params, checked_params
from gnomon.apps.service.schedule_id import derived_id
from gnomon.apps.service.settings import Settings
from gnomon.core.civil.duration import parse_duration
from gnomon.core.identifier import check_id
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import canonical, read_schedule
from gnomon.core.text_hint import bare_hint, text_hint
from gnomon.errors import DefinitionError, InvalidCronExpressionError

__all__ = [
    "FEEDBACK_LEASE",
    "ScheduleInput",
    "Target",
    "feedback_ms",
    "read_input",
    "schedule_of",
    "target_of",
]

FEEDBACK_LEASE = timedelta(hours=1)
"""How long a run counts as in flight without a word from its executor, if nothing else is said."""
_VERSION_MAX = 2**31 - 1
_TEXT_MAX = 1024
_NUMBERS = ("version", "jitter_ms", "launches_max")
_OBJECTS = ("params",)
_REQUIRED = ("workflow_id", "version", "user_id")
_EXPECTED = ("start_by", "finish_by", "max_duration")
_AS_THEY_ARE = (
    "cron_expr", "every", "anchor", "once", "dialect", "dst", "timezone", "start_at", "end_at",
    "window", "distribution", "seed", "salt", "only", "avoid", "deadline", "pause_rule",
    "launches_max", "launch_backoff",
)  # fmt: skip
_FIELDS = {"zone": "timezone", "interval": "every", "at": "once", "schedule": "cron_expr"}
"""What the core calls fields that a request calls otherwise."""
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleInput:
    """A schedule as it is asked for; instants are RFC 3339 texts, lengths of time like `90s`."""

    workflow_id: str
    version: int
    user_id: str
    cron_expr: str | None = None
    timezone: str = "UTC"
    schedule_id: str | None = None
    """Derived from DAG, user and trigger when it is left out."""
    trigger_id: str = "main"
    start_at: str | None = None
    end_at: str | None = None
    jitter_ms: int | None = None
    overlap_policy: str | None = None
    catchup_policy: str | None = None
    # Beyond the seed:
    every: str | None = None
    """An interval in place of a cron expression."""
    anchor: str | None = None
    once: str | None = None
    """One instant in place of a cron expression."""
    dialect: str | None = None
    dst: str | None = None
    window: str | None = None
    distribution: str | None = None
    seed: str | None = None
    salt: str | None = None
    only: str | None = None
    avoid: str | None = None
    deadline: str | None = None
    pause_rule: str | None = None
    launches_max: int | None = None
    launch_backoff: str | None = None
    start_by: str | None = None
    """How long after its planned instant a run must have begun; else a worker tells of it."""
    finish_by: str | None = None
    """How long after its planned instant a run must have ended well."""
    max_duration: str | None = None
    """How long a run may take; then it no longer counts as in flight."""
    params: Params | None = None
    """What its runs are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a schedule of the service starts, and what is expected of it."""

    workflow_id: str
    version: int
    user_id: str
    trigger_id: str
    start_by_ms: int | None = None
    finish_by_ms: int | None = None
    max_duration_ms: int | None = None
    params: str = "{}"
    """What its runs are given, as JSON."""


def read_input(record: Mapping[str, object], *, where: str = "") -> ScheduleInput:
    """The input that a record of a request holds; an error names the field, after `where`."""
    try:
        return _read_input(record)
    except DefinitionError as error:
        raise _placed(error, where) from None


def schedule_of(given: ScheduleInput, settings: Settings, *, where: str = "") -> Schedule:
    """The schedule that is asked for; an error names the field, after `where`."""
    try:
        return _schedule_of(given, settings)
    except DefinitionError as error:
        raise _placed(error, where) from error


def target_of(schedule: Schedule) -> Target | None:
    """What a stored schedule starts; None when it is none of the service's."""
    return _target(schedule.target)


@lru_cache(8192)
def _target(text: str) -> Target | None:
    found = json.loads(text)
    if not isinstance(found, dict) or not {"workflow_id", "version", "user_id"} <= found.keys():
        return None
    return Target(
        workflow_id=found["workflow_id"],
        version=found["version"],
        user_id=found["user_id"],
        trigger_id=found.get("trigger_id", "main"),
        start_by_ms=found.get("start_by_ms"),
        finish_by_ms=found.get("finish_by_ms"),
        max_duration_ms=found.get("max_duration_ms"),
        params=canonical(found.get("params", {})),
    )


def feedback_ms(schedule: Schedule | None) -> int:
    """How long a run of a schedule counts as in flight without a word from its executor."""
    target = None if schedule is None else target_of(schedule)
    given = None if target is None else target.max_duration_ms
    return given or FEEDBACK_LEASE // _MS


def _read_input(record: Mapping[str, object]) -> ScheduleInput:
    names = [one.name for one in fields(ScheduleInput)]
    for key in record:
        if key not in names:
            close = get_close_matches(str(key), names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the fields are {', '.join(names)}"
            raise DefinitionError("is not a known field", where=str(key), got=key, hint=hint)
    for name in _REQUIRED:
        if record.get(name) is None:
            raise DefinitionError("must be given", where=name, got=None, hint=f"write {name}")
    texts = {
        name: _text(record[name], name)
        for name in record
        if name not in _NUMBERS and name not in _OBJECTS and record[name] is not None
    }
    numbers = {
        name: _number(record[name], name) for name in _NUMBERS if record.get(name) is not None
    }
    params = record.get("params")
    given = {} if params is None else {"params": checked_params(params)}
    return ScheduleInput(**texts, **numbers, **given)  # type: ignore[arg-type] # checked one by one above


def _schedule_of(given: ScheduleInput, settings: Settings) -> Schedule:
    _check_ids(given)
    _check_company(given)
    settings.check_zone(given.timezone)
    record: dict[str, object] = {name: getattr(given, name) for name in _AS_THEY_ARE}
    target: dict[str, object] = {
        "workflow_id": given.workflow_id, "version": given.version, "user_id": given.user_id,
        "trigger_id": given.trigger_id,
    }  # fmt: skip
    for name in _EXPECTED:
        text = getattr(given, name)
        if text is not None:
            target[f"{name}_ms"] = _length_ms(text, name)
    if given.params:
        target["params"] = checked_params(given.params)
    record |= {
        "schedule_id": given.schedule_id
        or derived_id(given.workflow_id, given.user_id, given.trigger_id),
        "jitter_ms": _or(given.jitter_ms, settings.default_jitter_ms),
        "overlap_policy": _or(given.overlap_policy, settings.default_overlap_policy),
        "catchup_policy": _or(given.catchup_policy, settings.default_catchup_policy),
        "uncertain": "relaunch_same_key",
        "lease": settings.lease,
        "target": target,
    }
    return read_schedule(record)


def _check_ids(given: ScheduleInput) -> None:
    check_id(given.workflow_id, where="workflow_id")
    check_id(given.user_id, where="user_id")
    check_id(given.trigger_id, where="trigger_id")
    if given.schedule_id is not None:
        check_id(given.schedule_id, where="schedule_id")
    if not 1 <= given.version <= _VERSION_MAX:
        raise DefinitionError(
            "must be a version of a DAG, from 1", where="version", got=given.version,
            hint="write e.g. 1",
        )  # fmt: skip


def _check_company(given: ScheduleInput) -> None:
    """A field that would be passed over was meant for something, so it is refused."""
    for name, needed in (("anchor", "every"), ("dialect", "cron_expr"), ("dst", "cron_expr")):
        if getattr(given, name) is not None and getattr(given, needed) is None:
            raise DefinitionError(
                f"goes with {needed} only", where=name, got=getattr(given, name),
                hint=f"leave it out, or write {needed}",
            )  # fmt: skip


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise DefinitionError("must be text", where=where, got=value, hint=text_hint(where, value))
    if len(value) > _TEXT_MAX:
        raise DefinitionError(
            f"must have at most {_TEXT_MAX} characters", where=where, got=value, hint="shorten it"
        )
    return value


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        hint = bare_hint(value, "write digits")
        raise DefinitionError("must be a whole number", where=where, got=value, hint=hint)
    return value


def _length_ms(text: str, where: str) -> int:
    length = parse_duration(text, where=where)
    if not timedelta(seconds=1) <= length <= timedelta(days=366):
        raise DefinitionError(
            "must lie between 1s and 366 days", where=where, got=text, hint="write e.g. 5m"
        )
    return length // _MS


def _or(given: object, default: object) -> object:
    return default if given is None else given


def _placed(error: DefinitionError, where: str) -> DefinitionError:
    """The same error, in the words of the request."""
    field, reason = _FIELDS.get(error.where, error.where), error.reason
    if isinstance(error, InvalidCronExpressionError):
        field, reason = "cron_expr", f"has a {error.field} field that {error.reason}"
    path = f"{where}.{field}" if where else field
    return DefinitionError(reason, where=path, got=error.got, hint=error.hint)
