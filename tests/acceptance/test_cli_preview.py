"""`gnomon preview`: a file of schedules, each with its sentence and its next occurrences."""

from pathlib import Path

import pytest

from gnomon.apps.run.schedule_file import BYTES_MAX
from tests.acceptance.command_line import Done, gnomon, gnomon_process
from tests.clauses import clause
from tests.tidy.tree import ROOT

WRONG = {
    'schedule "a": Invalid cron expression "0 3 * * 8": weekday field must lie between 0 and 7': (
        '[[schedule]]\nname = "a"\ncron = "0 3 * * 8"\n'
    ),
    "schedule \"a\": is not a known key, got 'corn'": (
        '[[schedule]]\nname = "a"\ncorn = "0 3 * * *"\n'
    ),
    'schedule "a": must have exactly one of cron, every and once, got []': (
        '[[schedule]]\nname = "a"\n'
    ),
    "schedule \"a\": must have exactly one of cron, every and once, got ['cron', 'every']": (
        '[[schedule]]\nname = "a"\ncron = "0 3 * * *"\nevery = "1h"\n'
    ),
    "schedule number 1: must have a name, got ['cron']": ('[[schedule]]\ncron = "0 3 * * *"\n'),
    "schedule number 1: name: must be text, got 3": "[[schedule]]\nname = 3\n",
    "schedule number 1: name: must be printable text, got ''": '[[schedule]]\nname = ""\n',
    "schedule \"a\": name: must not be used twice, got 'a'": (
        '[[schedule]]\nname = "a"\nevery = "1h"\n[[schedule]]\nname = "a"\nevery = "1h"\n'
    ),
    "schedule \"a\": once: must be an instant with an offset, got '2026-01-01 00:00:00'": (
        '[[schedule]]\nname = "a"\nonce = 2026-01-01T00:00:00\n'
    ),
    "schedule \"a\": dst: applies to cron only, got 'civil'": (
        '[[schedule]]\nname = "a"\nevery = "1h"\ndst = "civil"\n'
    ),
    "schedule \"a\": window.length: must not be negative, got '-1m'": (
        '[[schedule]]\nname = "a"\nevery = "1h"\nwindow = "after,-1m"\n'
    ),
    'schedule "a": salt: must be text, got 3': '[[schedule]]\nname = "a"\nevery = "1h"\nsalt = 3\n',
    "schedule: must be a list of tables, got 3": "schedule = 3\n",
    "file: is not a known table, got 'schedules'": "[schedules]\n",
    "file: must be TOML in UTF-8 (": "[[schedule]\n",
    "file: must be TOML in UTF-8 (Exceeds": "schedule = " + "9" * 5_000,
}


def preview(folder: Path, text: str, *options: str) -> Done:
    file = folder / "schedules.toml"
    file.write_text(text, encoding="utf-8")
    return gnomon("preview", str(file), *options)


@clause("CLI-14")
def test_the_sample_file_is_shown_by_the_shipped_program() -> None:
    file = ROOT / "examples" / "schedules.toml"

    done = gnomon_process("preview", str(file), "--after", "2026-03-28T12:00:00Z")

    assert (done.code, done.err) == (0, "")
    assert done.lines[0].startswith("9 schedules after 2026-03-28T12:00:00Z (tzdata ")
    assert "payday: At 18:00 on the last weekday (Monday to Friday) of the month" in done.lines


@clause("CLI-14")
def test_each_schedule_has_its_sentence_its_reading_and_its_occurrences(tmp_path: Path) -> None:
    text = (
        '[[schedule]]\nname = "tidy"\ncron = "0 9 1 * 1"\nzone = "Asia/Tokyo"\ndialect = "posix"\n'
    )

    done = preview(tmp_path, text, "--count", "2")

    assert done.lines[1:] == [
        "",
        "tidy: At 09:00 on the 1st of the month or on Mondays",
        "  0 9 1 * 1 | Asia/Tokyo | posix | dst strict",
        "#  local time                  day  UTC                   distance",
        "1  2026-03-30 09:00:00 +09:00  Mon  2026-03-30T00:00:00Z  in 1 d 12 h",
        "2  2026-04-01 09:00:00 +09:00  Wed  2026-04-01T00:00:00Z  in 3 d 12 h",
    ]


