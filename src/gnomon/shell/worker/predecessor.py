"""
What has a former worker left behind, and which of it still goes on?

Its runs that go on are adopted by the launcher, and become this worker's; the rest is lost, for the
schedule's rule about that to say.

Spec: RUN-13.
"""

import logging

from gnomon.core.ledger.lifecycle import State
from gnomon.core.schedule import Schedule
from gnomon.ports import Launcher, Ledger, RunRow
from gnomon.shell.observe.log import log

__all__ = ["take_over"]


async def take_over(
    ledger: Ledger, launcher: Launcher, owner: str, *, now_ms: int
) -> tuple[list[RunRow], list[tuple[str, int, Schedule | None]]]:
    """
    What was in flight, and what of it is this worker's now.

    The latter by key, with the fencing number and the schedule.
    """
    orphans = await ledger.orphans(owner=owner)
    rows = {
        row.key: row for row in orphans if row.state is State.RUNNING and row.run_id is not None
    }
    adopted = [key for key, row in rows.items() if await launcher.adopt(key, row.run_id or "")]
    found = {key: await ledger.get(rows[key].schedule_id) for key in adopted}
    taken = await ledger.recover(owner=owner, adopted=adopted, now_ms=now_ms)
    if orphans:
        event = "took over from a former worker"
        log(logging.INFO, event, adopted=len(taken), running=len(rows))
    schedules = {key: None if row is None else row.schedule for key, row in found.items()}
    return orphans, [(key, fence, schedules[key]) for key, fence in taken]
