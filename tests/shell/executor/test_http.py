"""An executor at a URL: what it is asked, and what its answers mean."""

import asyncio
import json

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.executor import Accepted, Answer, Meta, Refused, Unanswered
from gnomon.shell.executor.http import HttpExecutor
from gnomon.shell.executor.signature import Keyring, Purpose, objection_to
from gnomon.shell.http.address_rule import PUBLIC, Rule, read_rule
from gnomon.shell.http.outgoing import Outgoing
from tests.clauses import clause
from tests.shell.http.local_server import Asked, Handler, LocalServer, answer, serve
from tests.shell.steered_clock import SteeredClock

NOW_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
KEYRING = Keyring(current="k", secrets={"k": b"s" * 32})
META = Meta(
    workflow_id="report", version=3, user_id="anna", schedule_id="report.main",
    scheduled_for=NOW_MS // 1000, idempotency_key="abc", attempt=2, fence=7,
    params='{"region":"north"}',
)  # fmt: skip
DAG = '{"nodes":[],"version":3}'
LOCAL = read_rule(networks=["127.0.0.0/8"])


async def asked_of(
    handler: Handler, *, rule: Rule = LOCAL, clock: SteeredClock | None = None
) -> tuple[Answer, LocalServer]:
    async with serve(handler) as server:
        executor = an_executor(server, rule=rule, clock=clock)
        try:
            return await executor.run(DAG, META), server
        finally:
            await executor.close()


def an_executor(
    server: LocalServer, *, rule: Rule = LOCAL, clock: SteeredClock | None = None
) -> HttpExecutor:
    clock = clock or SteeredClock(NOW_MS)
    return HttpExecutor(
        server.url("/runs"), KEYRING, Outgoing(clock, rule=rule), clock,
        callback_url="https://gnomon.example/executor/callbacks",
    )  # fmt: skip


@clause("EXEC-20")
def test_the_executor_gets_the_dag_the_facts_and_the_key_signed() -> None:
    async def scenario() -> None:
        _, server = await asked_of(answer())
        (asked,) = server.asked

        assert (asked.method, asked.path) == ("POST", "/runs")
        assert asked.headers["idempotency-key"] == "abc"
        assert asked.headers["content-type"] == "application/json"
        assert objection_to(asked.headers, Purpose.RUN, asked.body, KEYRING, now_ms=NOW_MS) is None
        assert json.loads(asked.body) == {
            "dag": {"nodes": [], "version": 3},
            "meta": {
                "callback_url": "https://gnomon.example/executor/callbacks",
                "source": "schedule",
                "workflow_id": "report",
                "version": 3,
                "user_id": "anna",
                "schedule_id": "report.main",
                "scheduled_for": "2026-03-01T00:00:00Z",
                "idempotency_key": "abc",
                "attempt": 2,
                "params": {"region": "north"},
            },
        }

    asyncio.run(scenario())


@clause("EXEC-21")
@pytest.mark.parametrize(
    ("status", "body", "run_id"),
    [
        ("200 OK", b'{"run_id": "r-7"}', "r-7"),
        ("202 Accepted", b"", "abc"),
        ("201 Created", b'{"run_id": 7}', "abc"),
        ("200 OK", b'["run_id"]', "abc"),
        ("200 OK", b'{"run_id": "a\\nb"}', "abc"),
        ("200 OK", b"[" * 60_000, "abc"),
    ],
)
def test_an_answer_in_the_two_hundreds_takes_the_run_on(
    status: str, body: bytes, run_id: str
) -> None:
    answered, _ = asyncio.run(asked_of(answer(status, body)))

    assert answered == Accepted(run_id)


