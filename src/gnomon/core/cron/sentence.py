"""
Which English sentence says what a cron expression means?

The sentence is made from the sets of values and not from the text: expressions that match the same
times have the same sentence, and expressions that do not have different ones. It is exact, in the
24-hour clock, and says nothing about zones or changes of the clock, which an expression does not
know. `day_words` has the words for its days.

A few times are listed ("At 03:15 and 15:15"); a regular pattern is said by its step ("Every 5
minutes"); anything else is said field by field ("At 5 and 35 minutes past every hour"). Spans of
hours name the last minute they hold: "from 09:00 to 17:59".

Spec: DESC-1 to DESC-6.
"""

from collections.abc import Sequence

from gnomon.core.cron.day_words import say_days
from gnomon.core.cron.expression import ON_THE_MINUTE, Expression
from gnomon.core.cron.number_words import (
    Progression,
    join,
    ordinal,
    progression,
    runs,
    spans,
    values,
)

__all__ = ["explain"]

_LIST_MAX = 4
_RUN_MIN = 3
_HOURS_LISTED_MAX = 6


def explain(expression: Expression) -> str:
    """The sentence, without a full stop: "At 03:15 on weekdays"."""
    times, days = _say_times(expression), say_days(expression.days)
    if times.startswith("Every") or " past " in times:
        days = days.removeprefix("every day").lstrip()  # the times say that they go on
    # Two spans beside each other, "from 09:00 to 17:59 from March to May", need a breath.
    breath = "," if days.startswith("from") and " to " in times else ""
    return f"{times}{breath} {days}".rstrip()


def _say_times(expression: Expression) -> str:
    """The phrase for seconds, minutes and hours together; it begins with `At` or `Every`."""
    seconds, minutes = values(expression.second), values(expression.minute)
    hours = values(expression.hour)
    if _is_listed(seconds, minutes, hours):
        return f"At {_clock_list(seconds, minutes, hours)}"
    if expression.second != ON_THE_MINUTE:
        return _say_seconds(seconds, minutes, hours)
    if minutes == [0] and (found := progression(hours)):
        return _every_hours(hours, found)
    return _say_minutes(minutes, hours)


def _is_listed(seconds: list[int], minutes: list[int], hours: list[int]) -> bool:
    """Whether the times are few, or one time in each of some hours that follow no pattern."""
    within_hour = len(seconds) * len(minutes)
    if within_hour * len(hours) <= _LIST_MAX:
        return True
    return within_hour == 1 and not progression(hours) and not _is_better_in_spans(hours)


def _clock_list(seconds: list[int], minutes: list[int], hours: list[int]) -> str:
    if seconds == [0]:
        return join([f"{hour:02d}:{minute:02d}" for hour in hours for minute in minutes])
    times = [(hour, minute, second) for hour in hours for minute in minutes for second in seconds]
    return join([f"{hour:02d}:{minute:02d}:{second:02d}" for hour, minute, second in times])


def _every_hours(hours: list[int], found: Progression) -> str:
    """On the hour, with a step between the hours."""
    phrase = _step(found, "hour")
    if _divides(hours, 24):
        return phrase
    return f"{phrase} from {found.first:02d}:00 to {found.last:02d}:00"


def _say_minutes(minutes: list[int], hours: list[int]) -> str:
    if len(hours) == 1 and len(minutes) >= _RUN_MIN and len(runs(minutes)) == 1:
        first, last = (f"{hours[0]:02d}:{minute:02d}" for minute in (minutes[0], minutes[-1]))
        return f"Every minute from {first} to {last}"
    if _divides(minutes, 60):
        return _within(_every(minutes, "minute"), hours, ":59")
    return f"{_listed(minutes, 'minute')} past {_past_hours(hours)}"


