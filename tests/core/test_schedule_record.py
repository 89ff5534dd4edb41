"""Schedules as records: read, refused, written canonically, and read back as the same."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.schedule import Catchup, Overlap, PauseRule, Uncertain
from gnomon.core.schedule_record import (
    KEYS,
    canonical,
    read_schedule,
    write_schedule,
)
from gnomon.errors import DefinitionError
from tests.clauses import clause

HOURLY: dict[str, object] = {"schedule_id": "report", "cron_expr": "0 * * * *"}

RECURRENCES: list[dict[str, object]] = [
    {"cron_expr": "*/15 9-17 * * mon-fri", "timezone": "Europe/Berlin"},
    {"cron_expr": "0,15 * * * *", "dialect": "posix", "timezone": "America/New_York"},
    {"cron_expr": "30 2 * * *", "dst": "civil"},
    {"every": "90s"},
    {"every": "1h", "anchor": "2026-01-01T00:30:00Z"},
    {"once": "2026-03-10T10:00:00Z"},
    {"boot": True},
]
DECISIONS: list[dict[str, object]] = [
    {},
    {"jitter_ms": 5_000},
    {"identity": "/etc/krond.d/a:report", "window": "after,1h"},
    {"window": "around,30m", "distribution": "normal,mu=mid,sigma=10m", "seed": "daily"},
    {"window": "center,1.5s", "distribution": "skewLate,shape=3", "salt": "pepper"},
    {"window": "before,1h", "distribution": "exponential,lambda=2.5,dir=late"},
    {"only": "dow=mon-fri;hours=9-17", "avoid": "dates=2026-12-24..2026-12-26"},
]
INSTANTS = st.one_of(
    st.none(),
    st.sampled_from(["1970-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "1960-01-01T00:00:00Z"]),
)
ENDS = st.sampled_from(
    [None, "2030-01-01T00:00:00Z", "2200-12-31T23:59:59Z", "2500-01-01T00:00:00Z"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    policies: dict[str, object] = {
        "overlap_policy": draw(st.sampled_from([*Overlap, "forbid"])),
        "catchup_policy": draw(st.sampled_from(list(Catchup))),
        "pause_rule": draw(st.sampled_from(list(PauseRule))),
        "uncertain": draw(st.sampled_from(list(Uncertain))),
        "deadline": draw(st.sampled_from([None, "0s", "1m30s", "500s"])),
        "launches_max": draw(st.integers(1, 100)),
        "launch_backoff": draw(st.sampled_from(["0s", "1.5s", "1m"])),
        "lease": draw(st.sampled_from(["1ms", "90s"])),
        "start_at": draw(INSTANTS),
        "end_at": draw(ENDS),
        "target": draw(JSON),
    }
    recurrence = draw(st.sampled_from(RECURRENCES))
    if "boot" in recurrence:
        del policies["start_at"], policies["end_at"]
    return (
        {"schedule_id": "report"}
        | recurrence
        | draw(st.sampled_from(DECISIONS))
        | draw(st.dictionaries(st.sampled_from(sorted(policies)), st.none()).map(
            lambda left_out: {key: policies[key] for key in policies if key not in left_out}
        ))
    )  # fmt: skip


@clause("SCHED-6")
def test_two_keys_make_a_schedule() -> None:
    schedule = read_schedule(HOURLY)

    assert schedule.schedule_id == "report"
    assert schedule.recurrence.describe() == "Every hour"
    assert schedule.chosen_ms(1_773_136_800) == 1_773_136_800_000
    assert schedule.target == "null"


@clause("SCHED-6")
@given(records())
def test_what_is_written_is_read_back_as_an_equal_schedule(record: dict[str, object]) -> None:
    schedule = read_schedule(record)

    written = write_schedule(schedule)

    assert read_schedule(written) == schedule
    assert write_schedule(read_schedule(written)) == written


@clause("SCHED-7")
def test_the_canonical_record_spells_out_every_default() -> None:
    assert write_schedule(read_schedule(HOURLY)) == {
        "schedule_id": "report",
        "cron_expr": "0 * * * *",
        "dialect": "standard",
        "dst": "vixie",
        "timezone": "UTC",
        "start_at": None,
        "end_at": None,
        "jitter_ms": 0,
        "window": "after,0s",
        "distribution": "uniform",
        "seed": "stable",
        "salt": "",
        "only": None,
        "avoid": None,
        "overlap_policy": "skip",
        "catchup_policy": "none",
        "deadline": None,
        "pause_rule": "skip",
        "uncertain": "abandon",
        "launches_max": 3,
        "launch_backoff": "1s",
        "lease": "1m0s",
        "target": None,
        "identity": None,
    }


@clause("SCHED-9")
def test_an_identity_of_its_own_is_kept_with_the_schedule() -> None:
    named = read_schedule(HOURLY | {"identity": "/etc/krond.d/a:report"})

    assert named.decider.identity == "/etc/krond.d/a:report"
    assert read_schedule(write_schedule(named)) == named
    assert read_schedule(HOURLY).decider.identity == "report"


@clause("SCHED-7")
def test_records_that_mean_the_same_are_written_the_same() -> None:
    short: dict[str, object] = {"schedule_id": "a", "every": "90s", "overlap_policy": "forbid"}
    long = short | {
        "every": "1m30s", "overlap_policy": "skip", "window": "after,0", "timezone": "UTC",
        "start_at": "1960-01-01T00:00:00Z", "launch_backoff": "1000ms",
    }  # fmt: skip

    assert write_schedule(read_schedule(short)) == write_schedule(read_schedule(long))


@clause("SCHED-7")
def test_bounds_are_whole_seconds_within_what_was_asked() -> None:
    bounds: dict[str, object] = {
        "start_at": "2026-03-10T09:59:59.5Z", "end_at": "2026-03-10T12:00:00.9Z",
    }  # fmt: skip

    written = write_schedule(read_schedule(HOURLY | bounds))

    assert (written["start_at"], written["end_at"]) == (
        "2026-03-10T10:00:00Z", "2026-03-10T12:00:00Z",
    )  # fmt: skip


@clause("SCHED-6")
def test_instants_may_be_aware_datetimes_as_toml_gives_them() -> None:
    at = datetime(2026, 3, 10, 10, tzinfo=UTC)

    schedule = read_schedule(HOURLY | {"start_at": at, "end_at": at + timedelta(hours=2)})

    assert write_schedule(schedule)["start_at"] == "2026-03-10T10:00:00Z"
    assert schedule.starts_ms == 1_773_136_800_000


@clause("SCHED-8")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cron_expr": None}, "schedule: must have exactly one of cron_expr, every and once"),
        ({"every": "1h"}, r"exactly one of .* once, got \['cron_expr', 'every'\]"),
        ({"crom_expr": "1"}, "is not a known key, got 'crom_expr'; did you mean cron_expr?"),
        ({"zebra": "1"}, "is not a known key, got 'zebra'; the keys are schedule_id, cron_expr"),
        ({"schedule_id": None}, "schedule_id: must be text"),
        ({"schedule_id": 7}, "schedule_id: must be text"),
        ({"timezone": 1}, "timezone: must be text"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"jitter_ms": "5s"}, "jitter_ms: must be a whole number"),
        ({"jitter_ms": True}, "jitter_ms: must be a whole number"),
        ({"launches_max": 1.5}, "launches_max: must be a whole number"),
        ({"overlap_policy": "maybe"}, "overlap_policy: is not a known choice, got 'maybe'"),
        ({"overlap_policy": "maybe"}, "allow, skip, queue, replace, forbid"),
        ({"catchup_policy": "all"}, "write one of none, latest, fire_immediately, spread, recent"),
        ({"uncertain": "hope"}, "write one of restart, relaunch_same_key, abandon"),
        ({"deadline": "soon"}, "deadline: must be a duration"),
        ({"deadline": 5}, "deadline: must be text"),
        ({"deadline": "1500ms"}, "deadline: must be whole seconds, got '1.5s'"),
        ({"lease": "0s"}, "lease: must lie between 1ms and 366 days"),
        ({"start_at": "tomorrow"}, "start_at: "),
        ({"start_at": datetime(2026, 3, 10)}, "start_at: must be text"),  # noqa: DTZ001
        ({"start_at": "2026-03-11T00:00:00Z", "end_at": "2026-03-10T00:00:00Z"}, "must not be"),
        ({"cron_expr": None, "boot": "yes"}, "boot: must be true, got 'yes'"),
        ({"cron_expr": None, "boot": False}, "boot: must be true, got False"),
        ({"cron_expr": None, "boot": True, "start_at": "2026-03-10T00:00:00Z"},
         "start_at: cannot be combined with boot"),
        ({"cron_expr": None, "boot": True, "end_at": "2026-03-10T00:00:00Z"},
         "end_at: cannot be combined with boot"),
        ({"boot": True}, "must have exactly one of"),
        ({"window": "after"}, "window: "),
        ({"only": "sometimes"}, "only: "),
        ({"target": {"f": float("nan")}}, "target: must be plain JSON"),
        ({"target": object()}, "target: must be plain JSON"),
        ({"target": "\ud800"}, "target: must be plain JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        read_schedule(HOURLY | changes)


@clause("SCHED-8")
def test_a_target_nested_too_deeply_is_refused() -> None:
    target: list[object] = []
    for _ in range(100_000):
        target = [target]

    with pytest.raises(DefinitionError, match="target: must be plain JSON"):
        read_schedule(HOURLY | {"target": target})


@clause("SCHED-7")
def test_equal_values_have_equal_texts() -> None:
    assert canonical({"b": 1, "a": ["é", None]}) == '{"a":["é",null],"b":1}'


@clause("SCHED-6")
def test_every_key_can_be_read() -> None:
    written = [
        set(write_schedule(read_schedule({"schedule_id": "a"} | one))) for one in RECURRENCES
    ]

    assert set().union(*written) == set(KEYS)
