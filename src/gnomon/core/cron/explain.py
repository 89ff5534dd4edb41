"""
Which English sentence says what a cron expression means?

The sentence is made from the sets of values and not from the text: expressions that match the same
times have the same sentence, and expressions that do not have different ones. It is exact, in the
24-hour clock, and says nothing about zones or changes of the clock, which an expression does not
know.

Spec: DESC-1 to DESC-6.
"""

from gnomon.core.cron.day_meaning import simplest
from gnomon.core.cron.expression import Expression
from gnomon.core.cron.phrase_days import say_days
from gnomon.core.cron.phrase_times import say_times

__all__ = ["explain"]


def explain(expression: Expression) -> str:
    """The sentence, without a full stop: "At 03:15 on weekdays"."""
    times, days = say_times(expression), say_days(simplest(expression.days))
    if times.startswith("Every") or " past " in times:
        days = days.removeprefix("every day").lstrip()  # the times say that they go on
    # Two spans beside each other, "from 09:00 to 17:59 from March to May", need a breath.
    breath = "," if days.startswith("from") and " to " in times else ""
    return f"{times}{breath} {days}".rstrip()
