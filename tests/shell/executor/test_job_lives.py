"""Workers, answers and people come and go at random: a key never has two Jobs that run."""

import random
from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports.executor import FeedbackStatus
from gnomon.ports.kubernetes import Call, Denial, Denied, NoAnswer
from gnomon.ports.kubernetes_object import text
from tests.clauses import clause
from tests.shell.executor.embedded_stage import Stage
from tests.shell.executor.jobs_stage import JOB, JobsStage, open_jobs
from tests.shell.virtual_time import run_virtually

LIVES, KEYS = 12, 3
SEEDS = 120


class Weather:
    """What becomes of questions: some never arrive, some answers are lost, some are refused."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.is_fair = False

    def deny(self, call: Call) -> Denied | NoAnswer | None:
        if self.is_fair or self.dice.random() > 0.2:
            return None
        if self.dice.random() < 0.5:
            return Denied(Denial.TOO_MANY, "busy", 0)
        return NoAnswer("not reached")

    def lose(self, call: Call) -> bool:
        return not self.is_fair and self.dice.random() < 0.2


async def live(stage: JobsStage, worker: Stage, dice: random.Random, fence: int) -> None:
    """One worker is asked for all keys, and dies, stops or loses its runs at some moment."""
    for number in range(KEYS):
        await worker.start(JOB, key=f"key-{number}", fence=fence)
        await stage.clock.sleep_ms(dice.choice([0, 0, 40, 300]))
    await stage.clock.sleep_ms(dice.choice([0, 1, 30, 400, 3_000]))
    if dice.random() < 0.15 and stage.jobs():
        stage.delete(dice.choice(stage.jobs()))
    match dice.choice(["dies", "dies", "stops", "loses", "lives on"]):
        case "dies":
            await worker.executor.close()
        case "stops":
            await worker.executor.drain(grace_ms=0)
            await worker.executor.close()
        case "loses":
            await worker.executor.kill(f"key-{dice.randrange(KEYS)}", Reason.UNCERTAIN)
        case _:
            pass  # it goes on beside the next one


async def live_and_die(seed: int, folder: Path) -> tuple[dict[str, set[str]], list[str]]:
    """The uids of Jobs that ran, by their keys; and what does not fit."""
    dice = random.Random(seed)
    weather, wrong = Weather(dice), []
    async with open_jobs(folder) as stage:
        stage.lasts_s = dice.choice([0, 2, 10])
        stage.api.deny, stage.api.lose = weather.deny, weather.lose
        for fence in range(1, LIVES + 1):
            await live(stage, stage.worker(), dice, fence)
        weather.is_fair = True
        last = stage.worker()
        for number in range(KEYS):
            key = f"key-{number}"
            end = await last.run(JOB, key=key, fence=LIVES + 1)
            kept = await last.get(key)
            if kept.status is not end.status or end.status is FeedbackStatus.STARTED:
                wrong.append(f"{key}: {kept.status}, {end.status}")
        ran: dict[str, set[str]] = {}
        for one in stage.server.history:
            uid = text(one.object, "metadata", "uid")
            if uid in stage.released():
                key = text(one.object, "metadata", "annotations", "gnomon.dev/key")
                ran.setdefault(key, set()).add(uid)
    return ran, wrong


@clause("EXEC-42", "EXEC-43", "EXEC-45")
@pytest.mark.parametrize("first", range(0, SEEDS, 20))
def test_no_key_ever_has_two_jobs_that_run(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        ran, wrong = run_virtually(live_and_die(seed, folder))

        assert wrong == [], f"seed {seed}"
        assert all(len(uids) == 1 for uids in ran.values()), f"seed {seed}: {ran}"
