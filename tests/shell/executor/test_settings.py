"""Which executor a service has, and what it may do, by the variables of its environment."""

import asyncio
from pathlib import Path

import pytest

from gnomon.compose.executors import (
    ExecutorSettings,
    callback_keys,
    make_executor,
    open_executor,
)
from gnomon.errors import DefinitionError
from gnomon.ports.executor import Accepted, Answer, Refused
from gnomon.shell.clock import SystemClock
from gnomon.shell.executor.embedded import EmbeddedExecutor
from gnomon.shell.executor.http import HttpExecutor
from gnomon.shell.store.dag import SqliteDagRuns
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.core.dag.dags import dag_text
from tests.shell.executor.embedded_stage import FUNCTIONS, a_meta, function_node, shell_node


def answered(settings: ExecutorSettings, folder: Path, text: str) -> Answer:
    """What the executor of these settings says to a DAG."""

    async def scenario() -> Answer:
        ledger = SqliteLedger.open(folder / "ledger.sqlite3")
        dag_runs = SqliteDagRuns(ledger.database)
        executor = make_executor(settings, dag_runs, SystemClock(), output=folder / "output")
        try:
            assert isinstance(executor, EmbeddedExecutor)
            answer = await executor.run(text, a_meta())
            await executor.drain(grace_ms=60_000)
            return answer
        finally:
            await executor.close()
            await ledger.close()

    return asyncio.run(scenario())


@clause("UP-6")
def test_commands_functions_and_secrets_have_to_be_allowed(tmp_path: Path) -> None:
    (tmp_path / "secrets" / "anna").mkdir(parents=True)
    (tmp_path / "secrets" / "anna" / "token").write_text("very secret\n")
    command = dag_text(nodes=[shell_node("a", "true", env={"TOKEN": {"secret": "token"}})])
    function = dag_text(nodes=[function_node("a", "in_thread")])
    allowed = ExecutorSettings(
        allow_commands=True, python_modules=f"other, {FUNCTIONS}",
        secrets_directory=tmp_path / "secrets",
    )  # fmt: skip

    assert answered(ExecutorSettings(), tmp_path, command) == Refused(
        "node a: commands are not allowed here; set GNOMON_ALLOW_COMMANDS=true", permanent=True
    )
    assert answered(ExecutorSettings(allow_commands=True), tmp_path, command) == Refused(
        "node a: there is no secret token for anna", permanent=True
    )
    assert answered(ExecutorSettings(), tmp_path, function) == Refused(
        "node a: Python functions are not allowed here; name their modules in "
        "GNOMON_PYTHON_MODULES",
        permanent=True,
    )
    assert isinstance(answered(allowed, tmp_path, command), Accepted)
    (tmp_path / "ledger.sqlite3").unlink()
    assert isinstance(answered(allowed, tmp_path, function), Accepted)


@clause("UP-6", "SIGN-1")
def test_an_executor_at_a_url_has_a_key_and_may_have_a_former_one(tmp_path: Path) -> None:
    for name in ("new", "old"):
        (tmp_path / name).write_text(f"{name * 20}\n")
    settings = ExecutorSettings(
        executor_url="https://executor.example/runs", executor_key_id="b",
        executor_secret_file=tmp_path / "new", executor_former_key_id="a",
        executor_former_secret_file=tmp_path / "old",
    )  # fmt: skip

    keys = callback_keys(settings)
    assert keys is not None
    assert (keys.current, sorted(keys.secrets)) == ("b", ["a", "b"])
    assert keys.secrets["b"] == b"new" * 20

    async def scenario() -> None:
        ledger = SqliteLedger.open(":memory:")
        dag_runs = SqliteDagRuns(ledger.database)
        executor = make_executor(settings, dag_runs, SystemClock(), output=None)
        assert isinstance(executor, HttpExecutor)
        await executor.close()
        await ledger.close()

    asyncio.run(scenario())


@clause("UP-6", "SIGN-3")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "GNOMON_EXECUTOR_URL: needs a key to sign with"),
        ({"executor_key_id": "a"}, "GNOMON_EXECUTOR_URL: needs a key to sign with"),
        (
            {"executor_key_id": "a", "executor_secret_file": "missing"},
            "GNOMON_EXECUTOR_SECRET_FILE: cannot be read (No such file or directory)",
        ),
        (
            {"executor_key_id": "a", "executor_secret_file": "/dev/null"},
            "executor.secrets.a: must have at least 32 bytes, got '0 bytes'",
        ),
    ],
)
def test_an_executor_that_cannot_be_signed_for_is_refused(
    fields: dict[str, str], message: str
) -> None:
    settings = ExecutorSettings.model_validate({"executor_url": "https://x.example", **fields})

    with pytest.raises(DefinitionError) as caught:
        callback_keys(settings)

    assert str(caught.value).startswith(message)


@clause("UP-6")
def test_without_a_url_there_are_no_keys() -> None:
    assert callback_keys(ExecutorSettings()) is None


@clause("UP-6", "EXEC-40")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"job_templates": "missing"}, "GNOMON_JOB_TEMPLATES: there is no such directory"),
        (
            {"job_templates": ".", "executor_url": "https://x.example"},
            "GNOMON_JOB_TEMPLATES: is not for an executor that is called",
        ),
        ({"job_templates": "."}, "kubeconfig: there is no such file"),
    ],
)
def test_jobs_need_templates_a_cluster_and_no_other_executor(
    fields: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    async def scenario() -> None:
        ledger = SqliteLedger.open(":memory:")
        dag_runs, settings = (
            SqliteDagRuns(ledger.database),
            ExecutorSettings.model_validate(fields),
        )
        try:
            async with open_executor(settings, dag_runs, SystemClock(), output=None):
                raise AssertionError(fields)
        finally:
            await ledger.close()

    with pytest.raises(DefinitionError) as caught:
        asyncio.run(scenario())

    assert str(caught.value).startswith(message)
