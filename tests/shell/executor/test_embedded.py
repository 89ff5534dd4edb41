"""The embedded executor: real processes, real requests, real functions."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gnomon.core.dag.value import Json
from gnomon.ports.dag import NodeState
from gnomon.ports.executor import FeedbackStatus, Refused
from tests.clauses import clause
from tests.shell.executor.embedded_stage import (
    Stage,
    function_node,
    open_stage,
    shell_node,
)
from tests.shell.http.local_server import answer, serve
from tests.tidy.tree import ROOT

SUCCESS, FAILED, SKIPPED = NodeState.SUCCESS, NodeState.FAILED, NodeState.SKIPPED


def play(scenario: Callable[[Stage], Awaitable[None]], folder: Path, side_by_side: int = 8) -> None:
    async def whole() -> None:
        async with open_stage(folder, side_by_side=side_by_side) as stage:
            await scenario(stage)

    asyncio.run(whole())


@clause("EXEC-10")
def test_a_run_goes_from_its_first_node_to_its_last(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        line = 'echo "$GNOMON_NODE" >> order.txt'
        end = await stage.run(*(shell_node(one, line) for one in "cab"), edges="ab bc")

        assert (end.status, end.detail, end.fence) == (FeedbackStatus.SUCCESS, "3 nodes", 1)
        assert (tmp_path / "order.txt").read_text().split() == ["a", "b", "c"]
        assert await stage.states() == {"a": SUCCESS, "b": SUCCESS, "c": SUCCESS}

    play(scenario, tmp_path)


@clause("EXEC-10")
def test_independent_nodes_run_side_by_side(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        # Each waits for the other: one after the other they would wait for ever.
        meet = "touch {0}.here; while [ ! -e {1}.here ]; do sleep 0.01; done"
        nodes = [shell_node("a", meet.format("a", "b")), shell_node("b", meet.format("b", "a"))]

        assert (await stage.run(*nodes)).status is FeedbackStatus.SUCCESS

    play(scenario, tmp_path)


@clause("EXEC-10")
def test_no_more_nodes_run_side_by_side_than_there_is_room_for(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        alone = "mkdir busy && echo x >> ran.txt; s=$?; rmdir busy; exit $s"
        end = await stage.run(*(shell_node(f"n{n}", alone) for n in range(6)))

        assert end.status is FeedbackStatus.SUCCESS
        assert len((tmp_path / "ran.txt").read_text().split()) == 6

    play(scenario, tmp_path, side_by_side=1)


@clause("EXEC-11")
def test_a_failure_skips_what_waits_for_it_and_fails_the_run(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        nodes = [
            shell_node("a", "echo broken; exit 3"), shell_node("b", "touch b"),
            shell_node("c", "touch c"), shell_node("d", "touch d"),
        ]  # fmt: skip
        end = await stage.run(*nodes, edges="ab bc")

        assert (end.status, end.detail) == (FeedbackStatus.FAILED, "a: exit 3; 2 skipped")
        assert await stage.states() == {"a": FAILED, "b": SKIPPED, "c": SKIPPED, "d": SUCCESS}
        assert [name for name in "bcd" if (tmp_path / name).exists()] == ["d"]
        assert await stage.log("a") == "broken\n"

    play(scenario, tmp_path)


@clause("EXEC-12")
def test_a_command_knows_its_run(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        params = '{"region":"north"}'
        await stage.run(shell_node("say.it", "env | sort", env={"TEAM": "data"}), params=params)
        told = dict(line.split("=", 1) for line in (await stage.log("say.it")).splitlines())

        assert {name: value for name, value in told.items() if name.startswith("GNOMON")} == {
            "GNOMON_ATTEMPT": "1",
            "GNOMON_KEY": "key:say.it",
            "GNOMON_NODE": "say.it",
            "GNOMON_PARAMS": '{"region":"north"}',
            "GNOMON_PERIOD": "2026-03-01T00:00:00Z",
            "GNOMON_SCHEDULE": "report.main",
            "GNOMON_USER": "anna",
            "GNOMON_VERSION": "1",
            "GNOMON_WORKFLOW": "report",
        }
        assert (told["TEAM"], told["TZ"]) == ("data", "UTC")

    play(scenario, tmp_path)


@clause("EXEC-12")
def test_what_a_command_prints_is_kept_up_to_a_limit(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.run(shell_node("a", "printf 'a\\000b'; head -c 200000 /dev/zero | tr '\\0' x"))
        log = await stage.log("a")

        assert len(log) <= 65_700
        assert log.startswith("a\ufffdbxxx")
        assert "left out" in log

    play(scenario, tmp_path)


@clause("EXEC-12")
def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        end = await stage.run(shell_node("a", "sleep 1000 & sleep 1000", timeout="50ms"))

        assert end.status is FeedbackStatus.FAILED
        assert end.detail == f"a: signal {signal.SIGTERM.value} (timed_out)"

    play(scenario, tmp_path)


@clause("EXEC-12")
def test_a_program_that_is_not_there_fails_its_node(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        node: Json = {"id": "a", "type": "command", "command": ["no-such-program"]}
        end = await stage.run(node)

        assert end.detail.startswith("a: target.command: is no program that can be run")

    play(scenario, tmp_path)


@clause("EXEC-15")
def test_a_request_is_made_with_a_key_and_its_answer_kept(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        async with serve(answer("202 Accepted", b"taken")) as server:
            node: Json = {
                "id": "a", "type": "http", "url": server.url("/hook"), "json": {"n": 1},
                "headers": {"X-Team": "data"},
            }  # fmt: skip
            end = await stage.run(node)

            assert end.status is FeedbackStatus.SUCCESS
            (asked,) = server.asked
            assert (asked.method, asked.path, asked.body) == ("POST", "/hook", b'{"n":1}')
            assert asked.headers["idempotency-key"] == "key:a"
            assert asked.headers["x-team"] == "data"
        assert (await stage.details())["a"] == "status 202"
        assert await stage.log("a") == "taken"

    play(scenario, tmp_path)


@clause("EXEC-15", "SERVICE-64")
def test_a_request_without_a_body_carries_what_the_run_was_given(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        async with serve(answer("200 OK", b"")) as server:
            cases: list[tuple[dict[str, Json], str]] = [
                ({"method": "POST"}, '{"day":"monday"}'), ({"method": "GET"}, '{"day":"monday"}'),
                ({"method": "POST", "json": {"n": 1}}, '{"day":"monday"}'),
                ({"method": "POST"}, "{}"),
            ]  # fmt: skip
            for number, (more, params) in enumerate(cases):
                node: Json = {"id": "a", "type": "http", "url": server.url(), **more}
                await stage.run(node, key=f"key{number}", params=params)

            bodies = [asked.body for asked in server.asked]
            assert bodies == [b'{"day":"monday"}', b"", b'{"n":1}', b""]
            assert server.asked[0].headers["content-type"] == "application/json"

    play(scenario, tmp_path)


@clause("EXEC-16", "SERVICE-64")
def test_a_function_is_told_what_the_run_was_given(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        path = str(tmp_path / "given.txt")
        await stage.run(function_node("a", "write_params", path=path), params='{"days":[1,2]}')

        assert (tmp_path / "given.txt").read_text() == "{'days': [1, 2]}\n"

    play(scenario, tmp_path)


@clause("EXEC-15")
@pytest.mark.parametrize(
    ("status", "expect", "state"),
    [("204 No Content", None, SUCCESS), ("301 Moved", None, FAILED), ("500 Oh", None, FAILED),
     ("404 Not Found", [404], SUCCESS), ("200 OK", [201], FAILED)],
)  # fmt: skip
def test_which_answers_are_a_success_can_be_said(
    tmp_path: Path, status: str, expect: Json, state: NodeState
) -> None:
    async def scenario(stage: Stage) -> None:
        async with serve(answer(status)) as server:
            more = {} if expect is None else {"expect": expect}
            await stage.run({"id": "a", "type": "http", "url": server.url(), **more})

            assert await stage.states() == {"a": state}

    play(scenario, tmp_path)


@clause("EXEC-15")
def test_a_request_to_a_forbidden_place_fails_its_node(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        end = await stage.run({"id": "a", "type": "http", "url": "http://169.254.169.254/latest"})

        assert end.detail == (
            "a: 169.254.169.254: the address 169.254.169.254 is not public (refused)"
        )

    play(scenario, tmp_path)


@clause("EXEC-16")
def test_functions_run_in_threads_or_in_the_loop(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        path = str(tmp_path / "told.txt")
        end = await stage.run(
            function_node("a", "add_line", path=path, text="hello"),
            function_node("b", "tell", path=path),
            function_node("c", "in_thread"),
            edges="ab bc",
        )

        assert end.status is FeedbackStatus.SUCCESS
        told = (tmp_path / "told.txt").read_text()
        assert told == "hello\nkey:b 2026-03-01T00:00:00Z\n"
        assert await stage.log("b") == "try 1 of b"
        assert (await stage.details())["a"] == "returned 5"
        assert (await stage.details())["c"].startswith("returned 'gnomon-node")

    play(scenario, tmp_path)


@clause("EXEC-16")
@pytest.mark.parametrize(
    ("function", "detail"),
    [
        ("fail", "ValueError: no"),
        ("leave", "SystemExit: 3"),
        ("stop_iterating", "StopIteration: end"),
        ("missing", "AttributeError: module"),
        ("NOT_CALLABLE", "TypeError: tests.shell.executor.functions:NOT_CALLABLE cannot"),
        ("Held.missing", "AttributeError"),
    ],
)
def test_what_a_function_raises_fails_its_node_and_nothing_else(
    tmp_path: Path, function: str, detail: str
) -> None:
    async def scenario(stage: Stage) -> None:
        end = await stage.run(function_node("a", function), shell_node("b", "true"))

        assert end.detail.startswith(f"a: {detail}")
        assert await stage.states() == {"a": FAILED, "b": SUCCESS}
        assert "Traceback" in await stage.log("a")

    play(scenario, tmp_path)


@clause("EXEC-16")
def test_of_what_a_function_logs_the_first_and_the_last_is_kept(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.run(function_node("a", "shout"))
        log = await stage.log("a")

        assert len(log) <= 65_536
        assert log.startswith("line 0\nline 1\n")
        assert log.endswith("\nline 9999")

    play(scenario, tmp_path)


@clause("EXEC-16")
def test_a_thread_that_never_ends_does_not_keep_the_process(tmp_path: Path) -> None:
    text = f"""
