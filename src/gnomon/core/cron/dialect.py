"""
Dialects: what different crons allow, as data.

A dialect names its fields, what may stand in them, and how the two day fields combine. There is one
reader, in `parse`; a further dialect is a further value here.

Spec: POSIX-1 to POSIX-16, CRON-1 to CRON-17, REC-10.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gnomon.errors import DefinitionError

__all__ = [
    "DIALECTS", "POSIX", "STANDARD", "VIXIE", "Dialect", "Dst", "FieldRule", "Role", "find_dialect",
]  # fmt: skip


class Dst(StrEnum):
    """What happens to local times that a change of the zone's offset skips or repeats."""

    STRICT = "strict"
    """A skipped time does not occur; a repeated time occurs once, the first time."""
    VIXIE = "vixie"
    """Fixed times always occur once, after the gap if need be; wildcards follow the real clock."""
    CIVIL = "civil"
    """A skipped time does not occur; a repeated time occurs twice."""


class Role(StrEnum):
    """What a field is about; the value is its name in messages."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    MONTH = "month"
    WEEKDAY = "weekday"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """What may stand in one field."""

    role: Role
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)
    sunday_is_7_too: bool = False
    values: Mapping[str, int] = field(init=False)
    """Every usual spelling of a single value."""
    single: Mapping[str, int] = field(init=False)
    """The same spellings, each with the mask of its value."""
    whole: Mapping[str, int] = field(init=False)
    """The same and `*`: the texts of a whole field that need no reading."""
    every: int = field(init=False)
    """The mask of `*`."""

    def __post_init__(self) -> None:
        values = {str(value): value for value in range(self.low, self.top + 1)}
        for name, value in self.names.items():
            values |= {name: value, name.upper(): value, name.title(): value}
        single = {text: 1 << value for text, value in values.items()}
        if self.sunday_is_7_too:
            single["7"] = 1 << 0
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "single", single)
        object.__setattr__(self, "every", (2 << self.high) - (1 << self.low))
        object.__setattr__(self, "whole", single | {"*": self.every})

    @property
    def top(self) -> int:
        """The greatest number that may be written."""
        return 7 if self.sunday_is_7_too else self.high


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dialect:
    """A way to write cron expressions."""

    name: str
    fields: tuple[FieldRule, ...]
    """The five fields from the minute to the weekday."""
    seconds: FieldRule | None = None
    """The optional first of six fields."""
    steps: bool = False
    """Whether `*/n` and `a-b/n` may be written."""
    bare_steps: bool = False
    """Whether `a/n` may be written too, which runs from `a` to the end of the field."""
    month_days: bool = False
    """Whether `L`, `LW`, `nW`, `d#n` and `dL` may be written."""
    macros: Mapping[str, str] = field(default_factory=dict)
    star_prefix_is_free: bool = False
    """Whether a day field such as `*/2` counts as unrestricted, as a plain `*` always does."""
    dst: Dst
    """The default; the user may choose another."""


MONTH_NAMES = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
WEEKDAY_NAMES = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@midnight": "0 0 * * *",
    "@annually": "0 0 1 1 *",
}

_MINUTE = FieldRule(role=Role.MINUTE, low=0, high=59)
_HOUR = FieldRule(role=Role.HOUR, low=0, high=23)
_DAY = FieldRule(role=Role.DAY, low=1, high=31)

POSIX = Dialect(
    name="posix",
    fields=(
        _MINUTE,
        _HOUR,
        _DAY,
        FieldRule(role=Role.MONTH, low=1, high=12),
        FieldRule(role=Role.WEEKDAY, low=0, high=6),
    ),
    dst=Dst.STRICT,
)

STANDARD = Dialect(
    name="standard",
    fields=(
        _MINUTE,
        _HOUR,
        _DAY,
        FieldRule(role=Role.MONTH, low=1, high=12, names=MONTH_NAMES),
        FieldRule(role=Role.WEEKDAY, low=0, high=6, names=WEEKDAY_NAMES, sunday_is_7_too=True),
    ),
    seconds=FieldRule(role=Role.SECOND, low=0, high=59),
    steps=True,
    bare_steps=True,
    month_days=True,
    macros=MACROS,
    dst=Dst.VIXIE,
)

VIXIE = Dialect(
    name="vixie",
    fields=STANDARD.fields,
    steps=True,
    macros=MACROS,
    star_prefix_is_free=True,
    dst=Dst.VIXIE,
)

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (POSIX, STANDARD, VIXIE)}


def find_dialect(name: str) -> Dialect:
    """The dialect with this name."""
    try:
        return DIALECTS[name]
    except (KeyError, TypeError):
        raise DefinitionError(
            "must be a known dialect", where="dialect", got=name,
            hint=f"write one of {', '.join(DIALECTS)}",
        ) from None  # fmt: skip
