"""
Was every promise kept? Judged from what an onlooker saw, after the world has come to rest.

The judge knows the records of the schedules, the periods that the matcher finds in them, the
effects that really happened and the rows that the ledger shows. It imports nothing of the engine,
the policies or the stores. "Lost" is a period without an outcome; "duplicated" is a second start
where the promise is at most one, or a start again that nothing explains. A start again that the
schedule's `uncertain` rule allows is counted, and is no finding.

Spec: SIM-4 to SIM-8, SIM-20.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from gnomon.simulation.kit.matcher import length_ms, owed
from gnomon.simulation.kit.notes import Complaint
from gnomon.simulation.ledger.case import BACKFILL, FOR_EVER, PERIOD, Case, Text, lane, window
from gnomon.simulation.ledger.catching_up import broken_catchups, may_be_put_off
from gnomon.simulation.ledger.reasons import broken_kills, broken_reasons
from gnomon.simulation.ledger.record import Effect, Grant, Record, Row, Seen
from gnomon.simulation.ledger.telling import broken_tellings

__all__ = ["judge"]

_STRAIN_KEPT_MS = 15_000
"""So long after it could start nothing a worker may still be late for what comes."""


def judge(schedules: Sequence[Text], record: Record, rows: Sequence[Row]) -> list[Complaint]:
    """Everything that should not have been."""
    found = [Complaint("surprise", "", text) for text in record.surprises]
    for schedule in schedules:
        name = str(schedule["schedule_id"])
        case = Case(
            schedule,
            record,
            [row for row in rows if row.schedule_id == name and lane(row.key) == PERIOD],
            [row for row in rows if row.schedule_id == name and lane(row.key) != PERIOD],
            [effect for effect in record.effects if effect.schedule_id == name],
            [grant for grant in record.grants if grant.schedule_id == name],
        )
        for check in _CHECKS:
            found += [Complaint(code, name, text) for code, text in check(case)]
    found += [Complaint("fence", "", text) for text in _stale_reports(record)]
    return found


def _covered(case: Case) -> Iterator[tuple[str, str]]:
    """Every owed period has exactly one row, and that row has an outcome."""
    name = str(case.schedule["schedule_id"])
    first, last = -(-case.record.saved_ms[name] // 1000), FOR_EVER
    if name in case.record.deleted:  # what had opened ahead has its row
        opened = [row.last_nominal or row.nominal for row in case.rows]
        last = max(case.record.deleted[name].at_ms // 1000, *opened, 0)
    opened = [at for at in case.record.open_when_saved.get(name, ()) if at < first]
    wanted = [*opened, *owed(case.schedule, first, last)]
    counts: Counter[int] = Counter()
    for row in case.rows:
        if row.nominal < first:
            case.record.hit("a window was open when its schedule was saved")
        inside = [at for at in wanted if row.nominal <= at <= (row.last_nominal or row.nominal)]
        counts.update(inside)
        if len(inside) != row.periods:
            yield "stray", f"has a row for {row.periods} periods at {row.nominal}, owed {inside}"
        if row.state != "done":
            yield "lost", f"{row.nominal} is still {row.state}"
    for at in wanted:
        if counts[at] != 1:
            yield "lost" if not counts[at] else "twice", f"{at} has {counts[at]} rows"


def _asked_for(case: Case) -> Iterator[tuple[str, str]]:
    """Everything that was asked for has its row, which is over, and nothing else has."""
    name = str(case.schedule["schedule_id"])
    wanted = Counter(key for owner, key in case.record.asked if owner == name)
    found = Counter(row.key for row in case.asked)
    for key in wanted.keys() | found.keys():
        if found[key] != min(wanted[key], 1):
            yield "asked", f"{key} was asked for {wanted[key]} times and has {found[key]} rows"
    for row in case.asked:
        if row.state != "done":
            yield "lost", f"{row.key} is still {row.state}"
        if row.params != case.record.given.get(row.key):
            yield "asked", f"{row.key} has the parameters {row.params}, others were given"
    for effect in case.effects:
        if effect.params not in (None, case.record.given.get(effect.key, "{}")):
            yield "asked", f"{effect.key} was handed {effect.params}, and was given others"
    for effect in case.effects:
        if (name, effect.nominal) in case.record.left_out and lane(effect.key) == PERIOD:
            yield "asked", f"{effect.nominal} was to be left out, and was started"


def _true_outcomes(case: Case) -> Iterator[tuple[str, str]]:
    """What is called executed was started, and nothing else was."""
    starts = Counter(effect.key for effect in case.effects)
    for row in (*case.rows, *case.asked):
        if row.last_nominal or row.outcome is None:
            began = sum(
                1
                for one in case.effects
                if row.nominal <= one.nominal <= row.last_nominal and lane(one.key) == PERIOD
            )
            if began:
                yield "outcome", f"{row.nominal} is in a range and was started {began} times"
        elif row.outcome != "executed" and starts[row.key]:
            text = f"{row.nominal} is {row.outcome}({row.reason}) and was started"
            yield "outcome", text
        elif row.outcome == "executed" and not starts[row.key]:
            if _is_unknowable(case, row):
                case.record.hit("executed for all that anybody knows, and had never begun")
            else:
                yield "outcome", f"{row.nominal} is executed({row.reason}) and was never started"


def _is_unknowable(case: Case, row: Row) -> bool:
    """Whether the ledger has to think it was started: its claim was lost, or it was just let go."""
    if row.key in case.record.unbegun:
        return True
    own = [grant for grant in case.grants if grant.key == row.key]
    if any(grant.unanswered_no is not None for grant in own):
        return True
    return any(grant.lost_no is not None and not grant.is_given_back for grant in own)


def _starts(case: Case) -> Iterator[tuple[str, str]]:
    """At most one start where that is the promise; elsewhere a reason for every further one."""
    keys: dict[int | str, set[str]] = {}
    by_nominal: dict[int | str, list[Effect]] = {}
    for effect in case.effects:
        period = effect.nominal if lane(effect.key) == PERIOD else effect.key
        keys.setdefault(period, set()).add(effect.key)
        by_nominal.setdefault(period, []).append(effect)
    for nominal, effects in by_nominal.items():
        if len(keys[nominal]) > 1:
            yield "duplicated", f"{nominal} was started under {len(keys[nominal])} keys"
        if len(effects) > 1 and case.schedule["uncertain"] == "abandon":
            yield "duplicated", f"{nominal} was started {len(effects)} times under abandon"
        for former, later in pairwise(effects):
            yield from _restart(case, former, later)


def _restart(case: Case, former: Effect, later: Effect) -> Iterator[tuple[str, str]]:
    if _is_excused(case, former, later):
        case.record.hit(f"started again, as {case.schedule['uncertain']} allows")
    else:
        text = f"{later.nominal} was started again by {later.worker} at {later.began_at}"
        yield "duplicated", f"{text}, and nothing had happened to its run of {former.began_at}"


def _overlaps(case: Case) -> Iterator[tuple[str, str]]:
    """No two runs of a schedule at once, unless it allows that, or a lease was over."""
    turned_no = case.record.turned.get(str(case.schedule["schedule_id"]), 0)
    if case.schedule["overlap_policy"] == "allow" and not turned_no:
        return
    for one, other in combinations(case.effects, 2):
        if turned_no and any(g.key == other.key and g.no < turned_no for g in case.grants):
            continue  # it was in flight already
        if one.ended_at is not None and one.ended_at <= other.began_at:
            continue
        if (lane(one.key) == BACKFILL) != (lane(other.key) == BACKFILL):
            continue  # a backfill has a lane of its own
        if _is_excused(case, one, other):
            case.record.hit("ran beside a run whose lease was over")
        else:
            text = (
                f"{other.nominal} began at {other.began_at} on {other.worker} while {one.nominal}"
            )
            yield "overlap", f"{text} of {one.began_at} on {one.worker} ran until {one.ended_at}"


def _is_excused(case: Case, one: Effect, other: Effect) -> bool:
    """Whether the claims of the one were no longer good when the other was claimed."""
    first, second = case.held(one), case.held(other)
    if not first or not second:
        return False
    if first[0].no > second[0].no:
        first, second = second, first
    new = second[0]
    return all(_was_over(case, old, new) for old in first if old.no < new.no)


def _was_over(case: Case, old: Grant, new: Grant) -> bool:
    if old.unanswered_no is not None:
        return _was_given_up(case, old, new)
    lost = old.lost_no is not None and old.lost_no <= new.no
    return lost or old.until_ms < new.given_ms


def _was_given_up(case: Case, old: Grant, new: Grant) -> bool:
    """Whether a run that was not answered was no longer in the way: its lease says nothing."""
    tries = [one for one in case.grants if one.key == old.key and old.no <= one.no < new.no]
    last = max(tries, key=_by_fence)
    if last.unanswered_no is None and not last.is_given_back:
        return True  # it was asked again, and then that claim says
    settled = last.settled_no is not None and last.settled_no <= new.no
    return settled or last.launches >= int(str(case.schedule["launches_max"]))


def _claims(case: Case) -> Iterator[tuple[str, str]]:
    """Nothing begins without a committed claim of its worker."""
    for effect in case.effects:
        fences = {
            one.fence
            for one in case.grants
            if (one.key, one.worker) == (effect.key, effect.worker) and one.no < effect.no
        }
        if effect.fence not in fences:
            text = f"{effect.nominal} began at {effect.began_at} on {effect.worker} without a claim"
            yield "unclaimed", text


def _in_time(case: Case) -> Iterator[tuple[str, str]]:
    """Nothing is claimed before its window, nor first claimed after its deadline."""
    schedule = case.schedule
    before_ms, after_ms = window(schedule)
    deadline = schedule.get("deadline")
    judged_once = schedule["overlap_policy"] == "queue" or schedule["catchup_policy"] == "spread"
    for grant in case.grants:
        if lane(grant.key) != PERIOD:
            continue
        opens_ms = grant.nominal * 1000 - before_ms
        if grant.shown_ms < opens_ms:
            yield "early", f"{grant.nominal} was claimed {opens_ms - grant.shown_ms} ms early"
        if deadline is None or judged_once or grant.launches > 1 or grant.is_adopted:
            continue
        late_ms = grant.given_ms - (grant.nominal * 1000 + after_ms)
        if late_ms // 1000 > length_ms(str(deadline)) // 1000:
            yield "deadline", f"{grant.nominal} was claimed {late_ms} ms late"


def _chosen(case: Case) -> Iterator[tuple[str, str]]:
    """The instant that was chosen for a period lies in its window, however often it was tried."""
    before_ms, after_ms = window(case.schedule)
    for row in case.rows:
        if row.chosen_ms is None or row.reason in ("constraints", "requested"):
            continue
        late_ms = row.chosen_ms - row.nominal * 1000
        # What was open when the schedule was saved runs no earlier than that.
        floor_ms = max(case.record.in_force_ms.get(row.schedule_id, (0,))) - row.nominal * 1000
        if late_ms > max(after_ms, floor_ms) and may_be_put_off(case, row):
            continue  # then it has the instant at which it went
        if not -before_ms <= late_ms <= max(after_ms, floor_ms):
            yield "chosen", f"{row.nominal} was chosen to run {late_ms} ms after that"


def _first_seen(case: Case) -> Iterator[tuple[str, str]]:
    """What was open when the schedule was saved counts if its instant was ahead, and only then."""
    name = str(case.schedule["schedule_id"])
    if name in case.record.edited or case.schedule.get("jitter_ms"):
        return
    before_ms, _ = window(case.schedule)
    opened = case.record.open_when_saved.get(name, ())
    for row in case.rows:
        if not row.nominal * 1000 - before_ms < case.record.saved_ms[name] or row.last_nominal:
            continue
        if row.nominal in opened and row.reason == "withdrawn":
            yield "first", f"{row.nominal} was withdrawn, and its instant was ahead"
        elif row.nominal not in opened and row.outcome == "executed":
            yield "first", f"{row.nominal} ran, and its instant was before its schedule"


def _deleted(case: Case) -> Iterator[tuple[str, str]]:
    """A schedule that was deleted starts nothing any more."""
    gone = case.record.deleted.get(str(case.schedule["schedule_id"]))
    for grant in case.grants:
        if gone is not None and grant.no > gone.no and not grant.is_adopted:
            yield "deleted", f"{grant.nominal} was claimed by {grant.worker} all the same"


def _newest_counts(case: Case) -> Iterator[tuple[str, str]]:
    """Under `latest` the newest of the overdue periods is never missed for being old."""
    if case.schedule["catchup_policy"] == "latest" and case.rows:
        newest = max(case.rows, key=lambda row: row.last_nominal or row.nominal)
        if newest.reason == "outage":
            yield "latest", f"{newest.nominal} is the newest, and was missed(outage)"


def _calm(case: Case) -> Iterator[tuple[str, str]]:
    """Where nothing goes wrong, no run is lost and no period is missed."""
    if case.record.is_disturbed:
        return
    for grant in case.grants:
        if grant.lost_no is not None and not grant.is_given_back:
            yield "calm", f"{grant.nominal} was lost, and nothing had happened to {grant.worker}"
    name = str(case.schedule["schedule_id"])
    is_paused = any(pause.schedule_id == name for pause in case.record.pauses)
    before_ms, _ = window(case.schedule)
    unanswered = {grant.key for grant in case.grants if grant.unanswered_no is not None}
    for row in (*case.rows, *case.asked):
        is_known = row.says_start or row.key in unanswered  # then its end alone was told
        if (row.outcome, row.reason) == ("executed", None) and not is_known:
            yield "calm", f"{row.nominal} ran, and its row does not say when it began"
    for row in case.rows:
        # A window that was open when the schedule was saved may have had its instant before that.
        is_early = row.nominal * 1000 - before_ms < case.record.saved_ms[name]
        # A worker that can start nothing looks for nothing either, for up to ten seconds at a time.
        since_ms = row.nominal * 1000 - _STRAIN_KEPT_MS
        is_strained = any(at_ms >= since_ms for at_ms in case.record.strained_ms)
        if row.reason == "outage" and not (is_paused or is_early or is_strained):
            yield "calm", f"{row.nominal} was missed, and every worker was there"


def _stale_reports(record: Record) -> Iterator[str]:
    """A report counts only from the worker that has the claim then, or has taken its place."""
    for seen in record.reports:
        own = [grant for grant in record.grants if grant.key == seen.key and grant.no < seen.no]
        newest = max(own, key=_by_fence, default=None)
        if seen.accepted and newest is not None and seen.fence not in _numbers(newest, seen):
            text = f"{seen.kind} of {seen.key[:12]} with fence {seen.fence} was accepted"
            yield f"{text}, and the fence was {newest.fence}"
        if not seen.accepted:
            record.hit("late write refused")


def _numbers(newest: Grant, seen: Seen) -> tuple[int, ...]:
    """
    The numbers under which a report may count, after the newest claim.

    A run that was taken from its worker and waits has the next number. No worker has a claim with
    that number; but a worker that ends such a run, to take its place, says so under it.
    """
    taken = newest.lost_no is not None and newest.lost_no < seen.no and not newest.is_given_back
    return (newest.fence, newest.fence + 1) if taken and seen.kind == "Ended" else (newest.fence,)


def _by_fence(grant: Grant) -> int:
    return grant.fence


_CHECKS = (
    _covered, _asked_for, _true_outcomes, _starts, _overlaps, _claims, _in_time, broken_reasons,
    _chosen, _first_seen, broken_kills, broken_tellings, _deleted, _newest_counts,
    broken_catchups, _calm,
)  # fmt: skip
