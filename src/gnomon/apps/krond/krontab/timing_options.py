"""
When a job runs: its schedule and the modifiers `tz`, `dst`, `dialect`, `win`, `dist` and so on.

The texts are those of the core, and so are their meanings; what is added is the place of each
mistake. Something that cannot be read stands for its default from then on, so that what comes after
it is looked at too.

Spec: KRONTAB-10, KRONTAB-38, KRONTAB-51.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.apps.krond.krontab.draft import (
    AT_BOOT,
    DEFAULTS,
    NOT_AT_BOOT,
    SCHEDULE,
    Draft,
    Piece,
    unknown,
    unquote,
)
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.core.civil.zone import load_zone
from gnomon.core.cron.dialect import DIALECTS, STANDARD, Dst
from gnomon.core.decision import (
    Constraint,
    Decider,
    Distribution,
    SeedStrategy,
    WindowRule,
    parse_constraint,
    parse_distribution,
    parse_seed_strategy,
    parse_window,
)
from gnomon.core.decision.distribution import Uniform
from gnomon.core.recurrence import Boot, Recurrence, cron
from gnomon.errors import DefinitionError

__all__ = ["Timing", "read_timing"]

# Many jobs say the same, and what they say is then shared, in time and in room.
_cron = lru_cache(4096)(cron)
_read_window = lru_cache(1024)(parse_window)
_read_distribution = lru_cache(1024)(parse_distribution)
_read_constraint = lru_cache(1024)(parse_constraint)

_UNIFORM, _EXACT = Uniform(), WindowRule()
_MACROS = {"@annually": "@yearly", "@midnight": "@daily"}
_UTC = "UTC"


class Timing(NamedTuple):
    """When a job runs."""

    recurrence: Recurrence
    decider: Decider


def read_timing(draft: Draft, identity: str, problems: Problems) -> Timing | None:
    """What the draft says about when; None when its schedule cannot be read."""
    if draft.at_boot:
        _refuse_times(draft, problems)
    zone = _zone(draft, problems)
    recurrence = _recurrence(draft, zone, problems)
    strategy, salt = _seed(draft, problems)
    window, distribution = _window(draft, problems), _distribution(draft, problems)
    only, avoid = _constraint(draft, "only", problems), _constraint(draft, "avoid", problems)
    with problems.at(draft.start, "job"):
        decider = Decider(
            identity=identity, zone=zone, window=window, distribution=distribution, seed=strategy,
            salt=salt, only=only, avoid=avoid,
        )  # fmt: skip
        return None if recurrence is None else Timing(recurrence, decider)
    return None


def _refuse_times(draft: Draft, problems: Problems) -> None:
    """A boot has no time that could be moved, drawn or left out."""
    for name in NOT_AT_BOOT:
        for piece in draft.pieces.pop(name, ())[:1]:
            reason = f"does not go with {AT_BOOT}, which is no time"
            hint = "leave it out; for a pause after the boot begin the command with sleep"
            problems.error(piece, draft.label(name), reason, hint=hint)


def _zone(draft: Draft, problems: Problems) -> str:
    piece = draft.first("tz")
    if piece is not None:
        with problems.at(piece, draft.label("tz")):
            return load_zone(piece.text).name
    return _UTC


def _recurrence(draft: Draft, zone: str, problems: Problems) -> Recurrence | None:
    piece = draft.first(SCHEDULE)
    if piece is None:
        return None
    if draft.at_boot:
        return Boot()
    text = " ".join(piece.text.split())
    text = _MACROS.get(text.lower(), text)  # so that there is one way to write it
    if text.startswith("@") and text.lower() not in STANDARD.macros:
        hint = unknown(text, among=(*STANDARD.macros, AT_BOOT, f"@{DEFAULTS}"))
        problems.error(piece, SCHEDULE, "is not a known macro", got=text, hint=hint)
        return None
    dialect = _one_of(draft, "dialect", tuple(DIALECTS), problems) or STANDARD.name
    dst = _one_of(draft, "dst", tuple(Dst), problems)
    try:
        return _cron(text, zone=zone, dst=dst, dialect=dialect)
    except DefinitionError:
        with problems.at(piece, SCHEDULE):  # once more, as it stands there, for the place
            cron(piece.text, zone=zone, dialect=dialect)
        return None


def _one_of(draft: Draft, name: str, known: Sequence[str], problems: Problems) -> str | None:
    """What a modifier with one word says; None when it is left out or wrong."""
    piece = draft.first(name)
    if piece is None:
        return None
    if piece.text not in known:
        what = "policy" if name == "dst" else name
        problems.error(
            piece, draft.label(name), f"is not a known {what}", got=piece.text,
            hint=f"write one of {', '.join(known)}",
        )  # fmt: skip
        return None
    return piece.text


def _window(draft: Draft, problems: Problems) -> WindowRule:
    parts = draft.pieces.get("win", ())
    label = draft.label("win")
    if len(parts) == 2:
        mode, length = parts
        try:
            return _read_window(f"{mode.text},{length.text}")
        except DefinitionError:
            with problems.at(mode, label):  # each by itself, for the place
                parse_window(f"{mode.text},0s")
            with problems.at(length, label):
                parse_window(f"after,{length.text}")
    elif parts:
        problems.error(
            parts[0], label, "must be a placement and a duration",
            got=",".join(part.text for part in parts), hint=f"write e.g. {label}(after,2h)",
        )  # fmt: skip
    return _EXACT


def _distribution(draft: Draft, problems: Problems) -> Distribution:
    parts = draft.pieces.get("dist", ())
    if not parts:
        return _UNIFORM
    try:
        return _read_distribution(",".join(part.text for part in parts))
    except DefinitionError as error:
        parameter = error.where.rpartition(".")[2]
        piece = next((part for part in parts if _key(part) == parameter), parts[0])
        with problems.at(piece, draft.label("dist")):
            raise
    return _UNIFORM


def _seed(draft: Draft, problems: Problems) -> tuple[SeedStrategy, str]:
    strategy, salt, salted = SeedStrategy.STABLE, "", False
    for index, part in enumerate(draft.pieces.get("seed", ())):
        key, value = part.halves("=")
        label = draft.label("seed")
        if index == 0:
            with problems.at(part, label):
                strategy = parse_seed_strategy(part.text)
        elif key.text != "salt" or value is None or salted:
            problems.error(
                part, label, "takes a strategy and a salt", got=part.text,
                hint=f"write e.g. {label}(daily,salt=prod)",
            )  # fmt: skip
        else:
            salted = True
            with problems.at(value, label):
                salt = unquote(value.text)
    return strategy, salt


def _constraint(draft: Draft, name: str, problems: Problems) -> Constraint | None:
    parts = draft.pieces.get(name, ())
    if not parts:
        return None
    try:
        if all(part.text for part in parts):
            return _read_constraint(";".join(part.text for part in parts))
    except DefinitionError:
        pass
    label, before = draft.label(name), len(problems.found)
    for part in parts:
        with problems.at(part, label):  # each by itself, for the place
            parse_constraint(part.text)
    if len(problems.found) == before:  # then it is the sum of them
        with problems.at(parts[0], label):
            parse_constraint(";".join(part.text for part in parts))
    return None


def _key(part: Piece) -> str:
    return part.halves("=")[0].text
