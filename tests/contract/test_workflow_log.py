"""The contract of a workflow log: every implementation of the port passes these tests."""

from dataclasses import replace

import pytest

from gnomon.errors import OwnershipLostError
from gnomon.ports.workflow_facts import (
    Answer,
    Asked,
    EventStatus,
    Handler,
    HandlerKind,
    Input,
    Mutation,
    MutationStatus,
    Pending,
    Phase,
    Publication,
    Run,
    RunStatus,
    Script,
)
from tests.clauses import clause
from tests.contract.workflow_desk import NOW, WorkflowDesk, event, new, sheet

PENDING, RESERVED = EventStatus.PENDING, EventStatus.RESERVED
CONSUMED, SKIPPED = EventStatus.CONSUMED, EventStatus.SKIPPED
O1, O2 = event("o1"), event("o2")
ASKED = Asked("append", '{"ä":[1]}', "orders/1-t1", "Add", True, 1)


@clause("WLOG-1")
def test_what_is_not_there_is_none(workflows: WorkflowDesk) -> None:
    assert workflows.do(workflows.log.load("orders")) is None
    assert workflows.do(workflows.log.versions()) == {}
    assert workflows.do(workflows.log.script("orders", 1)) is None


@clause("WLOG-1")
def test_everything_comes_back_as_it_was_written(workflows: WorkflowDesk) -> None:
    run = Run(
        number=1, handler="sheet", kind=HandlerKind.CONSUMER, script=1, retry_of=None,
        phase=Phase.MUTATING, status=RunStatus.RECONCILIATION, prepared='{"ä":1}', mutated=None,
        mutation=1, asked=ASKED, approved=ASKED, fault="transient",
        error="no answer", traceback="line 5", note="2 rows",
        created_ms=NOW + 1, updated_ms=NOW + 2,
    )  # fmt: skip
    mutation = Mutation(
        run=1, tool="append", params="[1]", key="orders/1", title="Add", reconcilable=True,
        status=MutationStatus.NEEDS_RECONCILE, result=None, error="no answer", tries=2,
        next_ms=NOW + 9, resolved_by="", resolved_ms=None, created_ms=NOW + 1,
    )  # fmt: skip
    script = Script(1, "digest", "text", "deploy", NOW, '{"shared.py":"x = 1"}')
    workflows.commit(new(sheet(), script=script))
    workflows.change(
        lambda at: replace(
            at, runs=1, current=1, failures=2, retry_ms=NOW + 5, repairs=1, trouble="no module"
        ),
        runs=(run,), mutations=(mutation,),
        handlers=(replace(sheet(), wake_ms=NOW + 30_000, state='{"n":5}'),),
    )  # fmt: skip

    facts = workflows.facts()

    assert (facts.run, facts.mutation) == (run, mutation)
    assert facts.handlers == (replace(sheet(), wake_ms=NOW + 30_000, state='{"n":5}'),)
    standing = facts.standing
    assert (standing.version, standing.runs, standing.current) == (2, 1, 1)
    assert (standing.failures, standing.retry_ms, standing.repairs) == (2, NOW + 5, 1)
    assert standing.created_ms == NOW
    assert workflows.do(workflows.log.script("orders", 1)) == script
    assert workflows.do(workflows.log.runs("orders", limit=5)) == [run]
    assert workflows.do(workflows.log.mutations("orders", [1, 7])) == [mutation]


@clause("WLOG-1")
def test_what_was_written_is_there_when_it_is_opened_again(lasting_workflows: WorkflowDesk) -> None:
    workflows = lasting_workflows
    workflows.commit(new(sheet()))
    workflows.publish(O1)
    before = workflows.facts()

    workflows.reopen()

    assert workflows.facts() == before
    assert workflows.statuses() == {"o1": PENDING}


@clause("WLOG-1", "FLOW-8")
def test_a_handler_that_is_removed_is_gone(workflows: WorkflowDesk) -> None:
    other = Handler(name="other", kind=HandlerKind.PRODUCER, place=0, schedule="every 5m0s")
    workflows.commit(new(other, sheet()))

    workflows.change(removed=("other",))

    assert [one.name for one in workflows.facts().handlers] == ["sheet"]


@clause("WLOG-2", "FLOW-24")
def test_a_change_with_an_event_that_is_not_pending_leaves_no_part(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    workflows.publish(O1)
    facts = workflows.facts()

    done = workflows.try_change(
        lambda at: replace(at, failures=9), reserve=(1, [("orders", "o1"), ("orders", "o7")]),
        publish=(O2,),
    )  # fmt: skip

    assert (done.answer, done.not_pending) == (Answer.NOT_PENDING, (("orders", "o7"),))
    assert workflows.facts() == facts
    assert workflows.statuses() == {"o1": PENDING}


@clause("WLOG-3", "WASK-7")
def test_a_change_that_was_decided_from_an_older_version_is_refused(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))
    old = workflows.facts()
    workflows.change(lambda at: replace(at, failures=1))

    done = workflows.try_commit(replace(new(), standing=replace(old.standing, failures=5)), seen=1)

    assert done.answer is Answer.STALE
    assert workflows.facts().standing.failures == 1


