"""Nights of a clock change, and a change of the zone: a real cluster with a clock that is set."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from gnomon.apps.operator.controller import Controller
from gnomon.ports.kubernetes import API_VERSION, Create, Done, Find, Kind, MergePatch, Object
from gnomon.ports.kubernetes_object import text, things
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer
from tests.clauses import clause
from tests.kube.cluster import Cluster
from tests.kube.kronjobs import install_kronjobs
from tests.kube.set_clock import SetClock, SetServer, until_holds

POLICIES = ("strict", "vixie", "civil")
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}


class Night:
    """KronJobs of 02:30 in Paris, one for each policy, and an operator whose clock is set."""

    def __init__(self, api: KubernetesServer, namespace: str, clock: SetClock) -> None:
        self.api, self.clock, self._namespace = api, clock, namespace

    async def make(self) -> None:
        for dst in POLICIES:
            one = {
                "apiVersion": API_VERSION, "kind": "KronJob", "metadata": {"name": dst},
                "spec": {
                    "schedule": "30 2 * * *", "timezone": "Europe/Paris", "dst": dst,
                    "jobTemplate": {"spec": {"template": {"spec": POD}}},
                },
            }  # fmt: skip
            await self._done(Create(Kind.KRONJOB, self._namespace, one))
            await self.edit(dst, salt="a")  # so that it begins when the operator sees it

    async def edit(self, name: str, **spec: object) -> None:
        await self._done(MergePatch(Kind.KRONJOB, self._namespace, name, {"spec": spec}))

    async def until(self, holds: Callable[[dict[str, Object]], bool]) -> dict[str, list[str]]:
        """What is recorded of each, the oldest first, when that holds."""
        found = await until_holds(self.api, Find(Kind.KRONJOB, self._namespace), holds)
        return {name: recorded(one) for name, one in found.items()}

    async def _done(self, call: Create | MergePatch) -> None:
        answer = await self.api.send(call)
        assert isinstance(answer, Done), answer


def recorded(kronjob: Object) -> list[str]:
    """`00:30 executed Succeeded`, the oldest first."""
    return [
        " ".join([text(one, "period")[11:16], text(one, "outcome"), text(one, "result")])
        for one in reversed(things(kronjob, "status", "recent"))
    ]


def following(kronjob: Object) -> str:
    return text(kronjob, "status", "next", "period")


def play(cluster: Cluster, namespace: str, scenario: Callable[[Night], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with KubernetesServer(load_of({}, kubeconfig=str(cluster.kubeconfig()))) as api:
            night = Night(api, namespace, SetClock())
            await night.make()
            await scenario(night)

    install_kronjobs(cluster)
    asyncio.run(whole())


@asynccontextmanager
async def operator(night: Night, namespace: str) -> AsyncIterator[None]:
    one = Controller(
        SetServer(night.api, night.clock), night.clock, reporter="set", namespace=namespace
    )
    running = asyncio.ensure_future(one.run())
    try:
        yield
        one.stop()
        await running
    finally:
        running.cancel()


@clause("OPERATOR-52")
def test_a_time_that_is_skipped_comes_as_its_policy_says(
    kube: Cluster, kube_namespace: str
) -> None:
    """In Paris 02:00 is 03:00 on 28 March 2027, at 01:00 UTC."""

    async def scenario(night: Night) -> None:
        night.clock.set_to("2027-03-28T00:59:45Z")
        async with operator(night, kube_namespace):
            planned = await until_holds(
                night.api, Find(Kind.KRONJOB, kube_namespace),
                lambda found: all(following(one) for one in found.values()),
            )  # fmt: skip
            assert {name: following(one)[8:16] for name, one in planned.items()} == {
                "strict": "29T00:30", "vixie": "28T01:00", "civil": "29T00:30",
            }  # fmt: skip
            found = await night.until(
                lambda found: recorded(found["vixie"]) == ["01:00 executed Succeeded"]
            )
            assert found["strict"] == found["civil"] == []

    play(kube, kube_namespace, scenario)


@clause("OPERATOR-52", "OPERATOR-53")
def test_a_time_that_is_repeated_comes_as_its_policy_says_and_in_a_new_zone_again(
    kube: Cluster, kube_namespace: str
) -> None:
    """In Paris 03:00 is 02:00 on 31 October 2027, at 01:00 UTC; the clock is set on twice."""
    once = ["00:30 executed Succeeded"]

    async def scenario(night: Night) -> None:
        night.clock.set_to("2027-10-31T00:29:45Z")
        async with operator(night, kube_namespace):
            await night.until(lambda found: all(recorded(one) == once for one in found.values()))

            night.clock.set_to("2027-10-31T01:29:50Z")
            found = await night.until(
                lambda found: recorded(found["civil"]) == [*once, "01:30 executed Succeeded"]
            )
            assert found["strict"] == found["vixie"] == once

            await night.edit("vixie", timezone="America/New_York")
            found = await night.until(
                lambda found: following(found["vixie"]) == "2027-10-31T06:30:00Z"
            )
            assert found["vixie"] == once
            night.clock.set_to("2027-10-31T06:29:50Z")
            found = await night.until(
                lambda found: recorded(found["vixie"]) == [*once, "06:30 executed Succeeded"]
            )
            assert found["strict"] == once

    play(kube, kube_namespace, scenario)
