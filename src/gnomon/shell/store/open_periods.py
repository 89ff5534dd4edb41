"""
The open periods of one schedule, sorted into what the engine asks about.

Spec: PORT-2, LEDGER-8.
"""

from gnomon.core.engine import Lost
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import InFlight, Waiting

__all__ = ["OpenPeriods"]

_IN_FLIGHT = {"claimed": State.CLAIMED, "running": State.RUNNING}


class OpenPeriods:
    """Those that wait, those in flight, and those that are lost."""

    __slots__ = ("in_flight", "lost", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Waiting] = []
        self.in_flight: list[InFlight] = []
        self.lost: list[Lost] = []

    def add(
        self, key: str, nominal: int, fire_ms: int, state: str, fence: int, launches: int, *,
        is_lost: bool, confirmed: bool, detached: bool, kill_ms: int | None, may_have_run: bool,
        chosen_ms: int | None, has_failed: bool,
    ) -> None:  # fmt: skip
        """One row; `is_lost`: its lease is over; `may_have_run`: it has an outcome already."""
        chosen_ms = chosen_ms or 0
        running = _IN_FLIGHT.get(state)
        if running is None and kill_ms is not None:
            # No worker starts it any more; as far as is known it runs, and no worker holds it.
            running, detached = State.PLANNED, True
        if running is None:
            queued = state == "queued"
            self.waiting.append(
                Waiting(
                    key,
                    nominal,
                    fire_ms,
                    queued,
                    launches,
                    may_have_run,
                    fence,
                    chosen_ms,
                    has_failed,
                )
            )
            return
        run = InFlight(
            key, nominal, fire_ms, running, fence, launches, detached, kill_ms, chosen_ms
        )
        if is_lost:
            # This try was certainly not started; what of a former one, if there was one?
            never_started = confirmed and running is State.CLAIMED and not may_have_run
            self.lost.append(Lost(run, never_started))
        else:
            self.in_flight.append(run)
