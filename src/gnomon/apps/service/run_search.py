"""
A search for runs of all schedules: what is looked for, in which rows, and where a page goes on.

A caller finds the runs that it may see, by what became of them. Open runs come first, then those
that are over, the last ended first. Where a caller names no time, they are those of the last day,
so that looking at a large ledger costs no more than that day.

Spec: HTTP-40, SERVICE-1.
"""

from dataclasses import dataclass
from datetime import timedelta

from gnomon.core.civil.duration import parse_duration
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.errors import DefinitionError
from gnomon.ports.ledger_rows import Actor, RunRow, RunsOnly, RunsPlace

__all__ = ["SINCE_MS", "RunFilter", "place_after", "read_place", "runs_only"]

SINCE_MS = 86_400_000
"""How far back one looks where nothing is said."""
_MS = timedelta(milliseconds=1)
_DIGITS_MAX = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """What runs must have to be found, of whatever schedule; None for anything."""

    user_id: str | None = None
    workflow_id: str | None = None
    state: str | None = None
    status: str | None = None
    outcome: str | None = None
    reason: str | None = None
    since: str | None = None
    """An instant, or how long ago: those that ended since then, and those that are open."""
    until: str | None = None
    """An instant, or how long ago: those that had ended before."""


def runs_only(actor: Actor, wanted: RunFilter, *, now_ms: int) -> RunsOnly | None:
    """Which rows are to be looked at; None when the actor can see none of those."""
    since_ms = now_ms - SINCE_MS
    if wanted.since is not None:
        since_ms = _instant_ms(wanted.since, "since", now_ms)
    until_ms = None if wanted.until is None else _instant_ms(wanted.until, "until", now_ms)
    if until_ms is not None and until_ms < since_ms:
        raise DefinitionError(
            "must not lie before since", where="until", got=wanted.until,
            hint="write a later instant, or an earlier one into since",
        )  # fmt: skip
    if wanted.user_id is not None and not actor.may_see(wanted.user_id):
        return None
    return RunsOnly(
        since_ms=since_ms, until_ms=until_ms, user_id=wanted.user_id or actor.tenant,
        workflow_id=wanted.workflow_id, state=wanted.state, status=wanted.status,
        outcome=wanted.outcome, reason=wanted.reason,
    )  # fmt: skip


def place_after(row: RunRow) -> str:
    """Where a page goes on that ended with this run."""
    if row.ended_ms is None:
        return f"open~{row.nominal}~{row.key}"
    return f"over~{row.ended_ms}~{row.key}"


def read_place(text: str | None) -> RunsPlace | None:
    if text is None:
        return None
    kind, _, rest = text.partition("~")
    number, tilde, key = rest.partition("~")
    digits = number.removeprefix("-") if kind == "open" else number
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS_MAX
    if kind not in ("open", "over") or not (tilde and key and is_number):
        raise DefinitionError(
            "must be the next of a former page", where="after", got=text, hint="leave it out"
        )
    return RunsPlace(kind == "open", int(number), key)


def _instant_ms(text: str, where: str, now_ms: int) -> int:
    """An instant, or that which lay so long before now."""
    try:
        return max(0, now_ms - parse_duration(text, where=where) // _MS)
    except DefinitionError:
        pass
    try:
        return max(0, to_epoch(parse_instant(text, where=where)) * 1000)
    except DefinitionError:
        raise DefinitionError(
            "must be an instant, or a length of time before now", where=where, got=text,
            hint="write e.g. 2026-03-01T00:00:00Z or 1h",
        ) from None  # fmt: skip
