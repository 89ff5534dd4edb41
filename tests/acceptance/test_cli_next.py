"""`gnomon next` and `gnomon describe`: what was understood, and when it occurs."""

import pytest

from gnomon import tzdata_version
from tests.acceptance.command_line import Done, gnomon
from tests.clauses import clause


def notes(done: Done) -> dict[str, str]:
    """The note beside each instant, by the instant in UTC."""
    heading, *rows = done.lines[done.lines.index("") + 1 :]
    assert heading.endswith("note")
    start, instant = heading.index("note"), heading.index("UTC")
    return {row[instant : instant + 20]: row[start:] for row in rows}


@clause("CLI-7")
def test_the_table_shows_local_time_weekday_utc_and_distance() -> None:
    done = gnomon(
        "next", "15 3 * * 1-5", "--zone", "Asia/Tokyo", "--after", "2026-03-26T20:00:00Z",
        "--count", "2",
    )  # fmt: skip

    assert done.code == 0
    assert done.lines[-3:] == [
        "#  local time                  day  UTC                   distance",
        "1  2026-03-30 03:15:00 +09:00  Mon  2026-03-29T18:15:00Z  in 2 d 22 h",
        "2  2026-03-31 03:15:00 +09:00  Tue  2026-03-30T18:15:00Z  in 3 d 22 h",
    ]


@clause("CLI-7")
def test_five_occurrences_after_now_are_shown_unless_told_otherwise() -> None:
    done = gnomon("next", "0 12 * * *", "--json")

    assert done.json["after"] == "2026-03-28T12:00:00Z"
    assert done.json["next"] == [
        "2026-03-29T12:00:00Z",
        "2026-03-30T12:00:00Z",
        "2026-03-31T12:00:00Z",
        "2026-04-01T12:00:00Z",
        "2026-04-02T12:00:00Z",
    ]


@clause("CLI-7")
@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-01-01T00:00:59Z", "in 1 s"),
        ("2026-01-01T00:00:00Z", "in 1 min"),
        ("2025-12-31T23:55:30Z", "in 5 min 30 s"),
        ("2025-12-31T20:41:00Z", "in 3 h 20 min"),
        ("2025-12-30T00:00:00Z", "in 2 d"),
        ("2024-12-31T22:01:00Z", "in 365 d 2 h"),
    ],
)
def test_the_distance_is_said_in_two_units(after: str, expected: str) -> None:
    done = gnomon("next", "once 2026-01-01T00:01:00Z", "--after", after)

    assert done.lines[-1].endswith(f"Z  {expected}")


@clause("CLI-8")
def test_a_time_that_was_moved_out_of_a_gap_is_marked() -> None:
    done = gnomon("next", "30 2 * * *", "--zone", "Europe/Berlin", "--count", "2")

    assert notes(done) == {
        "2026-03-29T01:00:00Z": (
            "moved: 02:30 does not exist; clocks go forward 02:00 -> 03:00 this day"
        ),
        "2026-03-30T00:30:00Z": "",
    }


@clause("CLI-8")
def test_a_time_that_a_gap_is_merged_with_is_marked() -> None:
    done = gnomon("next", "0 2,3 * * *", "--zone", "Europe/Berlin", "--count", "1")

    assert notes(done) == {
        "2026-03-29T01:00:00Z": (
            "also for: 02:00 does not exist; clocks go forward 02:00 -> 03:00 this day"
        ),
    }


@clause("CLI-8")
def test_a_time_that_was_skipped_is_marked_on_the_next_one() -> None:
    done = gnomon(
        "next", "30 2 * * *", "--zone", "Europe/Berlin", "--dst", "strict", "--count", "1"
    )

    assert notes(done) == {"2026-03-30T00:30:00Z": "skipped: 2026-03-29 02:30 does not exist"}


@clause("CLI-8")
def test_a_wildcard_that_loses_a_whole_day_is_marked() -> None:
    done = gnomon("next", "*/20 2 * * *", "--zone", "Europe/Berlin", "--count", "1")

    assert notes(done) == {
        "2026-03-30T00:00:00Z": "skipped: 2026-03-29 02:00 to 02:40 do not exist"
    }


@clause("CLI-8")
def test_the_first_and_the_second_of_two_equal_local_times_are_marked() -> None:
    done = gnomon(
        "next", "30 1 * * *", "--zone", "America/New_York", "--dst", "civil", "--count", "3",
        "--after", "2026-10-31T12:00:00Z",
    )  # fmt: skip

    assert notes(done) == {
        "2026-11-01T05:30:00Z": "first of two 01:30; clocks go back 02:00 -> 01:00 this day",
        "2026-11-01T06:30:00Z": "second of two 01:30; clocks go back 02:00 -> 01:00 this day",
        "2026-11-02T06:30:00Z": "",
    }


@clause("CLI-8")
def test_a_change_of_the_clock_on_the_same_day_is_marked() -> None:
    done = gnomon("next", "0 18 * * *", "--zone", "Europe/Riga", "--count", "2")

    assert notes(done) == {
        "2026-03-28T16:00:00Z": "",
        "2026-03-29T15:00:00Z": "clocks go forward 03:00 -> 04:00 this day",
    }


