"""`gnomon workflow run --http` as a process of its own, asked as programs would ask it."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.acceptance.command_line import gnomon
from tests.apps.workflow.http.stage import Stage, play
from tests.clauses import clause

SEED = 20261116
POSITIVE, NEGATIVE = 12, 8
"""Requests for each operation."""
TOO_LARGE = (413, 414, 431)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SCRIPT = """
from gnomon.workflow import Workflow

orders = Workflow("orders", title="Orders")


@orders.producer(interval="1h", publishes=["orders"])
def poll(ctx, state):
    ctx.publish("orders", "o1", {"n": 5}, inputs=[ctx.input("shop", "order", "o1", title="One")])
    ctx.note("Fetched one order")


sheet = orders.consumer("sheet", subscribes=["orders"])
sheet.prepare(lambda ctx, state: {})
"""


async def document(stage: Stage) -> dict[str, object]:
    found: dict[str, object] = (await stage.reader.get("/openapi.json")).json()
    return found


SCHEMA = schemathesis.openapi.from_dict(play(document))
OPERATIONS: dict[str, APIOperation] = {  # type: ignore[type-arg] # of whatever kind
    found.ok().label: found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)
}


class Served:
    """A host that is asked over HTTP; `welcome` is what it printed."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        assert process.stdout is not None
        self.process = process
        self.store = folder / "workflows.sqlite3"
        self.welcome = [process.stdout.readline() for _ in range(2)]
        self.url = self.welcome[1].split()[-1].removesuffix("/workflows")
        token = Path(f"{self.store}.token").read_text().strip()
        self.client = httpx2.Client(
            base_url=self.url, headers={"authorization": f"Bearer {token}"}, timeout=30
        )

    def command(self, *arguments: str) -> object:
        """The JSON that a command prints."""
        done = gnomon("workflow", *arguments, "--store", str(self.store), "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    def both(self, path: str, *arguments: str) -> tuple[dict[str, object], object]:
        """What is shown over HTTP and what a command prints, with no change between the two."""
        while True:
            before = self.client.get(path).json()
            printed = self.command(*arguments)
            if self.client.get(path).json() == before:
                return before, printed

    def until_idle(self) -> None:
        """Until the producer has published, and the consumer has looked at it and takes nothing."""
        while True:
            status = self.client.get("/workflows/orders").json()
            waits = [handler["waits"] for handler in status["handlers"]]
            if any(one.startswith("waits for another event") for one in waits):
                return


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """A host with `orders`; it must end well when it is told to."""
    (folder / "orders.py").write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "workflow", "run", "orders.py", "--http", "127.0.0.1:0"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        found = Served(process, folder)
        with found.client:
            yield found
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("host")) as found:
        yield found


@clause("WHTTP-2", "WHTTP-6")
def test_what_is_shown_over_http_is_what_the_command_line_prints(tmp_path: Path) -> None:
    with served(tmp_path) as host:
        host.until_idle()
        over_http, printed = host.both("/workflows", "status")
        assert over_http == printed
        for what in ("runs", "events", "inputs"):
            over_http, printed = host.both(f"/workflows/orders/{what}", what, "orders")
            assert over_http[what]
            assert over_http == printed


@clause("WHTTP-6")
def test_the_line_that_is_printed_works_and_its_token_is_for_its_owner_only(host: Served) -> None:
    host.until_idle()
    done = subprocess.run(
        ["sh", "-c", host.welcome[1]], cwd=host.store.parent, capture_output=True, text=True,
        check=True,
    )  # fmt: skip

    assert json.loads(done.stdout)["workflows"][0]["name"] == "orders"
    assert stat.S_IMODE(os.stat(f"{host.store}.token").st_mode) == 0o600


@clause("WHTTP-6")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--http", "8081x"), "must be an address and a port"),
        (("--http", "127.0.0.1:70000"), "must be an address and a port"),
        (("--http", "0.0.0.0:8081"), "the line is not protected"),
        (("--http", "127.0.0.1:0", "--store", ":memory:"), "access: must be given"),
        (("--http", "127.0.0.1:0", "--access", "none.toml"), "none.toml"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.py").write_text(SCRIPT)

    done = gnomon("workflow", "run", "orders.py", *options)

    assert (done.code != 0, done.out) == (True, "")
    assert said in done.err
    assert not Path("workflows.sqlite3").exists()


@clause("WHTTP-6", "HTTP-12", "UP-7")
def test_a_port_that_is_taken_is_named_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        done = gnomon("workflow", "run", "--http", address)

    assert (done.code, address in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def examine(host: Served, operation: APIOperation, mode: GenerationMode, count: int) -> None:  # type: ignore[type-arg]
    """Send this many requests of an operation; each answer keeps what the document promises."""

    @seed(SEED)
    @settings(
        max_examples=count, deadline=None, database=None, derandomize=False,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
        print_blob=True,
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Case) -> None:  # type: ignore[type-arg]
        if mode is GenerationMode.POSITIVE and "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = "orders"  # so that not everything is 404
        answer = case.call(
            base_url=host.url, headers=dict(host.client.headers) | {"accept": "*/*"}, timeout=30
        )
        case.validate_response(answer, checks=CHECKS)
        if mode is GenerationMode.NEGATIVE and answer.status_code not in TOO_LARGE:
            case.validate_response(answer, checks=[negative_data_rejection])

    send()


@clause("WHTTP-7")
@pytest.mark.parametrize("label", OPERATIONS)
def test_what_fits_the_document_is_answered_as_the_document_says(host: Served, label: str) -> None:
    examine(host, OPERATIONS[label], GenerationMode.POSITIVE, POSITIVE)


@clause("WHTTP-7")
@pytest.mark.parametrize("label", OPERATIONS)
def test_what_does_not_fit_the_document_is_refused(host: Served, label: str) -> None:
    operation = OPERATIONS[label]
    if not (operation.body or operation.query or operation.path_parameters):
        return  # there is nothing that could be wrong
    examine(host, operation, GenerationMode.NEGATIVE, NEGATIVE)
