"""
What is seen of the objects of one kind: a copy that a watch keeps up to date.

A watch ends by itself after a while. One that does not end in time has died silently; it is given
up, and everything is looked up anew. So a copy may be late, and never for long without notice:
`alive_ms` says when the server was last heard.

What a caller was given back is newer than the copy, and is taken into it (`fold`), unless the copy
has seen that the object is gone. Versions are compared as numbers, as Kubernetes allows; an object
without such a version is taken from the watch alone.

Spec: OPERATOR-32.
"""

import asyncio
from collections.abc import Callable, Sequence

from gnomon.ports import Clock
from gnomon.ports.kubernetes import (
    ApiServer,
    Change,
    Denial,
    Denied,
    Find,
    Found,
    NoAnswer,
    Object,
    Seen,
    Watch,
)
from gnomon.ports.kubernetes_object import say, text

__all__ = ["SILENT_MS", "WATCH_S", "Mirror"]

WATCH_S = 60
"""After so long a watch ends, and the next one begins where it ended."""
SILENT_MS = 15_000
"""A watch that lasts so much longer is dead."""

_RETRY_MS = (200, 500, 1_000, 2_000, 5_000)


class Mirror:
    """The objects of one kind, in groups: what belongs to one KronJob is a group."""

    def __init__(
        self, api: ApiServer, clock: Clock, find: Find, *,
        group_of: Callable[[Object], str], slim: Callable[[Object], Object],
        changed: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._api, self._clock, self._find = api, clock, find
        self._group_of, self._slim, self._changed = group_of, slim, changed
        self._objects: dict[str, Object] = {}
        self._groups: dict[str, dict[str, Object]] = {}
        self._version = 0
        self.alive_ms: int | None = None
        """When the server was last heard, on the monotonic clock; None before the first list."""
        self.trouble = ""
        """Why nothing is heard; empty while all is well."""
        self.lists = 0
        """How often everything was looked up."""

    def of(self, group: str) -> Sequence[Object]:
        return list(self._groups.get(group, {}).values())

    def groups(self) -> Sequence[str]:
        return list(self._groups)

    def __len__(self) -> int:
        return len(self._objects)

    async def run(self) -> None:
        """Follow the server until cancelled."""
        failures = 0
        while True:
            found = await self._api.find(self._find)
            if isinstance(found, Found):
                self._take(found)
                before = self.alive_ms
                await self._follow()
                failures = 0 if self.alive_ms != before else failures + 1
            else:
                self.trouble = _advised(found)
                failures += 1
            await self._clock.sleep_ms(_RETRY_MS[min(failures, len(_RETRY_MS) - 1)])

    def fold(self, one: Object) -> None:
        """Take over what the server said of an object just now."""
        version, old = _version_of(one), self._objects.get(text(one, "metadata", "uid"))
        known = self._version if old is None else _version_of(old)
        if version > known:
            self._put(one)

    def _take(self, found: Found) -> None:
        """Everything as it is at one moment; what is not there has gone."""
        self._heard()
        self.lists += 1
        self._version = _number(found.resource_version)
        listed = {text(one, "metadata", "uid"): one for one in found.objects}
        touched = [self._drop(uid) for uid in set(self._objects) - set(listed)]
        for uid, one in listed.items():
            old = self._objects.get(uid)
            if old is None or _version_of(old) != _version_of(one) or not _version_of(one):
                touched.append(self._put(one))
        for group in dict.fromkeys(touched):
            self._changed(group)

    async def _follow(self) -> None:
        """Watch for as long as watches end well."""
        while True:
            reading = asyncio.ensure_future(self._read())
            alarm = asyncio.ensure_future(self._clock.sleep_ms(WATCH_S * 1000 + SILENT_MS))
            try:
                await asyncio.wait({reading, alarm}, return_when=asyncio.FIRST_COMPLETED)
                ended_well = reading.result() if reading.done() else False
                if not reading.done():
                    self.trouble = f"the watch of {self._find.kind} fell silent"
            finally:
                for one in (reading, alarm):
                    one.cancel()
                await asyncio.gather(reading, alarm, return_exceptions=True)
            if not ended_well:
                return

    async def _read(self) -> bool:
        """Take over what one watch tells; whether it ended by itself."""
        kind, namespace, labels = self._find
        watch = Watch(kind, str(self._version), namespace, labels, WATCH_S)
        began = self._clock.monotonic_ms()
        async for told in self._api.watch(watch):
            match told:
                case Change(seen, one):
                    self._heard()
                    self._see(seen, one)
                case Denied(Denial.EXPIRED):
                    return False
                case Denied() | NoAnswer():
                    self.trouble = _advised(told)
                    return False
        if self._clock.monotonic_ms() - began < 1000:  # a server that ends watches at once
            await self._clock.sleep_ms(1000)
        self._heard()
        return True

    def _see(self, seen: Seen, one: Object) -> None:
        version, uid = _version_of(one), text(one, "metadata", "uid")
        self._version = max(self._version, version)
        if seen is Seen.BOOKMARK:
            return
        if seen is Seen.DELETED:
            if uid in self._objects:
                self._changed(self._drop(uid))
            return
        old = self._objects.get(uid)
        if old is None or not version or version > _version_of(old):
            self._changed(self._put(one))

    def _put(self, one: Object) -> str:
        uid = text(one, "metadata", "uid")
        if uid in self._objects:
            self._drop(uid)
        group, kept = self._group_of(one), self._slim(one)
        self._objects[uid] = kept
        self._groups.setdefault(group, {})[uid] = kept
        return group

    def _drop(self, uid: str) -> str:
        group = self._group_of(self._objects.pop(uid))
        members = self._groups[group]
        del members[uid]
        if not members:
            del self._groups[group]
        return group

    def _heard(self) -> None:
        self.alive_ms = self._clock.monotonic_ms()
        self.trouble = ""


def _advised(answer: Denied | NoAnswer) -> str:
    """What an answer says, and what a person can do about it."""
    match answer:
        case Denied(Denial.NO_SUCH_KIND):
            advice = "install the kind: gnomon operator crd | kubectl apply -f -"
        case Denied(Denial.FORBIDDEN):
            advice = "grant the rights of gnomon operator manifests, or name a --namespace"
        case _:
            return say(answer)
    return f"{say(answer)}; {advice}"


def _version_of(one: Object) -> int:
    return _number(text(one, "metadata", "resourceVersion"))


def _number(written: str) -> int:
    return int(written) if written.isascii() and written.isdigit() and len(written) < 30 else 0
