"""The golden vectors: Gnomon's own, and those of Kron where they are at hand."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from gnomon.core.decision import Decision, decide, make_distribution
from tests.clauses import clause
from tests.oracle.decision_reference import Input, answer
from tests.oracle.decision_vectors import Case, questions, read

KRON = Path(__file__).parents[3] / ".." / "shared" / "vectors" / "kron"

Json = dict[str, object]


def decide_input(given: Input) -> Decision:
    return decide(
        identity=given["identity"],
        nominal_at=datetime.fromisoformat(given["nominalTime"]),
        zone=given.get("timezone", "UTC"),
        window=f"{given.get('windowMode', 'after')},{given.get('windowDuration', '0s')}",
        distribution=make_distribution(
            given.get("distribution", "uniform"), given.get("distributionParams", {})
        ),
        seed=given.get("seedStrategy", "stable"),
        salt=given.get("salt", ""),
        only=given.get("only"),
        avoid=given.get("avoid"),
    )


def own_cases() -> list[Case]:
    return [case for name in questions() for case in read(name)]


@clause("DEC-12")
@pytest.mark.parametrize("name", questions())
def test_every_own_vector_is_reproduced(name: str) -> None:
    for case in read(name):
        record = decide_input(case["input"]).to_json()
        found = {key: record[key] for key in case["expected"]}
        assert found == case["expected"], case["name"]


@pytest.mark.parametrize("name", questions())
def test_the_reference_still_gives_the_answers_that_were_written_down(name: str) -> None:
    for case in read(name):
        assert answer(case["input"]) == case["expected"], case["name"]


@pytest.mark.parametrize("name", questions())
def test_the_vectors_hold_every_question_and_no_other(name: str) -> None:
    assert [case["input"] for case in read(name)] == questions()[name]


def test_the_vectors_hold_schedulable_and_unschedulable_periods() -> None:
    attempts = {
        (case["expected"]["unschedulable"], case["expected"]["attemptCount"])
        for case in own_cases()
    }
    assert {(True, 64), (True, 0), (False, 0), (False, 1), (False, 2)} <= attempts


@clause("DEC-12")
@pytest.mark.skipif(not KRON.is_dir(), reason="the vectors of Kron are not here")
def test_every_vector_of_kron_is_reproduced() -> None:
    count = 0
    for given, expected in kron_cases():
        record = decide(
            identity=str(given["identity"]),
            nominal_at=datetime.fromisoformat(str(given["periodStart"])),
            zone=str(given.get("timezone", "UTC")),
            window=f"{given['mode']},{given['window']}",
            distribution=str(given["distribution"]),
            seed=str(given["seedStrategy"]),
            salt=str(given["salt"]),
            only=kron_constraint(given, "only"),
            avoid=kron_constraint(given, "avoid"),
        ).to_json()
        record["attempts"] = record["attemptCount"]
        assert {key: record[key] for key in expected} == expected
        count += 1
    assert count >= 17


def kron_cases() -> Iterator[tuple[Json, Json]]:
    for path in sorted(KRON.glob("*.json")):
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            yield case["input"], case["expected"]


def kron_constraint(given: Json, prefix: str) -> str | None:
    """Kron's vectors list values by kind; this is the text that says the same."""
    clauses = []
    for key, values in given.items():
        if key.startswith(prefix):
            assert isinstance(values, list)
            kind = key.removeprefix(prefix).lower()
            clauses += [f"{kind}={kron_value(value)}" for value in values]
    return ";".join(clauses) or None


def kron_value(value: int | dict[str, int]) -> str:
    match value:
        case {"startMinute": first, "endMinute": last}:
            return f"{first // 60}:{first % 60:02d}-{last // 60}:{last % 60:02d}"
        case {"startDay": first, "endDay": last}:
            return f"{kron_date(first)}..{kron_date(last)}"
        case _:
            return str(value)


def kron_date(day: int) -> str:
    return f"{day // 10000}-{day // 100 % 100:02d}-{day % 100:02d}"
