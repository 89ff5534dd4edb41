"""A CronJob becomes a KronJob that means the same, and what does not is said."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.instant import to_epoch
from gnomon.errors import DefinitionError
from gnomon.importers.cronjob import TakenCronJob, take_cronjob
from gnomon.importers.cronjob_schedule import read_times
from tests.clauses import clause

NOW = to_epoch(datetime.fromisoformat("2026-11-19T00:00:00Z"), where="now")
TEMPLATE = {
    "spec": {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        }
    }
}


def take(**spec: object) -> TakenCronJob:
    given = {"schedule": "0 2 * * *", "timeZone": "UTC", "jobTemplate": TEMPLATE, **spec}
    cronjob = {"metadata": {"name": "report"}, "spec": given}
    return take_cronjob(cronjob, controller_zone="Europe/Paris", now=NOW)


def spec_of(taken: TakenCronJob) -> dict[str, object]:
    spec = taken.manifest["spec"]
    assert isinstance(spec, dict)
    return spec


def policy_of(taken: TakenCronJob) -> object:
    return spec_of(taken)["policy"]


def said(taken: TakenCronJob, field: str) -> list[str]:
    return [one.text for one in taken.differences if one.field == field]


@clause("CRONJOB-1")
@pytest.mark.parametrize(
    ("schedule", "written"),
    [
        ("0 9 ? * MON-FRI", "0 9 * * MON-FRI"),
        ("0 9 */1 * 1", "0 9 * * 1"),
        ("0 0 1,* * 5", "0 0 * * 5"),
        ("  */5   * * * *", "*/5 * * * *"),
        ("5/15 * * * *", "5/15 * * * *"),
        ("0 0 ?/2 * *", "0 0 */2 * *"),
        ("@midnight", "@midnight"),
    ],
)
def test_a_schedule_is_written_in_the_words_of_kronjob(schedule: str, written: str) -> None:
    assert spec_of(take(schedule=schedule))["schedule"] == written


def _fields(low: int, high: int) -> st.SearchStrategy[str]:
    number, step = st.integers(low, high), st.integers(1, 5)
    element = st.one_of(
        st.sampled_from(["*", "?", "*/1", "?/1", "*/2", "?/3"]),
        number.map(str),
        st.builds("{}/{}".format, number, step),
        st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}"),
    )
    return st.lists(element, min_size=1, max_size=2).map(",".join)


def _go_field(field: str, low: int, high: int) -> tuple[set[int], bool]:
    """How the library of the controller reads a field: its values, and whether it has a star."""
    values, star = set[int](), False
    for element in field.split(","):
        span, _, step = element.partition("/")
        if span in ("*", "?"):
            first, last = low, high
            star |= step in ("", "1")
        elif "-" in span:
            first, last = (int(part) for part in span.split("-"))
        else:
            first, last = int(span), high if step else int(span)
        values |= set(range(first, last + 1, int(step or 1)))
    return values, star


@clause("CRONJOB-1")
@given(day=_fields(1, 31), weekday=_fields(0, 6))
def test_days_are_those_of_the_controllers_own_reading(day: str, weekday: str) -> None:
    days, day_star = _go_field(day, 1, 31)
    weekdays, weekday_star = _go_field(weekday, 0, 6)
    recurrence = read_times(f"0 0 {day} * {weekday}", "UTC", controller_zone="UTC").recurrence

    for number in range(60):
        at = NOW + number * 86_400
        date = datetime.fromtimestamp(at, tz=_UTC)
        in_day, in_weekday = date.day in days, date.isoweekday() % 7 in weekdays
        both = day_star or weekday_star
        runs = (in_day and in_weekday) if both else (in_day or in_weekday)
        assert (recurrence.latest_epoch(at) == at) == runs, date


_UTC = datetime.fromisoformat("2026-01-01T00:00:00Z").tzinfo


@clause("CRONJOB-2")
def test_the_zone_is_named_by_the_cronjob_or_its_schedule_or_the_caller() -> None:
    named = take(timeZone="Asia/Tokyo")
    inside = take(timeZone=None, schedule="CRON_TZ=Asia/Tokyo 0 2 * * *")
    neither = take(timeZone=None)

    assert [spec_of(one)["timezone"] for one in (named, inside, neither)] == [
        "Asia/Tokyo", "Asia/Tokyo", "Europe/Paris",
    ]  # fmt: skip
    assert spec_of(inside)["schedule"] == "0 2 * * *"
    assert said(neither, "timeZone") == [
        "is not set, so that the zone of the controller counts; Europe/Paris is written"
    ]


@clause("CRONJOB-3")
@pytest.mark.parametrize(
    ("spec", "where", "hint"),
    [
        ({"schedule": "@every 5m"}, "spec.schedule", 'write "*/5 * * * *", which counts from the'
         " full hour"),
        ({"schedule": "@every 6h0s"}, "spec.schedule", 'write "0 */6 * * *", which counts from'
         " midnight"),
        ({"schedule": "@every 24h"}, "spec.schedule", 'write "0 0 * * *", which is midnight'),
        ({"schedule": "@every 90m"}, "spec.schedule", "write the times as a cron expression, e.g."
         " */5 * * * *"),
        ({"schedule": "@reboot"}, "spec.schedule", "write five fields, or one of @hourly, @daily,"
         " @weekly, @monthly, @yearly, @midnight, @annually"),
        ({"schedule": "0 0 2 * * *"}, "spec.schedule", 'write minute, hour, day, month and'
         ' weekday, e.g. "0 2 * * *"'),
        ({"schedule": 5}, "spec.schedule", 'write e.g. "0 2 * * *"'),
        ({"timeZone": 5}, "spec.timeZone", "write e.g. Europe/Paris"),
        ({"schedule": "TZ=UTC 0 2 * * *"}, "spec.schedule", "leave the one in the schedule out"),
        ({"startingDeadlineSeconds": "5"}, "spec.startingDeadlineSeconds", "write e.g. 200"),
        ({"concurrencyPolicy": "forbid"}, "spec.concurrencyPolicy",
         "write one of Allow, Forbid, Replace"),
    ],
)  # fmt: skip
def test_what_no_kronjob_can_say_is_refused(spec: dict[str, object], where: str, hint: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        take(**spec)

    assert (caught.value.where, caught.value.hint) == (where, hint)


@clause("CRONJOB-3")
@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"schedule": "0 25 * * *"}, "spec.schedule"),
        ({"timeZone": "Europe/Pariss"}, "spec.timeZone"),
        ({"jobtemplate": {}}, "spec.jobtemplate"),
        ({"jobTemplate": None}, "spec.jobTemplate"),
    ],
)
def test_an_error_names_its_field(spec: dict[str, object], where: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        take(**spec)

    assert caught.value.where == where


@clause("CRONJOB-3")
def test_a_cronjob_without_a_container_is_refused_as_a_kronjob_is() -> None:
    pod = {"restartPolicy": "Never", "containers": []}

    with pytest.raises(DefinitionError) as caught:
        take(jobTemplate={"spec": {"template": {"spec": pod}}})

    assert caught.value.where == "spec.jobTemplate.spec.template.spec.containers"


@clause("CRONJOB-3")
def test_a_cronjob_without_a_name_is_refused() -> None:
    with pytest.raises(DefinitionError) as caught:
        take_cronjob(
            {"spec": {"schedule": "@daily", "jobTemplate": TEMPLATE}},
            controller_zone="UTC",
            now=NOW,
        )

    assert caught.value.where == "metadata.name"


@clause("CRONJOB-4")
def test_the_nights_of_a_clock_change_are_named() -> None:
    taken = take(schedule="30 2 * * *", timeZone="Europe/Berlin")

    assert said(taken, "schedule") == [
        "2027-10-31T01:30:00Z: CronJob runs, KronJob does not (it is a local time that comes"
        " twice)",
        "2028-10-29T01:30:00Z: CronJob runs, KronJob does not (it is a local time that comes"
        " twice)",
        "2027-03-28T01:00:00Z: KronJob runs, CronJob does not (it makes up for a local time that"
        " is skipped)",
        "2028-03-26T01:00:00Z: KronJob runs, CronJob does not (it makes up for a local time that"
        " is skipped)",
        "write dst: civil in the KronJob to keep those fires",
    ]
    assert taken.fires.same == 730


@clause("CRONJOB-4")
def test_many_differences_are_counted_after_the_first_ten() -> None:
    taken = take(schedule="0,5,10,15,20,25,30,35,40,45,50,55 2 * * *", timeZone="Europe/Berlin")

    assert "and 14 more where CronJob runs" in said(taken, "schedule")[10]


@clause("CRONJOB-4")
def test_what_the_policies_mean_otherwise_is_said() -> None:
    taken = take(concurrencyPolicy="Forbid", suspend=True, startingDeadlineSeconds=200)

    assert policy_of(taken) == {"concurrency": "forbid", "deadline": "3m20s", "suspend": True}
    assert [one.field for one in taken.differences] == ["concurrencyPolicy", "suspend"]
    assert [one.field for one in take(concurrencyPolicy="Replace").differences] == [
        "startingDeadlineSeconds", "concurrencyPolicy",
    ]  # fmt: skip


@clause("CRONJOB-4")
def test_what_people_wrote_is_kept_and_what_the_server_added_is_not() -> None:
    metadata = {
        "name": "report", "namespace": "ops", "uid": "u", "resourceVersion": "5",
        "labels": {"team": "a"},
        "annotations": {
            "owner": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
    }  # fmt: skip
    spec = {
        "schedule": "@daily", "timeZone": "UTC", "jobTemplate": TEMPLATE,
        "successfulJobsHistoryLimit": 5, "failedJobsHistoryLimit": 0,
    }  # fmt: skip
    taken = take_cronjob({"metadata": metadata, "spec": spec}, controller_zone="UTC", now=NOW)

    assert taken.manifest == {
        "apiVersion": "gnomon.dev/v1alpha1", "kind": "KronJob",
        "metadata": {
            "name": "report", "namespace": "ops", "labels": {"team": "a"},
            "annotations": {"owner": "b"},
        },
        "spec": {
            "schedule": "@daily", "timezone": "UTC",
            "policy": {"concurrency": "allow", "deadline": "23h59m59s"},
            "successfulJobsHistoryLimit": 5, "failedJobsHistoryLimit": 0, "jobTemplate": TEMPLATE,
        },
    }  # fmt: skip


@clause("CRONJOB-5")
@pytest.mark.parametrize(
    ("schedule", "deadline"),
    [("*/5 * * * *", "4m59s"), ("0 9-17 * * 1-5", "59m59s"), ("0 0 29 2 *", "23h59m59s")],
)
def test_the_deadline_is_just_below_the_shortest_gap(schedule: str, deadline: str) -> None:
    taken = take(schedule=schedule)

    assert policy_of(taken) == {"concurrency": "allow", "deadline": deadline}
    assert deadline in said(taken, "startingDeadlineSeconds")[0]
