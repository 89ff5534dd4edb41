"""
Planning again after a clock that was ahead: `gnomon krond replan`.

A krond that runs is asked to do it; where none runs, its state is opened for it.

Spec: KROND-38.
"""

import asyncio
from collections.abc import Mapping

from gnomon.apps.krond.control import ask
from gnomon.apps.krond.state import StateDirectory, advised
from gnomon.cli.screen import Json, render_json
from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.store.replanning import Replanned
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = ["replan_text", "replanned_record"]


def replan_text(state: StateDirectory, clock: Clock, *, as_json: bool) -> str:
    """Plan again, and say how much it was."""
    answer = ask(state, "replan")
    if answer is None:
        answer = {"ok": True, **replanned_record(asyncio.run(_replan(state, clock)))}
    if not answer.get("ok"):
        raise StoreError(str(answer.get("error")), where=str(state.path), hint="try it once more")
    if as_json:
        return render_json({name: _number(answer, name) for name in _NAMES})
    jobs, periods = _number(answer, "jobs"), _number(answer, "periods")
    if not periods:
        return "no period was judged ahead of its time\n"
    left = "" if answer["all"] else "; there are more: say it again"
    return f"planned again: {periods} periods of {jobs} jobs{left}\n"


def replanned_record(replanned: Replanned) -> dict[str, int]:
    """What was planned again, as JSON."""
    return {"jobs": replanned.schedules, "periods": replanned.periods, "all": replanned.is_all}


_NAMES = ("jobs", "periods", "all")


def _number(answer: Mapping[str, object], name: str) -> Json:
    found = answer[name]
    assert isinstance(found, int)
    return found


async def _replan(state: StateDirectory, clock: Clock) -> Replanned:
    if not state.ledger.exists():
        raise StoreError(
            "holds no state of krond",
            where=str(state.path),
            hint="name the directory with --state-dir",
        )
    state.check()
    with advised(state):
        ledger = SqliteLedger.open(state.ledger, exclusive=True)
        try:
            return await ledger.replan(now_ms=clock.now_ms())
        finally:
            await ledger.close()
