"""
A workflow as plain data: a mapping with the same words as the decorators.

    Workflow.of({
        "name": "orders",
        "producers": {"poll": {"schedule": {"interval": "5m"}, "publishes": ["orders"],
                               "handler": poll}},
        "consumers": {"sheet": {"subscribe": ["orders"], "prepare": prepare, "mutate": mutate}},
        "tools": {"append": {"call": append, "reconcile": was_appended}},
    })

A key that means nothing here is refused, so that a slip of the pen is not taken for an omission.

Spec: FLOW-2, FLOW-4.
"""

from collections.abc import Callable, Mapping

from gnomon.apps.workflow.definition import SEES, Workflow
from gnomon.errors import DefinitionError

__all__ = ["read_workflow"]


def read_workflow(data: Mapping[str, object]) -> Workflow:
    """The workflow that the data describes."""
    top = _Part(data, "workflow", "name", "title", "zone", "producers", "consumers", "tools")
    made = Workflow(top.text("name"), title=top.text("title"), zone=top.text("zone") or "UTC")
    for name, part in top.parts("producers", "schedule", "publishes", "handler"):
        schedule = _Part(part.get("schedule"), f"{part.where}.schedule", "interval", "cron")
        made.producer(
            name, interval=schedule.text("interval") or None, cron=schedule.text("cron") or None,
            publishes=part.names("publishes"),
        )(part.function("handler"))  # fmt: skip
    for name, part in top.parts(
        "consumers", "subscribe", "publishes", "sees", "prepare", "mutate", "next"
    ):
        consumer = made.consumer(
            name, subscribes=part.names("subscribe"), publishes=part.names("publishes"),
            sees=part.number("sees", SEES),
        )  # fmt: skip
        consumer.prepare(part.function("prepare"))
        consumer.on_mutate = part.maybe_function("mutate")
        consumer.on_next = part.maybe_function("next")
    for name, part in top.parts("tools", "call", "reconcile", "approval"):
        tool = made.tool(name, approval=bool(part.get("approval")))(part.function("call"))
        tool.on_reconcile = part.maybe_function("reconcile")
    return made


class _Part:
    """A mapping, of which each key is read as what it must be."""

    def __init__(self, data: object, where: str, *known: str) -> None:
        if not isinstance(data, Mapping):
            raise DefinitionError(
                "must be a mapping", where=where, got=data, hint=f"write {{{known[0]!r}: ...}}"
            )
        for key in data:
            if key not in known:
                raise DefinitionError(
                    "must be a known key", where=where, got=key,
                    hint=f"write one of {', '.join(known)}",
                )  # fmt: skip
        self.where = where
        self._data = data

    def get(self, key: str) -> object:
        return self._data.get(key)

    def text(self, key: str) -> str:
        found = self._data.get(key, "")
        if not isinstance(found, str):
            raise self._wrong(key, "must be text", found, "write it in quotes")
        return found

    def number(self, key: str, default: int) -> int:
        found = self._data.get(key, default)
        if not isinstance(found, int):
            raise self._wrong(key, "must be a whole number", found, "write e.g. 100")
        return found

    def names(self, key: str) -> list[str]:
        found = self._data.get(key, [])
        if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in found):
            raise self._wrong(key, "must be a list of topics", found, 'write e.g. ["orders"]')
        return list(found)

    def function(self, key: str) -> Callable[..., object]:
        found = self.maybe_function(key)
        if found is None:
            raise self._wrong(key, "must be there", None, "give it a function")
        return found

    def maybe_function(self, key: str) -> Callable[..., object] | None:
        found = self._data.get(key)
        if found is not None and not callable(found):
            raise self._wrong(key, "must be a function", found, "give it a function")
        return found

    def parts(self, key: str, *known: str) -> list[tuple[str, "_Part"]]:
        found = self._data.get(key, {})
        if not isinstance(found, Mapping):
            raise self._wrong(key, "must be a mapping of names", found, 'write {"name": {...}}')
        return [(name, _Part(one, f"{key}.{name}", *known)) for name, one in found.items()]

    def _wrong(self, key: str, reason: str, got: object, hint: str) -> DefinitionError:
        return DefinitionError(reason, where=f"{self.where}.{key}", got=got, hint=hint)