import asyncio, pathlib
from tests.shell.executor.embedded_stage import function_node, open_stage

async def live():
    async with open_stage(pathlib.Path({str(tmp_path)!r})) as stage:
        node = function_node("a", "wait_and_add", timeout="10ms", path="never")
        print((await stage.run(node)).detail)

asyncio.run(live())
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT, check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.stdout == "a: took longer than 10 ms\n"


@clause("EXEC-16")
def test_a_function_that_takes_too_long_fails_its_node(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        end = await stage.run(function_node("a", "never", timeout="20ms"))

        assert end.detail == "a: took longer than 20 ms"

    play(scenario, tmp_path)


@clause("EXEC-5")
@pytest.mark.parametrize(
    ("node", "message"),
    [
        (
            {"id": "a", "type": "action", "uses": "gmail.send"},
            "node a: the action gmail.send needs",
        ),
        ({"id": "a", "type": "python", "callable": "os:system"}, "node a: the module os is not"),
        ({"id": "a", "type": "python", "callable": "testsx:f"}, "node a: the module testsx is not"),
        ({"id": "a", "type": "lambda"}, "nodes[0].type: is no type of node"),
    ],
)
def test_a_dag_that_cannot_be_carried_out_is_refused_as_a_whole(
    tmp_path: Path, node: Json, message: str
) -> None:
    async def scenario(stage: Stage) -> None:
        answered = await stage.start(node, shell_node("b", "touch b"))

        assert isinstance(answered, Refused)
        assert answered.permanent
        assert answered.message.startswith(message)
        assert not (tmp_path / "b").exists()
        assert await stage.dag_runs.get("key") is None

    play(scenario, tmp_path)
