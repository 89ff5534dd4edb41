"""
Runs that a caller asked to end and that no worker holds: how long does their schedule wait?

Such a run is never started again. It may be running, because the launcher did not answer or its
worker is gone. So it is in flight until the launcher, whom every worker asks, says that it is over.
The wait has an end. Ten leases after the request, or after the worker was lost, the run is left as
it is and holds up no other run any more.

Spec: ASK-10, ASK-15, ASK-16.
"""

from datetime import timedelta

from gnomon.core.engine.terms import Due, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight

__all__ = ["settle_killed", "waited_for"]

_MS = timedelta(milliseconds=1)


def settle_killed(due: Due, now_ms: int, limits: Limits) -> tuple[Due, list[Fact]]:
    """The schedule with what is to be ended among what is in flight; and what that comes to."""
    lost = [one for one in due.lost if one.run.kill_ms is None or one.never_started]
    if len(lost) == len(due.lost) and not waited_for(due):
        return due, []
    patience_ms = limits.starts_max * (due.schedule.policy.lease // _MS)
    runs, facts = list[InFlight](), list[Fact]()
    for run in due.in_flight:
        if run.state is not State.PLANNED or run.kill_ms is None or run.fire_ms > now_ms:
            runs.append(run)
        elif run.kill_ms + patience_ms > now_ms:
            runs.append(_due_at(run, run.kill_ms + patience_ms))
            facts.append(_fact(runs[-1], State.PLANNED))
        else:
            facts.append(_fact(run, State.DONE, Outcome.EXECUTED, Reason.UNCERTAIN))
    for run, never_started in due.lost:
        if run.kill_ms is not None and not never_started:
            # Taken from its worker, it has the next number, under which its end is told.
            runs.append(
                _due_at(run, now_ms + patience_ms)._replace(
                    state=State.PLANNED, fence=run.fence + 1, detached=True
                )
            )
            facts.append(_fact(runs[-1], State.PLANNED, Outcome.EXECUTED))
    return due._replace(in_flight=runs, lost=lost), facts


def _due_at(run: InFlight, fire_ms: int) -> InFlight:
    """The run to be looked at then, with the instant that was chosen for it."""
    return run._replace(fire_ms=fire_ms, chosen_ms=run.chosen_ms or run.fire_ms)


def waited_for(due: Due) -> list[int]:
    """Until when such runs are waited for, in milliseconds."""
    return [run.fire_ms for run in due.in_flight if run.state is State.PLANNED]


def _fact(
    run: InFlight, state: State, outcome: Outcome | None = None, reason: Reason | None = None
) -> Fact:
    return Fact(
        run.key, run.nominal, run.fire_ms, state, outcome, reason, run.launches,
        chosen_ms=run.chosen_ms,
    )  # fmt: skip
