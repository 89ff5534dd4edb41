"""A spec is read in the words of krontab files, and its errors say what to write."""

from collections.abc import Mapping
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.operator.definition import (
    Definition,
    read_definition,
    read_timing,
    write_timing,
)
from gnomon.core.schedule import Overlap
from gnomon.errors import DefinitionError
from tests.apps.operator.lone_operator import POD, epoch
from tests.apps.operator.wrong_specs import (
    CONTAINERS_MISSING,
    DURATIONS,
    NOT_A_DURATION,
    Length,
)
from tests.clauses import clause

TEMPLATE = {"spec": {"template": {"spec": POD}}}
WORDS = [
    "schedule", "timezone", "dst", "window", "distribution", "seed", "salt", "constraints",
    "policy", "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
    "recordsLimit", "mode", "duration", "name", "mu", "sigma", "shape", "lambda", "dir", "only",
    "avoid", "concurrency", "deadline", "suspend", "metadata", "labels", "annotations", "spec",
]  # fmt: skip


def read(**spec: object) -> Definition:
    return read_definition(
        "prod/report", {"schedule": "0 2 * * *", "jobTemplate": TEMPLATE, **spec}
    )


def refused(spec: object) -> DefinitionError | None:
    try:
        read_definition("prod/report", spec)
    except DefinitionError as error:
        return error
    return None


@clause("OPERATOR-3")
def test_what_is_left_out_has_its_default() -> None:
    definition = read()

    assert definition.timing == {
        "schedule": "0 2 * * *", "timezone": "UTC", "dst": "vixie",
        "window": {"mode": "after", "duration": "0s"}, "distribution": {"name": "uniform"},
        "seed": "stable", "salt": "", "constraints": {},
    }  # fmt: skip
    policy = definition.schedule.policy
    assert (policy.overlap, policy.deadline) == (Overlap.SKIP, timedelta(minutes=1))
    assert (definition.successful_max, definition.failed_max, definition.records_max) == (3, 1, 20)
    assert not definition.suspend


@clause("OPERATOR-1")
def test_every_field_is_read() -> None:
    definition = read(
        timezone="Europe/Paris", dst="civil", window={"mode": "around", "duration": "1h"},
        distribution={"name": "normal", "mu": "mid", "sigma": "10m"}, seed="daily", salt="a",
        constraints={"only": "hours=1-3", "avoid": "dow=sun"},
        policy={"concurrency": "replace", "deadline": "0s", "suspend": True},
    )  # fmt: skip

    assert definition.timing == {
        "schedule": "0 2 * * *", "timezone": "Europe/Paris", "dst": "civil",
        "window": {"mode": "around", "duration": "1h"},
        "distribution": {"name": "normal", "mu": "mid", "sigma": "10m"},
        "seed": "daily", "salt": "a", "constraints": {"only": "hours=1-3", "avoid": "dow=sun"},
    }  # fmt: skip
    policy = definition.schedule.policy
    assert (policy.overlap, policy.deadline) == (Overlap.REPLACE, timedelta(0))
    assert definition.suspend


@clause("OPERATOR-1")
def test_the_identity_of_a_kronjob_is_its_namespace_and_name() -> None:
    decision = read(window={"duration": "1h"}).schedule.decider.decide(
        epoch("2026-03-01T02:00:00Z")
    )

    assert decision.identity == "prod/report"


