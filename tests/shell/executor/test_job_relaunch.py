"""A worker that lost a run of Jobs and is given it again launches it again."""

import asyncio
from pathlib import Path

from gnomon.apps.service.run_launcher import RunLauncher
from gnomon.apps.service.schedule_input import read_input, schedule_of
from gnomon.apps.service.settings import Settings
from gnomon.core.dag import parse_dag
from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Claim, Ended, Launched
from gnomon.ports.dag import StoredDag
from gnomon.shell.store.dag import SqliteDagStore
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.core.dag.dags import dag_text
from tests.shell.executor.jobs_stage import JOB, JobsStage, player

NOMINAL = 1_772_323_200
GIVEN = {
    "schedule_id": "main", "trigger_id": "main", "workflow_id": "report", "version": 1,
    "user_id": "anna", "every": "1h",
}  # fmt: skip


@clause("EXEC-43")
def test_a_run_that_was_lost_can_be_launched_again_by_the_same_worker(tmp_path: Path) -> None:
    async def scenario(stage: JobsStage) -> None:
        ledger = SqliteLedger.open(":memory:")
        dags = SqliteDagStore(ledger.database)
        dag = parse_dag(dag_text(nodes=[JOB]))
        await dags.put(StoredDag("anna", "report", 1, dag.digest, dag.text, 0))
        launcher = RunLauncher(dags, stage.worker().executor, stage.clock)
        schedule = schedule_of(read_input(GIVEN), Settings())
        claim = Claim(schedule, "key", NOMINAL, NOMINAL * 1000, 1, 1, ())

        await launcher.launch(claim)
        await stage.until_released()
        reports = [*await launcher.ended()]
        assert await launcher.end("key", Reason.UNCERTAIN) is True
        assert await launcher.launch(claim._replace(fence=2, launches=2)) is None
        while not any(isinstance(one, Ended) for one in reports):
            reports += await asyncio.wait_for(launcher.ended(), 60)

        assert [(type(one), one.fence) for one in reports] == [
            (Launched, 1), (Launched, 2), (Ended, 2),
        ]  # fmt: skip
        assert len(stage.released()) == 1
        await launcher.drain(grace_ms=0)
        await ledger.close()

    player(tmp_path)(scenario)
