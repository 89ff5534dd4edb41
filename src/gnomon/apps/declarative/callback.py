"""
What kind of function is a callback, and what is it told about its run?

A coroutine function is awaited; any other function is called in a thread. A function with one
parameter that must be given gets a `RunContext`, one without gets nothing, and one that needs more
cannot be a callback.

Spec: CALL-1 to CALL-3.
"""

import inspect
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple

from gnomon.core.civil.instant import format_instant, from_epoch
from gnomon.core.ledger.period import period_key

__all__ = ["Callback", "Function", "RunContext", "read_callback"]

Function = Callable[[], object] | Callable[["RunContext"], object]


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


class Callback(NamedTuple):
    """A function, and how it is called."""

    function: Callable[..., object]
    is_async: bool
    takes_context: bool

    def call(self, context: RunContext) -> object | Awaitable[object]:
        return self.function(context) if self.takes_context else self.function()


def read_callback(function: Callable[..., object]) -> Callback | None:
    """How to call this function; None when it needs more than a context."""
    call = getattr(function, "__call__", None)  # noqa: B004 (an object may have one that is async)
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
    required = _required(function)
    return None if required is None else Callback(function, is_async, required == 1)


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
