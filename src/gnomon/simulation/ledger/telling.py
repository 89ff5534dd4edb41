"""
Was everything told that was decided, and nothing that did not hold? Judged from what was heard.

A worker tells what it has decided about periods: logs, messages and counters hang on it. What it
told stands in the ledger, word for word, and it told it once. What it decided it told, unless its
writing was done and the answer lost. A run that it told it had lost was taken by another worker, or
judged lost.

Spec: SIM-19, SIM-23.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from gnomon.simulation.ledger.case import Case
from gnomon.simulation.ledger.record import Grant, Record, Row, ToldLost

__all__ = ["broken_tellings"]

_DECIDED = frozenset(
    ("overlap", "queue_full", "paused", "catchup_limit", "deadline", "outage", "constraints")
)
"""The reasons that only a worker gives."""


def broken_tellings(case: Case) -> Iterator[tuple[str, str]]:
    """What was decided is told, and nothing else."""
    name = str(case.schedule["schedule_id"])
    for text in _settled(case.record, name, [*case.rows, *case.asked]):
        yield "told", text
    for text in _lost(case.record, case.grants):
        yield "told", text


def _settled(record: Record, schedule_id: str, rows: Sequence[Row]) -> Iterator[str]:
    """What should not have been told, and what should have been."""
    by_key = {row.key: row for row in rows}
    told = [one for one in record.settled if one.schedule_id == schedule_id]
    times = Counter(one.key for one in told)
    for one in told:
        row = by_key.get(one.key)
        found = None if row is None else (row.outcome, row.reason, row.periods)
        if found != (one.outcome, one.reason, one.periods):
            text = f"{one.worker} told that {one.nominal} is {one.outcome}({one.reason})"
            yield f"{text}, and the ledger says {found}"
        elif times[one.key] > 1:
            yield f"{one.nominal} is {one.outcome}({one.reason}), told {times[one.key]} times"
    ended = {seen.key for seen in record.reports if seen.accepted and seen.kind != "Launched"}
    claims = {grant.key: grant for grant in record.grants}
    for row in rows:
        # No worker runs a claim that was lost with its schedule gone, but one settles it. If it was
        # lost before and waits for its next try, the caller that deletes settles it.
        claim = claims.get(row.key)
        is_held = claim is not None and not claim.waits and row.key not in ended
        is_left = schedule_id in record.deleted and is_held
        is_decided = row.reason in _DECIDED or (is_left and row.state == "done")
        if is_decided and not times[row.key] and row.key not in record.unheard:
            yield f"{row.nominal} is {row.outcome}({row.reason}), and no worker told it"


def _lost(record: Record, grants: Sequence[Grant]) -> Iterator[str]:
    """What was told lost, and had been neither taken by then nor judged lost."""
    keys = {grant.key for grant in grants}
    for one in record.lost:
        if one.key not in keys:
            continue
        if any(_takes(grant, one) for grant in grants):
            record.hit("run told lost")
        else:
            yield f"{one.worker} told that it has lost {one.key}, and no worker had taken it"


def _takes(grant: Grant, lost: ToldLost) -> bool:
    """Whether a claim is a later one, or the very one and was not good any more."""
    if grant.key != lost.key:
        return False
    if grant.fence > lost.fence:
        return grant.no < lost.no
    return grant.fence == lost.fence and grant.lost_no is not None and grant.lost_no < lost.no
