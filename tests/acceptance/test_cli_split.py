"""`gnomon api` and `gnomon worker` on one database: what one registers, the other starts."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

import httpx2
from cryptography import x509

from tests.acceptance.command_line import gnomon
from tests.acceptance.running import Running
from tests.apps.service.http.certificates import Authority
from tests.clauses import clause

TOKEN = "a-token-of-the-test"
DAG = {
    "workflow_id": "greeting", "version": 1,
    "nodes": [{"id": "greet", "type": "command", "command": ["echo", "hello"]}],
    "triggers": [{"type": "schedule_based", "cron_expr": "0 3 * * *"}],
}  # fmt: skip


@contextmanager
def started(command: str, database: str, *options: str, **names: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", command, "--json-log", *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"GNOMON_DATABASE": database} | names,
    )  # fmt: skip
    try:
        yield Running(process)
    finally:
        process.kill()
        process.communicate()


def access_file(folder: Path) -> Path:
    path = folder / "access.json"
    token = {"sha256": sha256(TOKEN.encode()).hexdigest(), "subject": "test", "user_id": "acme",
             "scopes": ["write"]}  # fmt: skip
    path.write_text(json.dumps({"tokens": [token]}))
    path.chmod(0o600)
    return path


@clause("UP-6")
def test_what_the_api_registers_a_worker_starts(tmp_path: Path, database: str) -> None:
    access = str(access_file(tmp_path))
    with (
        started("api", database, "--port", "0", "--access", access) as api,
        started("worker", database, GNOMON_ALLOW_COMMANDS="true") as worker,
    ):
        worker.until("working")
        port = api.until("serving")["port"]
        headers = {"authorization": f"Bearer {TOKEN}"}
        address = f"http://127.0.0.1:{port}"
        with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
            deployed = client.post("/dags", json=DAG)
            schedule_id = deployed.json()["schedules"][0]
            run = client.post(f"/schedules/{schedule_id}/trigger").json()
            ended = worker.until("run.ended", key=run["idempotency_key"])
            worker.signal(signal.SIGTERM)
            codes = [worker.end()]
            found = client.get(f"/runs/{run['idempotency_key']}").json()
            log = client.get(f"/runs/{run['idempotency_key']}/nodes/greet/log").text
        api.signal(signal.SIGTERM)
        codes.append(api.end())

    assert deployed.status_code == 201
    assert ended["success"] is True
    assert (found["status"], log) == ("SUCCESS", "hello\n")
    assert codes == [0, 0]


@clause("HTTP-23", "SERVICE-32")
def test_who_listens_at_an_api_hears_of_what_a_worker_and_another_api_do(
    tmp_path: Path, database: str
) -> None:
    access = str(access_file(tmp_path))
    headers = {"authorization": f"Bearer {TOKEN}"}
    with (
        started("api", database, "--port", "0", "--access", access) as api,
        started("api", database, "--port", "0", "--access", access) as other,
        started("worker", database, GNOMON_ALLOW_COMMANDS="true") as worker,
    ):
        worker.until("working")
        here = f"http://127.0.0.1:{api.until('serving')['port']}"
        there = f"http://127.0.0.1:{other.until('serving')['port']}"
        with (
            httpx2.Client(base_url=here, headers=headers, trust_env=False) as listener,
            httpx2.Client(base_url=there, headers=headers, trust_env=False) as client,
            listener.stream("GET", "/events") as stream,
        ):
            lines = stream.iter_lines()
            assert next(lines) == "retry: 1000"
            schedule_id = client.post("/dags", json=DAG).json()["schedules"][0]
            client.post(f"/schedules/{schedule_id}/trigger")
            kinds = list[str]()
            while kinds[-1:] != ["run.ended"]:
                kinds += [line[7:] for line in [next(lines)] if line.startswith("event: ")]

    assert sorted(kinds) == ["run.ended", "run.launched", "run.triggered", "schedule.upserted"]


@clause("UP-6")
def test_a_worker_starts_commands_only_where_that_is_allowed(tmp_path: Path, database: str) -> None:
    access = str(access_file(tmp_path))
    with (
        started("api", database, "--port", "0", "--access", access) as api,
        started("worker", database) as worker,
    ):
        worker.until("working")
        address = f"http://127.0.0.1:{api.until('serving')['port']}"
        headers = {"authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
            schedule_id = client.post("/dags", json=DAG).json()["schedules"][0]
            key = client.post(f"/schedules/{schedule_id}/trigger").json()["idempotency_key"]
            failed = worker.until("run.launch_failed", key=key)

    assert "greet" in str(failed)


@clause("AUTH-13", "AUTH-15")
def test_an_api_with_client_certificates_knows_its_clients_and_its_end(
    tmp_path: Path, database: str
) -> None:
    authority = Authority(tmp_path, "authority")
    soon = datetime.now(UTC) + timedelta(days=10, hours=1)
    certificate, key = authority.sign(x509.IPAddress(ip_address("127.0.0.1")), end=soon)
    client = {"san": "deployer.example", "subject": "deployer", "user_id": "acme",
              "scopes": ["read"]}  # fmt: skip
    access = access_file(tmp_path)
    access.write_text(json.dumps({"clients": [client]}))
    options = ("--port", "0", "--access", str(access), "--tls-certificate", str(certificate),
               "--tls-key", str(key), "--tls-client-authority", str(authority.file))  # fmt: skip
    with started("api", database, *options) as api:
        warned = api.until("the certificate is about to end")
        address = f"https://127.0.0.1:{api.until('serving')['port']}"
        context = ssl.create_default_context(cafile=str(authority.file))
        context.load_cert_chain(*authority.sign(x509.DNSName("deployer.example")))
        with httpx2.Client(base_url=address, verify=context, trust_env=False) as known:
            listed = known.get("/schedules")
            metrics = known.get("/metrics").text
        api.signal(signal.SIGHUP)
        api.until("the certificate was read again")

    assert warned["days_left"] == 10
    assert listed.json() == {"items": [], "next": None}
    assert "strict-transport-security" in listed.headers
    assert "gnomon_tls_certificate_seconds_left 86" in metrics


@clause("UP-7", "HTTP-12")
def test_a_port_that_is_taken_is_said_before_the_database_is_asked(tmp_path: Path) -> None:
    access = str(access_file(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        nowhere = "postgresql://127.0.0.1:1/none"  # asked, it would be the error

        done = gnomon("api", "--database", nowhere, "--access", access, "--port", port)

    assert (done.code, done.err.splitlines()[0]) == (
        2, f"error: 127.0.0.1:{port}: Address already in use",
    )  # fmt: skip
