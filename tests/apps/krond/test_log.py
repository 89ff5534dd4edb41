"""What krond says while it works: events, their order, their keys, and their form."""

import asyncio
import json
import logging
import re
from dataclasses import replace

import pytest

from gnomon.apps.krond.log import KronLines
from gnomon.core.decision import recompute
from gnomon.core.engine import Due
from gnomon.shell.observe.log import logs_to
from gnomon.shell.observe.notify.rule import Occasion
from gnomon.shell.store.sqlite import SqliteLedger
from tests.apps.krond.stage import FILE, Stage, play
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually

WINDOW = "0 1 * * * @win(after,30m) @avoid(dow=1) name=a command=true"
NEVER = "0 1 * * * @win(after,30m) @only(hours=3) name=never command=true"
LINE = re.compile(
    r'(\S+) ([A-Z]+) krond ([a-z_]+)((?: [A-Za-z]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]\S*))*)'
)


class Lines(logging.Handler):
    """Keeps each line."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self.setFormatter(KronLines(as_json=as_json))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def said(text: str, *, as_json: bool = True, level: int = logging.DEBUG) -> list[str]:
    """The lines about an hour and a half with these jobs."""

    async def scenario() -> None:
        stage = Stage(text, "2026-03-03T00:59:00Z")
        stage.outside.broken.add("missing")
        await stage.start()
        await stage.pass_s(5400)

    lines = Lines(as_json=as_json)
    with logs_to(lines, level=level):
        run_virtually(scenario())
    return lines.lines


def events(text: str, job: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in said(text)]
    return [line for line in found if line.get("identity") == f"{FILE}:{job}"]


@clause("KROND-28", "KROND-29")
def test_the_events_of_a_period_come_in_their_order() -> None:
    names = [line["event"] for line in events(WINDOW, "a")]

    assert names == [
        "reschedule", "seed_computed", "sample", "decision", "trigger", "job_created",
        "job_finished",
    ]  # fmt: skip


@clause("KROND-29")
def test_a_period_that_cannot_be_scheduled_is_a_warning() -> None:
    lines = {line["event"]: line for line in events(NEVER, "never")}

    assert lines["constraint_unsatisfiable"]["level"] == "WARNING"
    assert lines["constraint_unsatisfiable"]["outcome"] == "unschedulable"
    assert lines["constraint_reject"]["candidates"] == 64
    assert "trigger" not in lines


@clause("KROND-28", "KROND-29")
@pytest.mark.parametrize(
    ("text", "event", "level"),
    [
        ('*/20 * * * * name=a command="sleep 1500"', "skipped_concurrency", "INFO"),
        ('*/20 * * * * @policy(concurrency=replace) name=a command="sleep 1500"', "replaced_job",
         "WARNING"),
        ("0 1 * * * name=a command=missing", "error", "ERROR"),
        ("0 1 * * * name=a command=missing", "launch_failed", "INFO"),
    ],
)  # fmt: skip
def test_what_does_not_run_as_usual_has_an_event_of_its_own(
    text: str, event: str, level: str
) -> None:
    found = [line for line in events(text, "a") if line["event"] == event]

    assert found
    assert {line["level"] for line in found} == {level}
    assert all("periodId" in line for line in found)


@clause("POLICY-12", "KROND-28")
def test_the_chosen_time_stays_in_the_window_however_often_a_start_fails() -> None:
    found = events("0 1 * * * @win(after,30m) @policy(deadline=5m) name=a command=missing", "a")

    (decision,) = [line for line in found if line["event"] == "decision"]
    tries = [line for line in found if line["event"] in ("trigger", "error", "launch_failed")]
    assert len(tries) > 6
    assert {line["chosenTime"] for line in tries} == {_with_ms(decision["chosenTime"])}
    assert tries[-1]["event"] == "launch_failed"
    assert (tries[-1]["reason"], tries[-1]["message"]) == ("launch_failed", "missing is not there")


def _with_ms(text: object) -> str:
    return str(text).replace("Z", ".000Z")


@clause("KROND-30")
def test_a_decision_can_be_made_again_from_its_line() -> None:
    (line,) = [line for line in events(WINDOW, "a") if line["event"] == "decision"]

    decision = recompute(line).to_json()

    assert decision.items() <= line.items()
    assert line["chosenTime"] == decision["chosenTime"]


@clause("KROND-28")
def test_a_line_of_text_can_be_taken_apart() -> None:
    lines = said(f"{WINDOW}\n0 1 * * * name=b command=missing", as_json=False)

    assert lines
    assert [line for line in lines if not LINE.fullmatch(line)] == []


@clause("KROND-28")
@pytest.mark.parametrize(
    ("fact", "written"),
    [("plain", "plain"), ("two words", '"two words"'), ('a"b', '"a\\"b"'), ("", '""'),
     ("a\nb", '"a\\nb"'), ({"k": 1}, '"{\\"k\\":1}"'), (True, "true"), (3, "3")],
)  # fmt: skip
def test_what_could_break_a_line_is_quoted(fact: object, written: str) -> None:
    record = logging.LogRecord("n", logging.INFO, "p", 1, "the clock was set", (), None)
    record.fields = {"event": "the clock was set", "fact": fact}

    line = KronLines(as_json=False).format(record)

    assert line.endswith(f"INFO krond the_clock_was_set fact={written}")


@clause("KROND-12")
def test_who_listens_is_told_what_became_of_each_period() -> None:
    async def scenario() -> list[tuple[str, Occasion, int]]:
        text = f'{WINDOW}\n{NEVER}\n*/20 * * * * name=slow command="sleep 1500"'
        stage = Stage(text, "2026-03-03T00:59:00Z")
        await stage.start()
        await stage.pass_s(3600)
        return sorted((one.job.name, one.occasion, one.periods) for one in stage.told)

    assert play(scenario()) == [
        ("a", Occasion.SUCCESS, 1), ("never", Occasion.UNSCHEDULABLE, 1),
        ("slow", Occasion.SKIPPED, 1), ("slow", Occasion.SUCCESS, 1),
    ]  # fmt: skip


@clause("KROND-32")
def test_a_run_by_hand_uses_up_no_period_and_counts_as_active() -> None:
    async def scenario() -> tuple[tuple[bool, str], list[str]]:
        stage = Stage('0 1 * * * name=a command="sleep 120"', "2026-03-03T00:59:00Z")
        await stage.start()
        assert stage.daemon is not None
        _, ending = await stage.daemon.run_now("a")
        await stage.pass_s(90)  # the period comes while the run goes on
        told = await stage.told_of("a")
        return await ending, told

    ending, told = play(scenario())
    assert ending == (True, "exit 0")
    assert told == ["00:59 executed", "01:00 skipped(overlap)"]


@clause("KROND-32")
def test_a_suspended_job_can_be_run_by_hand_and_is_tried_once() -> None:
    async def scenario() -> list[tuple[bool, str]]:
        text = "0 1 * * * @policy(suspend=true) name=a command=true"
        stage = Stage(text, "2026-03-03T00:59:00Z")
        await stage.start()
        assert stage.daemon is not None
        _, good = await stage.daemon.run_now(f"{FILE}:a")
        before = [await good]
        stage.outside.broken.add("true")
        _, bad = await stage.daemon.run_now("a")
        return [*before, await asyncio.wait_for(bad, 5)]

    assert play(scenario()) == [(True, "exit 0"), (False, "true is not there")]


@clause("KROND-20", "KROND-28")
@pytest.mark.parametrize(("away_s", "events"), [(10, ["job_exists"]), (200, ["job_finished"])])
def test_a_run_of_a_former_krond_exists_only_if_it_does(away_s: int, events: list[str]) -> None:
    async def scenario() -> None:
        stage = Stage('0 1 * * * name=a command="sleep 120"', "2026-03-03T00:59:59Z")
        await stage.start()
        await stage.pass_s(5)
        await stage.kill()
        await stage.pass_s(away_s)
        lines.lines.clear()
        await stage.start()
        await stage.pass_s(1)

    lines = Lines(as_json=True)
    with logs_to(lines):
        run_virtually(scenario())

    found = [json.loads(line)["event"] for line in lines.lines]
    assert [event for event in found if event.startswith("job_")] == events


class EditedMeanwhile(SqliteLedger):
    """Stands for a second writer: saves a definition again after a load that finds much to do."""

    edits = 1

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        dues = await super().load(now_ms=now_ms, limit=limit)
        for due in dues:
            if self.edits and now_ms // 1000 > due.cursor + 180:
                self.edits -= 1
                policy = replace(due.schedule.policy, launches_max=9)
                await self.save(replace(due.schedule, policy=policy), now_ms=now_ms)
        return dues


@clause("KROND-28", "LEDGER-24")
def test_what_a_plan_said_that_was_never_written_is_not_told() -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        stage = Stage("* * * * * @policy(deadline=0s) name=a command=true", "2026-03-03T00:59:30Z")
        stage.ledger = EditedMeanwhile.open(":memory:")
        await stage.start()
        await stage.pass_s(40)
        stage.clock.offset_ms += 300_000
        assert stage.daemon is not None
        stage.daemon.process.runtime.wake()
        await stage.pass_s(5)
        told = [f"{one.period_id[11:16]} {one.outcome}({one.reason})" for one in stage.told]
        return told, await stage.told_of("a")

    told, rows = run_virtually(scenario())

    assert told == ["01:00 executed(None)"]
    assert rows == ["01:00 executed", "01:01..01:05 skipped(withdrawn)"]


@clause("KROND-28", "KROND-41")
def test_a_run_at_boot_names_the_boot_and_has_no_decision() -> None:
    found = events("@reboot name=a command=true", "a")

    assert [line["event"] for line in found] == [
        "reschedule", "booted", "trigger", "job_created", "job_finished",
    ]  # fmt: skip
    assert {line["boot"] for line in found[2:]} == {"b1"}
    assert {line["periodId"] for line in found[2:]} == {"2026-03-03T00:59:00Z"}
