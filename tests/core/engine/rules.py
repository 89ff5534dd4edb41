"""
Rules of the engine as lines of a table, and the engine's answers in the same words.

A line says what came before, how the schedule is defined, what time it is, what the engine does and
when it wants to look again:

    runs 09:00 | overlap=skip | 10:00 | skip(overlap) 10:00 | 11:00

The day is 2026-03-10, a Tuesday; another day is written `d+1 10:00` or `d-7 10:00`. The schedule is
hourly unless the line says otherwise. What came before is a list of

    ran 09:00               everything up to 09:00 is over
    runs 09:00              a run in flight
    claimed 09:00           the same, not reported as launched yet
    lost 09:00              a run in flight whose worker has not been heard of in time
    lost claim 09:00        the same, never reported as launched
    unstarted 09:00         the same, and certainly not started
    waits 09:00@10:20       a row that is planned for 10:20
    back 09:00@10:20        the same, after a claim that was lost before it began
    retry 09:00@10:20       the same, after a launch that failed
    unsure 09:00@10:20      the same, after a launch that had no answer
    queued 09:00            a row in the queue
    paused / until 10:00    a pause until further notice, or until an instant
    held until 10:00        a pause of a schedule that holds what falls into it
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gnomon.core.engine import Change, Due, Limits, Lost, Pause, plan
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, Waiting, period_key
from gnomon.core.schedule import PauseRule, Schedule
from gnomon.core.schedule_record import read_schedule

__all__ = ["SMALL", "Rule", "answer", "rules"]

SMALL = Limits(catchup_max=3, line_max=5, queue_max=2, open_max=50, one_by_one_max=2)
"""Limits that a line can show."""

_DAY = datetime(2026, 3, 10, tzinfo=UTC)
_NAMES = {"overlap": "overlap_policy", "catchup": "catchup_policy", "cron": "cron_expr"}
_NUMBERS = ("jitter_ms", "launches_max")
_KINDS = (
    "ran", "runs", "claimed", "lost claim", "lost", "unstarted", "waits", "back", "retry", "unsure",
    "queued", "paused", "until", "held until",
)  # fmt: skip
_VERBS = {Outcome.SKIPPED: "skip", Outcome.MISSED: "miss"}


class Rule(NamedTuple):
    """One line, in its parts."""

    before: str
    definition: str
    now: str
    does: str
    wake: str

    def __str__(self) -> str:
        return " | ".join(self)


def rules(table: str) -> list[Rule]:
    """The lines of a table; a line that begins with # is a heading."""
    lines = [line.strip() for line in table.splitlines()]
    cells = [line.split("|") for line in lines if line and not line.startswith("#")]
    return [Rule(*(" ".join(cell.split()) for cell in line)) for line in cells]


def answer(rule: Rule, limits: Limits = SMALL) -> tuple[str, str]:
    """What the engine does, and when it wants to look again, in the words of the table."""
    now_ms = _ms(rule.now)
    due = _due(_schedule(rule.definition), rule.before)
    (change,) = plan([due], now_ms=now_ms, limits=limits)
    return _told(due, change), _wake(change, now_ms)


def _schedule(definition: str) -> Schedule:
    given = [part.split("=", 1) for part in definition.split() if part != "-"]
    record: dict[str, object] = {"schedule_id": "report", "cron_expr": "0 * * * *"}
    for name, text in given:
        if name in ("every", "once"):
            del record["cron_expr"]
        value = text.replace("_", " ") if name == "cron" else text
        if name in ("start_at", "end_at", "once"):
            value = datetime.fromtimestamp(_ms(value) / 1000, UTC).isoformat()
        record[_NAMES.get(name, name)] = int(value) if name in _NUMBERS else value
    return read_schedule(record)


def _due(schedule: Schedule, before: str) -> Due:
    due = Due(schedule, 1, 0)
    for part in before.split(", "):
        kind = next(kind for kind in _KINDS if part.startswith(kind))
        due = _with(due, kind, part.removeprefix(kind).strip())
    return due


