"""The record of a decision: complete, and enough to decide again."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given

from gnomon.core.decision import Decider, Decision, decide, recompute
from gnomon.core.decision.record import JsonRecord
from gnomon.errors import DefinitionError
from tests.clauses import clause
from tests.core.decision.test_draw import DECIDERS, NOMINALS


def a_decision() -> Decision:
    return decide(
        identity="prod/db-backup",
        nominal_at=1772323200,
        zone="Europe/Berlin",
        window="center,1h",
        distribution="normal",
        seed="daily",
        salt="blue",
        only="hours=0-5",
        avoid="dow=mon",
    )


@clause("DEC-8")
def test_the_json_record_has_these_keys_and_forms() -> None:
    record = a_decision().to_json()
    del record["tzdataVersion"]  # the one value that depends on what is installed
    assert record == {
        "identity": "prod/db-backup",
        "periodId": "2026-03-01T00:00:00Z",
        "nominalTime": "2026-03-01T00:00:00Z",
        "timezone": "Europe/Berlin",
        "windowMode": "around",
        "windowDuration": "1h0m0s",
        "windowStart": "2026-02-28T23:30:00Z",
        "windowEnd": "2026-03-01T00:30:00Z",
        "distribution": "normal",
        "distributionParams": {"mu": "nominal", "sigma": "10m0s"},
        "seedStrategy": "daily",
        "salt": "blue",
        "periodKey": "2026-03-01",
        "seedMaterial": "prod/db-backup\n2026-03-01\nblue",
        "seedHash": "6979d3283a114527b78cc20baf818945b53384948f407f2abdc0e5cce2e44764",
        "chosenTime": "2026-03-01T00:07:37Z",
        "unschedulable": False,
        "reason": "",
        "attemptCount": 1,
        "maxAttempts": 64,
        "only": "hours=0-5",
        "avoid": "dow=mon",
        "decisionVersion": "1",
    }


@clause("DEC-8")
def test_an_unschedulable_record_has_the_same_keys() -> None:
    record = decide(identity="a", nominal_at=0, window="after,1h", only="hours=5").to_json()
    assert record.keys() == a_decision().to_json().keys()
    assert (record["chosenTime"], record["unschedulable"]) == ("", True)
    assert record["reason"] == "no candidate accepted within MaxAttempts"
    assert (record["only"], record["avoid"]) == ("hours=5", "")


@clause("DEC-7")
@given(DECIDERS, NOMINALS)
def test_the_json_record_alone_gives_the_decision_again(decider: Decider, nominal: int) -> None:
    record = decider.decide(nominal).to_json()
    assert recompute(json.loads(json.dumps(record))).to_json() == record


@clause("DEC-7")
def test_what_was_decided_is_not_taken_from_the_record() -> None:
    record = a_decision().to_json()
    forged = record | {"chosenTime": "2026-03-01T00:00:01Z", "seedHash": "", "windowEnd": ""}
    assert recompute(forged).to_json() == record


@clause("DEC-9")
@pytest.mark.parametrize("version", ["2", "", 1, None])
def test_a_record_of_another_version_is_refused(version: object) -> None:
    with pytest.raises(DefinitionError, match="decisionVersion: is not a version"):
        recompute({**a_decision().to_json(), "decisionVersion": version})


def without(key: str) -> Callable[[JsonRecord], dict[str, object]]:
    return lambda record: {name: value for name, value in record.items() if name != key}


@clause("DEC-9")
@pytest.mark.parametrize(
    "key",
    ["identity", "nominalTime", "timezone", "windowMode", "windowDuration", "distribution",
     "distributionParams", "seedStrategy", "salt", "only", "avoid"],
)  # fmt: skip
def test_a_record_without_a_part_of_its_input_is_refused(key: str) -> None:
    with pytest.raises(DefinitionError, match=f"{key}: must be"):
        recompute(without(key)(a_decision().to_json()))
