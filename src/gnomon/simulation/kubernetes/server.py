"""
An API server in memory: objects, their versions and uids, and everything that ever happened.

It answers one call after the other, as a server does that has one store. What it keeps of real
Kubernetes is what the contract asks (tests/contract/test_kubernetes.py): uids and versions never
come back, a name is taken until its object has gone, status is written apart from the rest, a write
that changes nothing makes no version, an object with finalizers waits for them. What it leaves out:
schemas and defaults, admission, rights; the port of a caller says what it is refused.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, assert_never

from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes import (
    Answer,
    Call,
    Change,
    Create,
    Delete,
    Denial,
    Denied,
    Done,
    Find,
    Found,
    Get,
    JsonPatch,
    Kind,
    MergePatch,
    Object,
    Propagation,
    PutStatus,
    Replace,
    Seen,
    Watch,
)
from gnomon.simulation.kubernetes.patch import PatchError, apply_operations, copied, merged

__all__ = ["FOREGROUND", "Happened", "SimulatedServer", "has_labels", "metadata_of"]

FOREGROUND = "foregroundDeletion"
"""The finalizer that holds an object until what it owns has gone."""

_HAS_STATUS = {Kind.KRONJOB, Kind.JOB, Kind.POD}
_Key = tuple[Kind, str, str]


class Happened(NamedTuple):
    """One change of one object."""

    version: int
    kind: Kind
    seen: Seen
    object: Object
    before: Object | None


class SimulatedServer:
    """The objects of a cluster, and the history of them."""

    def __init__(self, now_ms: Callable[[], int], *, namespaces: tuple[str, ...] = ("prod",)):
        self._now_ms = now_ms
        self._objects: dict[_Key, dict[str, object]] = {}
        self._version = 1
        self._uids = 0
        self._forgotten = 0
        self.namespaces = set(namespaces)
        self.history: list[Happened] = []
        self.on_change: list[Callable[[Happened], None]] = []

    @property
    def at(self) -> int:
        """The server's own time, as the head of its answers says it."""
        return self._now_ms() // 1000

    def send(self, call: Call) -> Answer:
        match call:
            case Get(kind, namespace, name):
                found = self._objects.get((kind, namespace, name))
                return self._not_found(name) if found is None else self._done(found)
            case Create():
                return self._create(call)
            case Replace(kind, namespace, given):
                return self._replace(kind, namespace, given)
            case PutStatus():
                return self._put_status(call)
            case MergePatch(kind, namespace, name, patch):
                return self._patch((kind, namespace, name), lambda old: merged(old, patch))
            case JsonPatch(kind, namespace, name, operations):
                return self._patch(
                    (kind, namespace, name), lambda old: apply_operations(old, operations)
                )
            case Delete():
                return self._delete(call)
            case _:
                assert_never(call)

    def find(self, call: Find) -> Found:
        objects = [
            copied(one)
            for (kind, namespace, _), one in sorted(self._objects.items())
            if kind is call.kind
            and call.namespace in (None, namespace)
            and has_labels(one, call.labels)
        ]
        return Found(objects, str(self._version), self.at)

    def changes_after(self, version: int, watch: Watch) -> Iterator[tuple[int, Change] | Denied]:
        """What a watch has to tell after a version, each with its own version."""
        if version < self._forgotten:
            yield Denied(Denial.EXPIRED, "too old resource version", self.at)
            return
        begin = bisect_right(self.history, version, key=lambda one: one.version)
        for one in self.history[begin:]:
            if one.kind is not watch.kind:
                continue
            if watch.namespace not in (None, metadata_of(one.object).get("namespace")):
                continue
            seen = _seen_with(one, watch.labels)
            if seen is not None:
                yield one.version, Change(seen, copied(one.object))

    def forget_history(self) -> None:
        """Compaction: no watch can go on from before this moment."""
        self._forgotten = self._version

    @property
    def version(self) -> int:
        return self._version

    def objects_of(self, kind: Kind) -> list[Object]:
        """What is there, for the controllers and judges of a world."""
        return [one for (of, _, _), one in sorted(self._objects.items()) if of is kind]

    def is_alive(self, uid: object) -> bool:
        return any(metadata_of(one)["uid"] == uid for one in self._objects.values())

    def set_status(self, kind: Kind, one: Object, status: Object) -> None:
        """A controller of the server writes a status; it is not asked whether it may."""
        key = self._key_of(kind, one)
        old = self._objects[key]
        self._store(key, old, {**old, "status": dict(status)})

    def remove(self, kind: Kind, one: Object) -> None:
        """The last finalizer is satisfied: the object has gone."""
        key = self._key_of(kind, one)
        old = self._objects.pop(key)
        self._version += 1
        metadata = dict(metadata_of(old)) | {"resourceVersion": str(self._version)}
        self._happen(key[0], Seen.DELETED, {**old, "metadata": metadata}, old)

    def _create(self, call: Create) -> Answer:
        given = copied(dict(call.object))
        metadata = dict(metadata_of(given))
        if call.namespace not in self.namespaces:
            return Denied(Denial.NOT_FOUND, f'namespaces "{call.namespace}" not found', self.at)
        self._uids += 1
        name = str(metadata.get("name") or f"{metadata.get('generateName')}{self._uids:05d}")
        key = (call.kind, call.namespace, name)
        if key in self._objects:
            return Denied(Denial.EXISTS, f'{call.kind} "{name}" already exists', self.at)
        metadata |= {
            "name": name,
            "namespace": call.namespace,
            "uid": f"00000000-0000-4000-8000-{self._uids:012d}",
            "creationTimestamp": format_instant(self.at),
            "generation": 1,
        }
        given["metadata"] = metadata
        if call.kind in _HAS_STATUS:
            given.pop("status", None)
        return self._store(key, None, given)

    def _replace(self, kind: Kind, namespace: str, given: Object) -> Answer:
        metadata = metadata_of(given)
        key = (kind, namespace, str(metadata["name"]))
        old = self._objects.get(key)
        if old is None:
            return self._not_found(key[2])
        if not metadata.get("resourceVersion"):
            return Denied(
                Denial.INVALID, "metadata.resourceVersion: must be specified for an update", self.at
            )
        if (conflict := self._conflict(old, metadata)) is not None:
            return conflict
        return self._update(key, old, copied(dict(given)))

    def _put_status(self, call: PutStatus) -> Answer:
        key = (call.kind, call.namespace, call.name)
        old = self._objects.get(key)
        if old is None:
            return self._not_found(call.name)
        expected = {"uid": call.uid, "resourceVersion": call.resource_version}
        if (conflict := self._conflict(old, expected)) is not None:
            return conflict
        return self._store(key, old, {**old, "status": copied(dict(call.status))})

    def _patch(self, key: _Key, change: Callable[[object], object]) -> Answer:
        old = self._objects.get(key)
        if old is None:
            return self._not_found(key[2])
        try:
            new = change(old)
        except PatchError as failed:
            return Denied(Denial.INVALID, str(failed), self.at)
        assert isinstance(new, dict)
        if (conflict := self._conflict(old, metadata_of(new))) is not None:
            return conflict
        return self._update(key, old, new)

    def _update(self, key: _Key, old: dict[str, object], new: dict[str, object]) -> Answer:
        """Everything but the status, which has an address of its own."""
        kept = metadata_of(old)
        metadata = dict(metadata_of(new))
        for name in ("uid", "creationTimestamp", "generation", "deletionTimestamp", "namespace"):
            metadata.pop(name, None)
            if name in kept:
                metadata[name] = kept[name]
        if new.get("spec") != old.get("spec"):
            metadata["generation"] = int(str(kept["generation"])) + 1
        new = {**new, "metadata": metadata}
        if key[0] in _HAS_STATUS:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        answer = self._store(key, old, new)
        if "deletionTimestamp" in metadata and not metadata.get("finalizers"):
            self.remove(key[0], new)
        return answer

    def _delete(self, call: Delete) -> Answer:
        key = (call.kind, call.namespace, call.name)
        old = self._objects.get(key)
        if old is None:
            return self._not_found(call.name)
        if call.uid and metadata_of(old)["uid"] != call.uid:
            return Denied(Denial.CONFLICT, "the UID in the precondition does not match", self.at)
        finalizers = _finalizers(old)
        if call.propagation is Propagation.FOREGROUND and FOREGROUND not in finalizers:
            finalizers = [*finalizers, FOREGROUND]
        if not finalizers:
            self.remove(call.kind, old)
            return self._done(old)
        metadata = dict(metadata_of(old))
        metadata.setdefault("deletionTimestamp", format_instant(self.at))
        metadata["finalizers"] = finalizers
        return self._store(key, old, {**old, "metadata": metadata})

    def _store(self, key: _Key, old: dict[str, object] | None, new: dict[str, object]) -> Answer:
        """The object is `new` from now on; what changes nothing makes no version."""
        if old is not None and _bare(old) == _bare(new):
            return self._done(old)
        self._version += 1
        new["metadata"] = dict(metadata_of(new)) | {"resourceVersion": str(self._version)}
        self._objects[key] = new
        self._happen(key[0], Seen.ADDED if old is None else Seen.MODIFIED, new, old)
        return self._done(new)

    def _happen(self, kind: Kind, seen: Seen, new: dict[str, object], old: Object | None) -> None:
        happened = Happened(self._version, kind, seen, new, old)
        self.history.append(happened)
        for tell in self.on_change:
            tell(happened)

    def _conflict(self, old: Object, expected: Mapping[str, object]) -> Denied | None:
        present = metadata_of(old)
        for name in ("resourceVersion", "uid"):
            if expected.get(name) not in (None, "", present[name]):
                return Denied(Denial.CONFLICT, "the object has been modified", self.at)
        return None

    def _done(self, one: Object) -> Done:
        return Done(copied(one), self.at)

    def _not_found(self, name: str) -> Denied:
        return Denied(Denial.NOT_FOUND, f'"{name}" not found', self.at)

    def _key_of(self, kind: Kind, one: Object) -> _Key:
        metadata = metadata_of(one)
        return kind, str(metadata["namespace"]), str(metadata["name"])


def metadata_of(one: Object) -> Mapping[str, object]:
    metadata = one.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def has_labels(one: Object, labels: Mapping[str, str | None]) -> bool:
    found = metadata_of(one).get("labels")
    present = found if isinstance(found, Mapping) else {}
    return all(key in present and value in (None, present[key]) for key, value in labels.items())


def _seen_with(one: Happened, labels: Mapping[str, str | None]) -> Seen | None:
    """What a watch of these labels tells of a change; None when it is nothing to it."""
    was = one.before is not None and has_labels(one.before, labels)
    if not has_labels(one.object, labels):
        return Seen.DELETED if was else None
    return Seen.ADDED if one.seen is Seen.MODIFIED and not was else one.seen


def _finalizers(one: Object) -> list[str]:
    found = metadata_of(one).get("finalizers")
    return [str(name) for name in found] if isinstance(found, list) else []


def _bare(one: Object) -> dict[str, object]:
    """An object without its version."""
    metadata = {key: value for key, value in metadata_of(one).items() if key != "resourceVersion"}
    return {**one, "metadata": metadata}
