"""Lines as people write them for Kron, each of which is read here, and with the same meaning."""

from datetime import timedelta

import pytest

from gnomon.core.schedule import Overlap
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause

LINES = [
    "0 0 * * * name=backup command=/usr/bin/backup",
    "0 0 * * * @win(after,3h) @dist(uniform) name=db-backup command=/usr/bin/backup",
    "0 10 * * * @tz(Europe/Paris) @win(around,90m) @dist(skewLate,shape=2.5) name=batch-messages "
    'command="/usr/bin/send-messages --batch"',
    "0 2 * * * @win(after,1h) name=cleanup command=/usr/bin/cleanup env=MODE=prod timeout=20m",
    "0 0 * * * @seed(stable,salt=\"team-a\") @win(after,2h) name=a command=/bin/a",
    "0 10 * * MON @seed(weekly,salt=prod) name=a command=/bin/a",
    "0 10 * * * @policy(concurrency=replace) name=a command=/bin/a",
    "0 18 * * * @win(around,1h) @only(dow=MON-FRI;between=08:00-20:00) name=a command=/bin/a",
    "0 19 * * * @avoid(dates=2026-12-24..2026-12-31) name=a command=/bin/a",
    "0 10 * * * @win(after,2h) @dist(normal,mu=start,sigma=15m) name=a command=/bin/a",
    "0 10 * * * @win(after,2h) @dist(exponential,dir=late,lambda=0.8) name=a command=/bin/a",
    "0 * * * * @tz(UTC) @win(after,30m) @dist(skewEarly) @only(dow=MON-FRI;hours=8-18) name=a "
    "command=/bin/a",
    "15 9 * * MON-FRI name=team/report command=/bin/a stdout=file:/var/log/a stderr=syslog "
    'user=backup group=backup cwd=/var/backups umask=0027 shell=true description="Nightly full"',
]  # fmt: skip


@clause("KRONTAB-6", "KRONTAB-10")
@pytest.mark.parametrize("line", LINES)
def test_a_line_for_kron_is_read(line: str) -> None:
    job(line)


@clause("KRONTAB-10", "KRONTAB-12")
def test_a_line_for_kron_means_what_it_means_there() -> None:
    found = job(
        "0 0 * * * @tz(UTC) @win(after,3h) @dist(uniform) @seed(stable,salt=backup) "
        "@policy(concurrency=forbid,deadline=30m) name=backup command=/usr/bin/backup"
    )

    decision = found.schedule.decider.decide(1_772_323_200)  # 2026-03-01

    assert decision.seed_material == "/etc/krond.d/site:backup\n2026-03-01T00:00:00Z\nbackup"
    assert (decision.window.start, decision.window.span) == (1_772_323_200, 3 * 3_600)
    assert found.schedule.policy.overlap is Overlap.SKIP
    assert found.schedule.policy.deadline == timedelta(minutes=30)