@clause("OPERATOR-1")
@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ({"schedule": "0 25 * * *"}, "spec.schedule: hour field "),
        ({"schedule": 5}, "spec.schedule: must be text, got 5"),
        ({"timezone": "Europe/Pariss"}, "spec.timezone: must be a zone of the IANA database"),
        ({"dst": "maybe"}, "spec.dst: must be a known DST policy"),
        ({"window": {"mode": "beside"}}, "spec.window.mode: is not a known placement"),
        ({"window": {"duration": "1d"}}, "spec.window.duration: must be a duration, got '1d'"),
        ({"window": {"duration": "9000h"}}, "spec.window.duration: must lie between 0s and 8784h"),
        ({"window": {"duration": 60}}, "spec.window.duration: must be a duration, got 60"),
        ({"window": {"length": "1h"}}, "spec.window.length: is not a field"),
        ({"window": "after,1h"}, "spec.window: must be an object"),
        ({"distribution": {"name": "even"}}, "spec.distribution: is not a known distribution"),
        ({"distribution": {"shape": 2}}, "spec.distribution.shape: is not a known parameter"),
        ({"distribution": "uniform"}, "spec.distribution: must be an object"),
        ({"seed": "hourly"}, "spec.seed: is not a known seed strategy"),
        ({"salt": 3}, "spec.salt: must be text"),
        ({"constraints": {"only": "hour=9"}}, "spec.constraints.only: has a kind"),
        ({"policy": {"concurrency": "skip"}}, "spec.policy.concurrency: is not a concurrency"),
        ({"policy": {"deadline": "1d"}}, "spec.policy.deadline: must be a duration"),
        ({"policy": {"deadline": "1500ms"}}, "spec.policy.deadline: must be whole seconds"),
        ({"policy": {"deadline": "9000h"}}, "spec.policy.deadline: must lie between 0s"),
        ({"policy": {"deadline": 60}}, "spec.policy.deadline: must be a duration, got 60; write"),
        ({"policy": {"suspend": "yes"}}, "spec.policy.suspend: must be true or false"),
        ({"jobTemplate": {}}, "spec.jobTemplate: must have the spec of a Job"),
        ({"recordsLimit": 0}, "spec.recordsLimit: must be a whole number from 1 to 100"),
        ({"timeZone": "UTC"}, "spec.timeZone: is not a field of KronJob"),
    ],
)  # fmt: skip
def test_an_error_names_the_field_and_what_to_write(spec: dict[str, object], line: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read(**spec)

    said = str(caught.value)
    assert said.startswith(line)
    assert said.count(", got ") == 1
    assert caught.value.hint
    assert said.endswith(f"; {caught.value.hint}")


@clause("OPERATOR-1", "TIME-4")
@pytest.mark.parametrize("one", DURATIONS, ids=lambda one: repr(one.text))
def test_a_duration_reads_the_same_in_every_field(one: Length) -> None:
    def said(field: str, **spec: object) -> str:
        error = refused({"schedule": "0 2 * * *", "jobTemplate": TEMPLATE, **spec})
        assert error is None or (error.where, error.got) == (field, one.text)
        return "" if error is None else error.reason

    window = said("spec.window.duration", schedule="@yearly", window={"duration": one.text})
    deadline = said("spec.policy.deadline", policy={"deadline": one.text})
    distribution = {"name": "normal", "sigma": one.text}
    sigma = said("spec.distribution.sigma", distribution=distribution)

    assert window.startswith(one.window)
    assert deadline.startswith(one.deadline)
    assert bool(window) == bool(one.window)
    assert bool(deadline) == bool(one.deadline)
    assert (sigma == NOT_A_DURATION) == (one.window == NOT_A_DURATION)


@clause("OPERATOR-1")
def test_a_duration_is_told_as_it_was_written_and_kept_without_empty_parts() -> None:
    with pytest.raises(DefinitionError, match="got '24h';"):
        read(schedule="* * * * *", window={"duration": "24h"})

    kept = read(window={"duration": "24h0m0s"}).timing["window"]
    assert kept == {"mode": "after", "duration": "24h"}


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
    | st.sampled_from(["* * * * *", "UTC", "1h", "normal", "hours=9-17", "forbid", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@clause("OPERATOR-2")
@given(spec=ODD | st.fixed_dictionaries({}, optional=dict.fromkeys(WORDS[:13], ODD)))
def test_whatever_a_spec_holds_it_is_a_definition_or_an_error_that_says_where(
    spec: object,
) -> None:
    whole = (
        {"schedule": "0 2 * * *", "jobTemplate": TEMPLATE, **spec}
        if isinstance(spec, dict)
        else spec
    )

    error = refused(whole)

    assert error is None or error.where.startswith("spec")
    assert str(error).isprintable()


@clause("OPERATOR-1")
def test_labels_that_the_operator_sets_cannot_be_set_by_others() -> None:
    with pytest.raises(DefinitionError, match=r"jobTemplate\.metadata\.labels"):
        read(jobTemplate={**TEMPLATE, "metadata": {"labels": {"gnomon.dev/kronjob": "a"}}})


@clause("OPERATOR-1")
@pytest.mark.parametrize(("pod", "field"), CONTAINERS_MISSING, ids=str)
def test_a_template_without_a_container_that_can_run_is_refused(
    pod: Mapping[str, object], field: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        read(jobTemplate={"spec": {"template": {"spec": pod}}})

    assert caught.value.where == f"spec.jobTemplate.spec.template.spec.{field}"
    assert caught.value.reason == "is missing"
    assert caught.value.hint == "write at least one with name and image"


@clause("OPERATOR-4")
def test_a_window_over_too_many_periods_is_refused() -> None:
    with pytest.raises(DefinitionError, match="covers more than 500 periods"):
        read(schedule="* * * * *", window={"duration": "12h"})
    read(schedule="*/5 * * * *", window={"duration": "12h"})


@clause("OPERATOR-4")
def test_a_template_that_would_not_fit_is_refused() -> None:
    with pytest.raises(DefinitionError, match="is larger than 1000000 bytes"):
        read(jobTemplate={"spec": {"template": {"metadata": "a" * 1_000_001}}})


@clause("OPERATOR-1")
def test_a_timing_is_read_back_as_it_was_written() -> None:
    definition = read(
        window={"mode": "before", "duration": "90s"}, seed="weekly", salt="x",
        distribution={"name": "exponential", "lambda": 2.5, "dir": "late"},
        constraints={"avoid": "between=22:00-06:00"},
    )  # fmt: skip

    timing = write_timing(read_timing("prod/report", definition.timing, definition.schedule.policy))

    assert timing == definition.timing


@clause("OPERATOR-8")
def test_policies_are_no_part_of_what_a_job_is_made_from() -> None:
    hashes = {
        read().spec_hash,
        read(policy={"suspend": True, "deadline": "5m"}).spec_hash,
        read(salt="").spec_hash,
    }

    assert len(hashes) == 1
    assert read(salt="a").spec_hash not in hashes
    assert (
        read(jobTemplate={"spec": {"template": {"spec": {**POD, "a": 1}}}}).spec_hash not in hashes
    )
