"""
Schedules as records: the plain form in which a definition is written down, and back.

A record is a flat mapping of names to texts and numbers, as it stands in a file, a request or a
database. `read_schedule` makes the value and refuses what it does not know; `write_schedule` gives
the canonical record, in which every default is spelled out, so that two records of equal schedules
are equal.

Spec: SCHED-6 to SCHED-9.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.civil.instant import format_instant, parse_instant
from gnomon.core.decision import (
    Decider,
    parse_constraint,
    parse_distribution,
    parse_seed_strategy,
    parse_window,
    render_constraint,
)
from gnomon.core.decision.distribution import Distribution
from gnomon.core.decision.distribution_text import name_of, params_of
from gnomon.core.recurrence import Boot, Bounded, Cron, Every, Once, Recurrence, cron, every, once
from gnomon.core.schedule import Policy, Schedule
from gnomon.errors import DefinitionError

__all__ = ["KEYS", "Record", "canonical", "read_schedule", "write_schedule"]

Record = Mapping[str, object]
"""Names to texts, numbers and None; `target` may be any JSON."""

KEYS = (
    "schedule_id", "cron_expr", "every", "once", "boot", "timezone", "dialect", "dst", "anchor",
    "start_at", "end_at", "jitter_ms", "window", "distribution", "seed", "salt", "only", "avoid",
    "overlap_policy", "catchup_policy", "deadline", "pause_rule", "uncertain", "launches_max",
    "launch_backoff", "lease", "target", "identity",
)  # fmt: skip

_FORBID = {"forbid": "skip"}  # the word that crontabs for Kron and Kubernetes use
_Choice = TypeVar("_Choice", bound=StrEnum)


def read_schedule(record: Record) -> Schedule:
    """The schedule that a record describes."""
    _refuse_unknown(record)
    zone = _text(record, "timezone", "UTC")
    schedule_id = _text(record, "schedule_id")
    recurrence, starts = _bound(record, _read_recurrence(record, zone))
    default = Policy()
    return Schedule(
        schedule_id=schedule_id,
        recurrence=recurrence,
        decider=_read_decider(record, schedule_id, zone),
        jitter_ms=_number(record, "jitter_ms", 0),
        policy=Policy(
            overlap=_choice(record, "overlap_policy", default.overlap, _FORBID),
            catchup=_choice(record, "catchup_policy", default.catchup, {}),
            deadline=None
            if record.get("deadline") is None
            else _length(record, "deadline", timedelta(0)),
            pause=_choice(record, "pause_rule", default.pause, {}),
            uncertain=_choice(record, "uncertain", default.uncertain, {}),
            launches_max=_number(record, "launches_max", default.launches_max),
            launch_backoff=_length(record, "launch_backoff", default.launch_backoff),
            lease=_length(record, "lease", default.lease),
        ),
        target=canonical(record.get("target")),
        starts_ms=starts * 1000,
    )


def write_schedule(schedule: Schedule) -> dict[str, object]:
    """The canonical record of a schedule: what `read_schedule` reads back as an equal value."""
    decider, policy = schedule.decider, schedule.policy
    return {
        "schedule_id": schedule.schedule_id,
        **_write_recurrence(schedule.recurrence),
        "timezone": decider.zone,
        "jitter_ms": schedule.jitter_ms,
        "window": f"{decider.window.placement},{format_duration(decider.window.length)}",
        "distribution": _write_distribution(decider.distribution),
        "seed": decider.seed.value,
        "salt": decider.salt,
        "only": None if decider.only is None else render_constraint(decider.only),
        "avoid": None if decider.avoid is None else render_constraint(decider.avoid),
        "overlap_policy": policy.overlap.value,
        "catchup_policy": policy.catchup.value,
        "deadline": None if policy.deadline is None else format_duration(policy.deadline),
        "pause_rule": policy.pause.value,
        "uncertain": policy.uncertain.value,
        "launches_max": policy.launches_max,
        "launch_backoff": format_duration(policy.launch_backoff),
        "lease": format_duration(policy.lease),
        "target": json.loads(schedule.target),
        "identity": None if decider.identity == schedule.schedule_id else decider.identity,
    }


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values have equal texts."""
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        text.encode()  # half of a surrogate pair cannot be stored
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(
            f"must be plain JSON ({error})", where="target", got=type(value).__name__,
            hint="use texts, numbers, lists and tables",
        ) from None  # fmt: skip
    return text


def _read_recurrence(record: Record, zone: str) -> Recurrence:
    given = [key for key in ("cron_expr", "every", "once", "boot") if record.get(key) is not None]
    if len(given) != 1:
        raise DefinitionError(
            "must have exactly one of cron_expr, every and once", where="schedule", got=given,
            hint='write e.g. cron_expr = "0 3 * * *"',
        )  # fmt: skip
    if given == ["cron_expr"]:
        dst = None if record.get("dst") is None else _text(record, "dst")
        dialect = _text(record, "dialect", "standard")
        return _cron(_text(record, "cron_expr"), zone, dialect, dst)
    if given == ["every"]:
        return every(_text(record, "every"), anchor=_instant(record, "anchor"))
    return _boot(record) if given == ["boot"] else once(_text(record, "once"))


