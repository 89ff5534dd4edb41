"""Commands to workflows over HTTP: each means what it means on the command line."""

from pathlib import Path

import httpx2
import pytest

from gnomon.errors import TransientError
from tests.acceptance.command_line import gnomon
from tests.apps.workflow.http.stage import Stage, orders, play
from tests.apps.workflow.stage import everything
from tests.clauses import clause

COMMANDS = ["run-now", "pause", "resume", "approve", "reject"]
FORMS: dict[str, dict[str, object]] = {
    "publish": {"topic": "orders", "id": "o1"},
    "resolve": {"answer": "happened"},
    "skip-input": {"input": "mail/email/1"},
}
SCRIPT = """
from gnomon.workflow import Workflow

mail = Workflow("mail")
mail.consumer("sheet", subscribes=["mail"]).prepare(lambda ctx, state: {})
"""


async def send(client: httpx2.AsyncClient, path: str, form: object = None) -> tuple[int, object]:
    answer = await client.post(f"/workflows/{path}", json=form)
    return answer.status_code, answer.json()


@clause("WHTTP-11")
def test_a_workflow_is_paused_resumed_and_told_to_run_now() -> None:
    async def story(stage: Stage) -> None:
        assert await send(stage.writer, "orders/pause") == (
            200, {"workflow": "orders", "command": "pause", "result": "stopped"},
        )  # fmt: skip
        found = (await stage.reader.get("/workflows/orders")).json()
        assert (found["status"], found["nextAt"]) == ("Stopped", None)
        assert (await send(stage.writer, "orders/resume"))[0] == 200
        assert await send(stage.writer, "orders/run-now") == (
            200, {"workflow": "orders", "command": "run-now", "result": "its producers run"},
        )  # fmt: skip

    play(story)


@clause("WHTTP-11", "WHTTP-2")
def test_an_event_is_published_once_and_listed() -> None:
    async def story(stage: Stage) -> None:
        form = {"topic": "orders", "id": "o1", "payload": {"n": [1, None, 2.5]}}
        said = {"workflow": "orders", "topic": "orders", "id": "o1"}
        assert await send(stage.writer, "orders/publish", form) == (200, said | {"changed": True})
        assert await send(stage.writer, "orders/publish", form) == (200, said | {"changed": False})

        events = (await stage.reader.get("/workflows/orders/events?status=pending")).json()
        (event,) = events["events"]
        assert (event["id"], event["payload"]) == ("o1", {"n": [1, None, 2.5]})
        assert (await stage.reader.get("/workflows/orders/events?topic=other")).json() == {
            "workflow": "orders", "events": [], "next": None,
        }  # fmt: skip

    play(story)


@clause("WHTTP-11", "WHTTP-3")
def test_a_script_is_deployed_by_an_administrator_and_run_by_this_host() -> None:
    async def story(stage: Stage) -> None:
        form = {"text": SCRIPT}
        assert (await send(stage.writer, "deploy", form))[0] == 403
        assert await send(stage.admin, "deploy", form) == (200, {"workflow": "mail", "version": 1})
        assert await send(stage.admin, "deploy", form) == (200, {"workflow": "mail", "version": 1})
        names = [one["name"] for one in (await stage.reader.get("/workflows")).json()["workflows"]]
        assert names == ["mail", "orders"]

    play(story)


