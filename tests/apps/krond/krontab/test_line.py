"""One line of a krontab file: what it means, and where exactly it is wrong."""

from datetime import timedelta

import pytest

from gnomon.apps.krond.execution import Sink, SinkKind
from gnomon.apps.krond.krontab.render import render_line
from gnomon.core.decision import (
    Placement,
    SeedStrategy,
    WindowRule,
    parse_constraint,
    parse_distribution,
)
from gnomon.core.recurrence import Boot
from gnomon.core.schedule import Overlap
from gnomon.shell.observe.notify.rule import TROUBLE, NotifyRule, Occasion
from tests.apps.krond.krontab.reading import Mistake, job, mistakes, problems, read
from tests.clauses import clause

REST = "name=backup command=/usr/bin/backup"


@clause("KRONTAB-6", "KRONTAB-10")
def test_a_line_is_a_schedule_and_fields() -> None:
    found = job(f"0 2 * * * {REST}")

    assert found.name == "backup"
    assert found.schedule.recurrence.describe() == "At 02:00 every day"
    assert found.schedule.decider.zone == "UTC"
    assert found.schedule.decider.window == WindowRule()
    assert found.schedule.decider.seed is SeedStrategy.STABLE
    assert found.execution.arguments == ("/usr/bin/backup",)
    assert found.notify == NotifyRule()


@clause("KRONTAB-6", "KRONTAB-38", "KRONTAB-10")
def test_modifiers_say_when() -> None:
    found = job(
        "0 10 * * * @tz(Europe/Paris) @win(around,90m) @dist(skewLate,shape=2.5) "
        f'@seed(daily,salt="team a") @only(dow=MON-FRI;between=08:00-20:00) '
        f"@avoid(date=2026-12-25) {REST}"
    )
    decider = found.schedule.decider

    assert decider.zone == "Europe/Paris"
    assert decider.window == WindowRule(placement=Placement.AROUND, length=timedelta(minutes=90))
    assert decider.distribution == parse_distribution("skewLate,shape=2.5")
    assert (decider.seed, decider.salt) == (SeedStrategy.DAILY, "team a")
    assert decider.only == parse_constraint("dow=1-5;between=08:00-20:00")
    assert decider.avoid == parse_constraint("date=2026-12-25")


@clause("KRONTAB-6")
def test_modifiers_stand_in_any_order_and_blanks_where_they_do_no_harm() -> None:
    one = job(f"0 10 * * *  @win( after , 2h )\t@tz(Europe/Paris)   {REST}  ")
    other = job(f"0 10 * * * @tz(Europe/Paris) @win(after,2h) {REST}")

    assert one == other


@clause("KRONTAB-38")
@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        ("*/5 * * * *", "Every 5 minutes"),
        ("15 9 * * MON-FRI", "At 09:15 on weekdays"),
        ("30 0 2 * * *", "At 02:00:30 every day"),
        ("@daily", "At 00:00 every day"),
        ("@midnight", "At 00:00 every day"),
        ("0 3 L * *", "At 03:00 on the last day of the month"),
    ],
)
def test_the_schedule_is_cron_of_the_standard_dialect(schedule: str, sentence: str) -> None:
    assert job(f"{schedule} {REST}").schedule.recurrence.describe() == sentence


@clause("KRONTAB-38")
def test_a_line_of_a_crontab_names_its_dialect() -> None:
    both = job(f"0 0 */2 * mon @dialect(vixie) {REST}")

    # 1 March 2026 is a Sunday: the first Monday that is an odd day is the 9th.
    assert both.schedule.recurrence.next_epoch(1_772_323_200) == 1_772_323_200 + 8 * 86_400


@clause("KRONTAB-38")
def test_a_policy_for_clock_changes_can_be_chosen() -> None:
    civil = job(f"30 2 * * * @tz(Europe/Paris) @dst(civil) {REST}")
    usual = job(f"30 2 * * * @tz(Europe/Paris) {REST}")

    # 25 October 2026, 00:00 UTC: 02:30 comes twice.
    twice = [civil.schedule.recurrence.next_epoch(t) for t in (1_792_886_400, 1_792_888_200)]
    assert twice == [1_792_888_200, 1_792_891_800]
    assert usual.schedule.recurrence.next_epoch(1_792_888_200) == 1_792_978_200


@clause("KRONTAB-12")
@pytest.mark.parametrize(
    ("modifier", "overlap", "deadline", "suspend"),
    [
        ("", Overlap.SKIP, 0, False),
        ("@policy(concurrency=allow)", Overlap.ALLOW, 0, False),
        ("@policy(concurrency=replace,deadline=10m)", Overlap.REPLACE, 600, False),
        ("@policy(deadline=90s)", Overlap.SKIP, 90, False),
        ("@policy(suspend=true,concurrency=forbid)", Overlap.SKIP, 0, True),
    ],
)
def test_a_policy_leaves_what_it_does_not_name_at_its_default(
    modifier: str, overlap: Overlap, deadline: int, suspend: bool
) -> None:
    found = job(f"0 2 * * * {modifier} {REST}")

    assert found.schedule.policy.overlap is overlap
    assert found.schedule.policy.deadline == timedelta(seconds=deadline)
    assert found.suspend is suspend


