"""
The status as JSON, with its seal, and back.

The seal is a digest of everything else in the status and of the uid, so that an edit by hand, or a
status that belongs to another object, is noticed. It carries the version of its form.

Spec: OPERATOR-4, OPERATOR-6.
"""

from collections.abc import Mapping

from gnomon.apps.operator.status import (
    Active,
    Condition,
    Entry,
    Kept,
    Lapsed,
    Opened,
    Range,
    Record,
    Status,
)
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.core.ledger.lifecycle import Outcome
from gnomon.errors import DefinitionError
from gnomon.ports.kubernetes_object import at, digest, mapping, number, text, things

__all__ = ["Unsealed", "read_status", "write_status"]

_SEAL = "1:"
_LAST = {
    "executed": "lastExecuted", "missed": "lastMissed", "skipped": "lastSkipped",
    "unschedulable": "lastUnschedulable",
}  # fmt: skip


class Unsealed:
    """A status that was not written like this by an operator."""


def write_status(
    status: Status, uid: str, *, following: tuple[int, int] | None = None
) -> dict[str, object]:
    """The status of the object with this uid; `following` is the next period and its instant."""
    written: dict[str, object] = {
        "observedGeneration": status.generation,
        "definition": {
            **status.timing, "revision": status.revision, "since": format_instant(status.since),
        },
        "cursor": format_instant(status.cursor),
        "open": [_opened(one) for one in status.opened],
        "ahead": [format_instant(one) for one in status.ahead],
        "active": [
            {"job": one.job, "uid": one.uid, "period": format_instant(one.period)}
            | ({"void": True} if one.void else {})
            for one in status.active
        ],
        "activeCount": sum(1 for one in status.active if not one.void),
        "recent": [_entry(one) for one in status.recent],
        "totals": {outcome.value: status.totals.get(outcome.value, 0) for outcome in Outcome},
        "conditions": [_condition(one, status.generation) for one in status.conditions],
    }  # fmt: skip
    if status.lapsed is not None:
        first, last, count = status.lapsed
        written["lapsed"] = {
            "from": format_instant(first), "to": format_instant(last), "count": count,
        }  # fmt: skip
    for outcome, name in _LAST.items():
        if (one := getattr(status.kept, outcome)) is not None:
            written[name] = _entry(one)
    if status.recent:
        written["last"] = _last(status.recent[0])
    if following is not None:
        period, chosen = following
        written["next"] = {"period": format_instant(period), "chosen": format_instant(chosen)}
    return {"seal": _SEAL + digest(written, uid), **written}


def read_status(written: object, uid: str) -> Status | Unsealed | None:
    """The status that was written for this uid; None when there is none at all."""
    if written is None or written == {}:
        return None
    if not isinstance(written, Mapping):
        return Unsealed()
    try:
        return _read(written, uid)
    except (DefinitionError, ValueError):  # sealed by a hand that knows how, and wrong all the same
        return Unsealed()


def _read(written: Mapping[str, object], uid: str) -> Status | Unsealed:
    rest = {name: value for name, value in written.items() if name != "seal"}
    if written.get("seal") != _SEAL + digest(rest, uid):
        return Unsealed()
    definition = mapping(written, "definition")
    timing = {
        name: value for name, value in definition.items() if name not in ("revision", "since")
    }
    lapsed = mapping(written, "lapsed")
    return Status(
        generation=number(written, "observedGeneration"),
        revision=number(definition, "revision"),
        since=_instant(definition, "since"),
        timing=timing,
        cursor=_instant(written, "cursor"),
        opened=tuple(
            Opened(_instant(one, "period"), _instant_or_none(one, "chosen"), text(one, "seedHash"))
            for one in things(written, "open")
        ),
        lapsed=Lapsed(_instant(lapsed, "from"), _instant(lapsed, "to"), number(lapsed, "count"))
        if lapsed
        else None,
        ahead=tuple(_epoch(one) for one in things(written, "ahead")),
        active=tuple(
            Active(text(one, "job"), text(one, "uid"), _instant(one, "period"),
                   at(one, "void") is True)
            for one in things(written, "active")
        ),
        recent=tuple(_read_entry(one) for one in things(written, "recent")),
        kept=Kept(**{
            outcome: _read_entry(written[name])
            for outcome, name in _LAST.items() if name in written
        }),
        totals={name: number(written, "totals", name) for name in mapping(written, "totals")},
        conditions=tuple(_read_condition(one) for one in things(written, "conditions")),
    )  # fmt: skip


def _entry(one: Entry) -> dict[str, object]:
    if isinstance(one, Range):
        return {
            "from": format_instant(one.first), "to": format_instant(one.last), "count": one.size,
            "outcome": one.outcome.value, "reason": one.reason, "at": format_instant(one.at),
        }  # fmt: skip
    written: dict[str, object] = {
        "period": format_instant(one.period), "outcome": one.outcome.value,
        "at": format_instant(one.at),
    }  # fmt: skip
    for name, value in (
        ("reason", one.reason), ("chosen", _or_nothing(one.chosen)), ("seedHash", one.seed_hash),
        ("job", one.job), ("uid", one.uid), ("phase", one.phase), ("result", one.result),
        ("ended", _or_nothing(one.ended)),
    ):  # fmt: skip
        if value:
            written[name] = value
    return written


def _read_entry(one: object) -> Entry:
    outcome = Outcome(text(one, "outcome"))
    if at(one, "from") is not None:
        return Range(
            _instant(one, "from"), _instant(one, "to"), number(one, "count"), outcome,
            _instant(one, "at"), text(one, "reason"),
        )  # fmt: skip
    return Record(
        period=_instant(one, "period"), outcome=outcome, at=_instant(one, "at"),
        reason=text(one, "reason"), chosen=_instant_or_none(one, "chosen"),
        seed_hash=text(one, "seedHash"), job=text(one, "job"), uid=text(one, "uid"),
        phase=text(one, "phase"), result=text(one, "result"),
        ended=_instant_or_none(one, "ended"),
    )  # fmt: skip


def _last(one: Entry) -> dict[str, object]:
    """What a line of `kubectl get` shows of the newest outcome."""
    period = one.last if isinstance(one, Range) else one.period
    shown: dict[str, object] = {"period": format_instant(period), "outcome": one.outcome.value}
    if one.reason:
        shown["reason"] = one.reason
    if isinstance(one, Record) and one.result:
        shown["result"] = one.result
    return shown


def _opened(one: Opened) -> dict[str, object]:
    written: dict[str, object] = {
        "period": format_instant(one.period), "seedHash": one.seed_hash,
    }  # fmt: skip
    if one.chosen is not None:
        written["chosen"] = format_instant(one.chosen)
    return written


def _condition(one: Condition, generation: int) -> dict[str, object]:
    return {
        "type": one.kind, "status": "True" if one.holds else "False", "reason": one.reason,
        "message": one.message, "lastTransitionTime": format_instant(one.since),
        "observedGeneration": generation,
    }  # fmt: skip


def _read_condition(one: object) -> Condition:
    return Condition(
        text(one, "type"), text(one, "reason"), text(one, "message"),
        _instant(one, "lastTransitionTime"), text(one, "status") == "True",
    )  # fmt: skip


def _instant(one: object, name: str) -> int:
    return _epoch(at(one, name))


def _instant_or_none(one: object, name: str) -> int | None:
    return None if at(one, name) is None else _instant(one, name)


def _epoch(written: object) -> int:
    return to_epoch(parse_instant(str(written)))


def _or_nothing(instant: int | None) -> str:
    return "" if instant is None else format_instant(instant)
