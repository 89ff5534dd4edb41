"""What a request says: every field is read, and what cannot be meant is refused by its name."""

import pytest

from gnomon.apps.service.schedule_id import derived_id
from gnomon.apps.service.schedule_input import read_input, schedule_of, target_of
from gnomon.apps.service.settings import Settings
from gnomon.core.identifier import check_id
from gnomon.core.schedule import Catchup, Overlap, Schedule, Uncertain
from gnomon.errors import DefinitionError
from gnomon.ports.ledger_rows import Actor
from tests.clauses import clause

REPORT = {"workflow_id": "report", "version": 3, "user_id": "anna", "cron_expr": "0 3 * * *"}


def schedule(**more: object) -> Schedule:
    return schedule_of(read_input(REPORT | more), Settings())


def refused(**more: object) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        schedule(**more)
    return caught.value


@clause("SERVICE-5")
def test_what_is_left_out_has_the_default_of_the_service() -> None:
    found = schedule()

    assert found.policy.overlap is Overlap.SKIP
    assert found.policy.catchup is Catchup.NONE
    assert (found.jitter_ms, found.decider.zone) == (0, "UTC")
    assert found.policy.uncertain is Uncertain.RELAUNCH_SAME_KEY
    target = target_of(found)
    assert target is not None
    assert (target.workflow_id, target.version, target.user_id) == ("report", 3, "anna")
    assert (target.trigger_id, target.max_duration_ms) == ("main", None)


@clause("SERVICE-5", "SERVICE-6")
def test_the_defaults_are_those_of_the_settings() -> None:
    settings = Settings.read({"DEFAULT_OVERLAP_POLICY": "queue", "DEFAULT_JITTER_MS": "250"})
    found = schedule_of(read_input(REPORT), settings)

    assert (found.policy.overlap, found.jitter_ms) == (Overlap.QUEUE, 250)


@clause("SERVICE-1")
def test_every_field_beyond_the_seed_arrives() -> None:
    found = schedule(
        schedule_id="nightly", timezone="Europe/Riga", dst="civil", window="after,10m",
        only="hours=1-5", avoid="dow=sat,sun", deadline="5m", overlap_policy="replace",
        catchup_policy="latest", launches_max=7, launch_backoff="2s", start_by="10m",
        finish_by="1h", max_duration="30m", start_at="2026-01-01T00:00:00Z",
    )  # fmt: skip

    assert found.schedule_id == "nightly"
    assert found.policy.launches_max == 7
    assert found.starts_ms == 1_767_225_600_000
    target = target_of(found)
    assert target is not None
    assert target.start_by_ms == 600_000
    assert target.finish_by_ms == 3_600_000
    assert target.max_duration_ms == 1_800_000


@clause("SERVICE-1")
def test_an_unknown_field_is_refused_with_the_nearest_name() -> None:
    error = refused(time_zone="UTC")

    assert error.where == "time_zone"
    assert error.hint == "did you mean timezone?"


@clause("SERVICE-1")
@pytest.mark.parametrize("field", ["workflow_id", "version", "user_id"])
def test_a_missing_field_is_refused_by_its_name(field: str) -> None:
    assert refused(**{field: None}).where == field


@clause("SERVICE-1")
@pytest.mark.parametrize(
    ("field", "value"),
    [("version", "3"), ("version", True), ("version", 1.5), ("jitter_ms", "5"), ("cron_expr", 5),
     ("timezone", ["UTC"]), ("workflow_id", 7), ("salt", "x" * 1025)],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused_by_its_field(field: str, value: object) -> None:
    assert refused(**{field: value}).where == field


@clause("SERVICE-2")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cron_expr", "61 * * * *"), ("cron_expr", "* * * *"), ("cron_expr", ""),
        ("timezone", "Mars/Olympus"), ("overlap_policy", "perhaps"), ("catchup_policy", "all"),
        ("jitter_ms", -1), ("jitter_ms", 86_400_001), ("version", -1), ("version", 0),
        ("dst", "summer"),
        ("start_at", "tomorrow"), ("end_at", "2026-01-01T00:00:00"), ("window", "after"),
        ("deadline", "-5m"), ("start_by", "0s"), ("max_duration", "9000h"), ("only", "moon=full"),
        ("launches_max", 0), ("schedule_id", "a:b"), ("trigger_id", "a b"), ("user_id", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_its_field(field: str, value: object) -> None:
    error = refused(**{field: value})

    assert error.where.partition(".")[0] == field
    assert error.hint


@clause("SERVICE-2")
def test_bounds_in_the_wrong_order_are_refused() -> None:
    error = refused(start_at="2027-01-01T00:00:00Z", end_at="2026-01-01T00:00:00Z")

    assert str(error) == (
        "start_at: must not be later than end_at, got '2027-01-01T00:00:00+00:00'; "
        "swap the two, or leave one out"
    )


@clause("SERVICE-2")
def test_an_error_names_its_place_in_what_the_caller_sent() -> None:
    with pytest.raises(DefinitionError) as caught:
        schedule_of(
            read_input(REPORT | {"cron_expr": "99 * * * *"}), Settings(), where="triggers[0]"
        )

    assert caught.value.where == "triggers[0].cron_expr"


@clause("SERVICE-3")
@pytest.mark.parametrize("text", ["", ".a", "-a", "a:1", "a b", "ä", "a" * 201, 7, None])
def test_an_id_that_could_be_mistaken_is_refused(text: object) -> None:
    with pytest.raises(DefinitionError):
        check_id(text, where="schedule_id")


@clause("SERVICE-4")
def test_deploying_again_finds_the_same_schedule() -> None:
    assert schedule().schedule_id == schedule(cron_expr="5 4 * * *", version=4).schedule_id
    assert schedule().schedule_id == "report.main.dea66772dece73df"


@clause("SERVICE-4")
def test_no_two_triggers_share_a_derived_id() -> None:
    triples = [
        ("a", "b", "c"), ("ab", "", "c"), ("a", "bc", ""), ("a.b", "c", "d"), ("a", "c", "b.d"),
        ("a", "b", "c" * 200), ("a", "b", "c" * 199 + "d"),
    ]  # fmt: skip
    found = {derived_id(*triple) for triple in triples}

    assert len(found) == len(triples)
    assert all(check_id(one, where="schedule_id") for one in found)


@clause("SERVICE-3")
def test_who_acts_for_a_tenant_sees_only_what_is_its_own() -> None:
    assert Actor("anna", "acme").may_see("acme")
    assert not Actor("anna", "acme").may_see("other")
    assert not Actor("anna", "acme").may_see(None)
    assert Actor("root").may_see("acme")
