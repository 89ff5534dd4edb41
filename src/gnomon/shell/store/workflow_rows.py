"""
The facts of workflows as rows: what stands in a column, and how it is read back.

Both stores use it, so that a row means the same in either. Instants are given and taken as texts;
a store that has a type for them converts on its own side.

Spec: WLOG-1.
"""

import json

from gnomon.ports.workflow_facts import (
    Asked,
    Event,
    EventStatus,
    Handler,
    HandlerKind,
    Input,
    Mode,
    Mutation,
    MutationStatus,
    Phase,
    Run,
    RunStatus,
    Script,
    Standing,
)
from gnomon.shell.store.instant_text import from_text, maybe_from_text, maybe_to_text, to_text

__all__ = [
    "Row",
    "event_of",
    "handler_of",
    "handler_row",
    "input_of",
    "mutation_of",
    "mutation_row",
    "names_text",
    "run_of",
    "run_row",
    "script_of",
    "standing_of",
    "standing_row",
]

Value = str | int | None
Row = tuple[Value, ...]


def standing_of(row: Row) -> Standing:
    (
        name, title, zone, mode, script, version, fence, writes, runs, arrivals, current, failures,
        retry_at, repairs, trouble, created_at,
    ) = row  # fmt: skip
    return Standing(
        name=_text(name), title=_text(title), zone=_text(zone), mode=Mode(_text(mode)),
        script=_number(script), version=_number(version), fence=_number(fence),
        writes=_number(writes), runs=_number(runs), arrivals=_number(arrivals),
        current=_maybe_number(current), failures=_number(failures), retry_ms=_maybe_ms(retry_at),
        repairs=_number(repairs), trouble=_text(trouble), created_ms=_ms(created_at),
    )  # fmt: skip


def standing_row(one: Standing) -> Row:
    """What a holder or a command may change, from the title on."""
    return (
        one.title, one.zone, one.mode.value, one.script, one.runs, one.current, one.failures,
        maybe_to_text(one.retry_ms), one.repairs, one.trouble,
    )  # fmt: skip


def handler_of(row: Row) -> Handler:
    name, kind, place, schedule, subscribes, publishes, next_run_at, wake_at, state, ran_at = row
    return Handler(
        name=_text(name), kind=HandlerKind(_text(kind)), place=_number(place),
        schedule=_text(schedule), subscribes=_names(subscribes), publishes=_names(publishes),
        next_run_ms=_maybe_ms(next_run_at), wake_ms=_maybe_ms(wake_at), state=_text(state),
        ran_ms=_maybe_ms(ran_at),
    )  # fmt: skip


def handler_row(one: Handler) -> Row:
    return (
        one.name, one.kind.value, one.place, one.schedule, names_text(one.subscribes),
        names_text(one.publishes), maybe_to_text(one.next_run_ms), maybe_to_text(one.wake_ms),
        one.state, maybe_to_text(one.ran_ms),
    )  # fmt: skip


def run_of(row: Row) -> Run:
    (
        number, handler, kind, script, retry_of, phase, status, prepared, mutated, mutation,
        asked, approved, fault, error, traceback, note, created_at, updated_at,
    ) = row  # fmt: skip
    return Run(
        number=_number(number), handler=_text(handler), kind=HandlerKind(_text(kind)),
        script=_number(script), retry_of=_maybe_number(retry_of), phase=Phase(_text(phase)),
        status=RunStatus(_text(status)), prepared=_maybe_text(prepared),
        mutated=_maybe_text(mutated), mutation=_maybe_number(mutation), asked=_asked(asked),
        approved=_asked(approved), fault=_text(fault), error=_text(error),
        traceback=_text(traceback), note=_text(note), created_ms=_ms(created_at),
        updated_ms=_ms(updated_at),
    )  # fmt: skip


def run_row(one: Run) -> Row:
    return (
        one.number, one.handler, one.kind.value, one.script, one.retry_of, one.phase.value,
        one.status.value, one.prepared, one.mutated, one.mutation, _asked_text(one.asked),
        _asked_text(one.approved), one.fault, one.error, one.traceback, one.note,
        to_text(one.created_ms), to_text(one.updated_ms),
    )  # fmt: skip


def mutation_of(row: Row) -> Mutation:
    (
        run, tool, params, key, title, reconcilable, status, result, error, tries, next_at,
        resolved_by, resolved_at, created_at,
    ) = row  # fmt: skip
    return Mutation(
        run=_number(run), tool=_text(tool), params=_text(params), key=_text(key),
        title=_text(title), reconcilable=bool(reconcilable), status=MutationStatus(_text(status)),
        result=_maybe_text(result), error=_text(error), tries=_number(tries),
        next_ms=_maybe_ms(next_at), resolved_by=_text(resolved_by),
        resolved_ms=_maybe_ms(resolved_at), created_ms=_ms(created_at),
    )  # fmt: skip


def mutation_row(one: Mutation) -> Row:
    return (
        one.run, one.tool, one.params, one.key, one.title, one.reconcilable, one.status.value,
        one.result, one.error, one.tries, maybe_to_text(one.next_ms), one.resolved_by,
        maybe_to_text(one.resolved_ms), to_text(one.created_ms),
    )  # fmt: skip


def event_of(row: Row) -> Event:
    (
        topic, id, payload, status, number, arrival, attempt, reserved_by, created_by, causes,
        created_at, rounds,
    ) = row  # fmt: skip
    return Event(
        topic=_text(topic), id=_text(id), payload=_text(payload), status=EventStatus(_text(status)),
        number=_number(number), arrival=_number(arrival), attempt=_number(attempt),
        reserved_by=_maybe_number(reserved_by), created_by=_maybe_number(created_by),
        causes=_names(causes), created_ms=_ms(created_at), rounds=_number(rounds),
    )  # fmt: skip


def input_of(row: Row) -> Input:
    id, title, skipped, created_at, pending = row
    return Input(
        id=_text(id), title=_text(title), skipped=bool(skipped), created_ms=_ms(created_at),
        pending=_number(pending),
    )  # fmt: skip


def script_of(row: Row) -> Script:
    version, digest, text, reason, deployed_at, modules = row
    return Script(
        _number(version), _text(digest), _text(text), _text(reason), _ms(deployed_at),
        _text(modules),
    )  # fmt: skip


def names_text(names: tuple[str, ...]) -> str:
    return json.dumps(names)


def _asked(text: Value) -> Asked | None:
    return None if text is None else Asked(*json.loads(_text(text)))


def _asked_text(asked: Asked | None) -> str | None:
    return None if asked is None else json.dumps(asked)


def _names(text: Value) -> tuple[str, ...]:
    return tuple(json.loads(_text(text)))


def _text(value: Value) -> str:
    assert isinstance(value, str), value
    return value


def _maybe_text(value: Value) -> str | None:
    return None if value is None else _text(value)


def _number(value: Value) -> int:
    assert isinstance(value, int), value
    return value


def _maybe_number(value: Value) -> int | None:
    return None if value is None else _number(value)


def _ms(value: Value) -> int:
    return from_text(_text(value))


def _maybe_ms(value: Value) -> int | None:
    return maybe_from_text(_maybe_text(value))
