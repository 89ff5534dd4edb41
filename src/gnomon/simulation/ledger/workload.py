"""
The schedules of a world, as records: every recurrence, window and policy, drawn from the seed.

Records are texts as a person would write them; the worker reads them with Gnomon, the matcher with
its own eyes. Every schedule ends with its world, so that a world comes to rest: then each of its
periods must have an outcome.

In a few worlds runs overlap at first, and a caller changes that when one may be running and no
worker knows; from then on they replace each other. Only there has such a run its next try while
another is in flight. In a few others all workers are gone at once, and a schedule that recurs every
second or two has many overdue periods when they are back.

A caller that saves a definition again often gives its runs another lease, longer or shorter; what
is held by then goes on as it was claimed.

Spec: SIM-1, SIM-4, SIM-20.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.ledger.launcher import Way

__all__ = [
    "AskPlan",
    "EditPlan",
    "Outage",
    "PausePlan",
    "Workload",
    "draw_elsewhere",
    "draw_forsaken",
    "draw_leases",
    "draw_outage",
    "draw_turning",
    "draw_workload",
]

Text = dict[str, object]

_STARTS = (
    "2026-03-01T00:00:00+00:00",
    "2026-03-29T00:58:20+00:00",  # Berlin loses an hour
    "2026-10-25T00:58:20+00:00",  # Berlin has an hour twice
    "2028-02-28T23:58:50+00:00",
    "2026-12-31T23:58:30+00:00",
)
_CRONS = (
    "*/20 * * * * *",
    "10,40 * * * * *",
    "* * * * *",
    "5-50/15 * * * * *",
    "0,30 58-59,0-2 * * * *",
)
_EVERY = ("7s", "10s", "15s", "20s", "30s", "45s", "1m")
_WINDOWS = ("after,8s", "after,40s", "around,20s", "before,15s", "around,9s")
_DISTRIBUTIONS = ("uniform", "skewEarly", "skewLate,shape=3", "normal", "exponential")
_OVERLAPS = ("allow", "skip", "queue", "replace")
_CATCHUPS = ("none", "latest", "fire_immediately", "spread", "recent")
_UNCERTAIN = ("restart", "relaunch_same_key", "abandon")
_DEADLINES = (None, None, "0s", "5s", "30s", "2m")
_ASKS = ("manual", "manual", "backfill", "skip", "kill", "kill")
_LENGTHS_MS = (0, 50, 400, 2_000, 9_000, 25_000)
_LEASES = ("9s", "20s", "45s")
_BACKOFFS = {
    Way.FUNCTION: ("0s", "1s", "4s"),
    Way.PROCESS: ("0s", "1s", "4s"),
    # Long enough for another period to come while it is not known what became of a launch.
    Way.KEYED: ("0s", "4s", "12s", "12s"),
}


class PausePlan(NamedTuple):
    """A pause that a caller orders, and perhaps a caller ends."""

    schedule_id: str
    at: int
    length_ms: int | None
    resume_at: int | None


class EditPlan(NamedTuple):
    """A definition that a caller saves again, changed in what judges allow for, or unchanged."""

    schedule_id: str
    at: int
    changes: bool
    turns: bool = False
    """Whether its runs, which overlapped, replace each other from then on."""
    between: bool = False
    """Whether it comes after a worker has loaded the schedule, and before that writes its plan."""
    lease: str | None = None
    """How long its runs are held from then on; None for as long as before."""


class AskPlan(NamedTuple):
    """What a caller asks for: `manual`, `backfill`, `skip`, `kill` or `delete`."""

    schedule_id: str
    at: int
    what: str


class Outage(NamedTuple):
    """All workers are gone for a while."""

    at: int
    length_ms: int


class Workload(NamedTuple):
    """What a world has to do."""

    start_ms: int
    length_ms: int
    way: Way
    schedules: list[Text]
    pauses: list[PausePlan]
    edits: list[EditPlan]
    asks: list[AskPlan]
    lengths_ms: Sequence[int] = _LENGTHS_MS
    """How long runs go on, and how long it takes to end one."""
    ends_ms: Sequence[int] = (0,)
    outage: Outage | None = None


def draw_workload(
    dice: Dice, *, schedules: int, length_s: Sequence[int], dense: bool = True
) -> Workload:
    """So many schedules for so long; with `dense`, some come every other second."""
    start = datetime.fromisoformat(dice.pick(_STARTS))
    start_s = int(start.timestamp()) + dice.below(60)
    length = dice.between(length_s[0], length_s[1])
    way = dice.pick((Way.FUNCTION, Way.PROCESS, Way.KEYED))
    records = [
        _draw_schedule(dice, f"s{number}", start_s, start_s + length, way, dense)
        for number in range(1, schedules + 1)
    ]
    pauses = [
        _draw_pause(dice, str(record["schedule_id"]), length * 1000)
        for record in records
        if dice.chance(15)
    ]
    edits = [
        EditPlan(str(record["schedule_id"]), dice.below(length * 1000), dice.chance(70))
        for record in records
        if dice.chance(15)
    ]
    start_ms = start_s * 1000 + dice.below(1000)
    names = [str(record["schedule_id"]) for record in records]
    apart = Dice(start_ms, length, *names, "between")
    edits = [edit._replace(between=apart.chance(60)) for edit in edits]
    leases = Dice(start_ms, length, *names, "leases")
    edits = [
        edit._replace(lease=leases.pick(_LEASES)) if leases.chance(60) else edit for edit in edits
    ]
    asks = _draw_asks(Dice(start_ms, length, *names, "asks"), names, length * 1000)
    if (last := Dice(start_ms, length, *names, "deletes")).chance(8):
        asks.append(AskPlan(last.pick(names), last.below(length * 1000), "delete"))
    return Workload(start_ms, length * 1000, way, records, pauses, edits, asks)


def draw_turning(dice: Dice) -> Workload:
    """One schedule whose runs are long, overlap, and from some time on replace each other."""
    start = datetime.fromisoformat(dice.pick(_STARTS))
    start_s, length_s = int(start.timestamp()) + dice.below(60), dice.between(60, 100)
    record: Text = {
        "schedule_id": "s1", "end_at": _text(start_s + length_s), "dst": "civil",
        "timezone": "UTC", "every": dice.pick(("7s", "10s", "15s")), "anchor": _text(start_s),
        "overlap_policy": "allow", "catchup_policy": dice.pick(_CATCHUPS), "deadline": None,
        "pause_rule": "hold", "uncertain": "relaunch_same_key", "lease": dice.pick(_LEASES),
        "launches_max": dice.pick((2, 3, 5)), "launch_backoff": dice.pick(("2s", "4s")),
        "target": {"function": "work"},
    }  # fmt: skip
    turn = EditPlan("s1", dice.between(5_000, length_s * 500), changes=False, turns=True)
    asks = [AskPlan("s1", turn.at + dice.below(20_000), "kill")] if dice.chance(30) else []
    return Workload(
        start_s * 1000, length_s * 1000, Way.KEYED, [record], [], [turn], asks,
        lengths_ms=(9_000, 25_000, 60_000), ends_ms=(0, 4_000, 12_000),
    )  # fmt: skip


def draw_leases(dice: Dice) -> Workload:
    """Long runs whose leases get another length while they are held, and nothing goes wrong."""
    start = datetime.fromisoformat(dice.pick(_STARTS))
    start_s, length_s = int(start.timestamp()) + dice.below(60), dice.between(60, 100)
    former, later = dice.pick((("45s", "9s"), ("45s", "9s"), ("45s", "20s"), ("9s", "45s")))
    record: Text = {
        "schedule_id": "s1", "end_at": _text(start_s + length_s), "dst": "civil",
        "timezone": "UTC", "every": dice.pick(("30s", "45s")), "anchor": _text(start_s),
        "overlap_policy": dice.pick(_OVERLAPS), "catchup_policy": dice.pick(_CATCHUPS),
        "deadline": None, "pause_rule": "hold", "lease": former,
        "uncertain": dice.pick(("restart", "relaunch_same_key")),
        "launches_max": dice.pick((2, 3)), "launch_backoff": "1s", "target": {"function": "work"},
    }  # fmt: skip
    edit = EditPlan(
        "s1", dice.between(20_000, 50_000), changes=False, between=dice.chance(50), lease=later
    )
    return Workload(
        start_s * 1000, length_s * 1000, Way.FUNCTION, [record], [], [edit], [],
        lengths_ms=(60_000, 90_000),
    )  # fmt: skip


def draw_outage(dice: Dice) -> Workload:
    """One schedule of short runs, all of which are owed after an outage of everybody."""
    start = datetime.fromisoformat(dice.pick(_STARTS))
    start_s, length_s = int(start.timestamp()) + dice.below(60), dice.between(100, 140)
    outage = Outage(dice.between(5_000, 15_000), dice.between(30_000, 70_000))
    record: Text = {
        "schedule_id": "s1", "end_at": _text(start_s + length_s), "dst": "civil",
        "timezone": "UTC", "every": dice.pick(("1s", "2s", "3s", "7s")), "anchor": _text(start_s),
        "overlap_policy": dice.pick(_OVERLAPS),
        "catchup_policy": dice.pick(("fire_immediately", "spread")), "deadline": None,
        "pause_rule": "hold", "uncertain": dice.pick(_UNCERTAIN), "lease": dice.pick(_LEASES),
        "launches_max": dice.pick((1, 2, 3)), "launch_backoff": "1s",
        "target": {"function": "work"},
    }  # fmt: skip
    return Workload(
        start_s * 1000, length_s * 1000, Way.FUNCTION, [record], [], [], [],
        lengths_ms=(0, 50, 400), outage=outage,
    )  # fmt: skip


def draw_elsewhere(dice: Dice) -> Workload:
    """One schedule of the service, whose executor calls back, and people who ask for runs of it."""
    start = datetime.fromisoformat(dice.pick(_STARTS))
    start_s, length_s = int(start.timestamp()) + dice.below(60), dice.between(60, 100)
    record: Text = {
        "schedule_id": "s1", "end_at": _text(start_s + length_s), "dst": "civil",
        "timezone": "UTC", "every": dice.pick(("3s", "7s", "15s")), "anchor": _text(start_s),
        "overlap_policy": dice.pick(_OVERLAPS), "catchup_policy": dice.pick(_CATCHUPS),
        "deadline": None, "pause_rule": "hold", "uncertain": "relaunch_same_key",
        "lease": dice.pick(_LEASES), "launches_max": dice.pick((2, 3, 5)), "launch_backoff": "1s",
        "target": {"workflow_id": "w", "version": 1, "user_id": "u"},
    }  # fmt: skip
    whats = [dice.pick(("manual", "manual", "backfill", "kill")) for _ in range(dice.below(5))]
    asks = [AskPlan("s1", dice.below(length_s * 1000), what) for what in whats]
    return Workload(
        start_s * 1000,
        length_s * 1000,
        Way.ELSEWHERE,
        [record],
        [],
        [],
        asks,
        lengths_ms=(0, 0, 50, 2_000, 9_000),
    )


def draw_forsaken(dice: Dice) -> Workload:
    """Long runs that only their own worker can end, and people who end them again and again."""
    start = datetime.fromisoformat(dice.pick(_STARTS))
    start_s, length_s = int(start.timestamp()) + dice.below(60), dice.between(60, 100)
    record: Text = {
        "schedule_id": "s1", "end_at": _text(start_s + length_s), "dst": "civil",
        "timezone": "UTC", "every": dice.pick(("15s", "30s")), "anchor": _text(start_s),
        "overlap_policy": dice.pick(_OVERLAPS), "catchup_policy": dice.pick(_CATCHUPS),
        "deadline": None, "pause_rule": "hold", "uncertain": dice.pick(_UNCERTAIN), "lease": "9s",
        "launches_max": dice.pick((1, 2, 3)), "launch_backoff": "1s",
        "target": {"function": "work"},
    }  # fmt: skip
    asks = [
        AskPlan("s1", at + dice.below(4_000), "kill") for at in range(0, length_s * 1000, 4_000)
    ]
    return Workload(
        start_s * 1000, length_s * 1000, dice.pick((Way.FUNCTION, Way.PROCESS)), [record], [], [],
        asks, lengths_ms=(60_000, 90_000),
    )  # fmt: skip


def _draw_asks(dice: Dice, names: list[str], length_ms: int) -> list[AskPlan]:
    """In every third world callers ask for something, now and then."""
    if not dice.chance(35):
        return []
    count = dice.between(1, 6)
    return [
        AskPlan(dice.pick(names), dice.below(length_ms), dice.pick(_ASKS)) for _ in range(count)
    ]


def _draw_schedule(dice: Dice, name: str, start_s: int, end_s: int, way: Way, dense: bool) -> Text:
    record: Text = {"schedule_id": name, "end_at": _text(end_s), "dst": "civil"}
    record["timezone"] = dice.pick(("UTC", "UTC", "Europe/Berlin", "America/New_York"))
    kind = dice.pick(("every", "every", "cron", "cron", "once"))
    if kind == "every":
        length = "2s" if dense and dice.chance(12) else dice.pick(_EVERY)
        record |= {"every": length, "anchor": _text(start_s - dice.below(100))}
    elif kind == "cron":
        record["cron_expr"] = dice.pick(_CRONS)
    else:
        record["once"] = _text(dice.between(start_s + 5, end_s))
    if dice.chance(15):
        record["start_at"] = _text(dice.between(start_s, (start_s + end_s) // 2))
    if dice.chance(40):
        record |= {"window": dice.pick(_WINDOWS), "distribution": dice.pick(_DISTRIBUTIONS)}
    elif dice.chance(30):
        record["jitter_ms"] = dice.pick((500, 3_000, 9_000))
    if dice.chance(6):
        record["avoid"] = dice.pick(("hours=0-23", "dow=sun-sat", "months=feb"))
    record |= {
        "overlap_policy": dice.pick(_OVERLAPS),
        "catchup_policy": dice.pick(_CATCHUPS),
        "deadline": dice.pick(_DEADLINES),
        "pause_rule": dice.pick(("skip", "hold")),
        "uncertain": dice.pick(_UNCERTAIN) if way is not Way.KEYED else "relaunch_same_key",
        "launches_max": dice.pick((1, 2, 3)),
        "launch_backoff": dice.pick(_BACKOFFS[way]),
        "lease": dice.pick(_LEASES),
        "target": {"function": "work"},
    }
    return record


def _draw_pause(dice: Dice, schedule_id: str, length_ms: int) -> PausePlan:
    at = dice.below(length_ms * 2 // 3)
    if dice.chance(50):
        return PausePlan(schedule_id, at, dice.pick((5_000, 30_000, 70_000)), None)
    return PausePlan(schedule_id, at, None, at + dice.pick((3_000, 20_000, 65_000)))


def _text(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
