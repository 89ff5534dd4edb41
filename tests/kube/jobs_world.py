"""
One world: a worker of the service that is killed again and again, and a real cluster for its Jobs.

The worker dies at points of its own (`dying_worker`), or from outside. At the end one life is
stopped as it should be, without grace, while Jobs run; the last ends when everything up to then has
an outcome. The judge reads the audit log of the API server: each uid of a Job that was ever seen
unsuspended, or was given a pod, is an effect of the period in its annotations. Every period that
was due has one effect, or a reason why not.

`python -m tests.kube.jobs_world SEED [KILLS]` runs one and prints what came of it.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from tests.kill.dying_service import INTERVALS
from tests.kill.judge import Table, judge_tables, tables_of
from tests.kill.lives import Outcome
from tests.kill.service_world import ServiceLives, judge_strictly
from tests.kube.campaign import NAMESPACE
from tests.kube.cluster import Cluster

__all__ = ["effects_of", "run_world"]

_MARKS = "gnomon.dev/"
_TEMPLATE = {
    "spec": {
        "backoffLimit": 0,
        "template": {
            "metadata": {"annotations": {"gnomon.test/seconds": "1s"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "none"}],
            },
        },
    }
}


def run_world(seed: str, kills: int) -> Outcome:
    """Live and die `kills` times, then judge."""
    outcome, dice = Outcome(seed=seed), random.Random(seed)
    with (
        tempfile.TemporaryDirectory(prefix="gnomon-jobs-") as home,
        Cluster() as cluster,
    ):
        folder = Path(home)
        (folder / "counting.json").write_text(json.dumps(_TEMPLATE))
        cluster.kubectl("create", "namespace", NAMESPACE)
        store = folder / "service.sqlite3"
        world = _World(outcome, str(store), str(cluster.kubeconfig()), home)
        for _ in range(kills):
            world.live(dice)
        until = world.end_well()
        effects = effects_of(cluster.audit())
        log = folder / "effects.txt"
        log.write_text("".join(_lines(effects, until)))
        tables = {
            name: Table(created, [row for row in rows if row.first <= until])
            for name, (created, rows) in tables_of(store, list(INTERVALS)).items()
        }
        outcome.verdict = judge_tables(tables, log, INTERVALS, until=until)
        outcome.problems += _twice(effects)
        for name in INTERVALS:
            outcome.problems += judge_strictly(name, tables[name].rows)
        outcome.problems += outcome.verdict.problems
    return outcome


def effects_of(events: Iterable[Mapping[str, object]]) -> dict[str, Mapping[str, object]]:
    """The annotations of every Job that ran, by its uid."""
    known: dict[str, Mapping[str, object]] = {}
    ran: set[str] = set()
    for event in events:
        one, status = event.get("responseObject"), event.get("responseStatus")
        is_done = isinstance(status, Mapping) and 200 <= int(status.get("code") or 0) < 300
        if not is_done or not isinstance(one, Mapping):
            continue
        metadata, spec = one.get("metadata") or {}, one.get("spec") or {}
        if one.get("kind") == "Job":
            marks = metadata.get("annotations") or {}
            if f"{_MARKS}key" in marks:
                known[metadata["uid"]] = marks
                if spec.get("suspend") is not True:
                    ran.add(metadata["uid"])
        elif one.get("kind") == "Pod":
            ran |= {owner["uid"] for owner in metadata.get("ownerReferences") or ()}
    return {uid: marks for uid, marks in known.items() if uid in ran}


def _lines(effects: Mapping[str, Mapping[str, object]], until: int) -> list[str]:
    """The effects of periods up to an instant; others may still be under way."""
    return [
        f"{marks[f'{_MARKS}schedule']} {marks[f'{_MARKS}scheduled-for']} ran\n"
        for marks in effects.values()
        if datetime.fromisoformat(str(marks[f"{_MARKS}scheduled-for"])).timestamp() <= until
    ]


def _twice(effects: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Keys with more than one Job that ran, also of periods that are still under way."""
    keys = [str(marks[f"{_MARKS}key"]) for marks in effects.values()]
    return [f"{key} had {keys.count(key)} Jobs" for key in set(keys) if keys.count(key) > 1]


class _World(ServiceLives):
    module, points_max = "tests.kube.dying_worker", 500


if __name__ == "__main__":
    result = run_world(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(result)
    sys.exit(1 if result.problems else 0)
