"""The contract of versions and of removing: every workflow log passes these tests."""

from dataclasses import replace

import pytest

from gnomon.errors import OwnershipLostError
from gnomon.ports.workflow_facts import (
    Answer,
    HandlerKind,
    Input,
    Mutation,
    Run,
    Script,
    Standing,
    WorkflowChange,
)
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, WorkflowDesk, event, new, sheet


@clause("SEEN-12", "FLOW-6")
def test_versions_are_listed_newest_first_and_page_by_page(workflows: WorkflowDesk) -> None:
    one, two, three = (Script(number, f"d{number}", "x", "deploy", NOW) for number in (1, 2, 3))
    workflows.commit(new(sheet(), script=one))
    workflows.change(script=two)
    workflows.change(script=three)

    def versions(limit: int, before: int | None = None) -> list[Script]:
        return workflows.do(workflows.log.scripts("orders", limit=limit, before=before))

    assert versions(2) == [three, two]
    assert versions(2, before=2) == [one]


@clause("WLOG-13", "WASK-10", "WLOG-4")
def test_a_removed_workflow_leaves_nothing_and_its_holder_never_holds_the_next(
    workflows: WorkflowDesk,
) -> None:
    run = Run(number=1, handler="sheet", kind=HandlerKind.CONSUMER, script=1, mutation=1)
    mutation = Mutation(run=1, tool="append", params="1", key="orders/1", created_ms=NOW)
    workflows.commit(new(sheet(), script=Script(1, "a", "text", "deploy", NOW)))
    workflows.commit(WorkflowChange(standing=Standing(name="other", created_ms=NOW)))
    workflows.take("anna")
    workflows.change(
        lambda at: replace(at, runs=1), runs=(run,), mutations=(mutation,), publish=(event("o1"),),
        inputs=(Input(id="i1", created_ms=NOW),),
    )  # fmt: skip
    workflows.publish(event("o2", causes=("i1",)))
    facts = workflows.facts()
    seen = facts.standing.version, facts.standing.arrivals

    def remove(seen: tuple[int, int]) -> Answer:
        return workflows.do(workflows.log.remove("orders", seen=seen))

    assert remove((seen[0] - 1, seen[1])) is remove((seen[0], seen[1] - 1)) is Answer.STALE
    assert workflows.facts() == facts
    assert remove(seen) is Answer.MADE
    assert remove(seen) is Answer.STALE

    assert workflows.do(workflows.log.load("orders")) is None
    assert sorted(workflows.do(workflows.log.versions())) == ["other"]
    assert workflows.do(workflows.log.keep({"orders": 1})) == {"orders"}
    workflows.commit(new(sheet(), script=Script(1, "b", "text", "deploy", NOW)))
    assert workflows.events() == []
    assert workflows.do(workflows.log.runs("orders", limit=5)) == []
    assert workflows.do(workflows.log.mutations("orders", [1])) == []
    assert workflows.do(workflows.log.inputs("orders", limit=5)) == []
    assert workflows.do(workflows.log.keep({"orders": 1})) == {"orders"}
    with pytest.raises(OwnershipLostError):
        workflows.try_change(fence=1, number=1)
    assert workflows.take("bob", "other")["orders"] == 3
