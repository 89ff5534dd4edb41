"""Secrets: values that a DAG names and does not hold."""

import asyncio
from pathlib import Path

import pytest

from gnomon.core.dag import CommandNode, Secret, parse_dag
from gnomon.core.dag.value import Json
from gnomon.errors import DefinitionError
from gnomon.ports.executor import Refused
from gnomon.shell.executor.secrets import Secrets, hidden
from tests.clauses import clause
from tests.core.dag.dags import a_node, dag_text
from tests.shell.executor.embedded_stage import open_stage, shell_node
from tests.shell.http.local_server import answer, serve

CANARY = "canary-7f3a"


def keep(folder: Path, user: str, name: str, value: str = CANARY) -> None:
    (folder / "secrets" / user).mkdir(parents=True, exist_ok=True)
    (folder / "secrets" / user / name).write_text(f"{value}\n")


@clause("EXEC-17")
def test_a_dag_names_a_secret_and_does_not_hold_it() -> None:
    env: Json = {"TOKEN": {"secret": "token"}, "PLAIN": "x"}
    (node,) = parse_dag(dag_text(nodes=[a_node(shell="true", env=env)])).nodes

    assert isinstance(node, CommandNode)
    assert node.env == {"TOKEN": Secret("token"), "PLAIN": "x"}


@clause("EXEC-17")
@pytest.mark.parametrize("value", [{"secret": "../x"}, {"secret": 5}, {}, {"file": "x"}])
def test_a_secret_that_makes_no_sense_is_refused(value: Json) -> None:
    node = a_node(shell="true", env={"TOKEN": value})

    with pytest.raises(DefinitionError, match=r"nodes\[0\]\.env\.TOKEN"):
        parse_dag(dag_text(nodes=[node]))


@clause("EXEC-17")
def test_a_command_gets_the_value_and_what_is_kept_does_not(tmp_path: Path) -> None:
    keep(tmp_path, "anna", "token")

    async def scenario() -> None:
        async with open_stage(tmp_path) as stage:
            node = shell_node(
                "a", "echo $TOKEN; echo $TOKEN > seen", env={"TOKEN": {"secret": "token"}}
            )
            await stage.run(node)

            assert await stage.log("a") == "***\n"

    asyncio.run(scenario())
    assert (tmp_path / "seen").read_text() == f"{CANARY}\n"
    assert CANARY.encode() not in (tmp_path / "ledger.sqlite3").read_bytes()


@clause("EXEC-17")
def test_a_request_gets_the_value_and_what_is_kept_does_not(tmp_path: Path) -> None:
    keep(tmp_path, "anna", "token", f"Bearer {CANARY}")

    async def scenario() -> None:
        async with (
            open_stage(tmp_path) as stage,
            serve(answer(body=f"you said Bearer {CANARY}".encode())) as server,
        ):
            headers: Json = {"Authorization": {"secret": "token"}}
            await stage.run({"id": "a", "type": "http", "url": server.url(), "headers": headers})

            assert server.asked[0].headers["authorization"] == f"Bearer {CANARY}"
            assert await stage.log("a") == "you said ***"

    asyncio.run(scenario())


@clause("EXEC-17")
def test_a_user_does_not_reach_the_secrets_of_another(tmp_path: Path) -> None:
    keep(tmp_path, "bert", "token")

    async def scenario() -> None:
        async with open_stage(tmp_path) as stage:
            node = shell_node("a", "true", env={"TOKEN": {"secret": "token"}})

            assert await stage.start(node) == Refused(
                "node a: there is no secret token for anna", permanent=True
            )

    asyncio.run(scenario())


@clause("EXEC-17")
def test_links_and_odd_files_are_no_secrets(tmp_path: Path) -> None:
    keep(tmp_path, "bert", "token")
    keep(tmp_path, "anna", "long", "x" * 70_000)
    keep(tmp_path, "anna", "odd", "a\0b")
    (tmp_path / "secrets" / "anna" / "link").symlink_to(tmp_path / "secrets" / "bert" / "token")
    secrets = Secrets(tmp_path / "secrets")

    assert [secrets.get("anna", name) for name in ("long", "odd", "link", "none")] == [None] * 4
    assert secrets.get("bert", "token") == CANARY
    assert Secrets().get("bert", "token") is None
    with pytest.raises(DefinitionError, match="secret: must be"):
        secrets.get("anna", "../bert/token")


@clause("EXEC-17")
def test_longer_values_are_hidden_first_and_short_ones_not_at_all() -> None:
    assert hidden("abcdef abcd ab", ["abcd", "abcdef", "ab"]) == "*** *** ab"
