"""Jobs as values: who they are, how they are judged, and what of them the ledger keeps."""

from datetime import timedelta

import pytest

from gnomon.apps.krond.execution import Execution, Sink, SinkKind, read_target, write_target
from gnomon.apps.krond.job import Job, check_name, identity_of, job_policy, make_job
from gnomon.core.decision import Decider
from gnomon.core.recurrence import cron
from gnomon.core.schedule import Overlap, PauseRule, Uncertain
from gnomon.core.schedule_record import read_schedule, write_schedule
from gnomon.errors import DefinitionError
from gnomon.shell.observe.notify.rule import NotifyRule
from tests.clauses import clause

BACKUP = Execution(arguments=("/usr/bin/backup", "--full"))


def job(name: str, *, file: str = "/etc/krond.d/a", execution: Execution = BACKUP) -> Job:
    return make_job(
        name=name,
        decider=Decider(identity=identity_of(file, name)),
        recurrence=cron("0 3 * * *"),
        policy=job_policy(),
        execution=execution,
        suspend=False,
        notify=NotifyRule(),
        description="",
    )


@clause("KRONTAB-1")
def test_a_job_is_known_by_its_file_and_its_name() -> None:
    here, there = job("backup"), job("backup", file="/etc/krond.d/b")

    assert here.identity == "/etc/krond.d/a:backup"
    assert here.file == "/etc/krond.d/a"
    assert there.schedule_id != here.schedule_id


@clause("KRONTAB-2")
@pytest.mark.parametrize("name", ["backup", "db/vacuum", "-", "/", "a" * 100, "0"])
def test_the_ledger_can_keep_a_job_of_any_name(name: str) -> None:
    check_name(name)
    assert read_schedule(write_schedule(job(name).schedule)) == job(name).schedule


@clause("KRONTAB-2")
def test_the_id_in_the_ledger_shows_the_name() -> None:
    assert job("db/vacuum").schedule_id == "db.vacuum-b8837c27d7cd2c63"
    assert job("db-vacuum").schedule_id == "db-vacuum-5e3b16f1b241b0c0"


@clause("KRONTAB-2")
@pytest.mark.parametrize("name", ["", "Backup", "a b", "a_b", "a.b", "é", "a" * 101, "a\n"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="must be 1 to 100 lower-case letters"):
        check_name(name)


@clause("KRONTAB-3")
def test_a_job_runs_at_most_once_and_on_time_unless_it_says_otherwise() -> None:
    policy = job("backup").schedule.policy

    assert policy.overlap is Overlap.SKIP
    assert policy.deadline == timedelta(0)
    assert policy.pause is PauseRule.HOLD
    assert policy.uncertain is Uncertain.ABANDON


@clause("KRONTAB-4")
@pytest.mark.parametrize(
    ("execution", "target"),
    [
        (BACKUP, '{"command":["/usr/bin/backup","--full"]}'),
        (Execution(arguments=("a | b",), shell="/bin/sh"), '{"shell":"a | b"}'),
        (
            Execution(
                arguments=("a | b",), shell="/bin/bash", user="nobody", group="nogroup",
                cwd="/tmp", umask=0o27, timeout=timedelta(minutes=5), grace=timedelta(seconds=1),
                stdout=Sink(SinkKind.FILE, "/var/log/a:b"), stderr=Sink(SinkKind.DISCARD),
                env=(("MODE", "prod"), ("X", "")),
            ),
            '{"cwd":"/tmp","env":{"MODE":"prod","X":""},"grace":"1s","group":"nogroup",'
            '"interpreter":"/bin/bash","shell":"a | b","stderr":"discard",'
            '"stdout":"file:/var/log/a:b","timeout":"5m0s","umask":"0027","user":"nobody"}',
        ),
        (Execution(arguments=("a",), umask=0), '{"command":["a"],"umask":"0000"}'),
    ],
)  # fmt: skip
def test_what_is_executed_is_kept_as_json(execution: Execution, target: str) -> None:
    assert write_target(execution) == target
    assert read_target(target) == execution
    assert job("backup", execution=execution).schedule.target == target


@clause("KRONTAB-4")
@pytest.mark.parametrize(
    "target", ["null", "[]", "{}", '{"command":"ls"}', '{"command":["a"],"umask":"9"}', "{"]
)
def test_a_target_that_krond_did_not_write_is_refused(target: str) -> None:
    with pytest.raises(DefinitionError, match="must describe what krond executes"):
        read_target(target)


def test_a_shell_is_given_the_text_as_it_is() -> None:
    assert Execution(arguments=("a | b",), shell="/bin/sh").argv == ("/bin/sh", "-c", "a | b")
    assert BACKUP.argv == ("/usr/bin/backup", "--full")