@clause("WLOG-3")
def test_a_workflow_is_made_once(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))

    assert workflows.try_commit(new(sheet()), seen=0).answer is Answer.STALE
    assert workflows.facts().standing.version == 1


@clause("WLOG-4", "WLOG-8", "HOST-4")
def test_a_write_of_a_former_holder_is_refused(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    first = workflows.take("anna")["orders"]
    workflows.do(workflows.log.release({"orders": first}))
    second = workflows.take("bert")["orders"]

    assert second > first
    with pytest.raises(OwnershipLostError, match="orders"):
        workflows.change(lambda at: replace(at, failures=3), fence=first, number=1)
    workflows.change(lambda at: replace(at, failures=4), fence=second, number=1)
    assert workflows.facts().standing.failures == 4


@clause("WLOG-5", "HOST-3")
def test_a_write_that_was_made_already_is_not_made_again(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    fence = workflows.take("anna")["orders"]
    seen = workflows.facts().standing
    change = replace(new(), standing=replace(seen, failures=1), publish=(O1,))

    first = workflows.try_commit(change, seen=seen.version, fence=fence, number=1)
    workflows.change(lambda at: replace(at, repairs=2))  # of another writer
    again = workflows.try_commit(change, seen=seen.version, fence=fence, number=1)

    assert (first.answer, again.answer) == (Answer.MADE, Answer.MADE)
    assert workflows.facts().standing.version == seen.version + 2
    assert workflows.facts().standing.repairs == 2


@clause("WLOG-8")
def test_a_workflow_that_is_held_is_not_taken_again_by_its_holder(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    fence = workflows.take("anna")["orders"]

    assert workflows.take("anna", "orders") == {}
    assert workflows.do(workflows.log.keep({"orders": fence})) == set()
    assert workflows.do(workflows.log.keep({"orders": fence + 1, "gone": 1})) == {"orders", "gone"}


@clause("WLOG-8", "HOST-3")
def test_a_holder_that_never_heard_that_it_holds_a_workflow_can_take_it(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))
    lost = workflows.take("anna")["orders"]

    assert workflows.take("anna") == {"orders": lost + 1}
    with pytest.raises(OwnershipLostError):
        workflows.change(fence=lost, number=1)


@clause("WLOG-7", "WHEN-14")
def test_an_event_that_is_published_again_keeps_its_status_and_gets_the_payload(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))

    assert workflows.publish(O1) == 1
    assert workflows.publish(O1) == 0
    assert workflows.publish(event("o1", "5")) == 1
    workflows.change(reserve=(1, [("orders", "o1")]))
    assert workflows.publish(event("o1", "6")) == 0
    workflows.change(settle=(1, CONSUMED))
    assert workflows.publish(event("o1", "7")) == 0

    (found,) = workflows.events()
    assert (found.payload, found.status, found.number) == ("7", CONSUMED, 1)
    assert workflows.facts().pending == {}


@clause("WLOG-6", "WLOG-7")
def test_events_are_reserved_released_and_consumed_and_counted_along(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))
    workflows.publish(O1, O2, event("o3"))
    assert workflows.facts().pending == {"orders": Pending(3, 1, 3)}

    workflows.change(reserve=(1, [("orders", "o1"), ("orders", "o2")]))
    assert workflows.statuses() == {"o1": RESERVED, "o2": RESERVED, "o3": PENDING}
    assert workflows.facts().pending == {"orders": Pending(1, 3, 3)}
    assert [one.id for one in workflows.do(workflows.log.reserved("orders", 1))] == ["o1", "o2"]

    workflows.change(settle=(1, PENDING))
    assert workflows.facts().pending == {"orders": Pending(3, 1, 3)}
    assert {one.id: one.attempt for one in workflows.events()} == {"o1": 2, "o2": 2, "o3": 1}

    workflows.change(reserve=(2, [("orders", "o1")]))
    workflows.change(hand_over=(2, 3))
    workflows.change(settle=(2, CONSUMED))
    assert workflows.statuses()["o1"] is RESERVED
    workflows.change(settle=(3, CONSUMED))
    assert workflows.statuses() == {"o1": CONSUMED, "o2": PENDING, "o3": PENDING}
    assert workflows.facts().pending == {"orders": Pending(2, 2, 3)}


@clause("WLOG-7")
def test_pending_events_are_seen_oldest_first_whatever_arrived_again(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))
    workflows.publish(event("b"), event("a"), event("c"))
    workflows.publish(event("b", "2"))

    found = workflows.do(workflows.log.peek("orders", ["orders", "other"], limit=2))

    assert [one.id for one in found["orders"]] == ["b", "a"]
    assert found["other"] == []
    assert workflows.facts().pending == {"orders": Pending(3, 1, 4)}
    assert workflows.do(workflows.log.versions()) == {"orders": (1, 4)}


