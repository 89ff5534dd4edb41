"""
What lies ahead of a job: the periods whose chosen second has not come yet.

A period lies ahead also when its nominal time has passed, as long as its second has not; one that
is unschedulable does until its window ends. Nothing is known here about what was handled already.

Spec: KRONTAB-32.
"""

from collections.abc import Iterator
from itertools import islice

from gnomon.core.decision import Chosen, Decision
from gnomon.core.schedule import Schedule

__all__ = ["LOOKED_AT_MAX", "next_chosen", "over_at", "periods_after"]

LOOKED_AT_MAX = 100
"""After how many periods without any allowed second the search looks no further."""


def periods_after(schedule: Schedule, at: int) -> Iterator[Decision]:
    """The periods that lie ahead at an instant, in the order of their nominal times."""
    rule = schedule.decider.window
    for nominal in schedule.recurrence.iterate_epochs(at - (rule.span - rule.lead) - 1):
        decision = schedule.decider.decide(nominal)
        if over_at(decision) > at:
            yield decision


def over_at(decision: Decision) -> int:
    """When a period no longer lies ahead: its chosen second, or the end of its window."""
    outcome = decision.outcome
    return outcome.at if isinstance(outcome, Chosen) else decision.window.end


def next_chosen(schedule: Schedule, at: int) -> int | None:
    """The earliest chosen second ahead among the next periods; None when there is none."""
    rule, decide = schedule.decider.window, schedule.decider.choose
    first = at - (rule.span - rule.lead) - 1
    best: int | None = None
    for nominal in islice(schedule.recurrence.iterate_epochs(first), LOOKED_AT_MAX):
        if best is not None and nominal - rule.lead >= best:
            break  # no later window can begin before it
        chosen = decide(nominal)
        if chosen is not None and chosen > at and (best is None or chosen < best):
            best = chosen
    return best
