"""
Decisions, slowly and plainly: docs/spec/decision.md in the words of the standard library.

Windows are fractions, local times are datetimes of zoneinfo, constraints are checked one clause at
a time. It shares no code with Gnomon; both must give the same answer to every question.

`decision_vectors` writes its answers down as golden vectors.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib import resources
from statistics import NormalDist
from typing import TypedDict
from zoneinfo import ZoneInfo

__all__ = ["Expected", "Input", "answer", "jitter"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {
    "h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 1_000),
    "us": Fraction(1, 1_000_000),
}  # fmt: skip
_DOW = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


class Input(TypedDict, total=False):
    identity: str
    nominalTime: str
    timezone: str
    windowMode: str
    windowDuration: str
    distribution: str
    distributionParams: dict[str, str | float]
    seedStrategy: str
    salt: str
    only: str
    avoid: str


class Expected(TypedDict):
    periodId: str
    periodKey: str
    windowStart: str
    windowEnd: str
    seedHash: str
    chosenTime: str
    unschedulable: bool
    reason: str
    attemptCount: int


def answer(given: Input) -> Expected:
    """The decision for an input; a missing key has its default."""
    nominal = datetime.fromisoformat(given["nominalTime"]).astimezone(UTC)
    zone = _zone(given.get("timezone", "UTC"))
    start, end = _bounds(nominal, given)
    key = _period_key(nominal.astimezone(zone), nominal, given.get("seedStrategy", "stable"))
    digest = sha256(f"{given['identity']}\n{key}\n{given.get('salt', '')}".encode())
    chosen, attempts = None, 0
    if start == end:
        chosen = start if _is_valid(start.astimezone(zone), given) else None
    else:
        state = int(digest.hexdigest()[:16], 16)
        while chosen is None and attempts < 64:
            attempts += 1
            state, unit = _next_unit(state)
            candidate = start + timedelta(seconds=_offset(unit, nominal, start, end, given))
            chosen = candidate if _is_valid(candidate.astimezone(zone), given) else None
    return Expected(
        periodId=_text(nominal),
        periodKey=key,
        windowStart=_text(start),
        windowEnd=_text(end),
        seedHash=digest.hexdigest(),
        chosenTime="" if chosen is None else _text(chosen),
        unschedulable=chosen is None,
        reason="no candidate accepted within MaxAttempts" if chosen is None else "",
        attemptCount=attempts,
    )


def jitter(key: str, span_ms: int) -> int:
    """Milliseconds from -span_ms to span_ms."""
    _, unit = _next_unit(int(sha256(key.encode()).hexdigest()[:16], 16))
    return min(math.floor(unit * (2 * span_ms + 1)), 2 * span_ms) - span_ms


@cache
def _zone(name: str) -> ZoneInfo:
    # Not ZoneInfo(name): that would prefer the host's files, of another version.
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(duration: str) -> Fraction:
    parts = re.findall(r"([\d.]+)(ms|us|h|m|s)", duration.replace("µs", "us"))
    return sum((Fraction(number) * _UNITS[unit] for number, unit in parts), Fraction(0))


def _bounds(nominal: datetime, given: Input) -> tuple[datetime, datetime]:
    length = _seconds(given.get("windowDuration", "0s"))
    middle = Fraction((nominal - _EPOCH) // timedelta(seconds=1))
    start = {
        "after": middle,
        "around": middle - length / 2,
        "center": middle - length / 2,
        "before": middle - length,
    }[given.get("windowMode", "after")]
    floors = math.floor(start), math.floor(start + length)
    return _EPOCH + timedelta(seconds=floors[0]), _EPOCH + timedelta(seconds=floors[1])


def _period_key(local: datetime, nominal: datetime, strategy: str) -> str:
    year, week, _ = local.isocalendar()
    keys = {
        "stable": _text(nominal),
        "daily": local.strftime("%Y-%m-%d"),
        "weekly": f"{year:04d}-W{week:02d}",
    }
    return keys[strategy]


def _next_unit(state: int) -> tuple[int, float]:
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    word = state
    word = ((word ^ (word // 2**30)) * 0xBF58476D1CE4E5B9) % 2**64
    word = ((word ^ (word // 2**27)) * 0x94D049BB133111EB) % 2**64
    word ^= word // 2**31
    return state, float(Fraction(word // 2**11, 2**53))


def _offset(u: float, nominal: datetime, start: datetime, end: datetime, given: Input) -> int:
    span = (end - start) // timedelta(seconds=1)
    params = given.get("distributionParams", {})
    match given.get("distribution", "uniform"):
        case "uniform":
            x = u
        case "skewEarly":
            x = u ** float(params.get("shape", 2))
        case "skewLate":
            x = 1 - (1 - u) ** float(params.get("shape", 2))
        case "exponential":
            rate = float(params.get("lambda", 1))
            x = -math.log(1 - u * (1 - math.exp(-rate))) / rate
            x = x if params.get("dir", "early") == "early" else 1 - x
        case "normal":
            around = given.get("windowMode", "after") in ("around", "center")
            mu = {
                "nominal": (nominal - start) / timedelta(seconds=1),
                "start": 0.0,
                "mid": span / 2,
                "end": float(span),
            }[str(params.get("mu", "nominal" if around else "mid"))]
            default = Fraction(span * 10**6 // 6, 10**6)
            sigma = float(_seconds(str(params["sigma"])) if "sigma" in params else default)
            bell = NormalDist(mu, sigma)
            low, high = bell.cdf(0.0), bell.cdf(float(span))
            x = bell.inv_cdf(low + u * (high - low)) / span
        case name:
            raise AssertionError(name)
    return min(math.floor(min(max(x, 0.0), 1 - 2**-53) * (span + 1)), span)


def _is_valid(local: datetime, given: Input) -> bool:
    only, avoid = _matches(local, given.get("only", "")), _matches(local, given.get("avoid", ""))
    return all(only.values()) and not any(avoid.values())


def _matches(local: datetime, spec: str) -> dict[str, bool]:
    """For each kind that the text lists, whether the local time matches one of its values."""
    found: dict[str, bool] = {}
    for clause in spec.split(";") if spec else ():
        kind, values = clause.split("=")
        for value in values.split(","):
            hit = _TESTS[kind](local, value)
            kind = "dates" if kind == "date" else kind
            found[kind] = found.get(kind, False) or hit
    return found


def _number(text: str, names: list[str], first: int) -> int:
    return names.index(text.lower()) + first if text.lower() in names else int(text)


def _in_range(value: int, text: str, names: list[str], first: int) -> bool:
    low, _, high = text.partition("-")
    return _number(low, names, first) <= value <= _number(high or low, names, first)


def _in_week(local: datetime, text: str) -> bool:
    # Sunday is both 0 and 7.
    day = local.isoweekday()
    text = re.sub("-sun$", "-7", text)
    return _in_range(day, text, _DOW, 0) or (day == 7 and _in_range(0, text, _DOW, 0))


def _in_between(local: datetime, text: str) -> bool:
    now = local.strftime("%H:%M")
    first, last = text.split("-")
    return first <= now <= last if first <= last else now >= first or now <= last


def _in_dates(local: datetime, text: str) -> bool:
    first, _, last = text.partition("..")
    return date.fromisoformat(first) <= local.date() <= date.fromisoformat(last or first)


_TESTS: dict[str, Callable[[datetime, str], bool]] = {
    "hours": lambda local, text: _in_range(local.hour, text, [], 0),
    "dow": _in_week,
    "dom": lambda local, text: _in_range(local.day, text, [], 0),
    "months": lambda local, text: _in_range(local.month, text, _MONTHS, 1),
    "between": _in_between,
    "date": _in_dates,
    "dates": _in_dates,
}