@clause("EXEC-22")
@pytest.mark.parametrize(
    ("status", "headers", "retry_after_ms"),
    [
        ("429 Too Many Requests", {"Retry-After": "7"}, 7_000),
        ("503 Service Unavailable", {}, None),
        ("503 Service Unavailable", {"Retry-After": "Sun, 01 Mar 2026 00:00:30 GMT"}, 30_000),
        ("503 Service Unavailable", {"Retry-After": "Sun, 01 Mar 2020 00:00:30 GMT"}, 0),
        ("429 Too Many Requests", {"Retry-After": "99999999999999999999"}, 3_600_000),
        ("429 Too Many Requests", {"Retry-After": "soon"}, None),
        ("409 Conflict", {}, None),
        ("408 Request Timeout", {}, None),
    ],
)
def test_not_now_is_asked_again_and_not_before_the_executor_says(
    status: str, headers: dict[str, str], retry_after_ms: int | None
) -> None:
    answered, _ = asyncio.run(asked_of(answer(status, b"busy", headers)))

    assert answered == Refused(f"status {status[:3]}: busy", False, retry_after_ms)


@clause("EXEC-22")
@pytest.mark.parametrize("status", ["400 Bad Request", "401 No", "404 Not Found", "422 No"])
def test_an_answer_in_the_four_hundreds_is_for_good(status: str) -> None:
    answered, _ = asyncio.run(asked_of(answer(status, b"what?\n\x1b[2J")))

    assert answered == Refused(f"status {status[:3]}: what?\\n\\x1b[2J", permanent=True)


@clause("EXEC-22")
def test_a_redirect_is_for_good_and_not_followed() -> None:
    answered, server = asyncio.run(asked_of(answer("307 Elsewhere", headers={"Location": "/x"})))

    assert answered == Refused("status 307", permanent=True)
    assert len(server.asked) == 1


@clause("EXEC-23")
@pytest.mark.parametrize("status", ["500 Oh", "502 Bad Gateway", "504 Gateway Timeout"])
def test_after_a_failure_of_the_executor_the_launch_is_unanswered(status: str) -> None:
    answered, _ = asyncio.run(asked_of(answer(status)))

    assert answered == Unanswered(f"status {status[:3]}")


@clause("EXEC-23")
def test_after_silence_the_launch_is_unanswered() -> None:
    async def scenario() -> None:
        clock = SteeredClock(NOW_MS)

        async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
            clock.let_pass(10_000)
            await asyncio.Event().wait()

        answered, _ = await asked_of(silent, clock=clock)
        assert answered == Unanswered("no answer within 10000 ms")

    asyncio.run(scenario())


@clause("EXEC-23")
def test_an_executor_that_is_not_there_was_not_asked() -> None:
    async def scenario() -> None:
        async with serve(answer()) as server:
            executor = an_executor(server)
        answered = await executor.run(DAG, META)
        await executor.close()

        assert isinstance(answered, Refused)
        assert not answered.permanent

    asyncio.run(scenario())


@clause("EXEC-22")
def test_an_executor_that_may_not_be_called_is_refused_for_good() -> None:
    answered, server = asyncio.run(asked_of(answer(), rule=PUBLIC))

    assert answered == Refused("127.0.0.1: the address 127.0.0.1 is not public", permanent=True)
    assert server.connections == 0


@clause("EXEC-24")
@pytest.mark.parametrize(
    ("status", "over"),
    [("200 OK", True), ("404 Not Found", True), ("405 No", False), ("500 Oh", False)],
)
def test_a_run_elsewhere_is_ended_by_asking(status: str, over: bool) -> None:
    async def scenario() -> None:
        async with serve(answer(status)) as server:
            executor = an_executor(server)

            assert await executor.kill("abc", Reason.REPLACED) == over
            (asked,) = server.asked
            await executor.close()
        assert (asked.method, asked.headers["idempotency-key"]) == ("DELETE", "abc")
        assert json.loads(asked.body) == {"idempotency_key": "abc", "reason": "replaced"}
        assert objection_to(asked.headers, Purpose.KILL, asked.body, KEYRING, now_ms=NOW_MS) is None

    asyncio.run(scenario())
