"""The contract of forgetting: every workflow log passes these tests."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gnomon.errors import OwnershipLostError
from gnomon.ports.workflow_facts import (
    EventStatus,
    HandlerKind,
    Input,
    Mutation,
    MutationStatus,
    Phase,
    Publication,
    Run,
    RunStatus,
    Script,
)
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, WorkflowDesk, event, new, sheet

HOUR = 3_600_000
LATER = NOW + 48 * HOUR


def ended(number: int, *, script: int = 1, retry_of: int | None = None) -> Run:
    return Run(
        number=number, handler="sheet", kind=HandlerKind.CONSUMER, script=script,
        retry_of=retry_of, phase=Phase.COMMITTED, status=RunStatus.COMMITTED, created_ms=NOW,
        updated_ms=NOW,
    )  # fmt: skip


def mutation(run: int) -> Mutation:
    return Mutation(
        run=run, tool="append", params="1", key=f"orders/{run}", status=MutationStatus.APPLIED,
        created_ms=NOW,
    )  # fmt: skip


def filled(
    workflows: WorkflowDesk, *, current: int | None = None, retries: Mapping[int, int] | None = None
) -> None:
    """Runs 1 to 150, all ended at NOW, with the scripts 1 (up to run 50), 2 and 3 (in force)."""
    workflows.commit(new(sheet(), script=Script(1, "a", "text", "deploy", NOW)))
    runs = [
        ended(number, script=1 if number <= 50 else 2, retry_of=(retries or {}).get(number))
        for number in range(1, 151)
    ]
    for version in (2, 3):
        script = Script(version, f"{version}", "text", "deploy", NOW)
        workflows.change(script=script)
    workflows.change(
        lambda at: replace(at, runs=150, current=current, script=3), runs=runs,
        mutations=(mutation(5), mutation(60)),
    )  # fmt: skip
    assert workflows.take("me") == {"orders": 1}


def forget(
    workflows: WorkflowDesk, *, ended_ms: int = LATER, published_ms: int = LATER, after: int = 0,
    limit: int = 1_000, fence: int = 1, newest: int = 100,
) -> int:  # fmt: skip
    call = workflows.log.forget(
        "orders", fence=fence, ended_ms=ended_ms, published_ms=published_ms, after=after,
        limit=limit, newest=newest,
    )  # fmt: skip
    return workflows.do(call)


def numbers(workflows: WorkflowDesk) -> list[int]:
    return [one.number for one in workflows.do(workflows.log.runs("orders", limit=1_000))][::-1]


@clause("WLOG-11")
def test_as_many_of_the_newest_runs_stay_as_is_said(workflows: WorkflowDesk) -> None:
    filled(workflows)

    forget(workflows, newest=3)

    assert numbers(workflows) == [148, 149, 150]


@clause("WLOG-11")
def test_old_runs_go_but_not_the_newest_hundred(workflows: WorkflowDesk) -> None:
    filled(workflows)

    forget(workflows, ended_ms=NOW)
    assert len(numbers(workflows)) == 150
    forget(workflows, limit=20)
    assert numbers(workflows)[0] == 21
    forget(workflows)
    assert numbers(workflows) == list(range(51, 151))


@clause("WLOG-11", "KEEP-2")
def test_the_current_run_stays_with_everything_that_it_follows(workflows: WorkflowDesk) -> None:
    filled(workflows, current=150, retries={150: 20, 20: 10})

    forget(workflows)

    assert numbers(workflows) == list(range(10, 151))
    assert workflows.facts().run == ended(150, script=2, retry_of=20)


@clause("WLOG-11")
def test_mutations_and_scripts_go_with_the_last_run_that_knew_them(workflows: WorkflowDesk) -> None:
    filled(workflows)

    forget(workflows)

    assert [one.run for one in workflows.do(workflows.log.mutations("orders", range(1, 151)))] == [
        60
    ]
    assert workflows.do(workflows.log.script("orders", 1)) is None
    assert workflows.do(workflows.log.script("orders", 2)) is not None
    assert workflows.do(workflows.log.script("orders", 3)) is not None


@clause("WLOG-12", "KEEP-2")
def test_events_go_when_they_are_settled_and_their_run_is_gone(workflows: WorkflowDesk) -> None:
    filled(workflows, current=150)
    workflows.publish(*(event(f"o{number}") for number in range(1, 7)))
    workflows.change(inputs=(Input(id="mail/1"),))
    workflows.publish(event("o7", causes=("mail/1",)))
    for run, id in ((5, "o1"), (60, "o2"), (5, "o6")):
        workflows.change(reserve=(run, [("orders", id)]))
        workflows.change(settle=(run, EventStatus.CONSUMED))
    workflows.change(reserve=(150, [("orders", "o4")]))
    workflows.change(skip_input="mail/1")
    workflows.do(workflows.log.publish("orders", [event("o6")], now_ms=LATER + HOUR))

    assert forget(workflows) == 0

    assert {id: str(status) for id, status in workflows.statuses().items()} == {
        "o2": "consumed", "o3": "pending", "o4": "reserved", "o5": "pending", "o6": "consumed",
    }  # fmt: skip
    assert workflows.facts().pending["orders"].size == 2


@clause("WLOG-12")
def test_an_input_goes_with_the_last_event_that_comes_from_it(workflows: WorkflowDesk) -> None:
    filled(workflows)
    workflows.change(inputs=(Input(id="mail/1"), Input(id="mail/2")))
    workflows.publish(event("o1", causes=("mail/1", "mail/2")), event("o2", causes=("mail/2",)))
    workflows.change(reserve=(5, [("orders", "o1")]))
    workflows.change(settle=(5, EventStatus.CONSUMED))

    forget(workflows)

    found = workflows.do(workflows.log.inputs("orders", limit=10))
    assert [(one.id, one.pending) for one in found] == [("mail/2", 1)]


@clause("WLOG-12", "KEEP-4")
def test_only_so_many_events_are_looked_at_in_one_go(workflows: WorkflowDesk) -> None:
    filled(workflows)
    workflows.publish(*(event(f"o{number}") for number in range(1, 6)))
    workflows.change(reserve=(5, [("orders", f"o{number}") for number in (1, 2, 3, 5)]))
    workflows.change(settle=(5, EventStatus.CONSUMED))
    forget(workflows, published_ms=0)

    assert forget(workflows, limit=2) == 2
    assert list(workflows.statuses()) == ["o3", "o4", "o5"]
    assert forget(workflows, limit=2, after=2) == 4
    assert forget(workflows, limit=2, after=4) == 0
    assert list(workflows.statuses()) == ["o4"]


@clause("WLOG-12", "KEEP-3")
def test_publishing_an_event_again_keeps_it_known(workflows: WorkflowDesk) -> None:
    filled(workflows)
    workflows.publish(event("o1"), event("o2"))
    workflows.change(reserve=(5, [("orders", "o1"), ("orders", "o2")]))
    workflows.change(settle=(5, EventStatus.CONSUMED))
    again = Publication("orders", "o1", "2", ())

    workflows.do(workflows.log.publish("orders", [again], now_ms=NOW + 2 * HOUR))
    forget(workflows, published_ms=NOW + 2 * HOUR)

    assert {id: str(status) for id, status in workflows.statuses().items()} == {"o1": "consumed"}


@clause("WLOG-12", "HOST-4")
def test_only_the_holder_forgets(workflows: WorkflowDesk) -> None:
    filled(workflows)

    with pytest.raises(OwnershipLostError):
        forget(workflows, fence=2)

    assert len(numbers(workflows)) == 150
