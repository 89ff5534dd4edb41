"""
What a handler may do, by phase.

A context only remembers: what is to be published, reserved or mutated is done by the host after the
handler has returned, together with the checkpoint it belongs to. So a handler that is cut off has
done nothing, nothing can follow a mutation, and no script can catch what a tool raises. What a
phase does not allow is an error of the script at once, also when the script catches it.

Spec: FLOW-13 to FLOW-18.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from gnomon.apps.workflow.definition import Tool
from gnomon.apps.workflow.pending_events import Event, Events, PendingEvents
from gnomon.apps.workflow.run_changes import Emission, Preparation, Request
from gnomon.apps.workflow.storable import is_storable, storable
from gnomon.apps.workflow.timing import read_wake
from gnomon.errors import LogicError
from gnomon.ports.workflow_facts import Handler, Input, Publication

__all__ = [
    "ID_MAX", "TEXT_MAX", "Context", "Event", "Outcome", "Prepared", "Step", "is_id", "to_json",
]  # fmt: skip

TEXT_MAX = 1_000_000
"""The longest payload, state or result, as JSON."""
ID_MAX = 500
INPUT_MAX = 2_000
SHOWN_MAX = 500
"""The longest title or note; what is longer is cut."""
_KEYS = {"reservations", "data", "ui", "wakeAt"}


class Step(NamedTuple):
    """A kind of handler, and what it may do."""

    name: str
    may: frozenset[str]


PRODUCER = Step("producer", frozenset({"publish", "input", "read"}))
PREPARE = Step("prepare", frozenset({"peek", "each", "find", "pending", "read"}))
MUTATE = Step("mutate", frozenset({"mutate"}))
NEXT = Step("next", frozenset({"publish"}))


class Prepared(NamedTuple):
    """What prepare gave, as `mutate` and `next` get it."""

    data: object
    reservations: list[dict[str, object]]
    title: str


class Outcome(NamedTuple):
    """What became of the mutation: `applied`, `none` or `skipped`."""

    status: str
    result: object


class Context:
    """Given to a handler as `ctx`; of no use after it has returned."""

    def __init__(
        self, step: Step, handler: Handler, *, now: datetime, run: int,
        pending: PendingEvents | None = None, tools: Mapping[str, Tool] | None = None,
    ) -> None:  # fmt: skip
        self.now = now
        """When this step began, in UTC."""
        self.run = run
        """The number of the run."""
        self.handler = handler.name
        self._step = step
        self._declared = handler
        self._pending = pending or PendingEvents({}, {})
        self._tools = tools or {}
        self._publications: dict[tuple[str, str], Publication] = {}
        self._inputs: dict[str, Input] = {}
        self._request: Request | None = None
        self._note = ""
        self._error: BaseException | None = None
        self._closed = False

    @property
    def state(self) -> object:
        """The state of the handler, as the latest run left it."""
        return json.loads(self._declared.state)

    def peek(self, topic: str, *, limit: int = 100) -> list[Event]:
        """The oldest pending events of a topic that is subscribed to."""
        self._check("peek", "peek")
        self._check_topic(topic, self._declared.subscribes, "subscribes")
        return self._pending.first(topic, limit)

    def each(self, topic: str) -> Events:
        """All pending events of a topic, oldest first: for `for`, or `async for` in a coroutine."""
        self._check("each", "peek")
        self._check_topic(topic, self._declared.subscribes, "subscribes")
        return self._pending.each(topic, lambda: self._check("each", "peek"))

    def find(self, topic: str, ids: str | Iterable[str]) -> Events:
        """The pending events of a topic that have this id, or one of these: as `each`."""
        self._check("find", "peek")
        self._check_topic(topic, self._declared.subscribes, "subscribes")
        wanted = list(dict.fromkeys([ids] if isinstance(ids, str) else ids))
        if not all(is_id(one) for one in wanted):
            raise self._wrong(f"find: ids must be text, as those of events are, got {ids!r:.200}")
        return self._pending.find(topic, wanted, lambda: self._check("find", "peek"))

    def pending(self, topic: str) -> int:
        """How many events are pending in a topic, however few of them can be peeked at."""
        self._check("pending", "count")
        self._check_topic(topic, self._declared.subscribes, "subscribes")
        return self._pending.size(topic)

    def publish(
        self, topic: str, id: str, payload: object = None, *, inputs: Iterable[str] = ()
    ) -> None:
        """Publish an event; under an id that is there already, its payload is replaced."""
        self._check("publish", "publish")
        self._check_topic(topic, self._declared.publishes, "publishes")
        if not is_id(id):
            raise self._wrong(
                f"publish: an id must be text of 1 to {ID_MAX} characters that a store can keep, "
                f"got {id!r:.200}"
            )
        causes = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        if not all(is_id(cause, most=INPUT_MAX) for cause in causes):
            raise self._wrong(
                f"publish: inputs must be what ctx.input has returned, got {causes!r:.200}"
            )
        text = self._json(payload, "payload")
        self._publications[topic, id] = Publication(topic, id, text, causes)

    def input(self, source: str, kind: str, id: str, *, title: str = "") -> str:
        """Register what came in from outside; the result is given to `publish`."""
        self._check("input", "register inputs")
        found = f"{source}/{kind}/{id}"
        if not is_id(found, most=INPUT_MAX):
            raise self._wrong(
                f"input: source, kind and id must be text of 1 to {INPUT_MAX} characters that a "
                f"store can keep, got {found!r:.200}"
            )
        self._inputs[found] = Input(id=found, title=storable(str(title), most=SHOWN_MAX))
        return found

    def read(self, function: Callable[..., object], *arguments: object, **named: object) -> object:
        """Call something that reads outside; what it raises counts, also if it is caught."""
        self._check("read", "read outside")
        try:
            result = function(*arguments, **named)
        except Exception as error:
            self._error = self._error or error
            raise
        return self._awaited(result) if inspect.isawaitable(result) else result

    def mutate(self, tool: str, params: object = None, *, title: str = "") -> None:
        """Ask for the one mutation of this run; it is made when `mutate` has returned."""
        self._check("mutate", "mutate")
        if self._request is not None:
            raise self._wrong(
                f"mutate: one mutation at most, and {self._request.tool} was asked for already; "
                "reserve less and do the rest in another run"
            )
        found = self._tools.get(tool)
        if found is None:
            known = ", ".join(self._tools) or "none"
            raise self._wrong(f"mutate: there is no tool {tool!r}; declared are: {known}")
        self._request = Request(
            tool, self._json(params, "params"), storable(str(title), most=SHOWN_MAX),
            found.on_reconcile is not None, found.approval,
        )  # fmt: skip

    def note(self, text: str) -> None:
        """What this run did, in words for the user."""
        self._note = storable(str(text), most=SHOWN_MAX)

    def close(self) -> None:
        """The handler has returned; whatever it has left running can do nothing any more."""
        self._closed = True
        if self._error is not None:
            raise self._error

    def preparation(self, result: object, *, now_ms: int) -> Preparation:
        """What prepare returned, read as what it must be."""
        if not isinstance(result, Mapping) or not _KEYS.issuperset(result):
            raise LogicError(
                f"prepare: must return a mapping of {', '.join(sorted(_KEYS))}, got {result!r:.200}"
            )
        reservations = _reservations(result.get("reservations", []))
        for topic, _ in reservations:
            self._check_topic(topic, self._declared.subscribes, "subscribes")
        title = _title(result.get("ui"))
        wake = read_wake(result.get("wakeAt"), now_ms=now_ms)
        topics = dict.fromkeys(topic for topic, _ in reservations)
        unseen = {} if reservations else self._pending.unseen()
        text = self._json(
            {
                "reservations": [
                    {"topic": topic, "ids": [id for one, id in reservations if one == topic]}
                    for topic in topics
                ],
                "data": result.get("data"), "title": title, "wake_ms": wake.at_ms,
                "rounds": 1 + self._pending.rounds_of(set(reservations)),
                **({"problem": wake.problem} if wake.problem else {}),
                **({"unseen": unseen} if unseen else {}),
            }, "data",
        )  # fmt: skip
        return Preparation(tuple(reservations), text, title, wake.at_ms, wake.problem, unseen)

    def request(self) -> Request | None:
        return self._request

    def emission(self, result: object) -> Emission:
        """What a producer or `next` returned, with what it has published."""
        return Emission(
            tuple(self._publications.values()), tuple(self._inputs.values()),
            None if result is None else self._json(result, "state"), self._note,
        )  # fmt: skip

    async def _awaited(self, result: Awaitable[object]) -> object:
        try:
            return await result
        except Exception as error:
            self._error = self._error or error
            raise

    def _check(self, what: str, verb: str) -> None:
        if self._closed:
            raise LogicError(f"ctx.{what}: the handler has returned; nothing can follow it")
        if what not in self._step.may:
            raise self._wrong(f"ctx.{what}: {self._step.name} of {self.handler} must not {verb}")

    def _check_topic(self, topic: object, declared: Sequence[str], word: str) -> None:
        if topic not in declared:
            raise self._wrong(
                f"topic {topic!r}: {self.handler} has not declared it; add it to {word}"
            )

    def _wrong(self, text: str) -> LogicError:
        error = LogicError(text)
        self._error = self._error or error
        return error

    def _json(self, value: object, what: str) -> str:
        try:
            return to_json(value, what)
        except LogicError as error:
            self._error = self._error or error
            raise


def is_id(value: object, *, most: int = ID_MAX) -> bool:
    """Whether something can be known by this: some text, without what no store can keep."""
    return isinstance(value, str) and 0 < len(value) <= most and is_storable(value)


def to_json(value: object, what: str) -> str:
    """The value as JSON; `LogicError` when it cannot be stored so."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise LogicError(f"{what}: must be something that JSON can hold ({error})") from None
    if len(text) > TEXT_MAX:
        raise LogicError(f"{what}: must be at most {TEXT_MAX} characters of JSON, got {len(text)}")
    return text


def _reservations(value: object) -> list[tuple[str, str]]:
    problem = 'prepare: reservations must be a list of {"topic": ..., "ids": [...]}, got '
    if not isinstance(value, list | tuple):
        raise LogicError(f"{problem}{value!r:.200}")
    found: dict[tuple[str, str], None] = {}
    for one in value:
        if not isinstance(one, Mapping) or set(one) != {"topic", "ids"}:
            raise LogicError(f"{problem}{one!r:.200}")
        ids = one["ids"]
        if not isinstance(ids, list | tuple) or not all(isinstance(id, str) for id in ids):
            raise LogicError(f"{problem}{one!r:.200}")
        found.update(dict.fromkeys((str(one["topic"]), id) for id in ids))
    return list(found)


def _title(value: object) -> str:
    if value is None:
        return ""
    title = value.get("title", "") if isinstance(value, Mapping) else None
    if not isinstance(title, str):
        raise LogicError(f'prepare: ui must be {{"title": "..."}}, got {value!r:.200}')
    return storable(title, most=SHOWN_MAX)