@clause("CLI-8")
def test_a_day_that_does_not_exist_is_said_with_its_date() -> None:
    done = gnomon(
        "next", "30 2 30 12 *", "--zone", "Pacific/Apia", "--after", "2011-12-01T00:00:00Z",
        "--count", "1",
    )  # fmt: skip

    assert notes(done) == {
        "2011-12-30T10:00:00Z": (
            "moved: 2011-12-30 02:30 does not exist; "
            "clocks go forward 2011-12-30 00:00 -> 2011-12-31 00:00 this day"
        ),
    }


@clause("CLI-9")
def test_the_reading_is_printed_back() -> None:
    done = gnomon("describe", "15 3 * * mon-fri", "--zone", "Europe/Riga")

    assert done.lines == [
        "At 03:15 on weekdays",
        "  expression  15 3 * * mon-fri",
        "  fields      minute 15  hour 3  day *  month *  weekday mon-fri",
        "  dialect     standard",
        f"  zone        Europe/Riga (tzdata {tzdata_version()})",
        "  dst         vixie: skipped local times run once right after, "
        "repeated ones run the first time only",
    ]


@clause("CLI-9")
@pytest.mark.parametrize(
    ("text", "dst", "expected"),
    [
        ("0 3 * * *", "strict", "strict: skipped local times do not run, repeated ones run the"),
        ("0 3 * * *", "civil", "civil: skipped local times do not run, repeated ones run both"),
        ("0 3 * * *", "vixie", "vixie: skipped local times run once right after"),
        ("0 * * * *", "vixie", "vixie: minute or hour begins with *, so it follows the real clock"),
    ],
)
def test_the_policy_is_said_in_words(text: str, dst: str, expected: str) -> None:
    done = gnomon("describe", text, "--zone", "Europe/Riga", "--dst", dst)

    assert done.lines[-1].startswith(f"  dst         {expected}")


@clause("CLI-9")
def test_a_policy_that_has_no_effect_is_said_to_have_none() -> None:
    done = gnomon("describe", "0 3 * * *")

    assert done.lines[-1] == "  dst         vixie (without effect: the clocks of UTC never change)"


@clause("CLI-10")
def test_six_fields_are_said_to_begin_with_the_seconds() -> None:
    done = gnomon("describe", "30 0 3 * * *")

    assert done.lines[0] == "At 03:00:30 every day"
    assert done.lines[2].endswith("weekday * (six fields: seconds first)")
    assert "second 30  minute 0  hour 3" in done.lines[2]


@clause("CLI-10")
def test_a_macro_is_shown_as_the_fields_it_stands_for() -> None:
    done = gnomon("describe", "@Weekly", "--json")

    assert done.json["expression"] == "@Weekly"
    assert done.json["fields"] == {
        "minute": "0", "hour": "0", "day": "*", "month": "*", "weekday": "0",
    }  # fmt: skip


@clause("CLI-2", "CLI-11")
def test_the_json_of_next_has_these_keys() -> None:
    done = gnomon(
        "next",
        "0 12 * * *",
        "--zone",
        "Europe/Riga",
        "--dialect",
        "posix",
        "--count",
        "1",
        "--json",
    )

    assert done.json == {
        "expression": "0 12 * * *",
        "zone": "Europe/Riga",
        "dialect": "posix",
        "dst": "strict",
        "next": ["2026-03-29T09:00:00Z"],
        "after": "2026-03-28T12:00:00Z",
        "description": "At 12:00 every day",
        "fields": {"minute": "0", "hour": "12", "day": "*", "month": "*", "weekday": "*"},
        "tzdata": tzdata_version(),
    }


@clause("CLI-2")
def test_the_json_of_describe_has_these_keys() -> None:
    done = gnomon("describe", "0 12 * * *", "--dst", "civil", "--json")

    assert done.json == {
        "expression": "0 12 * * *",
        "zone": "UTC",
        "dialect": "standard",
        "dst": "civil",
        "description": "At 12:00 every day",
        "fields": {"minute": "0", "hour": "12", "day": "*", "month": "*", "weekday": "*"},
        "tzdata": tzdata_version(),
    }


@clause("CLI-3", "CLI-11")
def test_no_occurrence_is_an_answer() -> None:
    arguments = ["next", "0 0 29 2 *", "--after", "2199-01-01T00:00:00Z"]

    assert gnomon(*arguments, "--json").json["next"] == []
    assert gnomon(*arguments).code == 0
    assert gnomon(*arguments).lines[-1] == (
        "There is no occurrence after 2199-01-01T00:00:00Z up to the end of 2200."
    )


@clause("CLI-11")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("every 90m", ["2026-03-28T13:30:00Z", "2026-03-28T15:00:00Z"]),
        ("once 2026-04-01T10:00:00+03:00", ["2026-04-01T07:00:00Z"]),
    ],
)
def test_an_interval_and_an_instant_may_stand_for_an_expression(
    text: str, expected: list[str]
) -> None:
    done = gnomon("next", text, "--count", "2", "--json")

    assert done.json["next"] == expected
    assert done.json["dialect"] is None
    assert done.json["dst"] is None