def _boot(record: Record) -> Boot:
    """Only krond writes this: no other door is told of boots, and none reads it from a person."""
    if record["boot"] is not True:
        raise DefinitionError(
            "must be true", where="boot", got=record["boot"], hint="write true, or leave it out"
        )
    for key in ("start_at", "end_at"):
        if record.get(key) is not None:
            raise DefinitionError(
                "cannot be combined with boot", where=key, got=record[key], hint="leave it out"
            )
    return Boot()


@lru_cache(4096)
def _cron(text: str, zone: str, dialect: str, dst: str | None) -> Recurrence:
    """Many schedules recur at the same times; what is found out about those times is shared."""
    return cron(text, zone=zone, dialect=dialect, dst=dst)


def _bound(record: Record, recurrence: Recurrence) -> tuple[Recurrence, int]:
    """The recurrence within its bounds, and the first second at which something may run."""
    start_at, end_at = _instant(record, "start_at"), _instant(record, "end_at")
    bounded = recurrence.bounded(start_at=start_at, end_at=end_at)
    if bounded == recurrence.bounded():  # bounds that exclude nothing
        return recurrence, HORIZON_START
    assert isinstance(bounded, Bounded)
    return bounded, bounded.start


def _write_recurrence(recurrence: Recurrence) -> dict[str, object]:
    bounds: dict[str, object] = {"start_at": None, "end_at": None}
    if isinstance(recurrence, Bounded):
        if recurrence.start > HORIZON_START:
            bounds["start_at"] = format_instant(recurrence.start)
        if recurrence.end < HORIZON_END - 1:
            bounds["end_at"] = format_instant(recurrence.end)
        recurrence = recurrence.inner
    match recurrence:
        case Cron(expression=expression, dst=dst):
            return bounds | {
                "cron_expr": expression.text, "dialect": expression.dialect, "dst": dst.value,
            }  # fmt: skip
        case Every(interval=interval, anchor=anchor):
            length = format_duration(timedelta(seconds=interval))
            return bounds | {"every": length, "anchor": format_instant(anchor)}
        case Boot():
            return bounds | {"boot": True}
        case _:
            assert isinstance(recurrence, Once)
            return bounds | {"once": format_instant(recurrence.at)}


def _write_distribution(distribution: Distribution) -> str:
    parts = [f"{name}={value}" for name, value in params_of(distribution).items()]
    return ",".join([name_of(distribution), *parts])


def _read_decider(record: Record, schedule_id: str, zone: str) -> Decider:
    only, avoid = record.get("only"), record.get("avoid")
    return Decider(
        identity=_text(record, "identity", schedule_id),
        zone=zone,
        window=parse_window(_text(record, "window", "after,0s")),
        distribution=parse_distribution(_text(record, "distribution", "uniform")),
        seed=parse_seed_strategy(_text(record, "seed", "stable")),
        salt=_text(record, "salt", ""),
        only=None if only is None else parse_constraint(_text(record, "only"), where="only"),
        avoid=None if avoid is None else parse_constraint(_text(record, "avoid"), where="avoid"),
    )


def _refuse_unknown(record: Record) -> None:
    for key in record:
        if key not in KEYS:
            close = get_close_matches(str(key), KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(KEYS)}"
            raise DefinitionError("is not a known key", where="schedule", got=key, hint=hint)


def _text(record: Record, key: str, default: str | None = None) -> str:
    value = record.get(key)
    value = default if value is None else value
    if not isinstance(value, str):
        raise DefinitionError("must be text", where=key, got=value, hint=f'write {key} = "..."')
    return value


def _number(record: Record, key: str, default: int) -> int:
    value = record.get(key)
    value = default if value is None else value
    if not isinstance(value, int) or isinstance(value, bool):
        raise DefinitionError("must be a whole number", where=key, got=value, hint="write digits")
    return value


def _length(record: Record, key: str, default: timedelta) -> timedelta:
    value = record.get(key)
    return default if value is None else parse_duration(_text(record, key), where=key)


def _instant(record: Record, key: str) -> datetime | None:
    value = record.get(key)
    if value is None or (isinstance(value, datetime) and value.utcoffset() is not None):
        return value
    return parse_instant(_text(record, key), where=key)


def _choice(record: Record, key: str, default: _Choice, synonyms: Mapping[str, str]) -> _Choice:
    text = _text(record, key, default.value)
    kind = type(default)
    try:
        return kind(synonyms.get(text, text))
    except ValueError:
        known = ", ".join([*kind, *synonyms])
        raise DefinitionError(
            "is not a known choice", where=key, got=text, hint=f"write one of {known}"
        ) from None
