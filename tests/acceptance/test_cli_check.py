"""`gnomon check`: a trace is judged, from a file, as a person asks for it."""

from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from gnomon.apps.declarative.recorder import trace_lines
from gnomon.ports import Entry
from tests.acceptance.command_line import gnomon
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause
from tests.tidy.tree import ROOT

TRACES = ROOT / "examples" / "traces"
HEADER = '{"gnomon_trace": 1, "zone": "UTC", "pulses": "explicit", "reinitialize": "reject"}'
INIT = [
    '{"t": 0, "e": "InitStart", "call": 1, "registrations": [["a", "* * * * *", 0]]}',
    '{"t": 1, "e": "InitSuccess", "call": 1}',
]


def written(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@clause("CHECK-1", "CHECK-3")
def test_a_fine_trace_has_a_line_for_every_axiom() -> None:
    done = gnomon("check", str(TRACES / "fine.jsonl"))

    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == "No axiom is broken."
    assert [line.split()[:3] for line in done.lines[7:10]] == [
        ["S1", "true", "1"],
        ["S2", "true", "1"],
        ["S3", "true", "1"],
    ]
    assert done.lines[-1].split()[:3] == ["EA7", "true", "3"]


@clause("CHECK-1", "CHECK-3")
def test_a_broken_axiom_is_named_with_its_event() -> None:
    done = gnomon("check", str(TRACES / "started-twice.jsonl"))

    assert done.code == 1
    assert done.lines[0] == "S1, S2 are broken."
    assert "  blame        scheduler" in done.lines
    assert '  event        {"t": 64001, "e": "RunStart", "task": "backup"}' in done.lines


@clause("CHECK-2")
def test_the_same_as_json() -> None:
    done = gnomon("check", str(TRACES / "lost-after-a-crash.jsonl"), "--json")
    found = done.json

    assert done.code == 1
    assert found["blame"] == "scheduler"
    assert found["witnesses"] == {"a": 0.0, "b": 0.0, "lag_ms": 109_996}
    verdicts = found["verdicts"]
    assert isinstance(verdicts, dict)
    assert verdicts["L1"] == {
        "verdict": "false",
        "exercised": 2,
        "position": 9,
        "explanation": "'backup' is owed since position 7 (t 70004) and has not started 109996 ms "
        "later",
    }
    assert list(verdicts) == [
        "S1", "S2", "S3", "S4", "S5", "S6", "L1", "L2", "L3",
        "EA1", "EA2", "EA3", "EA4", "EA5", "EA6", "EA7",
    ]  # fmt: skip


@clause("CHECK-4")
def test_dues_are_derived_from_the_wall_clock_and_the_zone() -> None:
    done = gnomon("check", str(TRACES / "twice-in-the-fold.jsonl"))

    assert done.code == 1
    assert "S1 at position" in done.out
    assert '"wall": "2021-10-31T01:30:00.020Z", "e": "RunStart"' in done.out


async def a_month_ahead(stage: Stage) -> list[Entry]:
    scheduler = stage.scheduler()
    await scheduler.initialize([stage.task("a"), stage.task("b", "0 * * * *")])
    await stage.until("2026-03-01T00:01:30")
    stage.set_clock("2026-04-01T00:01:40")
    await stage.until("2026-04-01T00:02:30")
    stage.set_clock("2026-03-01T00:03:10")
    await scheduler.initialize([stage.task("a"), stage.task("b", "0 * * * *")])
    await stage.until("2026-03-01T01:01:00")
    await scheduler.stop()
    return await stage.entries()


async def back_and_down(stage: Stage) -> list[Entry]:
    scheduler = stage.scheduler()
    await scheduler.initialize([stage.task("a", takes=70), stage.task("b", "10 * * * *")])
    await stage.until("00:12:30")
    await stage.crash()
    await stage.until("00:20:10")
    stage.set_clock("00:05:10")
    second = stage.scheduler()
    await second.initialize([stage.task("a"), stage.task("b", "10 * * * *"), stage.task("c")])
    await stage.until("00:15:00")
    await second.stop()
    return await stage.entries()


@clause("CHECK-6")
@pytest.mark.parametrize("scenario", [a_month_ahead, back_and_down])
def test_a_clock_that_was_set_blames_no_scheduler(
    tmp_path: Path, scenario: Callable[[Stage], Coroutine[object, object, list[Entry]]]
) -> None:
    lines = trace_lines(on_stage(scenario), zone="UTC", reinitialize="reconcile")
    done = gnomon("check", written(tmp_path / "t.jsonl", *lines))

    assert done.lines[0] == "No axiom is broken.", done.out


@clause("CHECK-4", "CHECK-5")
def test_a_zone_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    header = '{"gnomon_trace": 1, "zone": "Europe/Atlantis", "pulses": "derived"}'
    done = gnomon("check", written(tmp_path / "t.jsonl", header, *INIT))

    assert done.code == 1
    assert "Europe/Atlantis" in done.err


@clause("CHECK-1", "THEORY-17")
def test_the_axioms_can_be_asked_as_printed(tmp_path: Path) -> None:
    crash = '{"t": 9, "e": "UnexpectedShutdown"}'
    path = written(tmp_path / "t.jsonl", HEADER, crash, crash)

    assert gnomon("check", path).code == 0
    printed = gnomon("check", path, "--as-printed")
    assert printed.code == 1
    assert printed.lines[0] == "S6 is broken."


@clause("CHECK-1", "THEORY-13")
@pytest.mark.parametrize(("happy", "code"), [
    ([], 1),
    (["--happy", "disk,net"], 1),
    (["--happy", "net"], 0),
    (["--happy", ""], 0),
])  # fmt: skip
def test_the_happy_set_can_be_named(tmp_path: Path, happy: list[str], code: int) -> None:
    fault, start = (
        '{"t": 2, "e": "Fault", "kind": "disk"}',
        '{"t": 3, "e": "RunStart", "task": "a"}',
    )
    path = written(tmp_path / "t.jsonl", HEADER, *INIT, fault, start)

    assert gnomon("check", path, *happy).code == code


@clause("CHECK-1")
def test_the_first_unhappy_fault_is_shown(tmp_path: Path) -> None:
    fault = '{"t": 2, "e": "Fault", "kind": "disk"}'
    done = gnomon("check", written(tmp_path / "t.jsonl", HEADER, *INIT, fault), "--happy", "net")

    assert "  blame        environment" in done.lines
    assert f"  event        {fault}" in done.lines


@clause("CHECK-1", "THEORY-14")
def test_compute_is_noticed_wherever_it_stands(tmp_path: Path) -> None:
    compute = '{"t": 2, "e": "Compute", "n": 3}'
    done = gnomon("check", written(tmp_path / "t.jsonl", HEADER, *INIT, compute), "--json")

    verdicts = done.json["verdicts"]
    assert isinstance(verdicts, dict)
    assert verdicts["EA2"]["verdict"] == "false"


@clause("CHECK-3", "CHECK-5")
@pytest.mark.parametrize(("lines", "message"), [
    ([], "line 1: must be one JSON object, got ''"),
    (["nonsense"], "line 1: must be one JSON object, got 'nonsense'"),
    ([HEADER, '{"t": 0, "e": "Due"}'], 'line 2: Due needs "task", the name of a task, got None'),
    ([HEADER, *INIT, '{"t": 0, "e": "MinuteStart"}'], 'line 4: "t" must not be less than on the'),
    ([HEADER, *INIT, '{"t": 5, "e": "Minu'], "line 4: must be one JSON object"),
])  # fmt: skip
def test_a_malformed_trace_is_reported_with_file_and_line(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    path = written(tmp_path / "t.jsonl", *lines)
    done = gnomon("check", path)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {path}: {message}")


@clause("CHECK-5")
def test_a_trace_that_is_not_text_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(HEADER.encode() + b'\n{"t": 0, "e": "\xff"}\n')

    assert "line 2: must be UTF-8" in gnomon("check", str(path)).err


@clause("CHECK-3")
def test_a_trace_that_cannot_be_read_is_a_failure_of_the_system(tmp_path: Path) -> None:
    done = gnomon("check", str(tmp_path / "nowhere.jsonl"))

    assert done.code == 2
    assert "nowhere.jsonl: No such file or directory" in done.err
