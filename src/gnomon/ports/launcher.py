"""
The launcher as a contract: what starts the runs that a ledger has granted.

Spec: LAUNCH-1 to LAUNCH-3.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.ledger_rows import Claim, Failed, Launched, Report

__all__ = ["Launcher", "Strained"]


class Strained(NamedTuple):
    """
    A launcher lacks what it needs to start any run: descriptors, memory, processes.

    It says nothing about the run, which did not start, and is not reported: its claim is kept, and
    tried again.
    """

    key: str
    fence: int
    message: str


class Launcher(Protocol):
    """
    What starts runs.

    A launcher that confirms starts does so in two steps: `launch` makes everything ready, and the
    run begins only with `release`, after the ledger has committed that it was launched. Who dies in
    between has started nothing. Other launchers begin with `launch`, and `release` does nothing.
    """

    @property
    def confirms_start(self) -> bool:
        """Whether a run that was not reported as launched certainly never started."""
        ...

    async def launch(self, claim: Claim) -> Launched | Failed | Strained | None:
        """
        Start a run, or make it ready; whether that worked is known when this returns.

        A launcher that takes its time returns None at once, and reports later. One that could not
        start any run at this moment says so, and is asked again for this one.
        """
        ...

    async def release(self, key: str) -> None:
        """Let a run begin that was made ready."""
        ...

    async def adopt(self, key: str, run_id: str) -> bool:
        """Whether a run of a former worker is still going on; its end will then be reported."""
        ...

    async def ended(self) -> Sequence[Report]:
        """Wait for runs to end; return those that have, and launches that took their time."""
        ...

    async def end(self, key: str, reason: Reason) -> bool | None:
        """
        End a run that is in flight or ready; True when it is over.

        None when this launcher does not have it, and cannot say whether another one does.
        """
        ...

    async def drain(self, *, grace_ms: int) -> None:
        """Wait for runs in flight, then end them."""
        ...
