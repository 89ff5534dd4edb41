"""
Which of several operators works? The one that holds the Lease.

This saves requests and double Events; safety does not rest on it. Two that both believe to lead do
no harm, so that nothing is stopped in the middle and no process ends itself.

Others judge by their own monotonic clock how long a Lease was not renewed, never by the times that
stand in it. One that stops gives its Lease back.

Spec: OPERATOR-33.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from gnomon.ports import Clock
from gnomon.ports.kubernetes import (
    Answer,
    ApiServer,
    Create,
    Denial,
    Denied,
    Done,
    Get,
    Kind,
    Object,
    Replace,
)
from gnomon.ports.kubernetes_object import mapping, number, say, text

__all__ = ["LEASE_S", "RENEW_MS", "Elector"]

LEASE_S = 15
"""One that was not heard of for so long has lost its Lease."""
RENEW_MS = 5_000
"""How often a Lease is renewed, and how often the others look at it."""


class Elector:
    """One operator's share in choosing the one that works."""

    def __init__(
        self, api: ApiServer, clock: Clock, *, namespace: str, name: str, identity: str,
        changed: Callable[[], None],
    ) -> None:  # fmt: skip
        self._api, self._clock = api, clock
        self._namespace, self._name, self._identity = namespace, name, identity
        self._changed = changed
        self._lease: Object | None = None
        self._held_ms: int | None = None
        self._seen: tuple[str, str] = "", ""
        self._seen_ms = 0
        self.holder = ""
        """The operator that held the Lease when it was last looked at."""
        self.trouble = ""

    @property
    def leads(self) -> bool:
        """Whether this operator is the one, by what it knows."""
        return self._held_ms is not None and self._clock.monotonic_ms() < self._held_ms

    async def run(self) -> None:
        """Take part until cancelled."""
        while True:
            led = self.leads
            await self._look()
            if self.leads != led:
                self._changed()
            await self._clock.sleep_ms(RENEW_MS)

    async def resign(self) -> None:
        """Give the Lease back, so that another need not wait."""
        if self.leads and self._lease is not None:
            self._held_ms = None
            spec = mapping(self._lease, "spec")
            await self._api.send(self._replace({**spec, "holderIdentity": ""}))

    async def _look(self) -> None:
        asked_ms = self._clock.monotonic_ms()
        if self.leads and self._lease is not None:
            spec = {**mapping(self._lease, "spec"), "renewTime": self._now()}
            if self._take(await self._api.send(self._replace(spec)), asked_ms):
                return
        answer = await self._api.send(Get(Kind.LEASE, self._namespace, self._name))
        match answer:
            case Denied(Denial.NOT_FOUND):
                metadata = {"name": self._name, "namespace": self._namespace}
                lease = {
                    "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata,
                    "spec": self._mine({}),
                }  # fmt: skip
                self._take(
                    await self._api.send(Create(Kind.LEASE, self._namespace, lease)), asked_ms
                )
            case Done(lease):
                self._lease, self.trouble = lease, ""
                there = mapping(lease, "spec")
                if self._is_free(there):
                    self._take(await self._api.send(self._replace(self._mine(there))), asked_ms)
            case _:
                self.trouble = say(answer)

    def _is_free(self, spec: Mapping[str, object]) -> bool:
        """Whether the Lease may be taken: it is ours, given back, or was not renewed for long."""
        self.holder = text(spec, "holderIdentity")
        if self.holder != self._identity:
            self._held_ms = None
        seen = self.holder, text(spec, "renewTime")
        now_ms = self._clock.monotonic_ms()
        if seen != self._seen:
            self._seen, self._seen_ms = seen, now_ms
        lasts_s = number(spec, "leaseDurationSeconds") or LEASE_S
        is_over = now_ms - self._seen_ms >= lasts_s * 1000
        return self.holder in ("", self._identity) or is_over

    def _take(self, answer: Answer, asked_ms: int) -> bool:
        """Whether the Lease is ours now; it lasts from the moment of the question."""
        match answer:
            case Done(lease):
                self._lease, self.holder, self.trouble = lease, self._identity, ""
                self._held_ms = asked_ms + LEASE_S * 1000
                return True
            case Denied(Denial.CONFLICT | Denial.EXISTS | Denial.NOT_FOUND):
                self._lease = None  # another one was faster
            case _:
                self.trouble = say(answer)
        return False

    def _mine(self, spec: Mapping[str, object]) -> Mapping[str, object]:
        now = self._now()
        return {
            "holderIdentity": self._identity, "leaseDurationSeconds": LEASE_S, "acquireTime": now,
            "renewTime": now, "leaseTransitions": number(spec, "leaseTransitions") + 1,
        }  # fmt: skip

    def _replace(self, spec: Mapping[str, object]) -> Replace:
        assert self._lease is not None, "looked at"
        return Replace(Kind.LEASE, self._namespace, {**self._lease, "spec": spec})

    def _now(self) -> str:
        at = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
        return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
