"""The port over the network: one request for one question, whatever becomes of the connection."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from gnomon.ports.kubernetes import (
    Change,
    Delete,
    Denial,
    Denied,
    Done,
    Find,
    Found,
    Get,
    Kind,
    NoAnswer,
    PutStatus,
    Seen,
    Watch,
)
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer
from tests.clauses import clause
from tests.shell.kubernetes.scripted_server import Answer, ScriptedServer, for_ever

GET = Get(Kind.JOB, "prod", "report")
PUT = PutStatus(Kind.KRONJOB, "prod", "report", "u-1", "7", {})
WATCH = Watch(Kind.JOB, "9", "prod", timeout_s=1)

Work = Callable[[KubernetesServer, ScriptedServer], Awaitable[None]]


def kubeconfig(folder: Path, host: str, **user: str) -> Path:
    path = folder / "kubeconfig"
    said = {
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": host}}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }  # fmt: skip
    path.write_text(json.dumps(said))
    return path


def work_with(
    folder: Path, answer: Answer, work: Work, *, answer_s: float = 30.0, silent_s: float = 30.0,
    renew_s: float = 60.0, **user: str,
) -> ScriptedServer:  # fmt: skip
    """Serve as the script says, do the work, and hand back what was asked."""
    server = ScriptedServer(answer)

    async def run() -> None:
        async with server.serving():
            load = load_of({}, kubeconfig=str(kubeconfig(folder, server.host, **user)))
            api = KubernetesServer(load, answer_s=answer_s, silent_s=silent_s, renew_s=renew_s)
            async with api:
                await work(api, server)

    asyncio.run(run())
    return server


def saying(body: object, code: int = 200) -> Answer:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        return web.json_response(body, status=code)

    return answer


async def cut(request: web.BaseRequest, number: int) -> web.StreamResponse:
    """The first answer is good, and every later request finds the connection cut."""
    if number and request.transport is not None:
        request.transport.abort()
    return web.json_response({"kind": "Job"})


async def streamed(request: web.BaseRequest, *parts: bytes) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for part in parts:
        await response.write(part)
    return response


def told(seen: str, name: str) -> bytes:
    return json.dumps({"type": seen, "object": {"metadata": {"name": name}}}).encode() + b"\n"


def test_an_answer_is_the_object_that_the_server_sent(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        answer = await api.send(GET)
        assert isinstance(answer, Done)
        assert answer.object == {"kind": "Job"}
        assert answer.at is not None

    server = work_with(tmp_path, saying({"kind": "Job"}), work, token="secret")

    assert server.asked[0].headers["Authorization"] == "Bearer secret"
    assert server.asked[0].headers["User-Agent"].startswith("gnomon/")


@clause("KUBE-8")
def test_a_write_whose_connection_breaks_goes_out_once(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        assert isinstance(await api.send(GET), Done)
        assert isinstance(await api.send(PUT), NoAnswer)
        assert isinstance(await api.send(Delete(Kind.JOB, "prod", "report", "u-1")), NoAnswer)
        assert isinstance(await api.send(GET), NoAnswer)

    server = work_with(tmp_path, cut, work)

    assert [one.method for one in server.asked] == ["GET", "PUT", "DELETE", "GET"]


@clause("KUBE-8")
def test_an_answer_that_does_not_come_in_time_is_none(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        await for_ever()
        raise AssertionError

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        assert isinstance(await api.send(PUT), NoAnswer)

    server = work_with(tmp_path, answer, work, answer_s=0.2)

    assert len(server.asked) == 1


def test_an_answer_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        raise web.HTTPFound("/elsewhere")

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        assert isinstance(await api.send(GET), NoAnswer)

    assert len(work_with(tmp_path, answer, work).asked) == 1


def test_a_server_that_is_not_there_gives_no_answer(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        pass

    host = work_with(tmp_path, saying({}), work).host

    async def ask() -> object:
        load = load_of({}, kubeconfig=str(kubeconfig(tmp_path, host)))
        async with KubernetesServer(load) as api:
            seen = [one async for one in api.watch(WATCH)]
            return await api.send(GET), await api.find(Find(Kind.JOB)), *seen

    assert {type(one) for one in asyncio.run(ask())} == {NoAnswer}  # type: ignore[attr-defined]


def test_what_is_found_is_read_page_by_page(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        token = "more" if number == 0 else ""
        return web.json_response(
            {
                "apiVersion": "batch/v1",
                "kind": "JobList",
                "metadata": {"resourceVersion": "7", "continue": token},
                "items": [{"metadata": {"name": f"job-{number}"}}],
            }
        )

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        found = await api.find(Find(Kind.JOB))
        assert isinstance(found, Found)
        assert found.resource_version == "7"
        assert found.objects == [
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"job-{number}"}}
            for number in (0, 1)
        ]

    server = work_with(tmp_path, answer, work)

    assert [one.path for one in server.asked] == [
        "/apis/batch/v1/jobs?limit=500", "/apis/batch/v1/jobs?limit=500&continue=more",
    ]  # fmt: skip


def test_a_list_whose_version_is_forgotten_between_two_pages_begins_again(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        if number == 1:
            return web.json_response({"reason": "Expired", "message": "too old"}, status=410)
        metadata = {"resourceVersion": str(number), "continue": "more" if number == 0 else ""}
        return web.json_response({"metadata": metadata, "items": [{"number": number}]})

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        found = await api.find(Find(Kind.JOB))
        assert isinstance(found, Found)
        assert [one["number"] for one in found.objects] == [2]

    work_with(tmp_path, answer, work)


def test_a_list_that_is_forgotten_every_time_is_expired(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        found = await api.find(Find(Kind.JOB))
        assert isinstance(found, Denied)
        assert found.why is Denial.EXPIRED

    assert len(work_with(tmp_path, saying({"reason": "Expired"}, 410), work).asked) == 3


def test_a_list_without_items_has_no_answer(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        assert isinstance(await api.find(Find(Kind.JOB)), NoAnswer)

    work_with(tmp_path, saying({"kind": "Job"}), work)


@clause("KUBE-5")
def test_what_a_watch_tells_may_come_in_any_pieces(tmp_path: Path) -> None:
    text = told("ADDED", "a") + told("MODIFIED", "b" * 5_000) + told("DELETED", "c")

    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        return await streamed(request, text[:5], text[5:90], text[90:4_000], text[4_000:])

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        seen = [one async for one in api.watch(WATCH)]
        assert [one.seen for one in seen if isinstance(one, Change)] == [
            Seen.ADDED, Seen.MODIFIED, Seen.DELETED,
        ]  # fmt: skip
        assert len(seen) == 3

    work_with(tmp_path, answer, work)


def test_a_watch_that_breaks_off_within_a_change_has_no_answer(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        return await streamed(request, told("ADDED", "a"), told("ADDED", "b")[:10])

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        seen = [one async for one in api.watch(WATCH)]
        assert [type(one) for one in seen] == [Change, NoAnswer]

    work_with(tmp_path, answer, work)


@clause("KUBE-9")
def test_a_watch_that_outlives_its_time_is_dead(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        response = await streamed(request, told("ADDED", "a"))
        await for_ever()
        return response

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        seen = [one async for one in api.watch(WATCH._replace(timeout_s=0))]
        assert [type(one) for one in seen] == [Change, NoAnswer]

    work_with(tmp_path, answer, work, silent_s=0.5)


def test_a_watch_ends_after_an_error_and_says_it(tmp_path: Path) -> None:
    error = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}

    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        return await streamed(request, json.dumps(error).encode() + b"\n", told("ADDED", "a"))

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        seen = [one async for one in api.watch(WATCH)]
        assert seen == [Denied(Denial.EXPIRED, "too old", None)]

    work_with(tmp_path, answer, work)


def test_a_watch_that_is_refused_says_why(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        (denied,) = [one async for one in api.watch(WATCH)]
        assert isinstance(denied, Denied)
        assert denied.why is Denial.FORBIDDEN

    work_with(tmp_path, saying({"reason": "Forbidden", "message": "no"}, 403), work)


@clause("KUBE-10")
def test_a_token_that_was_renewed_is_shown_after_the_old_one_is_refused(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")

    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        if request.headers["Authorization"] == "Bearer new":
            return web.json_response({"kind": "Job"})
        return web.json_response({"reason": "Unauthorized", "message": "expired"}, status=401)

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        denied = await api.send(GET)
        assert isinstance(denied, Denied)
        assert denied.why is Denial.UNAUTHENTICATED
        token.write_text("new\n")
        while not isinstance(await api.send(GET), Done):
            assert len(server.asked) < 20, "the new token is never shown"
            await asyncio.sleep(1)

    work_with(tmp_path, answer, work, tokenFile=str(token))


@clause("KUBE-10")
def test_credentials_that_cannot_be_loaded_again_are_kept(tmp_path: Path) -> None:
    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        (tmp_path / "kubeconfig").unlink()
        assert isinstance(await api.send(GET), Done)

    work_with(tmp_path, saying({}), work, renew_s=0.0, token="secret")


@clause("KUBE-10")
def test_what_is_under_way_ends_on_the_connections_that_it_began_on(tmp_path: Path) -> None:
    entered = asyncio.Event()
    go_on = asyncio.Event()

    async def answer(request: web.BaseRequest, number: int) -> web.StreamResponse:
        if number == 0:
            entered.set()
            await go_on.wait()
        return web.json_response({"number": number})

    async def work(api: KubernetesServer, server: ScriptedServer) -> None:
        under_way = asyncio.create_task(api.send(GET))
        await entered.wait()
        kubeconfig(tmp_path, server.host.replace("127.0.0.1", "localhost"))
        second = await api.send(GET)
        go_on.set()
        first = await under_way
        assert isinstance(first, Done)
        assert isinstance(second, Done)
        assert (first.object, second.object) == ({"number": 0}, {"number": 1})
        assert server.asked[1].headers["Host"].startswith("localhost")

    work_with(tmp_path, answer, work, renew_s=0.0)
