"""
A desk to work on an API server from: the port's calls, with small objects.

Nothing here knows which server is behind the port, but for `settle`: what lets its controllers do
what they have to do.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TypeVar

from gnomon.ports.kubernetes import (
    API_VERSION,
    Answer,
    ApiServer,
    Call,
    Change,
    Create,
    Denied,
    Done,
    Find,
    Found,
    Get,
    Kind,
    NoAnswer,
    Object,
    Watch,
)

__all__ = ["POD", "KubernetesDesk", "a_job", "a_kronjob", "meta", "text_at"]

POD: Mapping[str, object] = {
    "restartPolicy": "Never",
    "containers": [{"name": "main", "image": "busybox:1", "command": ["true"]}],
}

_LOOKS_MAX = 600
_Result = TypeVar("_Result")


def a_kronjob(name: str = "report") -> Object:
    template = {"spec": {"template": {"spec": POD}}}
    return {
        "apiVersion": API_VERSION,
        "kind": "KronJob",
        "metadata": {"name": name},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": template},
    }


def a_job(
    name: str = "report-1", *, suspend: bool = True, owner: Object | None = None,
    annotations: Mapping[str, str] | None = None, labels: Mapping[str, str] | None = None,
) -> Object:  # fmt: skip
    metadata: dict[str, object] = {
        "name": name, "annotations": dict(annotations or {}), "labels": dict(labels or {}),
    }  # fmt: skip
    if owner is not None:
        metadata["ownerReferences"] = [
            {
                "apiVersion": API_VERSION, "kind": "KronJob", "name": meta(owner)["name"],
                "uid": meta(owner)["uid"], "controller": True,
            }
        ]  # fmt: skip
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
        "spec": {"suspend": suspend, "template": {"spec": POD}},
    }  # fmt: skip


def meta(one: Object) -> Mapping[str, object]:
    metadata = one["metadata"]
    assert isinstance(metadata, Mapping)
    return metadata


def text_at(one: object, *path: str) -> str:
    """What stands at a path in an object, as text; nothing is the empty text."""
    for part in path:
        one = one.get(part, "") if isinstance(one, Mapping) else ""
    return str(one)


class KubernetesDesk:
    """An API server with an empty namespace, and the loop in which it is asked."""

    def __init__(
        self, runner: asyncio.Runner, api: ApiServer, namespace: str,
        settle: Callable[[], Coroutine[object, object, None]],
        forget: Callable[[], Coroutine[object, object, str | None]],
    ) -> None:  # fmt: skip
        self._runner = runner
        self._settle = settle
        self._forget = forget
        self.api = api
        self.namespace = namespace

    def run(self, work: Coroutine[object, object, _Result]) -> _Result:
        return self._runner.run(work)

    def send(self, call: Call) -> Answer:
        return self.run(self.api.send(call))

    def done(self, call: Call) -> Object:
        answer = self.send(call)
        assert isinstance(answer, Done), answer
        return answer.object

    def denied(self, call: Call) -> Denied:
        answer = self.send(call)
        assert isinstance(answer, Denied), answer
        return answer

    def create(self, kind: Kind, one: Object) -> Object:
        return self.done(Create(kind, self.namespace, one))

    def get(self, kind: Kind, name: str) -> Object | None:
        answer = self.send(Get(kind, self.namespace, name))
        return answer.object if isinstance(answer, Done) else None

    def find(self, kind: Kind, labels: Mapping[str, str | None] | None = None) -> Found:
        found = self.run(self.api.find(Find(kind, self.namespace, labels or {})))
        assert isinstance(found, Found), found
        return found

    def watch(
        self, kind: Kind, version: str, count: int, labels: Mapping[str, str | None] | None = None
    ) -> Sequence[Change | Denied | NoAnswer]:
        """The first things that a watch tells of objects, so many of them."""

        async def look() -> list[Change | Denied | NoAnswer]:
            seen: list[Change | Denied | NoAnswer] = []
            watch = self.api.watch(Watch(kind, version, self.namespace, labels or {}, timeout_s=5))
            async for one in watch:
                if not (isinstance(one, Change) and one.seen == "BOOKMARK"):
                    seen.append(one)
                if len(seen) == count:
                    break
            return seen

        return self.run(look())

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Let the controllers of the server go on until something holds."""
        for _ in range(_LOOKS_MAX):
            if holds():
                return
            self.run(self._settle())
        raise AssertionError(f"never: {what}")

    def forgotten_version(self) -> str | None:
        """A version from which no watch can go on; None where the server cannot be made forget."""
        return self.run(self._forget())