@clause("WHTTP-11", "MUTATE-9", "MUTATE-15")
def test_a_run_that_waits_is_approved_and_an_uncertain_mutation_is_resolved() -> None:
    made = orders()
    sheet = made.consumers["sheet"]
    sheet.prepare(lambda ctx, state: everything(ctx, ["orders"]))
    sheet.mutate(lambda ctx, prepared: ctx.mutate("append", prepared.data))

    @made.tool("append", approval=True)
    def append(call: object) -> None:
        raise TransientError("no answer")

    async def story(stage: Stage) -> None:
        async def settled(status: str) -> dict[str, object]:
            while True:
                run = (await stage.reader.get("/workflows/orders/runs?limit=1")).json()["runs"][0]
                if run["status"] == status:
                    assert isinstance(run, dict)
                    return run

        await stage.host.deploy(made)
        await stage.host.start()
        await send(stage.writer, "orders/publish", {"topic": "orders", "id": "o1"})
        await settled("paused:approval")
        assert (await send(stage.writer, "orders/resolve", {"answer": "happened"}))[0] == 409
        assert (await send(stage.writer, "orders/approve"))[0] == 200
        waiting = await settled("paused:reconciliation")
        assert (await send(stage.writer, "orders/resolve", {"answer": "happened"}))[0] == 200
        done = await settled("committed")
        while done["number"] != waiting["number"]:  # the producer may run after it
            runs = (await stage.reader.get("/workflows/orders/runs")).json()["runs"]
            done = next(one for one in runs if one["number"] == waiting["number"])
        assert done["mutation"]["tool"] == waiting["mutation"]["tool"] == "append"  # type: ignore[index]
        assert done["mutation"]["params"] == [None]  # type: ignore[index]
        assert done["mutationResult"] == {"status": "applied", "result": None}
        await stage.host.stop()

    play(story)


@clause("WHTTP-3")
def test_looking_takes_read_and_commands_take_write() -> None:
    async def story(stage: Stage) -> None:
        for path in ("", "/orders", "/orders/runs", "/orders/events", "/orders/inputs"):
            assert (await stage.stranger.get(f"/workflows{path}")).status_code == 401
            assert (await stage.unscoped.get(f"/workflows{path}")).status_code == 403
            assert (await stage.reader.get(f"/workflows{path}")).status_code == 200
        for command in (*COMMANDS, *FORMS):
            form = FORMS.get(command)
            assert (await send(stage.stranger, f"orders/{command}", form))[0] == 401
            assert (await send(stage.reader, f"orders/{command}", form))[0] == 403
        assert (await stage.reader.get("/workflows/orders")).json()["status"] == "Needs attention"

    play(story)


@clause("WHTTP-4")
@pytest.mark.parametrize("name", ["nope", "%ff", "x" * 300, "a%2Fb", "-"])
def test_a_workflow_that_is_not_there_is_404(name: str) -> None:
    async def story(stage: Stage) -> None:
        for path in ("", "/runs", "/events", "/inputs"):
            answer = await stage.reader.get(f"/workflows/{name}{path}")
            assert (answer.status_code, answer.json()["status"]) == (404, 404)
        for command in (*COMMANDS, *FORMS):
            assert (await send(stage.writer, f"{name}/{command}", FORMS.get(command)))[0] == 404

    play(story)


@clause("WHTTP-11", "WHTTP-3", "WASK-9", "WASK-10", "SEEN-12")
def test_a_script_is_rolled_back_and_a_workflow_removed_by_an_administrator() -> None:
    async def story(stage: Stage) -> None:
        for text in (SCRIPT, SCRIPT + "# 2"):
            await send(stage.admin, "deploy", {"text": text})
        assert (await send(stage.writer, "mail/rollback"))[0] == 403
        assert await send(stage.admin, "mail/rollback") == (200, {"workflow": "mail", "version": 3})
        assert (await send(stage.admin, "mail/rollback", {"version": 9}))[0] == 422
        found = (await stage.reader.get("/workflows/mail/versions?limit=2")).json()
        assert [(one["version"], one["inForce"]) for one in found["versions"]] == [
            (3, True), (2, False),
        ]  # fmt: skip
        assert found["next"] == 2

        assert (await send(stage.writer, "mail/remove"))[0] == 403
        assert (await send(stage.admin, "mail/remove"))[0] == 409
        await send(stage.writer, "mail/pause")
        assert await send(stage.admin, "mail/remove", {"discard": False}) == (
            200, {"workflow": "mail", "command": "remove", "result": "removed"},
        )  # fmt: skip
        assert (await stage.reader.get("/workflows/mail")).status_code == 404

    play(story)


@clause("WHTTP-4")
def test_a_name_with_a_nul_is_422() -> None:
    async def story(stage: Stage) -> None:
        assert (await stage.reader.get("/workflows/a%00b")).status_code == 422
        assert (await send(stage.writer, "a%00b/pause"))[0] == 422

    play(story)


