"""
Was an outage caught up with as it should be? Judged from claims and rows.

Where every overdue period runs, no span of a tick has the claims of more of them than the limit
says, they are claimed oldest first, and in a queue everything is. Those that were spread have
instants in the order of their periods, never two at once; after an outage and nothing else these
are even, and the last of them comes when it should.

A queue takes in so many in a tick, and starts them when it can: how many is not judged there. Nor
is anything where the clock was set, or in what order where windows overlap.

Spec: SIM-20.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from statistics import median

from gnomon.simulation.ledger.case import PERIOD, Case, lane, window
from gnomon.simulation.ledger.record import Grant, Row

__all__ = ["broken_catchups", "may_be_put_off"]

_RUNS_ALL = ("fire_immediately", "spread")
_ONE_BY_ONE = ("skip", "replace")
_SLACK_MS = 1_000  # by which a look may come late, because calls take their time


def broken_catchups(case: Case) -> Iterator[tuple[str, str]]:
    """What should not have been."""
    schedule, record = case.schedule, case.record
    if schedule["catchup_policy"] not in _RUNS_ALL or record.clock_was_set:
        return
    overdue = [grant for grant in _first_claims(case) if _is_overdue(case, grant)]
    if schedule["overlap_policy"] != "queue" and _name(case) not in record.turned:
        most = record.catchup_max
        for one, other in zip(overdue, overdue[most:], strict=False):
            after_ms = other.given_ms - one.given_ms
            if after_ms < record.tick_ms:
                text = f"{other.nominal} was claimed {after_ms} ms after {one.nominal}"
                yield "tick", f"{text}, and {most} may be in {record.tick_ms} ms"
    if window(schedule) != (0, 0):
        return
    in_order = _first_claims(case) if schedule["overlap_policy"] == "queue" else overdue
    for one, other in pairwise(in_order):
        if other.nominal < one.nominal:
            yield "order", f"{other.nominal} was claimed after {one.nominal}"
    if schedule["catchup_policy"] == "spread":
        yield from _unevenly_spread(case)


def may_be_put_off(case: Case, row: Row) -> bool:
    """Whether a period had to wait for its turn, so that its instant is another than its own."""
    if case.schedule["catchup_policy"] not in _RUNS_ALL:
        return False
    before_ms, _ = window(case.schedule)
    firsts = [one for one in _first_claims(case) if one.key == row.key]
    # It may have been chosen for the very start of its window.
    late = [one.given_ms + before_ms - one.nominal * 1000 for one in firsts]
    return case.record.clock_was_set or all(at_ms > case.record.on_time_ms for at_ms in late)


def _unevenly_spread(case: Case) -> Iterator[tuple[str, str]]:
    """What was put off has instants of its own, one after the other."""
    record, rows = case.record, [row for row in case.rows if _was_put_off(case, row)]
    rows.sort(key=lambda row: row.nominal)
    gaps_ms = [(other.chosen_ms or 0) - (one.chosen_ms or 0) for one, other in pairwise(rows)]
    least_ms, most = record.tick_ms // record.catchup_max, record.catchup_max
    for row, other in zip(rows, rows[most:], strict=False):
        after_ms = (other.chosen_ms or 0) - (row.chosen_ms or 0)
        if record.outage_alone and after_ms < record.tick_ms:
            text = f"{other.nominal} is to run {after_ms} ms after {row.nominal}"
            yield "spread", f"{text}, and {most} may be in {record.tick_ms} ms"
    late_ms = _late_by_then_ms(case, rows)
    for row, gap_ms, by_ms in zip(rows, gaps_ms, late_ms, strict=False):
        if gap_ms < (_nearest_ms(case, least_ms, by_ms) if record.outage_alone else 0):
            yield "spread", f"{row.nominal} is to run {gap_ms} ms before the next"
    if not record.outage_alone or len(gaps_ms) < 3:
        return
    record.hit("an outage was spread, and nothing else happened")
    usual_ms = median(gaps_ms)
    for row, gap_ms, by_ms in zip(rows, gaps_ms, late_ms, strict=False):
        if not usual_ms // 2 - 1 - by_ms <= gap_ms <= 2 * usual_ms + _SLACK_MS:
            yield "spread", f"{row.nominal} is {gap_ms} ms before the next, others {usual_ms:g} ms"
    owed = sum(row.nominal * 1000 < (rows[0].chosen_ms or 0) - record.on_time_ms for row in rows)
    lasts_ms = max(record.lookahead_ms, owed * (least_ms + 1)) + _SLACK_MS
    if owed and (rows[owed - 1].chosen_ms or 0) - (rows[0].chosen_ms or 0) > lasts_ms:
        yield "spread", f"{rows[owed - 1].nominal} is to run later than {lasts_ms} ms"


def _late_by_then_ms(case: Case, rows: list[Row]) -> list[int]:
    """For each row, by how much in all those before it went later than they were to."""
    given_ms = {one.key: one.given_ms for one in _first_claims(case)}
    by_ms = [given_ms.get(row.key, 0) - (row.chosen_ms or 0) for row in rows]
    return [0, *accumulate(max(one, 0) for one in by_ms)]


def _nearest_ms(case: Case, step_ms: int, late_ms: int) -> int:
    """
    How near two instants may be.

    What went late moves what is to go a tick after it, and the next one does not move along. So
    their gap is shorter by as much, and where one run at a time is allowed never by more than half.
    What was skipped has no claim, so that it is not known there how late that was.
    """
    if case.schedule["overlap_policy"] in _ONE_BY_ONE:
        return step_ms // 2
    return max(step_ms - late_ms, 0)


def _first_claims(case: Case) -> list[Grant]:
    """In the order in which they were given."""
    firsts = [one for one in case.grants if one.launches == 1 and not one.is_adopted]
    return sorted((one for one in firsts if lane(one.key) == PERIOD), key=lambda one: one.no)


def _is_overdue(case: Case, grant: Grant) -> bool:
    _, after_ms = window(case.schedule)
    # What was open when the definition was saved runs no earlier than that.
    saved_ms = [at for at in case.record.in_force_ms[_name(case)] if at <= grant.given_ms]
    own_ms = max([grant.nominal * 1000 + after_ms, *saved_ms])
    return grant.given_ms - own_ms > case.record.on_time_ms


def _was_put_off(case: Case, row: Row) -> bool:
    """Whether a row has another instant than that of its period."""
    if row.chosen_ms is None or row.reason in ("requested", "constraints"):
        return False
    own_ms = [row.nominal * 1000, *case.record.in_force_ms[_name(case)]]
    return row.chosen_ms - row.nominal * 1000 > case.record.on_time_ms and (
        row.chosen_ms not in own_ms
    )


def _name(case: Case) -> str:
    return str(case.schedule["schedule_id"])
