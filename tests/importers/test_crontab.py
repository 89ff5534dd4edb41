"""Crontabs taken over: the same times, the same process, and what changes is said."""

import re
from datetime import UTC, date, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.krond.job import Job
from gnomon.core.civil.calendar import civil_from_days, weekday
from gnomon.core.recurrence import Boot, Recurrence
from gnomon.importers.crontab import Note
from tests.apps.krond.krontab.reading import read
from tests.clauses import clause
from tests.importers.crontabs import jobs, taken_over
from tests.oracle.crontab_cases import crontab
from tests.oracle.crontab_text import Entry, entries

MARCH = 1_772_323_200  # 2026-03-01, a Sunday
DAY = 86_400


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
    assert first.notify.mail == ()
    assert second.execution.argv == ("/bin/bash", "-c", "backup")
    assert second.schedule.decider.zone == "America/New_York"
    assert second.execution.cwd == "/srv"
    assert second.execution.env == (("MODE", "a b"), ("PATH", "/usr/bin:/bin"))
    assert second.notify.mail == ("ops@example.org",)


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


@clause("KRONTAB-39")
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
        assert job.schedule.decider.choose(at) == at  # and none of them is unschedulable
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


@clause("KRONTAB-53")
def test_a_line_at_boot_runs_at_boot() -> None:
    imported = taken_over("RANDOM_DELAY=30\n@Reboot root /bin/x\n", system=True)

    assert imported.text == (
        "@reboot @policy(concurrency=allow) name=x command=/bin/x shell=true user=root\n"
    )
    assert imported.notes[1:] == (
        Note(2, "a restart of a container is no boot; krond goes by the kernel"),
    )
    (job,) = read(imported.text).jobs
    assert job.schedule.recurrence == Boot()


@clause("KRONTAB-30")
def test_what_cannot_be_taken_over_stays_as_a_comment_and_is_said() -> None:
    imported = taken_over("# mine\n\n@rebooted /bin/x\nnonsense\n0 2 * * *\n1 * * * * true\n")

    assert imported.text == (
        "# mine\n\n# not taken over: @rebooted /bin/x\n# not taken over: nonsense\n"
        "# not taken over: 0 2 * * *\n"
        "1 * * * * @policy(concurrency=allow,deadline=1m) name=true command=true shell=true\n"
    )
    assert [f"{one.line}:{one.column}: {one.message}" for one in imported.problems] == [
        "3:1: schedule: is not a known macro, got '@rebooted'",
        "4:1: crontab: is no line of a crontab, got 'nonsense'",
        "5:1: crontab: has no command, got '0 2 * * *'",
    ]


@clause("KRONTAB-30")
def test_what_is_different_from_now_on_is_said() -> None:
    imported = taken_over(
        "LOGNAME=me\nMAILTO=\nRANDOM_DELAY=30\nTZ=Asia/Tokyo\n0 2 */2 * mon true%in\n"
    )

    assert [note.line for note in imported.notes] == [1, 2, 3, 4, 5]
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
    assert [note.line for note in imported.notes] == [1, 2, 3]


@clause("KRONTAB-30")
@pytest.mark.parametrize("delay", ["²", "x", "9" * 5_000])
def test_a_delay_that_is_no_number_is_a_variable(delay: str) -> None:
    (job,) = jobs(f"RANDOM_DELAY={delay}\n0 2 * * * true")

    assert job.schedule.decider.window.span == 0
    assert job.execution.env == (("RANDOM_DELAY", delay),)


@clause("KRONTAB-17")
@given(st.text(max_size=80), st.booleans())
def test_no_crontab_makes_the_reader_fail(text: str, system: bool) -> None:
    assert read(taken_over(text, system=system).text).problems == ()


def test_nothing_of_a_crontab_is_lost_in_silence() -> None:
    text = "0 2 * * * a\nbad\n@hourly b\n"
    imported = taken_over(text)

    assert len(imported.text.splitlines()) == 3