@clause("WHTTP-4")
def test_a_command_that_cannot_be_followed_now_is_409_with_what_to_do() -> None:
    async def story(stage: Stage) -> None:
        status, said = await send(stage.writer, "orders/approve")
        assert isinstance(said, dict)
        assert (status, said["detail"]) == (
            409, "orders: waits for no approval, got 'active'; "
            "gnomon workflow status says what it needs",
        )  # fmt: skip
        assert (await send(stage.writer, "orders/reject"))[0] == 409
        assert (await send(stage.writer, "orders/pause"))[0] == 200
        assert (await send(stage.writer, "orders/run-now"))[0] == 409

    play(story)


@clause("WHTTP-4")
@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (("orders/publish", {"topic": "other", "id": "o1"}), "topic"),
        (("orders/publish", {"topic": 5, "id": "o1"}), "topic"),
        (("orders/publish", {"topic": "orders"}), "id"),
        (("orders/publish", {"topic": "orders", "id": ""}), "id"),
        (("orders/publish", {"topic": "orders", "id": "x" * 501}), "id"),
        (("orders/publish", {"topic": "orders", "id": "1", "payload": "x" * 1_000_000}), "payload"),
        (("orders/publish", {"topic": "orders", "id": "1", "more": 1}), "more"),
        (("orders/resolve", {"answer": "maybe"}), "answer"),
        (("orders/resolve", {}), "answer"),
        (("orders/skip-input", {"input": "mail/email/1"}), "input"),
        (("orders/skip-input", {"input": None}), "input"),
        (("deploy", {"text": ""}), "text"),
        (("deploy", {"text": 5}), "text"),
        (("deploy", {}), "text"),
    ],
)
def test_a_field_that_cannot_be_meant_is_422_with_what_to_write(
    request_: tuple[str, object], field: str
) -> None:
    async def story(stage: Stage) -> None:
        status, said = await send(stage.admin, *request_)
        assert isinstance(said, dict)
        assert status == 422, said
        (error,) = said["errors"]
        assert (error["field"], bool(error["hint"])) == (field, True)
        assert (await stage.reader.get("/workflows/orders/events")).json()["events"] == []

    play(story)


@clause("WHTTP-4")
@pytest.mark.parametrize(
    "query",
    ["runs?limit=0", "runs?limit=1001", "runs?after=x", "events?after=0", "events?status=lost",
     "events?topic=a%00", "events?topic=-", "inputs?limit=many"],
)  # fmt: skip
def test_a_question_that_cannot_be_meant_is_422(query: str) -> None:
    async def story(stage: Stage) -> None:
        answer = await stage.reader.get(f"/workflows/orders/{query}")
        assert (answer.status_code, len(answer.json()["errors"])) == (422, 1)

    play(story)


@clause("WHTTP-5", "FLOW-26")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (", "must be Python"),
        ("raise ValueError('no')", "ValueError: no"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("x = 5", "must make exactly one workflow"),
        ("def f(): f()\nf()", "RecursionError"),
        ('from gnomon.workflow import Workflow\nW = Workflow("w")', "must have a producer"),
    ],
)
def test_a_script_that_cannot_be_deployed_is_422(text: str, said: str) -> None:
    async def story(stage: Stage) -> None:
        status, answer = await send(stage.admin, "deploy", {"text": text})
        assert isinstance(answer, dict)
        assert status == 422
        assert said in str(answer["detail"])
        names = [one["name"] for one in (await stage.reader.get("/workflows")).json()["workflows"]]
        assert names == ["orders"]

    play(story)


@clause("FLOW-26")
def test_a_script_that_exits_is_refused_on_the_command_line_too(tmp_path: Path) -> None:
    script = tmp_path / "leaving.py"
    script.write_text("raise SystemExit(0)")

    done = gnomon("workflow", "deploy", str(script), "--store", str(tmp_path / "w.sqlite3"))

    assert (done.code, done.out) == (1, "")
    assert "must run without an error (SystemExit: 0, line 1)" in done.err
