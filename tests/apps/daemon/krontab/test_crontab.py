"""Crontabs taken over: the same times, the same process, and what changes is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.daemon.job import Job
from gnomon.apps.daemon.krontab.crontab import Imported, import_crontab
from gnomon.core.civil.calendar import civil_from_days, weekday
from tests.apps.daemon.krontab.reading import FILE, read
from tests.clauses import clause

MARCH = 1_772_323_200  # 2026-03-01, a Sunday
DAY = 86_400


def taken_over(text: str, *, system: bool = False, zone: str = "UTC") -> Imported:
    return import_crontab(text, system=system, zone=zone, file=FILE)


def jobs(text: str, *, system: bool = False, zone: str = "UTC") -> list[Job]:
    imported = taken_over(text, system=system, zone=zone)
    assert imported.problems == ()
    krontab = read(imported.text)
    assert krontab.problems == ()
    return list(krontab.jobs)


@clause("KRONTAB-28")
def test_settings_hold_for_the_lines_below_them() -> None:
    first, second = jobs(
        "0 2 * * * /usr/bin/backup.sh --full > /dev/null\n"
        "SHELL=/bin/bash\nPATH = '/usr/bin:/bin'\nMAILTO=\"ops@example.org\"\nHOME=/srv\n"
        "CRON_TZ=America/New_York\nMODE=a b\n"
        "*/5 * * * * backup\n",
        zone="Europe/Paris",
    )

    assert (first.name, second.name) == ("backup", "backup-2")
    assert first.execution.argv == ("/bin/sh", "-c", "/usr/bin/backup.sh --full > /dev/null")
    assert first.schedule.decider.zone == "Europe/Paris"
    assert first.notice.mail == ()
    assert second.execution.argv == ("/bin/bash", "-c", "backup")
    assert second.schedule.decider.zone == "America/New_York"
    assert second.execution.cwd == "/srv"
    assert second.execution.env == (("MODE", "a b"), ("PATH", "/usr/bin:/bin"))
    assert second.notice.mail == ("ops@example.org",)


@clause("KRONTAB-28")
def test_a_system_crontab_names_users() -> None:
    (job,) = jobs("17 *\t* * *\troot    cd / && run-parts /etc/cron.hourly\n", system=True)

    assert job.execution.user == "root"
    assert job.execution.arguments == ("cd / && run-parts /etc/cron.hourly",)


@clause("KRONTAB-28")
def test_a_job_may_be_late_within_its_minute_and_runs_beside_itself() -> None:
    (job,) = jobs("@midnight true")

    assert job.schedule.policy.overlap == "allow"
    assert job.schedule.policy.deadline is not None
    assert job.schedule.policy.deadline.total_seconds() == 60


@clause("KRONTAB-28")
@pytest.mark.parametrize(
    ("command", "text"),
    [
        (r"date +\%F", "date +%F"),
        (r"mail root%Hello%it's 1\%", "printf '%s\\n' Hello 'it'\"'\"'s 1%' | { mail root; }"),
        ('echo "a\\b"', 'echo "a\\b"'),
        ("PGUSER=app pg_dump", "PGUSER=app pg_dump"),
    ],
)  # fmt: skip
def test_a_percent_is_what_it_was_to_cron(command: str, text: str) -> None:
    (job,) = jobs(f"0 2 * * * {command}")

    assert job.execution.arguments == (text,)


@clause("KRONTAB-29")
@given(
    day=st.sampled_from(["*", "*/2", "*/5", "1", "1,15", "10-20"]),
    dow=st.sampled_from(["*", "*/2", "*/3", "mon", "1-5", "0,6", "7"]),
)
def test_days_are_those_of_cron(day: str, dow: str) -> None:
    (job,) = jobs(f"0 12 {day} * {dow} true")

    assert _days_run(job) == {
        number for number in range(MARCH // DAY, MARCH // DAY + 60) if _cron_says(day, dow, number)
    }


def _days_run(job: Job) -> set[int]:
    days, at = set(), MARCH - 1
    while (at := job.schedule.recurrence.next_epoch(at) or 0) < MARCH + 60 * DAY:
        if job.schedule.decider.choose(at) is not None:
            days.add(at // DAY)
    return days


def _cron_says(day: str, dow: str, number: int) -> bool:
    """crontab(5): either field suffices, unless one of them begins with `*`; then both."""
    in_month = _matches(day, civil_from_days(number)[2], first=1)
    in_week = _matches(dow, weekday(number), first=0)
    if day.startswith("*") or dow.startswith("*"):
        return in_month and in_week
    return in_month or in_week


def _matches(field: str, value: int, *, first: int) -> bool:
    if field.startswith("*"):
        return (value - first) % int(field[2:] or 1) == 0
    for part in field.replace("mon", "1").replace("7", "0").split(","):
        low, _, high = part.partition("-")
        if int(low) <= value <= int(high or low):
            return True
    return False


@clause("KRONTAB-30")
def test_what_cannot_be_taken_over_stays_as_a_comment_and_is_said() -> None:
    imported = taken_over("# mine\n\n@reboot /bin/x\nnonsense\n0 2 * * *\n1 * * * * true\n")

    assert imported.text == (
        "# mine\n\n# not taken over: @reboot /bin/x\n# not taken over: nonsense\n"
        "# not taken over: 0 2 * * *\n"
        "1 * * * * @policy(concurrency=allow,deadline=1m) name=true command=true shell=true\n"
    )
    assert [f"{one.line}:{one.column}: {one.message}" for one in imported.problems] == [
        "3:1: schedule: is not a known macro, got '@reboot'",
        "4:1: crontab: is no line of a crontab, got 'nonsense'",
        "5:1: crontab: has no command, got '0 2 * * *'",
    ]


@clause("KRONTAB-30")
def test_what_is_different_from_now_on_is_said() -> None:
    imported = taken_over(
        "LOGNAME=me\nMAILTO=\nRANDOM_DELAY=30\nTZ=Asia/Tokyo\n0 2 */2 * mon true%in\n"
    )

    assert [note.line for note in imported.notes] == [0, 0, 0, 1, 2, 3, 4, 5, 5]
    (job,) = read(imported.text).jobs
    assert job.schedule.decider.window.span == 30 * 60
    assert job.execution.env == (("TZ", "Asia/Tokyo"),)


@clause("KRONTAB-28")
def test_variables_that_krond_does_not_set_are_set_by_the_command() -> None:
    imported = taken_over("ENV=it's\nLD_LIBRARY_PATH=/opt/lib\n'A B'=x\n0 2 * * * run | wc\n")

    (job,) = read(imported.text).jobs
    assert job.execution.arguments == (
        "export ENV='it'\"'\"'s'; export LD_LIBRARY_PATH=/opt/lib; run | wc",
    )
    assert job.execution.env == ()
    assert [note.line for note in imported.notes] == [0, 0, 0, 1, 2, 3]


@clause("KRONTAB-30")
@pytest.mark.parametrize("delay", ["²", "x", "9" * 5_000])
def test_a_delay_that_is_no_number_is_a_variable(delay: str) -> None:
    (job,) = jobs(f"RANDOM_DELAY={delay}\n0 2 * * * true")

    assert job.schedule.decider.window.span == 0
    assert job.execution.env == (("RANDOM_DELAY", delay),)


@clause("KRONTAB-17")
@given(st.text(max_size=80), st.booleans())
def test_no_crontab_makes_the_reader_fail(text: str, system: bool) -> None:
    assert read(taken_over(text, system=system).text).problems == () or "\r" in text


def test_nothing_of_a_crontab_is_lost_in_silence() -> None:
    text = "0 2 * * * a\nbad\n@hourly b\n"
    imported = taken_over(text)

    assert len(imported.text.splitlines()) == 3
