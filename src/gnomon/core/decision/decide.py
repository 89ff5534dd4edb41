"""
Decide: at which second of its window does a period run?

The window is placed at the nominal instant, the seed is hashed from identity, period key and salt,
and the first drawn candidate that the constraints allow is chosen. When none is allowed, that is a
result, `Unschedulable`, and not an error.

A `Decider` holds a definition with all its texts parsed. Its `decide` gives the full record, its
`choose` the same instant as an integer and nothing else.

Neither knows `now`: when an unschedulable period is recorded, and what a late one means, is decided
elsewhere.

Spec: DEC-1, DEC-3, DEC-7, DEC-9 to DEC-12.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from types import UnionType

from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.core.civil.zone import load_zone, tzdata_version
from gnomon.core.decision.constraint import Constraint, allowance
from gnomon.core.decision.constraint_text import parse_constraint
from gnomon.core.decision.distribution import Distribution, Uniform, resolve, unit_map
from gnomon.core.decision.distribution_text import make_distribution, parse_distribution
from gnomon.core.decision.draw import PreparedDecider, chooser, draw
from gnomon.core.decision.record import ATTEMPTS_MAX, DECISION_VERSION, Decision
from gnomon.core.decision.seed import (
    SeedStrategy,
    check_identity,
    check_text,
    parse_seed_strategy,
    period_key_of,
    seed_digest,
    seed_material,
    seed_state_of,
)
from gnomon.core.decision.window import Window, WindowRule, parse_window
from gnomon.errors import DefinitionError

__all__ = ["Decider", "decide", "recompute"]

_EXACT = WindowRule()
_UNIFORM = Uniform()
_EXPECTED: dict[str, tuple[type | UnionType, str]] = {
    "window": (WindowRule, 'text like "after,1h"'),
    "distribution": (Distribution, 'text like "uniform"'),
    "seed": (SeedStrategy, 'text like "stable"'),
    "only": (Constraint | None, 'text like "hours=9-17"'),
    "avoid": (Constraint | None, 'text like "hours=9-17"'),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """The part of a definition that decides, checked and prepared; equal when its parts are."""

    identity: str
    zone: str = "UTC"
    window: WindowRule = _EXACT
    distribution: Distribution = _UNIFORM
    seed: SeedStrategy = SeedStrategy.STABLE
    salt: str = ""
    only: Constraint | None = None
    avoid: Constraint | None = None
    choose: Callable[[int], int | None] = field(init=False, repr=False, compare=False)
    """From a nominal epoch second to the chosen one, or to None when the period is unschedulable.
    The nominal instant must lie within the horizon, as those of a recurrence do."""
    _prepared: PreparedDecider = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_identity(self.identity)
        check_text(self.salt, where="salt")
        _check_parts(self)
        prepared = _prepare(self)
        object.__setattr__(self, "_prepared", prepared)
        object.__setattr__(self, "choose", chooser(prepared))

    def __reduce__(self) -> tuple[Callable[[], "Decider"], tuple[()]]:
        # `choose` is a closure and cannot be pickled; it is prepared again from the parts.
        parts = {part.name: getattr(self, part.name) for part in fields(self) if part.init}
        return partial(Decider, **parts), ()

    @property
    def is_constrained(self) -> bool:
        """Whether a period can be unschedulable at all."""
        return self.only is not None or self.avoid is not None

    def decide(self, nominal: int) -> Decision:
        """The full record of the period at `nominal`, in epoch seconds."""
        _check_nominal(nominal)
        prepared = self._prepared
        start = nominal - prepared.lead
        key = prepared.key_of(nominal)
        digest = seed_digest(seed_material(self.identity, key, self.salt))
        outcome, attempts = draw(prepared, nominal)
        return Decision(
            identity=self.identity,
            nominal=nominal,
            zone=self.zone,
            rule=self.window,
            window=Window(start=start, end=start + prepared.span),
            distribution=prepared.distribution,
            seed=self.seed,
            salt=self.salt,
            only=self.only,
            avoid=self.avoid,
            period_key=key,
            seed_hash=digest.hex(),
            outcome=outcome,
            attempt_count=attempts,
            attempts_max=ATTEMPTS_MAX,
            version=DECISION_VERSION,
            tzdata_version=tzdata_version(),
        )


def decide(
    *,
    identity: str,
    nominal_at: datetime | str | int,
    zone: str = "UTC",
    window: str | WindowRule = "after,0s",
    distribution: str | Distribution = "uniform",
    seed: str = "stable",
    salt: str = "",
    only: str | Constraint | None = None,
    avoid: str | Constraint | None = None,
) -> Decision:
    """One decision from texts or values; a fraction of a second in `nominal_at` is dropped."""
    decider = Decider(
        identity=identity,
        zone=zone,
        window=parse_window(window) if isinstance(window, str) else window,
        distribution=(
            parse_distribution(distribution) if isinstance(distribution, str) else distribution
        ),
        seed=parse_seed_strategy(seed),
        salt=salt,
        only=parse_constraint(only, where="only") if isinstance(only, str) else only,
        avoid=parse_constraint(avoid, where="avoid") if isinstance(avoid, str) else avoid,
    )
    if isinstance(nominal_at, str):
        nominal_at = parse_instant(nominal_at, where="nominal_at")
    if isinstance(nominal_at, datetime):
        nominal_at = to_epoch(nominal_at, where="nominal_at")
    return decider.decide(nominal_at)


def recompute(record: Mapping[str, object]) -> Decision:
    """The decision again, from nothing but the input that its JSON record carries."""
    if not isinstance(record, Mapping):
        raise DefinitionError(
            "must be a mapping", where="record", got=record, hint="give what `to_json` gave"
        )
    if record.get("decisionVersion") != DECISION_VERSION:
        raise DefinitionError(
            "is not a version this Gnomon can recompute", where="decisionVersion",
            got=record.get("decisionVersion"), hint=f"it knows version {DECISION_VERSION}",
        )  # fmt: skip
    params = record.get("distributionParams")
    if not isinstance(params, Mapping):
        raise DefinitionError(
            "must be an object", where="distributionParams", got=params, hint="write {} for none"
        )
    only, avoid = _text(record, "only"), _text(record, "avoid")
    return decide(
        identity=_text(record, "identity"),
        nominal_at=parse_instant(_text(record, "nominalTime"), where="nominalTime"),
        zone=_text(record, "timezone"),
        window=f"{_text(record, 'windowMode')},{_text(record, 'windowDuration')}",
        distribution=make_distribution(_text(record, "distribution"), params),
        seed=_text(record, "seedStrategy"),
        salt=_text(record, "salt"),
        only=only or None,
        avoid=avoid or None,
    )


def _prepare(decider: Decider) -> PreparedDecider:
    zone = load_zone(decider.zone)
    distribution = resolve(decider.distribution, decider.window)
    return PreparedDecider(
        zone=zone,
        lead=decider.window.lead,
        span=decider.window.span,
        distribution=distribution,
        unit_map=unit_map(distribution, decider.window),
        allowed=allowance(decider.only, decider.avoid),
        key_of=period_key_of(decider.seed, zone),
        state_of=seed_state_of(decider.identity, decider.seed, decider.salt, zone),
    )


def _check_parts(decider: Decider) -> None:
    """Refuse a part of the wrong type, which a caller without a type checker may give."""
    for name, (kind, hint) in _EXPECTED.items():
        value: object = getattr(decider, name)
        if not isinstance(value, kind):
            raise DefinitionError(
                "is of the wrong type", where=name, got=value, hint=f"`decide` takes {hint}"
            )


def _check_nominal(nominal: object) -> None:
    if not isinstance(nominal, int) or isinstance(nominal, bool):
        raise DefinitionError(
            "must be an aware datetime or whole epoch seconds", where="nominal_at", got=nominal,
            hint="write e.g. datetime(2026, 3, 1, tzinfo=UTC)",
        )  # fmt: skip
    if not HORIZON_START <= nominal < HORIZON_END:
        raise DefinitionError(
            "must lie from 1970 to 2200", where="nominal_at", got=_instant_text(nominal),
            hint="nominal instants are at or after 1970-01-01 and before 2201-01-01, in UTC",
        )  # fmt: skip


def _instant_text(epoch: int) -> str | int:
    return format_instant(epoch) if abs(epoch) < 2 * HORIZON_END else epoch


def _text(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise DefinitionError(
            "must be text", where=key, got=value, hint="take the record as `to_json` gave it"
        )
    return value
