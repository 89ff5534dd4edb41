"""
How much does the service take, of one request, of one sender and of all of them together?

Each number bounds one thing that a sender could use up. What it cannot use up stays free for the
others: the question whether the service is alive has no limit, and executors that call back have a
room of their own.

Spec: HTTP-5, HTTP-6, HTTP-30 to HTTP-37.
"""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one server."""

    body_bytes: int = 1_048_576
    header_bytes: int = 16_384
    target_bytes: int = 4_096
    """The path and the query together."""
    head_seconds: float = 10
    """From a connection, or from the first byte of a later request, to the end of the headers."""
    idle_seconds: float = 15
    """How long a connection is kept for a further request."""
    body_seconds: float = 30
    unread_seconds: float = 30
    """How long a sender may leave its answer unread."""
    requests: int = 500
    """How many requests are answered at once; those below have rooms of their own."""
    streams: int = 250
    """Streams of events at once."""
    streams_each: int = 32
    """Streams of events of one principal."""
    callbacks: int = 100
    """Callbacks of executors at once."""
    waiting: int = 500
    """Connections on which no request is being answered."""
    waiting_each: int = 250
    """Those of one peer."""
