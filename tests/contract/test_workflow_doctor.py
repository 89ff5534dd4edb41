"""What a doctor finds in the tables of workflows: all that cannot be, and nothing else."""

import re
from dataclasses import replace

import pytest

from gnomon.ports.workflow_facts import (
    EventStatus,
    HandlerKind,
    Mutation,
    MutationStatus,
    Phase,
    Run,
    RunStatus,
    Script,
)
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.store.postgres.workflow_examination import examine_shared_workflows
from gnomon.shell.store.postgres.workflow_log import PostgresWorkflowLog
from gnomon.shell.store.workflow_examination import examine_rows
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, WorkflowDesk, event, new, sheet

TABLES = {
    "workflows": "workflows", "runs": "workflow_runs", "events": "workflow_events",
    "topics": "workflow_topics", "mutations": "workflow_mutations", "scripts": "workflow_scripts",
}  # fmt: skip


def run(number: int, status: RunStatus, phase: Phase, *, retry_of: int | None = None) -> Run:
    settled = '{"status": "applied", "result": null}' if phase.is_settled else None
    return Run(
        number=number, handler="sheet", kind=HandlerKind.CONSUMER, script=1, retry_of=retry_of,
        phase=phase, status=status, prepared="{}", mutated=settled, mutation=1, created_ms=NOW,
        updated_ms=NOW,
    )  # fmt: skip


def filled(workflows: WorkflowDesk) -> None:
    """One order dealt with in two attempts, one in a run that waits, and one pending."""
    workflows.commit(new(sheet(), script=Script(1, "a", "text", "deploy", NOW)))
    workflows.publish(event("o1"), event("o2"), event("o3"))
    first = run(1, RunStatus.CRASHED, Phase.MUTATING)
    second = run(2, RunStatus.COMMITTED, Phase.COMMITTED, retry_of=1)
    third = replace(run(3, RunStatus.RECONCILIATION, Phase.MUTATING), mutation=3)
    workflows.change(
        lambda at: replace(at, runs=3, current=3), runs=(first, second, third),
        mutations=[
            Mutation(run=number, tool="append", params="1", key=f"orders/{number}", status=status)
            for number, status in ((1, MutationStatus.APPLIED), (3, MutationStatus.INDETERMINATE))
        ],
        reserve=(2, [("orders", "o1")]),
    )  # fmt: skip
    workflows.change(settle=(2, EventStatus.CONSUMED), reserve=(3, [("orders", "o2")]))


def ruin(workflows: WorkflowDesk, statement: str) -> None:
    """Do to the tables what no host does; the statement names them as SQLite has them."""
    log = workflows.log
    if isinstance(log, SqliteWorkflowLog):
        log.database.connection.execute(statement)
        return
    assert isinstance(log, PostgresWorkflowLog)
    schema = log.sql.schema
    placed = re.sub(r"\b(workflows|runs|events|topics|mutations|scripts)\b(?= |;|$)",
                    lambda found: f"{schema}.{TABLES[found[1]]}", statement, count=1)  # fmt: skip
    workflows.do(log.pool.fetch(placed))


def findings(workflows: WorkflowDesk, url: str) -> list[tuple[str, str, str]]:
    log: WorkflowLog = workflows.log
    if isinstance(log, SqliteWorkflowLog):
        found = list(examine_rows(log.database.connection))
    else:
        assert isinstance(log, PostgresWorkflowLog)
        found = workflows.do(examine_shared_workflows(url, schema=log.sql.schema)).findings
    return [(one.code, one.subject, one.problem) for one in found]


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("common_database"))


@clause("WDOC-4")
def test_what_a_host_writes_is_in_good_order(workflows: WorkflowDesk, url: str) -> None:
    filled(workflows)

    assert findings(workflows, url) == []


