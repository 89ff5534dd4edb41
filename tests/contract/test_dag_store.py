"""What every DAG store keeps: in a file, in a database."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from gnomon.core.dag import parse_dag
from gnomon.ports.dag import DagStore, StoredDag
from gnomon.shell.store.dag import SqliteDagStore
from gnomon.shell.store.postgres.dag import PostgresDagStore
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread
from tests.clauses import clause
from tests.core.dag.dags import dag_text

START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
_Result = TypeVar("_Result")
Do = Callable[[Coroutine[object, object, _Result]], _Result]


@pytest.fixture(params=["sqlite", "sqlite-thread", "postgres"])
def dags(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[DagStore]:
    if request.param == "postgres":
        database = request.getfixturevalue("common_database")
        schema = request.getfixturevalue("schema")
        shared = runner.run(PostgresLedger.open(database, schema=schema))
        yield PostgresDagStore(shared.pool, schema)
        runner.run(shared.close())
        return
    executor = ledger_thread() if request.param == "sqlite-thread" else None
    ledger = SqliteLedger.open(tmp_path / "ledger.sqlite3", executor=executor)
    yield SqliteDagStore(ledger.database, executor=executor)
    runner.run(ledger.close())
    if executor is not None:
        executor.shutdown()


def stored(
    workflow_id: str = "report", version: int = 1, name: str = "n", user_id: str = "anna"
) -> StoredDag:
    dag = parse_dag(dag_text(workflow_id=workflow_id, version=version, name=name))
    return StoredDag(user_id, workflow_id, version, dag.digest, dag.text, START_MS + version)


@clause("WSTORE-1")
def test_what_was_put_is_there(runner: asyncio.Runner, dags: DagStore) -> None:
    dag = stored()

    assert runner.run(dags.load("anna", "report", 1)) is None
    assert runner.run(dags.put(dag)) == dag
    assert runner.run(dags.load("anna", "report", 1)) == dag
    assert runner.run(dags.load("anna", "report", 2)) is None
    assert runner.run(dags.load("anna", "other", 1)) is None


@clause("WSTORE-2")
def test_the_same_version_again_changes_nothing(runner: asyncio.Runner, dags: DagStore) -> None:
    first = stored()
    runner.run(dags.put(first))

    assert runner.run(dags.put(first._replace(created_ms=START_MS + 99))) == first
    assert runner.run(dags.load("anna", "report", 1)) == first


@clause("WSTORE-2")
def test_a_version_with_other_content_stays_as_it_was(
    runner: asyncio.Runner, dags: DagStore
) -> None:
    first, other = stored(name="first"), stored(name="other")
    runner.run(dags.put(first))

    assert runner.run(dags.put(other)) == first
    assert runner.run(dags.load("anna", "report", 1)) == first


@clause("WSTORE-2")
def test_of_many_who_put_a_version_at_once_one_wins_and_all_know_it(
    runner: asyncio.Runner, dags: DagStore
) -> None:
    async def scenario() -> list[StoredDag]:
        rivals = [stored(name=f"rival {number}") for number in range(8)]
        return await asyncio.gather(*map(dags.put, rivals))

    assert len(set(runner.run(scenario()))) == 1


@clause("WSTORE-3")
def test_versions_are_listed_from_the_highest(runner: asyncio.Runner, dags: DagStore) -> None:
    for version in (2, 10, 9):
        runner.run(dags.put(stored(version=version)))

    def versions(**options: int) -> list[int]:
        return [one.version for one in runner.run(dags.versions("anna", "report", **options))]

    assert versions() == [10, 9, 2]
    assert versions(limit=2) == [10, 9]
    assert versions(before=10) == [9, 2]
    assert runner.run(dags.newest("anna", "report")) == stored(version=10)
    assert runner.run(dags.newest("anna", "other")) is None


@clause("WSTORE-3")
def test_dags_are_listed_by_their_ids_with_their_newest_version(
    runner: asyncio.Runner, dags: DagStore
) -> None:
    for workflow_id, version in [("b", 1), ("a", 1), ("a", 2), ("C", 1), ("a.b", 1)]:
        runner.run(dags.put(stored(workflow_id, version)))
    runner.run(dags.put(stored("a", 7, user_id="Bert")))

    def listed(
        user_id: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> list[tuple[str, str, int]]:
        found = runner.run(dags.newest_of_each(user_id=user_id, after=after, limit=limit))
        return [(one.user_id, one.workflow_id, one.version) for one in found]

    of_anna = [("anna", "C", 1), ("anna", "a", 2), ("anna", "a.b", 1), ("anna", "b", 1)]
    assert listed() == [("Bert", "a", 7), *of_anna]
    assert listed("anna") == of_anna
    assert listed("anna", after=("anna", "a"), limit=1) == [("anna", "a.b", 1)]
    assert listed(after=("Bert", "a"), limit=1) == [("anna", "C", 1)]
    assert listed("nobody") == []


@clause("WSTORE-6")
@pytest.mark.parametrize("version", [None, 2])
def test_a_version_that_is_removed_is_not_there_and_not_forgotten(
    runner: asyncio.Runner, dags: DagStore, version: int | None
) -> None:
    for number in (1, 2):
        runner.run(dags.put(stored(version=number)))
    runner.run(dags.put(stored(version=2, user_id="bert")))
    runner.run(dags.put(stored("other", version=2)))
    other = stored(version=2, name="other")

    def remove() -> int:
        done = dags.remove("anna", "report", version=version, now_ms=START_MS + 9)
        return runner.run(done)

    assert remove() == (2 if version is None else 1)
    assert remove() == 0
    assert runner.run(dags.load("anna", "report", 2)) is None
    left = [] if version is None else [stored(version=1)]
    assert list(runner.run(dags.versions("anna", "report"))) == left
    listed = runner.run(dags.newest_of_each(user_id="anna"))
    assert [(one.workflow_id, one.version) for one in listed] == [
        ("other", 2), *(("report", 1) for _ in left),
    ]  # fmt: skip
    assert runner.run(dags.load("bert", "report", 2)) is not None
    assert runner.run(dags.highest("anna", "report")) == 2
    assert runner.run(dags.put(other)) == stored(version=2)
    assert runner.run(dags.load("anna", "report", 2)) is None
    assert runner.run(dags.put(stored(version=2))) == stored(version=2)
    assert runner.run(dags.load("anna", "report", 2)) == stored(version=2)
    assert runner.run(dags.newest("anna", "report")) == stored(version=2)
    assert runner.run(dags.highest("anna", "nothing")) == 0


@clause("WSTORE-1")
def test_users_have_ids_of_their_own(runner: asyncio.Runner, dags: DagStore) -> None:
    of_anna, of_bert = stored(name="anna's"), stored(name="bert's", user_id="bert")
    runner.run(dags.put(of_anna))

    assert runner.run(dags.load("bert", "report", 1)) is None
    assert runner.run(dags.put(of_bert)) == of_bert
    assert runner.run(dags.load("anna", "report", 1)) == of_anna


@clause("WSTORE-4")
def test_a_dag_of_a_mebibyte_is_kept(runner: asyncio.Runner, dags: DagStore) -> None:
    nodes = [{"id": f"n{n}", "type": "command", "shell": "é" * 5_000} for n in range(30)]
    dag = parse_dag(dag_text(nodes=nodes))
    kept = StoredDag("anna", "report", 1, dag.digest, dag.text, START_MS)

    assert len(dag.text) > 900_000
    assert runner.run(dags.put(kept)) == kept
