"""
The golden vectors of decisions: which questions are asked, and the files that hold the answers.

`python -m tests.oracle.decision_vectors` writes tests/vectors/decision/*.json from the reference
implementation. Vectors are added to, never changed: another expectation for the same input is a new
decision version.
"""

import json
from pathlib import Path
from typing import TypedDict

from tests.oracle.decision_reference import Expected, Input, answer

__all__ = ["FOLDER", "Case", "questions", "read"]

FOLDER = Path(__file__).parents[1] / "vectors" / "decision"

_PARAMS: list[tuple[str, dict[str, str | float]]] = [
    ("uniform", {}),
    ("skewEarly", {}),
    ("skewEarly", {"shape": 0.5}),
    ("skewEarly", {"shape": 3.5}),
    ("skewLate", {}),
    ("skewLate", {"shape": 1.5}),
    ("skewLate", {"shape": 8.0}),
    ("normal", {}),
    ("normal", {"mu": "nominal"}),
    ("normal", {"mu": "start", "sigma": "15m0s"}),
    ("normal", {"mu": "mid", "sigma": "2m30s"}),
    ("normal", {"mu": "end", "sigma": "500ms"}),
    ("normal", {"sigma": "1h0m0s"}),
    ("exponential", {}),
    ("exponential", {"lambda": 4.0}),
    ("exponential", {"lambda": 0.25, "dir": "early"}),
    ("exponential", {"dir": "late"}),
    ("exponential", {"lambda": 6.5, "dir": "late"}),
]
_SPECS = [
    "hours=9-17", "hours=0,6,12,18", "dow=mon-fri", "dow=0,6", "dow=5-7", "dow=sat-sun", "dow=SUN",
    "dom=1-7,15,31", "months=jan-mar", "months=10,12", "between=12:00-12:00",
    "between=08:30-18:15", "between=22:00-06:00", "date=2026-03-29", "dates=2026-10-20..2026-10-31",
    "date=2026-03-29;dates=2026-10-20..2026-10-31", "hours=9-11;hours=14-16",
    "dow=mon-fri;hours=8-18",
    "dow=mon-fri;dom=1-10;months=3,10;between=07:00-21:00;hours=8-20;dates=2026-01-01..2026-12-31",
    "between=06:00-07:00;between=20:00-20:30",
]  # fmt: skip
_WINDOWS = [
    ("after", "0s"), ("after", "1s"), ("after", "999ms"), ("after", "1h30m0s"),
    ("after", "26h0m0s"), ("after", "8784h0m0s"), ("around", "0s"), ("around", "1s"),
    ("around", "1h1m1s"), ("around", "500ms"), ("around", "1us"), ("around", "45m0.000001s"),
    ("center", "1h30m0s"), ("before", "2h0m0s"), ("before", "1.5s"), ("before", "500ms"),
]  # fmt: skip
_NOMINALS = [
    "2026-03-02T12:00:00Z",
    "2026-03-29T00:30:00Z",  # Berlin skips 02:00 to 03:00
    "2026-10-25T00:30:00Z",  # Berlin repeats 02:00 to 03:00
    "2026-12-31T23:30:00Z",
]


class Case(TypedDict):
    name: str
    input: Input
    expected: Expected


def questions() -> dict[str, list[Input]]:
    """The inputs, by the file that holds them."""
    return {
        "window": _window_questions(),
        "seed": _seed_questions(),
        "distribution": _distribution_questions(),
        "constraint": _constraint_questions(),
    }


def read(name: str) -> list[Case]:
    """The cases of one file."""
    cases: list[Case] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["cases"]
    return cases


def _window_questions() -> list[Input]:
    return [
        {
            "identity": f"window/{mode}-{length}",
            "nominalTime": "2026-03-05T12:00:00Z",
            "windowMode": mode,
            "windowDuration": length,
        }
        for mode, length in _WINDOWS
    ]


def _seed_questions() -> list[Input]:
    return [
        {
            "identity": identity,
            "nominalTime": nominal,
            "timezone": zone,
            "windowMode": "after",
            "windowDuration": "1h0m0s",
            "seedStrategy": strategy,
            "salt": salt,
        }
        for strategy in ("stable", "daily", "weekly")
        for zone, identity, salt in (
            ("UTC", "team/report", ""),
            ("Europe/Berlin", "größe/τέστ", "salt with\na line feed"),
            ("America/Los_Angeles", "team/report", "b"),
            ("Asia/Tokyo", "team/report", ""),
            ("Australia/Lord_Howe", " ", " "),
        )
        for nominal in (*_NOMINALS, "2027-01-03T23:59:59Z", "2024-12-30T00:00:00+01:00")
    ]


def _distribution_questions() -> list[Input]:
    return [
        {
            "identity": f"distribution/{number}",
            "nominalTime": "2026-03-02T12:00:00Z",
            "windowMode": mode,
            "windowDuration": length,
            "distribution": name,
            "distributionParams": params,
        }
        for name, params in _PARAMS
        for mode, length in (("after", "2h0m0s"), ("around", "1h30m1s"), ("before", "1s"))
        for number in range(2)
    ]


def _constraint_questions() -> list[Input]:
    asked = [form for spec in _SPECS for form in (Input(only=spec), Input(avoid=spec))]
    asked += [Input(only=spec, avoid="between=12:00-14:59;dow=wed") for spec in _SPECS]
    return [
        {
            "identity": f"constraint/{nominal[:10]}",
            "nominalTime": nominal,
            "timezone": zone,
            "windowMode": mode,
            "windowDuration": length,
            **form,
        }
        for form in asked
        for nominal, zone, mode, length in (
            ("2026-03-02T12:00:00Z", "UTC", "after", "0s"),
            ("2026-03-29T00:30:00Z", "Europe/Berlin", "after", "3h0m0s"),
            ("2026-10-25T00:30:00Z", "Europe/Berlin", "around", "30h0m0s"),
        )
    ]


def _write() -> None:
    for name, inputs in questions().items():
        cases = [
            Case(name=f"{name}-{number:03d}", input=given, expected=answer(given))
            for number, given in enumerate(inputs, start=1)
        ]
        content = {"decisionVersion": "1", "cases": cases}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    _write()