def _with(due: Due, kind: str, what: str) -> Due:
    if kind in ("paused", "until", "held until"):
        rule = PauseRule.HOLD if kind == "held until" else PauseRule.SKIP
        schedule = replace(due.schedule, policy=replace(due.schedule.policy, pause=rule))
        return due._replace(schedule=schedule, pause=Pause(_ms(what) if what else None))
    name, _, fires = what.partition("@")
    nominal = _ms(name) // 1000
    key = period_key("report", nominal)
    due = due._replace(cursor=max(due.cursor, nominal))
    fire_ms = _ms(fires) if fires else nominal * 1000
    tries = int(kind in ("back", "retry", "unsure"))
    waiting = Waiting(
        key, nominal, fire_ms, kind == "queued", tries, kind == "unsure",
        chosen_ms=nominal * 1000 * tries, has_failed=kind in ("retry", "unsure"),
    )  # fmt: skip
    state = State.RUNNING if kind in ("runs", "lost") else State.CLAIMED
    run = InFlight(key, nominal, fire_ms, state, 1, 1)
    match kind:
        case "waits" | "back" | "retry" | "unsure" | "queued":
            return due._replace(waiting=[*due.waiting, waiting])
        case "runs" | "claimed":
            return due._replace(in_flight=[*due.in_flight, run])
        case "lost" | "lost claim" | "unstarted":
            return due._replace(lost=[*due.lost, Lost(run, kind == "unstarted")])
        case _:
            return due


def _told(due: Due, change: Change) -> str:
    said: list[tuple[str, str]] = [("end", _name(run.nominal)) for run in change.replaced]
    lost = {run.key for run, _ in due.lost}
    order = sorted(change.facts, key=lambda fact: (fact.nominal, fact.last_nominal))
    said += [_say(fact, lost) for fact in order]
    assert [launch.key for launch in change.launches] == [
        fact.key for fact in change.facts if fact.state is State.CLAIMED
    ]
    groups: list[tuple[str, list[str]]] = []
    for verb, what in said:
        if groups and groups[-1][0] == verb:
            groups[-1][1].append(what)
        else:
            groups.append((verb, [what]))
    told = [f"{verb} {' '.join(whats)}" for verb, whats in groups]
    return ", ".join(told + ["resume"] * change.resumes) or "nothing"


def _say(fact: Fact, lost: set[str]) -> tuple[str, str]:
    name = _name(fact.nominal)
    match fact.state:
        case State.CLAIMED:
            return ("again" if fact.key in lost else "start"), name
        case State.PLANNED if fact.key in lost:
            return "back", name
        case State.PLANNED:
            verb = "plan" if fact.is_new else "move"
            return (
                verb,
                name if fact.fire_ms == fact.nominal * 1000 else f"{name}@{_instant(fact.fire_ms)}",
            )
        case State.QUEUED:
            return "queue", name
        case _ if fact.last_nominal:
            assert fact.outcome is not None
            span = f"{name}..{_name(fact.last_nominal)} x{fact.periods}"
            return f"{_VERBS[fact.outcome]}({fact.reason})", span
        case _ if fact.outcome in _VERBS:
            return f"{_VERBS[fact.outcome]}({fact.reason})", name
        case _ if fact.outcome is Outcome.EXECUTED:
            return ("drop" if fact.reason is Reason.REPLACED else "leave"), name
        case _:
            return "refuse", name


def _wake(change: Change, now_ms: int) -> str:
    if change.wake_ms is None:
        return "-"
    return "now" if change.wake_ms <= now_ms else _instant(change.wake_ms)


def _name(nominal: int) -> str:
    return _instant(nominal * 1000)


def _ms(text: str) -> int:
    """`10:00`, `10:00:01.500`, `d+1 10:00`, or a date."""
    if text[:1] == "2":
        return int(datetime.fromisoformat(text).timestamp()) * 1000
    days, _, clock = text.rpartition(" ")
    parts = [*clock.split(":"), "0"][:3]
    length = timedelta(
        days=int(days[1:] or 0), hours=int(parts[0]), minutes=int(parts[1]), seconds=float(parts[2])
    )
    return int(_DAY.timestamp() * 1000) + length // timedelta(milliseconds=1)


def _instant(ms: int) -> str:
    days, rest = divmod(ms - int(_DAY.timestamp() * 1000), 86_400_000)
    minutes, milli = divmod(rest, 60_000)
    clock = f"{minutes // 60:02}:{minutes % 60:02}"
    if milli:
        clock += f":{milli // 1000:02}" + (f".{milli % 1000:03}" if milli % 1000 else "")
    return f"d{days:+d} {clock}" if days else clock
