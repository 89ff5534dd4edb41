"""
What kind of function is a callback, and what is it told about its run?

A coroutine function is awaited; any other function is called in a thread. A function with one
parameter that must be given gets a `RunContext`, one without gets nothing, and one that needs more
cannot be a callback. Nor can a generator function: to call it does nothing.

Spec: CALL-1 to CALL-3, CALL-6, CALL-7.
"""

import inspect
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.civil.instant import format_instant, from_epoch
from gnomon.core.ledger.period import period_key
from gnomon.errors import DefinitionError

__all__ = [
    "Callback",
    "Function",
    "RunContext",
    "TimedFunction",
    "is_generator_function",
    "read_callback",
    "read_timeout",
    "with_timeout",
]

_MILLISECOND = timedelta(milliseconds=1)


class RunContext(NamedTuple):
    """What a callback is told about its run."""

    task: str
    nominal: int
    """The occurrence that the run is for, in epoch seconds."""
    attempt: int
    """1 for the first try of this occurrence."""
    reason: str
    """`due`, `retry`, or `interrupted` when a crash cut the run before off."""

    @property
    def nominal_at(self) -> datetime:
        """The occurrence that the run is for, in UTC."""
        return from_epoch(self.nominal)

    @property
    def period(self) -> str:
        """The id of the period: its nominal instant in RFC 3339."""
        return format_instant(self.nominal)

    @property
    def key(self) -> str:
        """The same for every try of one occurrence, so that an effect can be made once."""
        return period_key(self.task, self.nominal)


class TimedFunction(NamedTuple):
    """A callback with a time-out of its own."""

    function: Callable[..., object]
    timeout_ms: int

    def __call__(self, *given: object) -> object:
        return self.function(*given)


PlainFunction = Callable[[], object] | Callable[[RunContext], object]
Function = PlainFunction | TimedFunction


class Callback(NamedTuple):
    """A function, and how it is called."""

    function: Callable[..., object]
    is_async: bool
    takes_context: bool
    timeout_ms: int | None = None
    """How long a run may take; None for what the scheduler says."""

    def call(self, context: RunContext) -> object | Awaitable[object]:
        return self.function(context) if self.takes_context else self.function()


def read_callback(function: Callable[..., object]) -> Callback | None:
    """How to call this function; None when it needs more than a context."""
    timeout_ms: int | None = None
    if isinstance(function, TimedFunction):
        timeout_ms = function.timeout_ms
        function = function.function
    call = getattr(function, "__call__", None)  # noqa: B004 (an object may have one that is async)
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
    required = _required(function)
    if required is None:
        return None
    return Callback(function, is_async, required == 1, timeout_ms)


def is_generator_function(function: Callable[..., object]) -> bool:
    """Whether a call gives a generator, and does nothing of what is written in the function."""
    if isinstance(function, TimedFunction):
        function = function.function
    call = getattr(function, "__call__", None)  # noqa: B004 (as above)
    return any(
        inspect.isasyncgenfunction(one)
        or (inspect.isgeneratorfunction(one) and not _is_awaitable_all_the_same(one))
        for one in (function, call)
    )


def with_timeout(function: PlainFunction, timeout: timedelta | str) -> "TimedFunction":
    """The same callback, whose runs may take so long; `timeout` may be text such as `"5m"`."""
    timeout_ms = read_timeout(timeout, where="timeout")
    assert timeout_ms is not None
    return TimedFunction(function, timeout_ms)


def read_timeout(timeout: object, *, where: str, least: timedelta = _MILLISECOND) -> int | None:
    """How many milliseconds that is; None for no limit."""
    if timeout is None:
        return None
    if isinstance(timeout, str):
        timeout = parse_duration(timeout, where=where)
    if not isinstance(timeout, timedelta) or timeout < least:
        raise DefinitionError(
            f"must be a time of {format_duration(least)} or more", where=where, got=repr(timeout),
            hint='write timedelta(minutes=5) or "5m", or leave it out for no limit',
        )  # fmt: skip
    return timeout // _MILLISECOND


def _is_awaitable_all_the_same(function: object) -> bool:
    """A generator function may be made a coroutine by `types.coroutine`."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _required(function: Callable[..., object]) -> int | None:
    """How many arguments must be given by position; None when that is not enough, or too many."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # some functions that are not written in Python do not say
        return 0
    required = [
        one
        for one in parameters
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    named = any(one.kind is one.KEYWORD_ONLY for one in required)
    return None if named or len(required) > 1 else len(required)
