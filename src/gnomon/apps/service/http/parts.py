"""
What does the application work with? Everything it is given, in one value.

Whoever puts the service together (the command line, a test) makes the parts; routes find them in
the application.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from fastapi import Request

from gnomon.apps.service.http.authentication import Authenticator
from gnomon.apps.service.http.gate import Limits
from gnomon.ports import Clock

__all__ = ["Parts", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of an application."""

    authenticator: Authenticator
    clock: Clock
    check_store: Callable[[], Awaitable[None]]
    """Raises `StoreError` while the store cannot be reached."""
    hosts: Collection[str]
    """The names under which the service is asked; `*` for any."""
    limits: Limits = field(default_factory=Limits)


def parts_of(request: Request) -> Parts:
    """The parts of the application that this request came to."""
    found: Parts = request.app.state.parts
    return found
