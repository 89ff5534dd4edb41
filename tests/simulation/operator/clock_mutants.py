"""Deliberate mistakes in what the operator believes of its clock."""

from contextlib import AbstractContextManager
from unittest.mock import patch

from gnomon.apps.operator.asking import Agreement, Asking
from gnomon.apps.operator.server_clock import ServerClock

__all__ = ["own_clock_believed", "step_during_a_question_ignored"]

Patch = AbstractContextManager[object]


def own_clock_believed() -> Patch:
    return patch.object(
        Asking, "clock", property(lambda self: Agreement.AGREES, lambda self, value: None),
        create=True,
    )  # fmt: skip


def step_during_a_question_ignored() -> Patch:
    """An answer is believed although the clock was set since it was asked for."""
    see = ServerClock.see

    def gullible(
        self: ServerClock, at: int | None, *, asked_ms: int, heard_ms: int, took_ms: int,
        monotonic_ms: int,
    ) -> None:  # fmt: skip
        see(self, at, asked_ms=heard_ms, heard_ms=heard_ms, took_ms=0, monotonic_ms=monotonic_ms)
        if at is not None and asked_ms <= at * 1000 <= heard_ms:
            self._found = Agreement.AGREES

    return patch.object(ServerClock, "see", gullible)
