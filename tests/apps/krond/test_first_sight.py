"""
The first that krond sees of a job is what the commands have announced, in whatever window it is.

Jobs and instants are drawn; what `gnomon krontab next` says at an instant is compared with what a
krond that starts at that instant executes.
"""

from collections.abc import Iterator
from itertools import takewhile
from random import Random

import pytest

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab import read_krontab
from gnomon.apps.krond.status import over_at, periods_after
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.core.decision import Chosen
from tests.apps.krond.stage import FILE, Execution, Stage, play
from tests.clauses import clause

SCHEDULES = ("0 * * * *", "*/15 * * * *", "30 1-5 * * *", "20 0 3 * * *")
WINDOWS = ("", "@win(after,45m)", "@win(after,3h)", "@win(around,40m)", "@win(before,30m)")
CONSTRAINTS = ("", "", "@avoid(hours=3)", "@only(between=02:30-04:10)", "@avoid(hours=0-23)")
LASTS_S = 4 * 3600


def drawn(seed: int) -> tuple[str, str]:
    """The text of a file, and when krond first sees it."""
    dice = Random(seed)
    words = [dice.choice(one) for one in (SCHEDULES, WINDOWS, CONSTRAINTS)]
    line = " ".join(
        filter(None, [*words, f"@seed(stable,salt={seed})", "@policy(concurrency=allow)"])
    )
    at = f"2026-03-01T0{dice.randrange(2, 4)}:{dice.randrange(60):02}:{dice.randrange(60):02}.5Z"
    return f"{line} name=a command=true", at


def announced(job: Job, at: int, until: int) -> Iterator[Execution]:
    """What the commands say, in the order of its nominal instants."""
    for one in takewhile(lambda one: one.nominal <= until + 3600, periods_after(job.schedule, at)):
        if isinstance(one.outcome, Chosen) and over_at(one) < until:
            yield Execution(job.name, one.period_id, format_instant(one.outcome.at))


@clause("KROND-36", "KROND-1", "KRONTAB-32")
@pytest.mark.parametrize("part", range(4))
def test_what_the_commands_announce_is_what_a_new_krond_executes(part: int) -> None:
    async def scenario(text: str, at: str) -> list[Execution]:
        stage = Stage(text, at)
        await stage.start()
        await stage.pass_s(LASTS_S)
        return stage.outside.executed

    for seed in range(part * 20, part * 20 + 20):
        text, at = drawn(seed)
        (job,) = read_krontab(text, file=FILE).jobs
        start = to_epoch(parse_instant(at, where="at"))
        wanted = sorted(announced(job, start, start + LASTS_S))
        assert sorted(play(scenario(text, at))) == wanted, f"{seed}: {text} at {at}"
