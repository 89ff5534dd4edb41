"""
Programs that a host of workflows asks: for a better script, and to tell somebody of what waits.

Each gets one JSON object on its standard input. What a repairer prints is the new script; nothing
printed means that it has none.

Spec: FAIL-20, SEEN-13, SEEN-15.
"""

import json

from gnomon.apps.workflow.alarm import Alarm
from gnomon.apps.workflow.records import mutation_record, run_record
from gnomon.apps.workflow.repair import Trouble
from gnomon.shell.side_program import ask_program
from gnomon.workflow import Alert, Repairer

__all__ = ["alert_by", "repair_by"]


def repair_by(words: list[str]) -> Repairer:
    """Ask this program for a better script."""

    async def repair(trouble: Trouble) -> str | None:
        question = {
            "workflow": trouble.workflow, "script": trouble.script, "error": trouble.error,
            "run": run_record(trouble.run, {}),
        }  # fmt: skip
        answer = await ask_program(words, json.dumps(question))
        return answer if answer.strip() else None

    return repair


def alert_by(words: list[str]) -> Alert:
    """Have this program tell somebody."""

    async def alert(alarm: Alarm) -> None:
        told = {
            "workflow": alarm.workflow, "title": alarm.title, "status": alarm.status,
            "issue": alarm.issue, "answer": alarm.answer, "script": alarm.script,
            "run": None if alarm.run is None else run_record(alarm.run, {}),
            "mutation": None if alarm.mutation is None else mutation_record(alarm.mutation),
        }  # fmt: skip
        await ask_program(words, json.dumps(told))

    return alert
