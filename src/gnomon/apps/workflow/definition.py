"""
What an author writes: a workflow with its producers, consumers and tools.

    orders = Workflow("orders")

    @orders.producer(interval="5m", publishes=["orders"])
    def poll(ctx, state): ...

    sheet = orders.consumer("sheet", subscribes=["orders"])

    @sheet.prepare
    def prepare(ctx, state): ...

    @orders.tool("append")
    def append(call): ...

    @append.reconcile
    def was_appended(call): ...

The same can be given as plain data, with the words of the decorators:

    Workflow.of({
        "name": "orders",
        "producers": {"poll": {"schedule": {"interval": "5m"}, "publishes": ["orders"],
                               "handler": poll}},
        "consumers": {"sheet": {"subscribe": ["orders"], "prepare": prepare, "mutate": mutate}},
        "tools": {"append": {"call": append, "reconcile": was_appended}},
    })

A key that means nothing here is refused, so that a slip of the pen is not taken for an omission.
Whatever cannot be meant is a `DefinitionError`, before anything is deployed.

Spec: FLOW-1 to FLOW-5, FLOW-26, FAIL-17.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import TypeVar

from gnomon.apps.workflow.failure import Fault
from gnomon.apps.workflow.storable import is_storable
from gnomon.apps.workflow.timing import read_schedule
from gnomon.core.civil.zone import load_zone
from gnomon.errors import DefinitionError, WorkflowError
from gnomon.ports.workflow_facts import Handler, HandlerKind, Standing

__all__ = ["NAME_PATTERN", "Consumer", "Producer", "Tool", "Workflow", "is_name"]

SEES = 100
SEES_MAX = 10_000
TITLE_MAX = 500

NAME_PATTERN = r"[A-Za-z][A-Za-z0-9_.-]{0,99}"
_NAME = re.compile(NAME_PATTERN, re.ASCII)
_F = TypeVar("_F", bound=Callable[..., object])


class Producer:
    """Fetches what is new outside and publishes it."""

    def __init__(self, name: str, schedule: str, publishes: tuple[str, ...]) -> None:
        self.name = name
        self.schedule = schedule
        self.publishes = publishes
        self.handler: Callable[..., object] | None = None

    def __call__(self, function: _F) -> _F:
        self.handler = function
        return function


class Consumer:
    """Deals with events: `prepare` chooses, `mutate` acts once, `next` draws conclusions."""

    def __init__(
        self, name: str, subscribes: tuple[str, ...], publishes: tuple[str, ...], sees: int
    ) -> None:
        self.name = name
        self.sees = sees
        """How many pending events of each topic its prepare can see."""
        self.subscribes = subscribes
        self.publishes = publishes
        self.on_prepare: Callable[..., object] | None = None
        self.on_mutate: Callable[..., object] | None = None
        self.on_next: Callable[..., object] | None = None

    def prepare(self, function: _F) -> _F:
        self.on_prepare = function
        return function

    def mutate(self, function: _F) -> _F:
        self.on_mutate = function
        return function

    def next(self, function: _F) -> _F:
        self.on_next = function
        return function


class Tool:
    """Changes something outside; `reconcile` finds out whether it did."""

    def __init__(self, name: str, *, approval: bool) -> None:
        self.name = name
        self.approval = approval
        self.on_call: Callable[..., object] | None = None
        self.on_reconcile: Callable[..., object] | None = None

    def __call__(self, function: Callable[..., object]) -> "Tool":
        self.on_call = function
        return self

    def reconcile(self, function: _F) -> _F:
        self.on_reconcile = function
        return function


class Workflow:
    """One automation; at most one of its handlers runs at a time."""

    treated: dict[type[BaseException], Fault]
    """What exceptions of other packages mean, by class."""
    modules: Mapping[str, str]
    """The modules beside its script that it imports: their texts by path."""

    def __init__(self, name: str, *, title: str = "", zone: str = "UTC") -> None:
        self.name = _checked_name(name, where="workflow")
        self.title = _checked_title(title)
        self.zone = load_zone(zone).name
        self.producers: dict[str, Producer] = {}
        self.consumers: dict[str, Consumer] = {}
        self.tools: dict[str, Tool] = {}
        self.treated = {}
        self.modules = {}

    def producer(
        self, name: str = "", *, interval: str | timedelta | None = None, cron: str | None = None,
        publishes: Iterable[str] = (),
    ) -> Callable[[_F], _F]:  # fmt: skip
        """A decorator for the handler of a producer, `handler(ctx, state)`."""

        def declare(function: _F) -> _F:
            chosen = self._new_name(name or getattr(function, "__name__", ""))
            schedule = read_schedule(
                interval=interval, cron_text=cron, zone=self.zone, where=f"producer {chosen}"
            )
            made = Producer(chosen, schedule, _topics(publishes, where=f"{chosen}.publishes"))
            self.producers[chosen] = made
            return made(function)

        return declare

    def consumer(
        self, name: str, *, subscribes: Iterable[str], publishes: Iterable[str] = (),
        sees: int = SEES,
    ) -> Consumer:  # fmt: skip
        """A consumer; give it `prepare`, and `mutate` and `next` where there is something to do."""
        chosen = self._new_name(name)
        made = Consumer(
            chosen, _topics(subscribes, where=f"{chosen}.subscribes"),
            _topics(publishes, where=f"{chosen}.publishes"), _sees(sees, where=f"{chosen}.sees"),
        )  # fmt: skip
        self.consumers[chosen] = made
        return made

    def tool(
        self, name: str = "", *, approval: bool = False
    ) -> Callable[[Callable[..., object]], Tool]:
        """A decorator for a tool, `tool(call)`; with `approval` a person must agree each time."""

        def declare(function: Callable[..., object]) -> Tool:
            chosen = _checked_name(name or getattr(function, "__name__", ""), where="tool")
            if chosen in self.tools:
                raise _twice("tool", chosen)
            self.tools[chosen] = Tool(chosen, approval=approval)
            return self.tools[chosen](function)

        return declare

    def treat(self, *kinds: type[BaseException], as_: type[WorkflowError]) -> None:
        """Take exceptions of these classes, and of those below them, for an error of Gnomon."""
        for kind in kinds:
            if not isinstance(kind, type) or not issubclass(kind, BaseException):
                raise DefinitionError(
                    "must be a class of exceptions", where="treat", got=kind,
                    hint="write e.g. orders.treat(ThrottledError, as_=TransientError)",
                )  # fmt: skip
            if not isinstance(as_, type) or not issubclass(as_, WorkflowError):
                raise DefinitionError(
                    "must be an error of workflows", where="as_", got=as_,
                    hint="write one of gnomon.errors, e.g. as_=TransientError",
                )  # fmt: skip
            self.treated[kind] = Fault(as_.fault)

    @classmethod
    def of(cls, data: Mapping[str, object]) -> "Workflow":
        """A workflow from plain data, with the keys of the decorators."""
        return _read_workflow(data)

    def standing(self) -> Standing:
        return Standing(name=self.name, title=self.title, zone=self.zone)

    def handlers(self) -> list[Handler]:
        """The handlers as they are stored; `DefinitionError` when something is missing."""
        found = [
            Handler(
                name=one.name, kind=HandlerKind.PRODUCER, place=place, schedule=one.schedule,
                publishes=one.publishes,
            )
            for place, one in enumerate(self.producers.values())
        ] + [
            Handler(
                name=one.name, kind=HandlerKind.CONSUMER, place=place, publishes=one.publishes,
                subscribes=one.subscribes,
            )
            for place, one in enumerate(self.consumers.values(), len(self.producers))
        ]  # fmt: skip
        self._check_whole()
        return found

    def _new_name(self, name: str) -> str:
        chosen = _checked_name(name, where="handler")
        if chosen in self.producers or chosen in self.consumers:
            raise _twice("handler", chosen)
        return chosen

    def _check_whole(self) -> None:
        if not self.producers and not self.consumers:
            raise DefinitionError(
                "must have a producer or a consumer", where=f"workflow {self.name}", got="none",
                hint="declare one with @workflow.producer or workflow.consumer",
            )  # fmt: skip
        for one in self.consumers.values():
            if one.on_prepare is None:
                raise DefinitionError(
                    "must have a prepare", where=f"consumer {one.name}", got=None,
                    hint="decorate a function with @consumer.prepare",
                )  # fmt: skip
            if not one.subscribes:
                raise DefinitionError(
                    "must subscribe to a topic", where=f"consumer {one.name}", got="none",
                    hint='write e.g. subscribes=["orders"], or make it a producer with a schedule',
                )  # fmt: skip
            if one.publishes and one.on_next is None:
                raise DefinitionError(
                    "must have a next, which alone can publish", where=f"consumer {one.name}",
                    got=f"publishes {', '.join(one.publishes)}",
                    hint="decorate a function with @consumer.next, or leave publishes out",
                )  # fmt: skip


def _topics(names: Iterable[str], *, where: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise DefinitionError(
            "must be a list of topics", where=where, got=names, hint=f"write [{names!r}]"
        )
    return tuple(_checked_name(name, where=where) for name in names)


def _sees(count: object, *, where: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= SEES_MAX:
        raise DefinitionError(
            f"must be a whole number from 1 to {SEES_MAX}", where=where, got=count,
            hint=f"leave it out for {SEES}",
        )  # fmt: skip
    return count


def is_name(text: str) -> bool:
    """Whether a workflow, a handler or a topic can be called so."""
    return _NAME.fullmatch(text) is not None


def _checked_title(title: object) -> str:
    if not isinstance(title, str) or not is_storable(title) or len(title) > TITLE_MAX:
        raise DefinitionError(
            f"must be text of at most {TITLE_MAX} characters that a store can keep", where="title",
            got=title, hint='write e.g. title="Orders into the sheet"',
        )  # fmt: skip
    return title


def _checked_name(name: object, *, where: str) -> str:
    if not isinstance(name, str) or not is_name(name):
        raise DefinitionError(
            "must be a name: a letter, then up to 99 letters, digits, _ . or -", where=where,
            got=name, hint="write e.g. new-orders",
        )  # fmt: skip
    return name


def _twice(kind: str, name: str) -> DefinitionError:
    return DefinitionError(
        f"must have a name of its own among the {kind}s", where=kind, got=name,
        hint="give one of the two another name",
    )  # fmt: skip


def _read_workflow(data: Mapping[str, object]) -> Workflow:
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
