"""`gnomon up` as a new user meets it: something to see, a line that works, nothing lost."""

import shlex
import shutil
import signal
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.command_line import gnomon, gnomon_process
from tests.acceptance.serving import up
from tests.clauses import clause


@clause("UP-1", "UP-3", "UP-4")
def test_a_new_service_has_samples_that_run_and_prints_a_line_that_works(tmp_path: Path) -> None:
    with up(tmp_path) as service:
        line = next(one for one in service.welcome if one.strip().startswith("curl "))
        listed = service.schedule("list", "--json").json["items"]
        assert isinstance(listed, list)
        ids = {one["workflow_id"]: one["schedule_id"] for one in listed}
        service.until("run.ended", schedule=ids["hello"])
        service.schedule("trigger", ids["report"], "--key", "first")
        service.until("run.ended", schedule=ids["report"], key=f"manual:{ids['report']}:first")
        shown = [service.schedule("runs", ids[name]).out for name in ("hello", "report")]
        if shutil.which("curl"):
            done = subprocess.run(
                ["sh", "-c", line], cwd=tmp_path, check=True, capture_output=True, text=True
            )
            assert ids["hello"] in done.stdout
        service.signal(signal.SIGTERM)
        code = service.end()

    assert sorted(ids) == ["hello", "report", "slow"]
    assert all("SUCCESS" in one for one in shown)
    assert shlex.split(line)[0] == "curl"
    assert code == 0


@clause("UP-8")
def test_the_line_for_the_command_line_works_wherever_the_service_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with up(tmp_path, "--data", "my data") as service:
        first, *_, line = service.welcome
        done = gnomon(*shlex.split(line)[1:])

    assert first == f"Gnomon is up at {service.url}/ with its data in my data/; ctrl-C stops it."
    assert line == f"  gnomon schedule list --url {service.url} --token-file 'my data/token'"
    assert (done.code, "hello" in done.out) == (0, True)


@clause("UP-8")
def test_a_ledger_in_a_database_is_named_without_its_password(
    tmp_path: Path, database: str
) -> None:
    address = database.replace("postgres@", "postgres:secret@")
    with up(tmp_path, "--no-samples", "--database", address, "--schema", "trial") as service:
        first = service.welcome[0]

    assert first == (
        f"Gnomon is up at {service.url}/ with its ledger in {database}, schema trial, "
        "its token in .gnomon/; ctrl-C stops it."
    )


@clause("UP-1")
def test_what_was_registered_is_there_after_a_kill(tmp_path: Path) -> None:
    with up(tmp_path, "--no-samples") as service:
        service.schedule(
            "upsert", "--id", "nightly", "--dag", "w", "--dag-version", "1", "--user",
            "acme", "--cron", "0 3 * * *",
        )  # fmt: skip
        service.process.kill()
        service.process.wait()
    with up(tmp_path) as service:
        found = service.schedule("list", "--json").json["items"]
        token = service.token_file.read_text()

    assert isinstance(found, list)
    assert [one["schedule_id"] for one in found] == ["nightly"]
    assert token.startswith("gnomon_")


@clause("UP-2")
def test_the_token_is_for_its_owner_and_stays(tmp_path: Path) -> None:
    tokens = []
    for _ in range(2):
        with up(tmp_path, "--no-samples") as service:
            tokens.append(service.token_file.read_text())
            modes = [
                stat.S_IMODE(path.stat().st_mode)
                for path in (service.token_file, service.token_file.parent,
                             service.token_file.parent / "service.sqlite3")
            ]  # fmt: skip
            assert modes == [0o600, 0o700, 0o600]
            service.signal(signal.SIGTERM)
            assert service.end() == 0

    assert tokens[0] == tokens[1]
    assert len(tokens[0].strip()) >= 40


@clause("UP-2")
@pytest.mark.parametrize(("mode", "text"), [(0o644, "gnomon_" + "x" * 43), (0o600, "short")])
def test_a_token_that_others_could_know_is_refused(tmp_path: Path, mode: int, text: str) -> None:
    token = tmp_path / "token"
    token.write_text(text)
    token.chmod(mode)
    done = gnomon("up", "--data", str(tmp_path), "--port", "0")

    assert done.code == 1
    assert "the next start makes a new one" in done.err


@clause("UP-2")
def test_a_link_in_the_place_of_the_token_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x")
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    done = gnomon("up", "--data", str(tmp_path), "--port", "0")

    assert done.code == 2
    assert (tmp_path / "elsewhere").read_text() == "x"


@clause("UP-1")
def test_a_second_service_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with up(tmp_path, "--no-samples"):
        second = gnomon_process("up", "--data", str(tmp_path / ".gnomon"), "--port", "0")

    assert second.code == 2
    assert "is held by" in second.err


@clause("CLI-3", "UP-7")
def test_a_port_that_is_taken_is_said_with_what_to_do_and_nothing_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = gnomon("up", "--data", str(tmp_path / "data"), "--port", str(port))

    assert (done.code, done.err) == (
        2,
        f"error: 127.0.0.1:{port}: Address already in use\n"
        "hint: stop what listens there, or choose another port\n",
    )
    assert list(tmp_path.iterdir()) == []


@clause("UP-5")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["up", "--host", "0.0.0.0"], "must be a loopback address here"),
        (["up", "--port", "70000"], "port: should be less than or equal to 65535, got 70000"),
        (["api"], "database: must be given"),
        (["worker"], "database: must be given"),
        (["api", "--database", "postgresql://x/y", "--host", "0.0.0.0"],
         "can be reached from elsewhere, and the line is not protected"),
        (["api", "--database", "postgresql://x/y"], "access: must be given"),
        (["api", "--database", "postgresql://x/y", "--tls-key", "k.pem"],
         "tls_certificate and tls_key: must be given together"),
        (["api", "--database", "postgresql://x/y", "--tls-client-authority", "ca.pem"],
         "tls_client_authority: needs tls_certificate and tls_key"),
    ],
)  # fmt: skip
def test_what_would_not_be_safe_or_not_work_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = gnomon(*arguments)

    assert done.code == 1
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


@clause("UP-5")
def test_a_setting_of_the_environment_is_read_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_HOST", "0.0.0.0")
    assert "loopback" in gnomon("up").err
    monkeypatch.setenv("GNOMON_HOST", "127.0.0.1")
    monkeypatch.setenv("TICK_MS", "soon")
    assert "TICK_MS: must be a whole number" in gnomon("up", "--port", "0").err


@clause("UP-5")
def test_a_command_of_the_service_without_its_extra_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['uvicorn'] = None; from gnomon.cli import main;"
        "sys.exit(main(['up']))"
    )
    done = subprocess.run(
        ["python", "-c", program], check=False, capture_output=True, text=True,
        env={"PATH": str(Path(__import__("sys").executable).parent)},
    )  # fmt: skip

    assert done.returncode == 2
    assert 'pip install "gnomon[service]"' in done.stderr
