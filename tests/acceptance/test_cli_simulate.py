"""`gnomon simulate`: what an outage does to tasks, before it happens."""

import json
from pathlib import Path

import pytest

from gnomon.cli import main
from tests.clauses import clause

TOML = """
[[task]]
name = "backup"
cron = "0 2 * * *"
retry_delay = "5m"

[[task]]
name = "report"
cron = "0,30 * * * *"
"""
PYTHON = """
import gnomon
tasks = gnomon.collect()

@tasks("0 2 * * *", retry_delay="5m")
def backup():
    raise SystemExit("is not called")
"""


@pytest.fixture
def tasks(tmp_path: Path) -> str:
    path = tmp_path / "tasks.toml"
    path.write_text(TOML)
    return str(path)


@clause("SIMULATE-1", "SIMULATE-2")
def test_an_outage_is_told_as_a_table_and_a_picture(
    tasks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["simulate", tasks, "--down", "01:55..03:10", "--date", "2026-03-28"])

    said = capsys.readouterr().out
    assert code == 0
    assert "occurrences  4 on time, 2 late, 2 not at all\n" in said
    assert (
        "2026-03-28 02:00:00 +00:00  backup  late        at 2026-03-28 03:10:00 +00:00, "
        "1h10m00s late\n" in said
    )
    assert "report  .o........o........=x========x===========L.....o........o...\n" in said
    assert "backup  ...................======================L..................\n" in said


@clause("SIMULATE-2")
def test_an_outage_is_told_as_json(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["simulate", tasks, "--down", "2026-03-28T01:55..2026-03-28T03:10", "--json"]

    assert main([*line, "--around", "10m"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["down"] == ["2026-03-28T01:55:00Z", "2026-03-28T03:10:00Z"]
    assert [(one["task"], one["fate"]) for one in told["occurrences"]] == [
        ("backup", "late"), ("report", "not at all"), ("report", "not at all"), ("report", "late"),
    ]  # fmt: skip


@clause("SIMULATE-1")
def test_a_run_that_the_outage_cuts_off_is_started_again(
    tasks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["simulate", tasks, "--down", "02:05..02:20", "--date", "2026-03-28", "--takes", "10m"]

    assert main([*line, "--json"]) == 0
    starts = json.loads(capsys.readouterr().out)["starts"]
    again = [one for one in starts if one["reason"] == "interrupted"]
    assert {one["task"] for one in again} == {"backup", "report"}
    assert {one["at"] for one in again} == {"2026-03-28T02:20:00Z"}


@clause("SIMULATE-3")
def test_tasks_may_stand_in_a_python_file_and_are_not_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.py"
    path.write_text(PYTHON)

    assert main(["simulate", str(path), "--down", "01:55..03:10", "--date", "2026-03-28"]) == 0
    assert "1 late" in capsys.readouterr().out


@clause("SIMULATE-3", "SIMULATE-4")
@pytest.mark.parametrize(
    ("file", "down", "said"),
    [
        ("", "01:55..03:10", "must register at least one task"),
        ("[[task]]\nname = 'a'\n", "01:55..03:10", "must have name and cron"),
        ("[[task]]\nname = 'a'\ncron = 3\n", "01:55..03:10", "must be text"),
        ("[[task]]\nname = 'a'\ncron = '*/5 * * * *'\n", "01:55..03:10", "0,5,10"),
        ("[[", "01:55..03:10", "must be TOML"),
        (TOML, "01:55", "must be two times"),
        (TOML, "25:00..26:00", "must be a time of a day"),
        (TOML, "2026-03-02T00:00..2026-03-01T00:00", "must end after it begins"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(
    file: str, down: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(file or "task = []")

    assert main(["simulate", str(path), "--down", down]) == 1
    assert said in capsys.readouterr().err


@clause("SIMULATE-5")
def test_random_worlds_are_counted_and_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--seeds", "2", "--hours", "1"]) == 0
    assert "Every axiom was kept.\n  worlds  2, 2 simulated hours\n" in capsys.readouterr().out


@clause("SIMULATE-5")
@pytest.mark.parametrize("line", [[], ["--seeds", "0"], ["--seeds", "2", "--hours", "0"]])
def test_too_little_to_simulate_is_refused(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *line]) == 1
    assert "hint: write" in capsys.readouterr().err
