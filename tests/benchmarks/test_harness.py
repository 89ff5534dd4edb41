"""The machinery of the benchmarks, without a clock: messages, workers, order, ratios."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.harness.environment import Environment, environment_name, provide_environment
from benchmarks.harness.process import Worker, WorkerLostError
from benchmarks.harness.protocol import (
    Absent,
    Answers,
    Ask,
    Failed,
    Greeting,
    ProtocolError,
    Reply,
    Timed,
    Wish,
    decode_ask,
    decode_greeting,
    decode_reply,
    encode_ask,
    encode_greeting,
    encode_reply,
)
from benchmarks.harness.ratio import compare, geometric_mean
from benchmarks.harness.rounds import interleave, measure
from benchmarks.harness.timing import Job, time_job
from benchmarks.harness.worker import serve
from tests.benchmarks.echo_worker import prepare

ROOT = Path(__file__).resolve().parents[2]
REPLIES: list[Reply] = [
    Timed(ns=12.5, operations=300, facts={"set-up seconds": 1.5}),
    Answers(values=[1_767_225_600, None]),
    Absent(reason="it cannot search backwards"),
    Failed(reason="ValueError: no"),
]


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker([sys.executable, "-m", "tests.benchmarks.echo_worker"], directory=ROOT) as running:
        yield running


@pytest.mark.parametrize("reply", REPLIES)
def test_a_reply_survives_its_line(reply: Reply) -> None:
    assert decode_reply(encode_reply(reply)) == reply


def test_an_ask_survives_its_line() -> None:
    ask = Ask(wish=Wish.TIME, cell="next: * * * * * UTC", seconds=0.5)
    assert decode_ask(encode_ask(ask)) == ask


def test_a_greeting_survives_its_line() -> None:
    greeting = Greeting(versions={"cronsim": "2.8"})
    assert decode_greeting(encode_greeting(greeting)) == greeting


@pytest.mark.parametrize("line", ["", "hello", "{}", '{"timed": {"ns": "fast"}}', "[1]"])
def test_any_other_line_is_a_protocol_error(line: str) -> None:
    with pytest.raises(ProtocolError):
        decode_reply(line)


def test_a_worker_greets_with_its_versions(worker: Worker) -> None:
    assert worker.greeting == Greeting(versions={"echo": "1.0"})


def test_a_worker_times_a_cell_although_the_library_prints(worker: Worker) -> None:
    reply = worker.ask(Ask(wish=Wish.TIME, cell="four"))
    assert isinstance(reply, Timed)
    assert (reply.operations, reply.facts) == (10, {"set-up seconds": 1.5})


def test_a_worker_tells_its_answers(worker: Worker) -> None:
    assert worker.ask(Ask(wish=Wish.ANSWERS, cell="four")) == Answers(values=[4, None])


def test_what_an_engine_does_not_offer_is_absent(worker: Worker) -> None:
    reply = worker.ask(Ask(wish=Wish.TIME, cell="unsupported"))
    assert reply == Absent(reason="not offered here")


def test_what_an_engine_raises_is_a_failure_and_the_worker_lives_on(worker: Worker) -> None:
    reply = worker.ask(Ask(wish=Wish.TIME, cell="broken"))
    assert reply == Failed(reason="ValueError: broken on purpose")
    assert worker.ask(Ask(wish=Wish.ANSWERS, cell="a")) == Answers(values=[1, None])


def test_a_worker_that_ends_fails_this_ask_and_all_later_ones(worker: Worker) -> None:
    lost = Failed(reason="the worker ended with status 3 before it answered")
    assert worker.ask(Ask(wish=Wish.TIME, cell="lost")) == lost
    assert worker.ask(Ask(wish=Wish.TIME, cell="four")) == lost


def test_a_worker_that_does_not_greet_is_lost_at_once() -> None:
    with pytest.raises(WorkerLostError, match="status 7"):
        Worker([sys.executable, "-c", "raise SystemExit(7)"], directory=ROOT)


def test_serving_answers_every_line_in_order() -> None:
    replies = io.StringIO()
    asks = [encode_ask(Ask(wish=Wish.ANSWERS, cell=name)) for name in ("a", "bb")]
    serve(asks, replies, greeting=Greeting(versions={}), prepare=prepare)
    assert replies.getvalue().splitlines() == [
        '{"ready":{}}',
        '{"answers":[1,null]}',
        '{"answers":[2,null]}',
    ]


def test_without_a_budget_a_job_makes_one_pass() -> None:
    calls: list[None] = []
    job = Job(run=lambda: calls.append(None), operations=7, answers=list)
    assert time_job(job, seconds=0).operations == 7
    assert len(calls) == 1


def test_the_engine_that_goes_first_changes_with_cell_and_round() -> None:
    assert list(interleave(["p", "q"], ["a", "b"], rounds=2)) == [
        (0, "p", "a"),
        (0, "p", "b"),
        (0, "q", "b"),
        (0, "q", "a"),
        (1, "p", "b"),
        (1, "p", "a"),
        (1, "q", "a"),
        (1, "q", "b"),
    ]


def test_the_best_round_stands_and_what_is_absent_is_asked_once() -> None:
    times = iter([30.0, 10.0, 20.0])
    asked: list[str] = []

    def ask(engine: str, question: Ask) -> Reply:
        asked.append(engine)
        if engine == "b":
            return Absent(reason="no")
        return Timed(ns=next(times), operations=1, facts={})

    found = measure(["p"], ["a", "b"], rounds=3, seconds=0, ask=ask, progress=lambda turn: None)
    assert [(one.engine, one.best and one.best.ns, one.missing) for one in found] == [
        ("a", 10.0, None),
        ("b", None, "no"),
    ]
    assert asked.count("b") == 1


def test_the_geometric_mean_of_2_and_8_is_4() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)


def test_the_geometric_mean_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        geometric_mean([])


def test_a_comparison_counts_only_shared_cells_and_names_the_worst() -> None:
    found = compare({"p": 1.0, "q": 2.0, "mine": 1.0}, {"p": 8.0, "q": 4.0, "theirs": 1.0})
    assert found is not None
    assert (found.cells, found.worst_cell, found.worst) == (2, "q", 2.0)
    assert found.ratio == pytest.approx(4.0)


def test_without_a_shared_cell_there_is_no_comparison() -> None:
    assert compare({"p": 1.0}, {"q": 1.0}) is None


def test_an_environment_is_another_when_a_pin_changes() -> None:
    before = environment_name("peer", ["peer"], "peer==1.0")
    assert before == environment_name("peer", ["peer"], "peer==1.0")
    assert before != environment_name("peer", ["peer"], "peer==1.1")


def test_a_complete_environment_is_found_again(tmp_path: Path) -> None:
    pins = tmp_path / "constraints.txt"
    pins.write_text("peer==1.0", encoding="utf-8")
    made = tmp_path / environment_name("peer", ["peer"], "peer==1.0")
    made.mkdir()
    (made / "complete").touch()
    told: list[str] = []
    found = provide_environment(
        "peer", ["peer"], constraints=pins, under=tmp_path, progress=told.append
    )
    assert found == Environment(python=made / "bin" / "python")
    assert told == []