@clause("KRONTAB-28", "KRONTAB-30", "KRONTAB-39")
@pytest.mark.parametrize("system", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_a_crontab_means_what_it_meant_to_cron(seed: int, system: bool) -> None:
    text = crontab(Random(f"crontab:{seed}"), system=system)
    imported = taken_over(text, system=system)
    refused = {problem.line for problem in imported.errors}
    found = iter(read(imported.text).jobs)

    for entry in entries(text, system=system):
        line = entry if isinstance(entry, int) else entry.line
        if line in refused:
            continue
        job = next(found)
        if isinstance(entry, int):
            assert "~" in text.split("\n")[line - 1], text  # which some crons read
            continue
        assert _says_the_same(job, entry), (text, entry.line)
    assert next(found, None) is None
    assert refused <= _may_be_refused(text, system), text


def _says_the_same(job: Job, entry: Entry) -> bool:
    """User, shell, environment, directory and mail, and the days and minutes of two years."""
    execution, env = job.execution, entry.env
    own = ("SHELL", "HOME", "MAILTO", "LOGNAME")
    assert execution.user == entry.user
    assert execution.shell == env.get("SHELL", "/bin/sh")
    assert execution.cwd == env.get("HOME", "")
    assert dict(execution.env) == {name: env[name] for name in env if name not in own}
    assert entry.stdin or execution.arguments == (entry.command,)
    first = date(2026, 1, 1).toordinal()
    assert (job.schedule.recurrence == Boot()) == entry.at_boot
    days = [date.fromordinal(first + number) for number in range(731)]
    wanted = [on for on in days if entry.runs_on(on)]
    recurrence = job.schedule.recurrence
    assert [on for on in days if _fires(recurrence, on, most=1)] == wanted
    return all(_fires(recurrence, on, most=1_440) == entry.times() for on in wanted[::300])


def _fires(recurrence: Recurrence, on: date, *, most: int) -> list[int]:
    """The first minutes of a day on which something runs."""
    start = int(datetime(on.year, on.month, on.day, tzinfo=UTC).timestamp())
    found = list[int]()
    at = start - 1
    while (at := recurrence.next_epoch(at) or start + DAY) < start + DAY and len(found) < most:
        found.append((at - start) // 60)
    return found


def _may_be_refused(text: str, system: bool) -> set[int]:
    """The lines that cron refuses, or that only a reader who passes over mistakes could read."""
    odd = re.compile(r"[LHW?#~]")
    lines = text.split("\n")
    by_cron = {entry for entry in entries(text, system=system) if isinstance(entry, int)}
    strange = {
        number for number, line in enumerate(lines, 1)
        if line.split() and any(odd.search(field) for field in line.split()[:5])
    }  # fmt: skip
    never = {
        entry.line for entry in entries(text, system=system)
        if isinstance(entry, Entry) and not entry.at_boot and not any(
            entry.runs_on(date.fromordinal(one)) for one in range(730_000, 733_000)
        )
    }  # fmt: skip
    return by_cron | strange | never


@clause("KRONTAB-30")
@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("0  30 * *   * x", "1:4", "schedule: hour field must lie between 0 and 23, got 30"),
        ("0 0 1 * mon#2 x", "1:9", "schedule: weekday field must not use L, W or #"),
        ("\t0 0 L * * x", "1:6", "schedule: day field must not use L, W or #"),
        ("* * * * * * /bin/x", "1:11", "crontab: has more than five fields, got '*'"),
        ("0 2 * * * 2026 /bin/x", "1:11", "crontab: has more than five fields, got '2026'"),
        ("HOME=srv\n0 2 * * * x", "1:6", "cwd: must be an absolute path, got 'srv'"),
        ("CRON_TZ=Mars\n0 2 * * * x", "1:9", "@tz: "),
        ("0 2 * * *", "1:1", "crontab: has no command"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_over_is_said_where_it_stands(
    line: str, place: str, message: str
) -> None:
    imported = taken_over(line)

    (problem,) = imported.errors
    assert f"{problem.line}:{problem.column}" == place
    assert problem.message.startswith(message)


@clause("KRONTAB-39")
@pytest.mark.parametrize(
    ("given", "taken"),
    [("0/5 * * * *", "0 * * * *"), ("7/20,9 * * * *", "7 * * * *"), ("0 8/4 * * *", "0 8 * * *")],
)
def test_a_step_without_a_range_is_what_cron_makes_of_it(given: str, taken: str) -> None:
    imported = taken_over(f"{given} x")

    assert imported.text.startswith(f"{taken} @policy")
    assert [note.line for note in imported.notes] == [1]


@clause("KRONTAB-39")
def test_a_minute_that_cron_draws_is_a_window() -> None:
    (job,) = jobs("5~35 2 * * * x")

    assert job.schedule.decider.window.span == 30 * 60
    assert job.schedule.recurrence.describe() == "At 02:05 every day"


@clause("KRONTAB-30")
def test_a_mailto_that_is_no_address_drops_no_job() -> None:
    imported = taken_over("MAILTO=root HOME=/\n0 2 * * * x\n")

    (job,) = read(imported.text).jobs
    assert job.notify.mail == ()
    assert imported.problems == ()
    assert [note.line for note in imported.notes] == [1]