@clause("KRONTAB-13")
@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("command=/usr/bin/backup", ("/usr/bin/backup",)),
        ("command=it's\\fine", ("it's\\fine",)),
        ('command="/usr/bin/backup --full"', ("/usr/bin/backup", "--full")),
        (r'command="backup --to \"primary cluster\""', ("backup", "--to", "primary cluster")),
        (r"command=\"a b\"".replace("\\", ""), ("a", "b")),
        (r'command="echo a\\\\b"', ("echo", "a\\b")),
        ('command="a | b > c" shell=true', ("/bin/sh", "-c", "a | b > c")),
        ("command=it's shell=/bin/bash", ("/bin/bash", "-c", "it's")),
        ('command="a b" shell=false', ("a", "b")),
    ],
)
def test_a_command_in_quotes_is_split_unless_a_shell_reads_it(
    command: str, argv: tuple[str, ...]
) -> None:
    assert job(f"0 2 * * * name=a {command}").execution.argv == argv


@clause("KRONTAB-14")
def test_fields_say_how_the_process_is_started() -> None:
    found = job(
        f"0 2 * * * {REST} user=backup group=adm cwd=/var/backups umask=0027 timeout=20m "
        'grace=500ms stdout=file:/var/log/out stderr=discard env=MODE=prod env=B="a b" '
        'env="C=x y" env=D= description="Nightly \\"full\\" backup"'
    )

    assert (found.execution.user, found.execution.group) == ("backup", "adm")
    assert found.execution.cwd == "/var/backups"
    assert found.execution.umask == 0o27
    assert found.execution.timeout == timedelta(minutes=20)
    assert found.execution.grace == timedelta(milliseconds=500)
    assert found.execution.stdout == Sink(SinkKind.FILE, "/var/log/out")
    assert found.execution.stderr == Sink(SinkKind.DISCARD)
    assert dict(found.execution.env) == {"B": "a b", "C": "x y", "D": "", "MODE": "prod"}
    assert found.description == 'Nightly "full" backup'


@clause("KRONTAB-43")
@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("mail=ops@example.org,root", NotifyRule(mail=("ops@example.org", "root"), on=TROUBLE)),
        (
            "webhook=https://example.org/h?a=b ping=http://localhost:8000/x",
            NotifyRule(webhook="https://example.org/h?a=b", ping="http://localhost:8000/x"),
        ),
        ("notify=failure,skipped", NotifyRule(on=frozenset((Occasion.FAILURE, Occasion.SKIPPED)))),
        ("notify=always", NotifyRule(on=frozenset(Occasion))),
        ("notify=never", NotifyRule(on=frozenset())),
    ],
)
def test_a_job_says_whom_to_tell(fields: str, rule: NotifyRule) -> None:
    assert job(f"0 2 * * * {REST} {fields}").notify == rule


@clause("KRONTAB-5", "KRONTAB-46", "KRONTAB-8")
@pytest.mark.parametrize("case", mistakes("mistakes.txt"), ids=str)
def test_a_mistake_is_shown_where_it_is(case: Mistake) -> None:
    krontab = read(case.line)

    (problem,) = krontab.problems
    assert (problem.column, problem.message, problem.hint) == case[1:]
    assert problem.line == 1
    assert krontab.jobs == ()


@clause("KRONTAB-46")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"a\qb"', r"a\qb"),
        (r'"C:\new dir\x"', r"C:\new dir\x"),
        (r'"a\"b"', 'a"b'),
        (r'"a\\b"', r"a\b"),
        (r'"a\\\"b"', r"a\"b"),
        (r'"\\"', "\\"),
        (r'"a\\n"', r"a\n"),
    ],
)
def test_a_backslash_in_quotes_stands_for_itself(written: str, meant: str) -> None:
    found = job(f"0 2 * * * {REST} description={written}")

    assert found.description == meant
    assert job(render_line(found)) == found


@clause("KRONTAB-8")
def test_what_does_not_print_and_what_is_too_long_is_refused() -> None:
    assert problems(f"0 2 * * * {REST} description=a\x07") == [
        "1:60: line: has a character that does not print, got '\\x07'"
    ]
    assert problems(f"0 2 * * * {REST} " + "x" * 20_000) == ["1:1: line: has 20046 characters"]


@clause("KRONTAB-51")
def test_a_job_runs_at_boot_and_may_be_five_minutes_late() -> None:
    found = job(f"@reboot @tz(Europe/Paris) {REST}")

    assert found.schedule.recurrence == Boot()
    assert found.schedule.decider.zone == "Europe/Paris"
    assert found.schedule.policy.deadline == timedelta(minutes=5)
    assert job(f"@reboot @policy(suspend=true) {REST}").schedule.policy == found.schedule.policy
    later = job(f"@reboot @policy(deadline=30m) {REST}")
    assert later.schedule.policy.deadline == timedelta(minutes=30)


@clause("KRONTAB-51")
def test_what_the_defaults_say_about_times_does_not_hold_for_a_boot() -> None:
    (found,) = read(f"@defaults @win(after,1h) @only(hours=3) user=www\n@reboot {REST}").jobs

    assert found.schedule.decider.window == WindowRule()
    assert found.schedule.decider.only is None
    assert found.execution.user == "www"
