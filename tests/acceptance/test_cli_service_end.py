"""`gnomon up` and `gnomon worker` are told to stop twice while a command is under way."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import httpx2
import pytest

from tests.acceptance.running import Running
from tests.acceptance.serving import up
from tests.acceptance.test_cli_split import TOKEN, access_file, started
from tests.clauses import clause


def endless(life: Path) -> dict[str, object]:
    """A DAG whose command says which try it is, and does not end by itself."""
    text = f'exec 3> "{life}"; echo $GNOMON_ATTEMPT >&3; exec sleep 600'
    return {
        "workflow_id": "endless", "version": 1,
        "nodes": [{"id": "wait", "type": "command", "shell": text}],
        "triggers": [{"type": "schedule_based", "cron_expr": "0 3 * * *"}],
    }  # fmt: skip


@pytest.fixture
def life(tmp_path: Path) -> Path:
    path = tmp_path / "life"
    os.mkfifo(path)
    return path


def trigger(url: str, token: str, life: Path) -> None:
    headers = {"authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=url, headers=headers, trust_env=False) as client:
        deployed = client.post("/dags", params={"user_id": "acme"}, json=endless(life))
        client.post(f"/schedules/{deployed.json()['schedules'][0]}/trigger").raise_for_status()


@contextmanager
def under_way(life: Path) -> Iterator[tuple[str, TextIO]]:
    """Wait until the command has begun: which try it is, and a text that ends when it does."""
    with life.open() as said:
        yield said.readline().strip(), said


def stop_twice(process: Running) -> int:
    process.signal(signal.SIGTERM)
    process.until("stopping; runs in flight may end")
    process.signal(signal.SIGTERM)
    return process.end()


@clause("UP-9", "EXEC-19")
def test_the_second_signal_leaves_at_once_and_the_next_start_goes_on(
    tmp_path: Path, life: Path
) -> None:
    with up(tmp_path, "--no-samples") as service:
        trigger(service.url, service.token_file.read_text().strip(), life)
        with under_way(life) as (first, said):
            code = stop_twice(service)
            assert said.read() == ""  # the command has heard of it too
    with up(tmp_path, "--no-samples") as service, under_way(life) as (second, _):
        codes = [code, stop_twice(service)]

    assert (first, second) == ("1", "2")
    assert codes == [130, 130]
    assert service.lines[-1]["event"] == "left at once; the next start goes on from the ledger"


@clause("UP-9")
def test_the_second_signal_leaves_a_database_at_once(
    tmp_path: Path, life: Path, database: str
) -> None:
    with up(tmp_path, "--no-samples", "--database", database) as service:
        trigger(service.url, service.token_file.read_text().strip(), life)
        with under_way(life):
            code = stop_twice(service)

    assert code == 130


@clause("UP-9")
def test_the_second_signal_ends_a_worker_at_once(tmp_path: Path, life: Path, database: str) -> None:
    access = str(access_file(tmp_path))
    with (
        started("api", database, "--port", "0", "--access", access) as api,
        started("worker", database, GNOMON_ALLOW_COMMANDS="true") as worker,
    ):
        worker.until("working")
        trigger(f"http://127.0.0.1:{api.until('serving')['port']}", TOKEN, life)
        with under_way(life):
            code = stop_twice(worker)

    assert code == 130
