"""The contract of versions and of removing: every workflow log passes these tests."""

from dataclasses import replace

import pytest

from gnomon.errors import OwnershipLostError
from gnomon.ports.workflow_facts import (
    Answer,
    FlowChange,
    HandlerKind,
    Input,
    Mutation,
    Run,
    Script,
    Standing,
)
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, WorkflowDesk, event, new, sheet


@clause("SEEN-12", "FLOW-6")
def test_versions_are_listed_newest_first_and_page_by_page(flows: WorkflowDesk) -> None:
    one, two, three = (Script(number, f"d{number}", "x", "deploy", NOW) for number in (1, 2, 3))
    flows.commit(new(sheet(), script=one))
    flows.change(script=two)
    flows.change(script=three)

    def versions(limit: int, before: int | None = None) -> list[Script]:
        return flows.do(flows.log.scripts("orders", limit=limit, before=before))

    assert versions(2) == [three, two]
    assert versions(2, before=2) == [one]


@clause("WLOG-13", "WASK-10", "WLOG-4")
def test_a_removed_workflow_leaves_nothing_and_its_holder_never_holds_the_next(
    flows: WorkflowDesk,
) -> None:
    run = Run(number=1, handler="sheet", kind=HandlerKind.CONSUMER, script=1, mutation=1)
    mutation = Mutation(run=1, tool="append", params="1", key="orders/1", created_ms=NOW)
    flows.commit(new(sheet(), script=Script(1, "a", "text", "deploy", NOW)))
    flows.commit(FlowChange(standing=Standing(name="other", created_ms=NOW)))
    flows.take("anna")
    flows.change(
        lambda at: replace(at, runs=1), runs=(run,), mutations=(mutation,), publish=(event("o1"),),
        inputs=(Input(id="i1", created_ms=NOW),),
    )  # fmt: skip
    flows.publish(event("o2", causes=("i1",)))
    facts = flows.facts()
    seen = facts.standing.version, facts.standing.arrivals

    def remove(seen: tuple[int, int]) -> Answer:
        return flows.do(flows.log.remove("orders", seen=seen))

    assert remove((seen[0] - 1, seen[1])) is remove((seen[0], seen[1] - 1)) is Answer.STALE
    assert flows.facts() == facts
    assert remove(seen) is Answer.MADE
    assert remove(seen) is Answer.STALE

    assert flows.do(flows.log.load("orders")) is None
    assert sorted(flows.do(flows.log.versions())) == ["other"]
    assert flows.do(flows.log.keep({"orders": 1})) == {"orders"}
    flows.commit(new(sheet(), script=Script(1, "b", "text", "deploy", NOW)))
    assert flows.events() == []
    assert flows.do(flows.log.runs("orders", limit=5)) == []
    assert flows.do(flows.log.mutations("orders", [1])) == []
    assert flows.do(flows.log.inputs("orders", limit=5)) == []
    assert flows.do(flows.log.keep({"orders": 1})) == {"orders"}
    with pytest.raises(OwnershipLostError):
        flows.try_change(fence=1, number=1)
    assert flows.take("bob", "other")["orders"] == 3