@clause("WLOG-7")
def test_events_are_listed_newest_first_by_topic_and_status(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    workflows.publish(O1, Publication("done", "d1", "1"), O2)
    workflows.change(reserve=(1, [("orders", "o1")]))

    listed = workflows.log.events("orders", limit=9, topic="orders")
    pending = workflows.log.events("orders", limit=9, status=PENDING)
    assert [one.id for one in workflows.do(listed)] == ["o2", "o1"]
    assert [one.id for one in workflows.do(pending)] == ["o2", "d1"]
    assert [one.id for one in workflows.do(workflows.log.events("orders", limit=1))] == ["o2"]


@clause("WLOG-7", "WHTTP-9")
def test_events_are_listed_from_any_number_down(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    workflows.publish(O1, Publication("done", "d1", "1"), O2)
    events = workflows.log.events

    assert [one.id for one in workflows.do(events("orders", limit=9, before=3))] == ["d1", "o1"]
    assert [one.id for one in workflows.do(events("orders", limit=1, before=3))] == ["d1"]
    found = workflows.do(events("orders", limit=9, topic="orders", status=PENDING, before=3))
    assert [one.id for one in found] == ["o1"]
    assert workflows.do(events("orders", limit=9, before=1)) == []


@clause("INPUT-1", "INPUT-2")
def test_what_is_published_by_a_run_inherits_the_inputs_of_what_it_has_reserved(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))
    workflows.change(
        inputs=(Input(id="mail/1", title="First"), Input(id="mail/2")), publisher=1, rounds=3,
        publish=(event("o1", causes=("mail/1",)), event("o2", causes=("mail/2", "mail/1"))),
    )  # fmt: skip
    workflows.change(reserve=(2, [("orders", "o1"), ("orders", "o2")]))
    workflows.change(
        publish=(Publication("done", "d1", "1"),), publisher=2, inherits=True,
        settle=(2, CONSUMED),
    )  # fmt: skip

    (done,) = workflows.do(workflows.log.events("orders", limit=9, topic="done"))
    assert (done.causes, done.created_by) == (("mail/1", "mail/2"), 2)
    inputs = {one.id: one for one in workflows.do(workflows.log.inputs("orders", limit=9))}
    assert inputs["mail/1"].title == "First"
    assert {name: one.pending for name, one in inputs.items()} == {"mail/1": 1, "mail/2": 1}
    (one,) = workflows.do(workflows.log.inputs("orders", limit=9, id="mail/2"))
    assert (one.id, one.pending) == ("mail/2", 1)
    assert workflows.do(workflows.log.inputs("orders", limit=9, id="mail")) == []


@clause("INPUT-2", "INPUT-3")
def test_skipping_an_input_skips_what_is_pending_of_it_and_nothing_else(
    workflows: WorkflowDesk,
) -> None:
    workflows.commit(new(sheet()))
    workflows.change(
        inputs=(Input(id="mail/1"), Input(id="mail/2")), publisher=1,
        publish=(
            event("o1", causes=("mail/1",)), event("o2", causes=("mail/1",)),
            event("o3", causes=("mail/2",)),
        ),
    )  # fmt: skip
    workflows.change(reserve=(2, [("orders", "o1")]))

    workflows.change(skip_input="mail/1")

    assert workflows.statuses() == {"o1": RESERVED, "o2": SKIPPED, "o3": PENDING}
    inputs = {one.id: one for one in workflows.do(workflows.log.inputs("orders", limit=9))}
    assert (inputs["mail/1"].skipped, inputs["mail/2"].skipped) == (True, False)
    assert (inputs["mail/1"].pending, inputs["mail/2"].pending) == (1, 1)
    assert workflows.facts().pending == {"orders": Pending(1, 3, 3)}


@clause("WLOG-1")
def test_runs_are_read_page_by_page_newest_first(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    runs = [
        Run(
            number=number, handler="sheet", kind=HandlerKind.CONSUMER, script=1, created_ms=NOW,
            updated_ms=NOW, retry_of=number - 1 or None,
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    workflows.change(runs=runs)

    assert workflows.do(workflows.log.runs("orders", limit=2)) == [runs[2], runs[1]]
    assert workflows.do(workflows.log.runs("orders", limit=2, before=2)) == [runs[0]]


@clause("WLOG-7", "FLOW-29")
def test_pending_events_are_read_page_by_page_and_by_their_ids(workflows: WorkflowDesk) -> None:
    workflows.commit(new(sheet()))
    workflows.publish(
        *(event(f"o{number}") for number in range(1, 6)), Publication("done", "o2", "1")
    )
    workflows.change(reserve=(1, [("orders", "o3")]))

    def page(after: int) -> list[str]:
        found = workflows.do(workflows.log.peek("orders", ["orders"], limit=2, after=after))
        return [one.id for one in found["orders"]]

    def find(*ids: str) -> list[tuple[str, str]]:
        found = workflows.do(workflows.log.find("orders", "orders", ids))
        return [(one.topic, one.id) for one in found]

    assert [page(0), page(2), page(5)] == [["o1", "o2"], ["o4", "o5"], []]
    assert find("o5", "o3", "o2", "o2", "x'") == [("orders", "o2"), ("orders", "o5")]
    assert find() == []