@clause("WDOC-4")
@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "UPDATE workflows SET current = 9",
            ("open-run", "run 9", "is the open run, and is not there"),
        ),
        (
            "UPDATE workflows SET current = 2",
            ("open-run", "run 2", "is the open run, and is committed"),
        ),
        (
            "UPDATE workflows SET current = NULL",
            ("left-run", "run 3",
             "is paused:reconciliation, but is not the open run and no other follows it"),
        ),
        (
            "UPDATE runs SET retry_of = NULL WHERE number = 2",
            ("left-run", "run 1", "is crashed, but is not the open run and no other follows it"),
        ),
        (
            "UPDATE runs SET handler = 'other' WHERE number = 2",
            ("attempts", "run 2", "follows run 1 of another handler"),
        ),
        (
            "UPDATE runs SET retry_of = 1 WHERE number = 3",
            ("attempts", "run 1", "is followed by 2 runs"),
        ),
        (
            "UPDATE runs SET phase = 'emitting' WHERE number = 2",
            ("word", "run 2", "has the phase emitting and the status committed"),
        ),
        (
            "UPDATE runs SET status = 'asleep' WHERE number = 3",
            ("word", "run 3", "has the phase mutating and the status asleep"),
        ),
        (
            "UPDATE events SET status = 'lost' WHERE id = 'o1'",
            ("word", "event orders/o1", "has the status lost"),
        ),
        (
            "UPDATE runs SET prepare_result = NULL WHERE number = 3",
            ("checkpoint", "run 3", "is mutating without what it has prepared"),
        ),
        (
            "UPDATE runs SET mutation_result = NULL WHERE number = 2",
            ("checkpoint", "run 2", "is committed without what became of its mutation"),
        ),
        (
            "UPDATE events SET reserved_by = 2 WHERE id = 'o2'",
            ("reservation", "event orders/o2", "is reserved by run 2, which is not open"),
        ),
        (
            "UPDATE topics SET pending = 5",
            ("count", "topic orders", "counts 5 pending events, and has 1"),
        ),
        ("DELETE FROM topics", ("count", "topic orders", "counts nothing, and has pending events")),
        (
            "UPDATE mutations SET status = 'in_flight' WHERE run = 1",
            ("uncertain", "mutation orders/1",
             "is in_flight, and no open run waits for that to be known"),
        ),
        (
            "UPDATE runs SET mutation = 3 WHERE number = 2",
            ("unconcluded", "mutation orders/1",
             "was applied, and no run has come to its end with it"),
        ),
        ("UPDATE workflows SET runs = 2", ("number", "its runs", "are numbered beyond 2")),
        ("UPDATE workflows SET arrivals = 2", ("number", "its events", "are numbered beyond 2")),
        ("DELETE FROM scripts", ("script", "script 1", "is in force, and is not there")),
    ],
)  # fmt: skip
def test_what_no_host_writes_is_found(
    workflows: WorkflowDesk, url: str, statement: str, found: tuple[str, str, str]
) -> None:
    filled(workflows)

    ruin(workflows, statement)

    assert found in findings(workflows, url)


@clause("WDOC-4", "WLOG-11", "WLOG-12")
def test_what_was_forgotten_is_not_missed(workflows: WorkflowDesk, url: str) -> None:
    filled(workflows)
    more = [
        replace(run(number, RunStatus.COMMITTED, Phase.COMMITTED), mutation=None)
        for number in range(4, 200)
    ]
    done = replace(run(3, RunStatus.COMMITTED, Phase.COMMITTED), mutation=3)
    resolved = Mutation(
        run=3, tool="append", params="1", key="orders/3", status=MutationStatus.APPLIED
    )
    workflows.change(
        lambda at: replace(at, runs=199, current=None), runs=(done, *more), mutations=(resolved,),
        settle=(3, EventStatus.CONSUMED),
    )  # fmt: skip
    assert workflows.take("me") == {"orders": 1}
    workflows.do(
        workflows.log.forget(
            "orders", fence=1, ended_ms=NOW + 1, published_ms=NOW + 1, after=0, limit=50, newest=100
        )
    )

    assert workflows.statuses() == {"o3": EventStatus.PENDING}
    assert findings(workflows, url) == []