@clause("CLI-14")
def test_intervals_instants_and_bounds_can_be_written(tmp_path: Path) -> None:
    text = """
[[schedule]]
name = "interval"
every = "6h"
anchor = "2026-01-01T01:00:00Z"
start_at = 2026-03-29T00:00:00Z
end_at = "2026-03-29T13:00:00Z"

[[schedule]]
name = "instant"
once = 2026-04-01T10:00:00+03:00

[[schedule]]
name = "past"
once = 2020-01-01T00:00:00Z
"""

    schedules = preview(tmp_path, text, "--json").json["schedules"]

    assert isinstance(schedules, list)
    assert [schedule["next"] for schedule in schedules] == [
        ["2026-03-29T01:00:00Z", "2026-03-29T07:00:00Z", "2026-03-29T13:00:00Z"],
        ["2026-04-01T07:00:00Z"],
        [],
    ]
    assert preview(tmp_path, text).lines[-1] == (
        "  There is no occurrence after 2026-03-28T12:00:00Z up to the end of 2200."
    )


@clause("CLI-8", "CLI-14")
def test_a_bounded_schedule_is_read_and_marked_like_any_other(tmp_path: Path) -> None:
    text = """
[[schedule]]
name = "nightly"
cron = "30 2 * * *"
zone = "Europe/Berlin"
start_at = 2026-03-29T00:00:00Z
"""

    done = preview(tmp_path, text, "--count", "1")

    assert done.lines[2] == "nightly: At 02:30 every day, from 2026-03-29T00:00:00Z"
    assert "moved: 02:30 does not exist" in done.lines[-1]


@clause("CLI-16")
def test_a_schedule_with_a_window_shows_the_chosen_instants(tmp_path: Path) -> None:
    text = """
[[schedule]]
name = "prod/backup"
cron = "0 2 1 3 *"
window = "after,1h"
"""
    arguments = ["--after", "2026-01-01T00:00:00Z", "--count", "1"]

    assert preview(tmp_path, text, *arguments).lines[-2:] == [
        "#  local time                  day  UTC                   distance     chosen",
        "1  2026-03-01 02:00:00 +00:00  Sun  2026-03-01T02:00:00Z  in 59 d 2 h"
        "  2026-03-01 02:41:00 +00:00",
    ]
    schedules = preview(tmp_path, text, *arguments, "--json").json["schedules"]
    assert isinstance(schedules, list)
    assert schedules[0]["chosen"] == ["2026-03-01T02:41:00Z"]


@clause("CLI-16")
def test_a_period_that_cannot_be_placed_is_shown_as_unschedulable(tmp_path: Path) -> None:
    text = '[[schedule]]\nname = "a"\ncron = "0 2 * * *"\nonly = "hours=9"\n'

    done = preview(tmp_path, text, "--count", "1", "--json")

    assert preview(tmp_path, text, "--count", "1").lines[-1].endswith("  unschedulable")
    assert isinstance(done.json["schedules"], list)
    assert done.json["schedules"][0]["chosen"] == [None]


@clause("CLI-15")
@pytest.mark.parametrize("message", WRONG)
def test_an_error_in_a_file_names_the_file_and_the_schedule(message: str, tmp_path: Path) -> None:
    done = preview(tmp_path, WRONG[message])

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {tmp_path / 'schedules.toml'}: {message}")
    assert done.err.splitlines()[-1].startswith("hint: ")


@clause("CLI-15")
def test_a_misspelt_key_gets_the_right_one_as_a_hint(tmp_path: Path) -> None:
    done = preview(tmp_path, '[[schedule]]\nname = "a"\ncron = "0 3 * * *"\ntimezone = "UTC"\n')

    assert done.err.splitlines()[-1] == "hint: did you mean zone?"


@clause("CLI-15")
def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "schedules.toml"
    file.write_bytes(b"\xff\xfe")

    assert gnomon("preview", str(file)).code == 1


@clause("CLI-15")
def test_a_file_that_is_far_too_large_is_refused(tmp_path: Path) -> None:
    done = preview(tmp_path, "#" * (BYTES_MAX + 1))

    assert done.code == 1
    assert f"must have at most {BYTES_MAX} bytes" in done.err


@clause("CLI-3", "CLI-15")
def test_a_file_that_cannot_be_read_is_a_failure_of_the_system(tmp_path: Path) -> None:
    done = gnomon("preview", str(tmp_path / "none.toml"))

    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {tmp_path / 'none.toml'}: No such file or directory\n"


@clause("CLI-4")
def test_no_file_is_not_taken_for_a_directory() -> None:
    done = gnomon("preview", "")

    assert (done.code, done.out) == (1, "")
    expected = "error: file: must be the name of a file, got ''\nhint: name a file of schedules\n"
    assert done.err == expected
