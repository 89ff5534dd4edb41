"""
What is there to see in a new service? Three DAGs, of a user named demo.

`hello` runs every ten seconds and prints a line. `slow` is due every ten seconds too and takes
twenty-five, so that some of its periods are skipped, with a reason. `report` runs at night, in a
window, and has two steps.

Spec: UP-3.
"""

import json

from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.registrar import Registrar
from gnomon.ports.ledger_rows import Actor, Only

__all__ = ["DEMO", "SAMPLES", "deploy_samples"]

DEMO = "demo"
_TEN_SECONDS = "*/10 * * * * *"

SAMPLES: tuple[dict[str, object], ...] = (
    {
        "workflow_id": "hello",
        "version": 1,
        "description": "Prints a line every ten seconds.",
        "nodes": [{"id": "greet", "type": "command", "command": ["echo", "hello from a schedule"]}],
        "triggers": [
            {"type": "schedule_based", "cron_expr": _TEN_SECONDS, "timezone": "UTC"},
        ],
    },
    {
        "workflow_id": "slow",
        "version": 1,
        "description": "Takes longer than its schedule allows, so that periods are skipped.",
        "nodes": [{"id": "wait", "type": "command", "command": ["sleep", "25"]}],
        "triggers": [
            {
                "type": "schedule_based",
                "cron_expr": _TEN_SECONDS,
                "timezone": "UTC",
                "overlap_policy": "skip",
            },
        ],
    },
    {
        "workflow_id": "report",
        "version": 1,
        "description": "Two steps, one after the other, at night.",
        "nodes": [
            {"id": "collect", "type": "command", "command": ["echo", "collecting"]},
            {"id": "send", "type": "command", "command": ["echo", "sending"]},
        ],
        "edges": [{"from": "collect", "to": "send"}],
        "triggers": [
            {
                "type": "schedule_based",
                "cron_expr": "0 3 * * *",
                "timezone": "Europe/Berlin",
                "window": "after,1h",
                "catchup_policy": "latest",
            },
        ],
    },
)


async def deploy_samples(registrar: Registrar, deployer: Deployer) -> bool:
    """Deploy the samples, unless there is a schedule already; whether it was done."""
    actor = Actor(subject="gnomon-up", tenant=None)
    found = await registrar.list_schedules(actor, Only(), limit=1)
    if found.items:
        return False
    for sample in SAMPLES:
        await deployer.deploy(actor, json.dumps(sample), user_id=DEMO)
    return True