def _say_seconds(seconds: list[int], minutes: list[int], hours: list[int]) -> str:
    regular = _divides(seconds, 60)
    if len(hours) == len(minutes) == 1 and not regular:
        return _within_minute(seconds, f"{hours[0]:02d}:{minutes[0]:02d}")
    phrase = _every(seconds, "second") if regular else _listed(seconds, "second")
    if len(hours) == 1 and len(minutes) < 60 and len(runs(minutes)) == 1:
        link = "" if regular else " past every minute"
        first, last = (f"{hours[0]:02d}:{minute:02d}" for minute in (minutes[0], minutes[-1]))
        return f"{phrase}{link} from {first}:00 to {last}:59"
    if len(minutes) == 60:
        return _within(phrase if regular else f"{phrase} past every minute", hours, ":59:59")
    link = "in" if regular else "past"
    if _divides(minutes, 60):
        nth = ordinal(60 // len(minutes))
        return _within(f"{phrase} {link} every {nth} minute", hours, ":59:59")
    return f"{phrase} {link} {_numbered(minutes, 'minute')} of {_of_hours(hours)}"


def _within_minute(seconds: list[int], minute: str) -> str:
    """Seconds of one minute of the day, `Every second from 12:00:10 to 12:00:20`."""
    if found := progression(seconds):
        first, last = f"{minute}:{found.first:02d}", f"{minute}:{found.last:02d}"
        return f"{_step(found, 'second')} from {first} to {last}"
    return f"{_listed(seconds, 'second')} past {minute}"


def _divides(numbers: list[int], whole: int) -> bool:
    """Whether the values go on evenly from one hour or day to the next, beginning with 0."""
    step = whole // len(numbers)
    return len(numbers) > 1 and numbers == list(range(0, whole, step)) and whole % step == 0


def _every(numbers: list[int], unit: str) -> str:
    step = 60 // len(numbers)
    return f"Every {unit}" if step == 1 else f"Every {step} {unit}s"


def _listed(numbers: list[int], unit: str) -> str:
    """`At 5 and 35 minutes`, `Every minute from 10 to 20 minutes`; the link "past" follows."""
    found = progression(numbers)
    if found is None:
        return f"At {spans(numbers)} {_plural(unit, numbers)}"
    return f"{_step(found, unit)} from {found.first} to {found.last} {unit}s"


def _step(found: Progression, unit: str) -> str:
    return f"Every {unit}" if found.step == 1 else f"Every {found.step} {unit}s"


def _numbered(numbers: list[int], unit: str) -> str:
    """`minute 5`, `minutes 5 and 35`, `every 7th minute from 0 to 56`."""
    found = progression(numbers)
    if found is None or found.step == 1:
        return f"{_plural(unit, numbers, one=len(numbers) == 1)} {spans(numbers)}"
    return f"every {ordinal(found.step)} {unit} from {found.first} to {found.last}"


def _plural(unit: str, numbers: Sequence[int], *, one: bool = False) -> str:
    return unit if one or list(numbers) == [1] else f"{unit}s"


def _within(phrase: str, hours: list[int], end: str) -> str:
    """Something that goes on all the time, in these hours."""
    if len(hours) == 24:
        return phrase
    found = progression(hours)
    if found and found.step > 1:
        return f"{phrase} in {_every_nth_hour(hours, end)}"
    return f"{phrase} from {_spans_of_hours(hours, end)}"


def _past_hours(hours: list[int]) -> str:
    """What minutes are counted from."""
    if len(hours) == 24:
        return "every hour"
    if progression(hours) or (len(hours) >= _RUN_MIN and len(runs(hours)) == 1):
        return _every_nth_hour(hours, ":59")
    if _is_better_in_spans(hours):
        return f"every hour from {_spans_of_hours(hours, ':59')}"
    return join([f"{hour:02d}:00" for hour in hours])


def _of_hours(hours: list[int]) -> str:
    """What numbered minutes belong to."""
    if len(hours) == 24:
        return "every hour"
    if progression(hours) or (len(hours) >= _RUN_MIN and len(runs(hours)) == 1):
        return _every_nth_hour(hours, ":59:59")
    return f"{_plural('hour', hours, one=len(hours) == 1)} {spans(hours)}"


def _every_nth_hour(hours: list[int], end: str) -> str:
    step = hours[1] - hours[0]
    phrase = "every hour" if step == 1 else f"every {ordinal(step)} hour"
    if _divides(hours, 24):
        return phrase
    start = ":00" if end == ":59" else ":00:00"
    return f"{phrase} from {hours[0]:02d}{start} to {hours[-1]:02d}{end}"


def _spans_of_hours(hours: list[int], end: str) -> str:
    start = ":00" if end == ":59" else ":00:00"
    return join([f"{first:02d}{start} to {last:02d}{end}" for first, last in runs(hours)])


def _is_better_in_spans(hours: list[int]) -> bool:
    return len(hours) > _HOURS_LISTED_MAX and len(runs(hours)) <= len(hours) // 2
