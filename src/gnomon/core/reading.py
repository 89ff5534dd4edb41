"""
What was understood: an expression with its zone, dialect and DST policy, printed back.

Every command that takes a recurrence prints the reading, so that a field that was meant
differently shows before it matters: six fields have seconds first, a macro stands for five fields,
a policy is a sentence.

Spec: CLI-9, CLI-10.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon.core.civil.instant import parse_instant
from gnomon.core.civil.zone import Zone, load_zone, tzdata_version
from gnomon.core.cron.dialect import Dst, find_dialect
from gnomon.core.recurrence import Bounded, Cron, Recurrence, cron, every, once
from gnomon.errors import DefinitionError

__all__ = ["Reading", "read"]

_POLICIES = {
    Dst.STRICT: "skipped local times do not run, repeated ones run the first time only",
    Dst.CIVIL: "skipped local times do not run, repeated ones run both times",
    Dst.VIXIE: "skipped local times run once right after, repeated ones run the first time only",
}
_WORDS = {"every": "15m", "once": "2026-03-01T00:00:00Z"}
"""The words that begin a recurrence without cron, and what may follow them."""
_VIXIE_WILDCARD = "minute or hour begins with *, so it follows the real clock through every change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A recurrence, and what it was read from."""

    text: str
    recurrence: Recurrence
    zone: Zone

    @property
    def cron(self) -> Cron | None:
        """The recurrence if it is a cron expression, with or without bounds."""
        recurrence = self.recurrence
        while isinstance(recurrence, Bounded):
            recurrence = recurrence.inner
        return recurrence if isinstance(recurrence, Cron) else None

    @property
    def fields(self) -> Mapping[str, str]:
        """The text of each field by its name; empty when it is no cron expression."""
        if self.cron is None:
            return {}
        dialect = find_dialect(self.cron.expression.dialect)
        texts = dialect.macros.get(self.text.strip().lower(), self.text).split()
        roles = [rule.role.value for rule in dialect.fields]
        if dialect.seconds is not None and len(texts) == len(roles) + 1:
            roles.insert(0, dialect.seconds.role.value)
        return dict(zip(roles, texts, strict=True))

    def to_json(self) -> dict[str, str | Mapping[str, str] | None]:
        """The keys that all commands share; `dialect` and `dst` are null without an expression."""
        found = self.cron
        return {
            "expression": self.text,
            "zone": self.zone.name,
            "dialect": found.expression.dialect if found else None,
            "dst": found.dst.value if found else None,
            "description": self.recurrence.describe(),
            "fields": self.fields,
            "tzdata": tzdata_version(),
        }

    def to_rows(self) -> list[tuple[str, str]]:
        """The reading as names and values."""
        rows = [("expression", self.text)]
        if self.cron is not None:
            fields = "  ".join(f"{name} {text}" for name, text in self.fields.items())
            seconds_first = " (six fields: seconds first)" if "second" in self.fields else ""
            rows.append(("fields", f"{fields}{seconds_first}"))
            rows.append(("dialect", self.cron.expression.dialect))
        rows.append(("zone", f"{self.zone.name} (tzdata {tzdata_version()})"))
        if self.cron is not None:
            rows.append(("dst", _policy_in_words(self.cron)))
        return rows

    def to_line(self) -> str:
        """The reading in one line."""
        words = [self.text, self.zone.name]
        if self.cron is not None:
            words += [self.cron.expression.dialect, f"dst {self.cron.dst.value}"]
        return " | ".join(words)


def read(
    text: str, *, zone: str = "UTC", dialect: str | None = None, dst: str | None = None
) -> Reading:
    """A cron expression, `every DURATION` or `once INSTANT`."""
    loaded = load_zone(zone)
    word, _, rest = text.strip().partition(" ")
    _check_word(word, rest.strip(), got=text)
    if word not in _WORDS:
        name = "standard" if dialect is None else dialect
        recurrence: Recurrence = cron(text, zone=zone, dialect=name, dst=dst)
        return Reading(text=text, recurrence=recurrence, zone=loaded)
    for name, value in (("dialect", dialect), ("dst", dst)):
        if value is not None:
            raise DefinitionError(
                "applies to cron expressions only", where=name, got=value, hint="leave it out"
            )
    if word == "every":
        recurrence = every(rest.strip())
    else:
        recurrence = once(parse_instant(rest.strip(), where="once"))
    return Reading(text=text, recurrence=recurrence, zone=loaded)


def _check_word(word: str, rest: str, *, got: str) -> None:
    """Refuse `@every 5m` and `EVERY 5m`, which would make puzzling cron expressions."""
    plain = word.lower().removeprefix("@")
    if plain in _WORDS and plain != word:
        hint = f'write "{plain} {rest or _WORDS[plain]}"'
        raise DefinitionError(
            f"must begin with the plain word {plain}", where="expression", got=got,
            hint=hint,
        )  # fmt: skip


def _policy_in_words(recurrence: Cron) -> str:
    name = recurrence.dst.value
    if len(recurrence.zone.both) == 1:
        return f"{name} (without effect: the clocks of {recurrence.zone.name} never change)"
    if recurrence.dst is Dst.VIXIE and recurrence.expression.wildcard:
        return f"{name}: {_VIXIE_WILDCARD}"
    return f"{name}: {_POLICIES[recurrence.dst]}"
