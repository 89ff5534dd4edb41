"""The matcher reads records with its own eyes; expectations are read off a calendar."""

from datetime import datetime

import pytest

from gnomon.core.schedule_record import read_schedule
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.matcher import length_ms, owed
from gnomon.simulation.ledger.workload import draw_workload
from tests.clauses import clause

Text = dict[str, object]


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def found(record: Text, first: str, last: str) -> list[str]:
    instants = owed(record, at(first), at(last))
    return [datetime.fromtimestamp(one, datetime.fromisoformat(first).tzinfo).isoformat()[11:19]
            for one in instants]  # fmt: skip


CASES: list[tuple[Text, str, str, list[str]]] = [
    ({"every": "20s", "anchor": "2026-03-01T00:00:05Z"},
     "2026-03-01T00:00:00Z", "2026-03-01T00:01:00Z", ["00:00:05", "00:00:25", "00:00:45"]),
    ({"every": "20s", "anchor": "2026-03-01T00:00:45Z"},
     "2026-03-01T00:00:00Z", "2026-03-01T00:00:30Z", ["00:00:05", "00:00:25"]),
    ({"once": "2026-03-01T00:00:30Z"},
     "2026-03-01T00:00:00Z", "2026-03-01T00:01:00Z", ["00:00:30"]),
    ({"cron_expr": "*/20 * * * * *"},
     "2026-03-01T00:00:20Z", "2026-03-01T00:01:00Z", ["00:00:20", "00:00:40", "00:01:00"]),
    ({"cron_expr": "0 9 * * 1-5", "timezone": "Europe/Berlin"},
     "2026-03-02T00:00:00Z", "2026-03-02T23:59:59Z", ["08:00:00"]),
    ({"cron_expr": "30 2 * * *", "timezone": "Europe/Berlin"},
     "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z", ["00:30:00", "01:30:00"]),
    ({"cron_expr": "30 2 * * *", "timezone": "Europe/Berlin"},
     "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z", []),
    ({"every": "30s", "start_at": "2026-03-01T00:00:30Z", "end_at": "2026-03-01T00:01:00Z"},
     "2026-03-01T00:00:00Z", "2026-03-01T00:05:00Z", ["00:00:30", "00:01:00"]),
]  # fmt: skip


@clause("SIM-4")
@pytest.mark.parametrize(("record", "first", "last", "expected"), CASES)
def test_the_matcher_finds_what_a_calendar_shows(
    record: Text, first: str, last: str, expected: list[str]
) -> None:
    assert found(record, first, last) == expected


@clause("SIM-4")
def test_lengths_are_read_in_milliseconds() -> None:
    assert [length_ms(text) for text in ("0s", "1m30s", "500ms", "2h")] == [
        0, 90_000, 500, 7_200_000,
    ]  # fmt: skip


@clause("SIM-4")
def test_the_matcher_and_the_recurrence_agree_about_every_drawn_schedule() -> None:
    for seed in range(200):
        workload = draw_workload(Dice(seed, "agree"), schedules=3, length_s=(60, 600))
        first = workload.start_ms // 1000
        for record in workload.schedules:
            recurrence = read_schedule(record).recurrence
            expected = list(recurrence.between_epochs(first, first + 3_600))
            assert owed(record, first, first + 3_599) == expected, (seed, record)
