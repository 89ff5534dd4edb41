"""Whose crontab it is, and what its jobs are called."""

from random import Random

import pytest

from gnomon.importers.crontab_form import is_system
from tests.apps.krond.krontab.reading import read
from tests.clauses import clause
from tests.importers.crontabs import taken_over
from tests.oracle.crontab_cases import USERS, crontab


@clause("KRONTAB-41")
@pytest.mark.parametrize(
    ("text", "system"),
    [
        ("17 * * * * root cd / && run-parts /etc/cron.hourly", True),
        ("SHELL=/bin/sh\n# x\n0 2 * * * www-data php x\n@daily deploy go x\n", True),
        ("0 2 * * * root\n", False),
        ("0 2 * * * cd /srv && x\n0 3 * * * root x", False),
        ("0 2 * * * git pull\n", False),
        ("0 2 * * * git pull\n0 3 * * * root x\n", True),
        ("@daily /usr/bin/x\n", False),
        ("# nothing\n", False),
        ("* * * * * * root x\n", False),
    ],
)
def test_the_lines_tell_whether_they_name_users(text: str, system: bool) -> None:
    assert is_system(text, USERS) is system


@clause("KRONTAB-41")
@pytest.mark.parametrize("seed", range(60))
def test_every_drawn_crontab_tells_its_form(seed: int) -> None:
    draw = Random(f"form:{seed}")
    lines = [line for line in crontab(draw, system=True).split("\n") if line.split()[5:]]
    users = [line for line in crontab(draw, system=False).split("\n") if line.split()[5:]]

    assert all(is_system(one, USERS) for one in lines if _is_plain(one))
    assert not any(is_system(one, USERS) for one in users)


def _is_plain(line: str) -> bool:
    return line.split()[0][:1] not in ("#", "@") and "=" not in line.split()[0]


@clause("KRONTAB-41")
def test_a_word_that_is_a_user_where_a_program_stands_is_a_warning() -> None:
    (problem,) = taken_over("0 2 * * * root /bin/x").problems
    assert problem.message == "crontab: begins with the name of a user, got 'root'"
    assert problem.column == 11

    (problem,) = taken_over("0 2 * * * /bin/x y", system=True).problems
    assert problem.message == "user: is no user, got '/bin/x'"

    (problem,) = taken_over("0 2 * * * php y", system=True).problems
    assert problem.message == "user: is not known on this machine, got 'php'"


@clause("KRONTAB-41")
def test_whose_crontab_it_is_can_be_said() -> None:
    imported = taken_over("0 2 * * * root-thing x\n", user="deploy")

    (job,) = read(imported.text).jobs
    assert (job.execution.user, job.execution.arguments) == ("deploy", ("root-thing x",))


@clause("KRONTAB-42")
@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (
            "25 6 * * * test -x /usr/sbin/anacron || "
            "{ cd / && run-parts --report /etc/cron.daily; }"
            "\n47 6 * * 7 test -x /usr/sbin/anacron || "
            "( cd / && run-parts --report /etc/cron.weekly )",
            ["cron-daily", "cron-weekly"],
        ),
        ("5 0 * * * [ -x /usr/sbin/certbot ] && certbot -q renew", ["certbot"]),
        ("0 2 * * * cd /srv && nice -n 19 ./deploy.sh --now", ["deploy"]),
        ("0 2 * * * php -q /var/www/site/cron.php", ["cron"]),
        ("0 2 * * * /usr/bin/flock -n /tmp/x.lock /usr/bin/python3 /opt/sync_all.py", ["sync-all"]),
        ("# Report for sales\n0 2 * * * curl -s https://e.org", ["report-for-sales"]),
        ("0 2 * * * backup a\n0 3 * * * backup b\n0 4 * * * backup b",
         ["backup", "backup-b", "backup-2"]),
        ("# one\n0 2 * * * x\n# two\n0 3 * * * x\n#0 3 * * * y\n0 4 * * * x", ["x", "two", "x-2"]),
        ("0 2 * * * >/dev/null", ["job"]),
        ("0 2 * * * FOO=1 BAR=2 run", ["run"]),
    ],
)  # fmt: skip
def test_jobs_are_named_after_what_they_are_about(lines: str, names: list[str]) -> None:
    found = [job.name for job in read(taken_over(lines).text).jobs]

    assert len(set(found)) == len(found)
    assert found == names
