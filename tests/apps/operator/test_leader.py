"""The Lease: one leads, others take over in time, and times written by others are not believed."""

import asyncio

from gnomon.apps.operator.leader import LEASE_S, Elector
from gnomon.ports.kubernetes import (
    Call,
    Denial,
    Denied,
    Done,
    Get,
    Kind,
    MergePatch,
    NoAnswer,
    Object,
)
from gnomon.ports.kubernetes_object import at, text
from gnomon.simulation.kubernetes.server import SimulatedServer
from tests.apps.operator.operating import Way
from tests.clauses import clause
from tests.shell.virtual_time import VirtualClock, run_virtually


class Voters:
    """Electors over one server, each at work until the world ends."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = SimulatedServer(self.clock.now_ms)
        self.changes: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def enter(self, name: str) -> tuple[Elector, Way]:
        way = Way(self.server)
        elector = Elector(
            way, self.clock, namespace="prod", name="lead", identity=name,
            changed=lambda: self.changes.append(name),
        )  # fmt: skip
        self.tasks.append(asyncio.ensure_future(elector.run()))
        return elector, way

    def lease(self) -> Object:
        answer = self.server.send(Get(Kind.LEASE, "prod", "lead"))
        assert isinstance(answer, Done)
        return answer.object

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@clause("OPERATOR-33")
def test_the_first_makes_the_lease_and_renews_it() -> None:
    async def scenario() -> None:
        voters = Voters()
        one, way = voters.enter("a")
        await asyncio.sleep(61)

        assert one.leads
        assert text(voters.lease(), "spec", "holderIdentity") == "a"
        assert text(voters.lease(), "spec", "acquireTime") == "2026-03-01T00:00:00.000000Z"
        assert text(voters.lease(), "spec", "renewTime") == "2026-03-01T00:01:00.000000Z"
        assert len(way.asked) == 2 + 12
        assert voters.changes == ["a"]
        await voters.end()

    run_virtually(scenario())


@clause("OPERATOR-33")
def test_one_that_is_cut_off_leads_no_longer_when_its_lease_is_over() -> None:
    async def scenario() -> None:
        voters = Voters()
        one, way = voters.enter("a")
        await asyncio.sleep(1)
        two, _ = voters.enter("b")
        await asyncio.sleep(10)
        way.is_cut = True
        await asyncio.sleep(LEASE_S)

        assert not one.leads
        assert one.trouble == "cut off"
        await asyncio.sleep(LEASE_S)
        assert two.leads
        assert at(voters.lease(), "spec", "leaseTransitions") == 2

        way.is_cut = False
        await asyncio.sleep(10)
        assert (one.leads, two.leads) == (False, True)
        assert one.holder == "b"
        await voters.end()

    run_virtually(scenario())


@clause("OPERATOR-33")
def test_a_time_in_the_past_that_goes_on_is_a_lease_that_is_renewed() -> None:
    async def scenario() -> None:
        voters = Voters()
        one, _ = voters.enter("a")
        await asyncio.sleep(1)
        voters.clock.offset_ms -= 86_400_000  # its clock is a day behind
        two, _ = voters.enter("b")
        await asyncio.sleep(100)

        assert (one.leads, two.leads) == (True, False)
        await voters.end()

    run_virtually(scenario())


@clause("OPERATOR-33")
def test_one_that_resigns_makes_room_at_once() -> None:
    async def scenario() -> None:
        voters = Voters()
        one, _ = voters.enter("a")
        await asyncio.sleep(1)
        two, _ = voters.enter("b")
        await asyncio.sleep(1)
        voters.tasks[0].cancel()
        await one.resign()
        await asyncio.sleep(6)

        assert (one.leads, two.leads) == (False, True)
        await two.resign()
        await two.resign()
        assert text(voters.lease(), "spec", "holderIdentity") == ""
        await voters.end()

    run_virtually(scenario())


@clause("OPERATOR-33")
def test_a_lease_that_another_takes_is_lost_at_the_next_look() -> None:
    async def scenario() -> None:
        voters = Voters()
        one, _ = voters.enter("a")
        await asyncio.sleep(1)
        voters.server.send(
            MergePatch(Kind.LEASE, "prod", "lead", {"spec": {"holderIdentity": "person"}})
        )
        await asyncio.sleep(6)

        assert not one.leads
        assert one.holder == "person"
        await voters.end()

    run_virtually(scenario())


@clause("OPERATOR-33")
def test_a_right_that_is_missing_is_said() -> None:
    async def scenario() -> None:
        voters = Voters()
        one, way = voters.enter("a")
        way.deny = lambda call: Denied(Denial.FORBIDDEN, "no leases", None)
        await asyncio.sleep(6)

        assert not one.leads
        assert one.trouble == "forbidden: no leases"

        def reads_only(call: Call) -> Denied | NoAnswer | None:
            return None if isinstance(call, Get) else NoAnswer("lost")

        way.deny = reads_only
        await asyncio.sleep(6)
        assert one.trouble == "lost"
        await voters.end()

    run_virtually(scenario())
