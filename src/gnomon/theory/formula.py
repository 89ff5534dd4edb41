"""
Formulas: temporal logic over the positions of a trace, with past and with future, as values.

The operators are those of the theory, all of them reflexive (`S`, `U` and `W` look at the present
position too), and `Y` is strong: at the first position there is no yesterday. Two operators know
time: a `Since` may ask that its beginning lies some milliseconds back, and `Within` is the
compute-bounded eventually of the liveness axioms.

A formula says what is meant. What it is worth on a trace is `evaluation`'s business.

Spec: THEORY-1.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Atom",
    "Constant",
    "Eventually",
    "Formula",
    "Globally",
    "Next",
    "Not",
    "Or",
    "Since",
    "Until",
    "Within",
    "Yesterday",
    "all_of",
    "any_of",
    "at_most_one",
    "hold",
    "hold_plus",
    "implies",
    "once",
    "parts_of",
    "render",
]


@dataclass(frozen=True, slots=True)
class Formula:
    """Anything that is true or false at a position."""

    def __and__(self, other: "Formula") -> "Formula":
        return And((self, other))

    def __or__(self, other: "Formula") -> "Formula":
        return Or((self, other))

    def __invert__(self) -> "Formula":
        return Not(self)


@dataclass(frozen=True, slots=True)
class Constant(Formula):
    value: bool


@dataclass(frozen=True, slots=True)
class Atom(Formula):
    """Something that happens at a position, to a task, a name, a call or a list of tasks."""

    word: str
    subject: Hashable = None


@dataclass(frozen=True, slots=True)
class Not(Formula):
    part: Formula


@dataclass(frozen=True, slots=True)
class And(Formula):
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(Formula):
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Yesterday(Formula):
    """`Y p`: there was a position before this one, and p held there."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Since(Formula):
    """`p S q`: q held some time ago, `at_least_ms` or longer, and p ever since."""

    left: Formula
    right: Formula
    at_least_ms: int = 0


@dataclass(frozen=True, slots=True)
class Next(Formula):
    """`X p`: p holds at the position after this one."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Until(Formula):
    """`p U q`: q comes, and p holds until then; `p W q`, the weak one: or p holds for ever."""

    left: Formula
    right: Formula
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Eventually(Formula):
    part: Formula


@dataclass(frozen=True, slots=True)
class Globally(Formula):
    part: Formula


@dataclass(frozen=True, slots=True)
class Within(Formula):
    """`Fcomp[a |X| + b](p)`: p comes before the compute for an input of `bits` bits is spent."""

    part: Formula
    bits: int


TRUE, FALSE = Constant(True), Constant(False)


def all_of(parts: Iterable[Formula]) -> Formula:
    return And(tuple(parts))


def any_of(parts: Iterable[Formula]) -> Formula:
    return Or(tuple(parts))


def implies(condition: Formula, consequence: Formula) -> Formula:
    return Or((Not(condition), consequence))


def once(part: Formula) -> Formula:
    """`O p`: p holds now or held before."""
    return Since(TRUE, part)


def hold(begins: Formula, ends: Formula) -> Formula:
    """It has begun and not ended since; where both happen it has ended, and stays so."""
    return Since(Not(ends), And((begins, Not(ends))))


def hold_plus(begins: Formula, ends: Formula) -> Formula:
    """The same, but where both happen it has begun."""
    return Since(Not(ends), begins)


def at_most_one(boundary: Formula, happening: Formula) -> Formula:
    """At most one `happening` from one `boundary` to the next."""
    return Globally(implies(happening, Next(Until(Not(happening), boundary, is_weak=True))))


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The formulas that it is made of."""
    match formula:
        case Constant() | Atom():
            return ()
        case And(parts) | Or(parts):
            return parts
        case Since(left, right) | Until(left, right):
            return left, right
        case (
            Not(part) | Yesterday(part) | Next(part)
            | Eventually(part) | Globally(part) | Within(part)
        ):  # fmt: skip
            return (part,)
    raise TypeError(f"not a formula: {formula!r}")


def render(formula: Formula) -> str:
    """The formula as text, in the notation of the theory."""
    match formula:
        case Constant(value):
            return "true" if value else "false"
        case Atom(word, subject):
            return word if subject is None else f"{word}({subject})"
        case Not(part):
            return f"!{render(part)}"
        case And(parts):
            return f"({' & '.join(map(render, parts))})" if parts else "true"
        case Or(parts):
            return f"({' | '.join(map(render, parts))})" if parts else "false"
        case Yesterday(part):
            return f"Y {render(part)}"
        case Since(left, right, at_least_ms):
            bound = f"[>={at_least_ms}ms]" if at_least_ms else ""
            return f"({render(left)} S{bound} {render(right)})"
        case Next(part):
            return f"X {render(part)}"
        case Until(left, right, is_weak):
            return f"({render(left)} {'W' if is_weak else 'U'} {render(right)})"
        case Eventually(part):
            return f"F {render(part)}"
        case Globally(part):
            return f"G {render(part)}"
        case Within(part, bits):
            return f"Fcomp[{bits}+|tau|]({render(part)})"
    raise TypeError(f"not a formula: {formula!r}")
