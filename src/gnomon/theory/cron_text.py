"""
Does a cron text occur for ever? All that the judge of EA5 needs to know about cron.

The calendar repeats itself every 400 years, so that a text without a year either occurs again and
again or never; only a year, or a single instant, can make it stop. What the text means is not read
here: the judge must not share that with what it judges.

Spec: THEORY-6.
"""

__all__ = ["recurs_for_ever"]

_YEAR_FIELD = 6
_ANY_YEAR = ("*", "?")


def recurs_for_ever(text: str) -> bool | None:
    """True for a text without an end, False for one with an end, None for one not understood."""
    fields = text.split()
    if not fields:
        return None
    if fields[0] == "once" or fields == ["@reboot"]:
        return False
    if fields[0] == "every" or (len(fields) == 1 and text.startswith("@")):
        return True
    if len(fields) in (5, 6):
        return True
    if len(fields) == _YEAR_FIELD + 1:
        year = fields[_YEAR_FIELD]
        return year in _ANY_YEAR or year.startswith("*/")
    return None
