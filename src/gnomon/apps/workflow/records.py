"""
How workflows, runs, events and inputs are written as JSON, wherever they are shown.

Spec: SEEN-6, SEEN-10, WCLI-2.
"""

import json
from collections.abc import Mapping

from gnomon.apps.workflow.overview import Overview
from gnomon.ports.workflow_facts import Event, Input, Mutation, Run, Script
from gnomon.shell.store.instant_text import maybe_to_text, to_text

__all__ = [
    "Record", "event_record", "input_record", "mutation_record", "overview_record", "run_record",
    "version_record",
]  # fmt: skip

Record = dict[str, object]


def overview_record(one: Overview) -> Record:
    """For its owner: no phases, no topics."""
    return {
        "name": one.name, "title": one.title, "status": one.status.value, "issue": one.issue,
        "answer": one.answer, "schedule": one.schedule, "nextAt": maybe_to_text(one.next_ms),
        "pending": one.pending, "inWork": one.in_work, "host": one.host, "script": one.script,
        "handlers": [
            {"name": two.handler, "waits": two.text, "nextAt": maybe_to_text(two.at_ms)}
            for two in one.handlers
        ],
        "recent": [{"at": to_text(two.at_ms), "text": two.text} for two in one.recent],
    }  # fmt: skip


def run_record(one: Run, mutations: Mapping[int, Mutation]) -> Record:
    """For operators: one attempt, with its mutation among these."""
    mutation = None if one.mutation is None else mutations.get(one.mutation)
    return {
        "number": one.number, "handler": one.handler, "handlerType": one.kind.value,
        "script": one.script, "retryOf": one.retry_of, "phase": one.phase.value,
        "status": one.status.value, "prepareResult": _value(one.prepared),
        "mutationResult": _value(one.mutated),
        "mutation": None if mutation is None else mutation_record(mutation),
        "asks": None if one.asked is None else {
            "tool": one.asked.tool, "params": _value(one.asked.params), "key": one.asked.key,
            "title": one.asked.title,
        },
        "error": one.error, "traceback": one.traceback,
        "note": one.note,
        "createdAt": to_text(one.created_ms), "updatedAt": to_text(one.updated_ms),
    }  # fmt: skip


def mutation_record(one: Mutation) -> Record:
    """What was to be done outside, by which key, and what became of it."""
    return {
        "tool": one.tool, "params": _value(one.params), "key": one.key, "title": one.title,
        "status": one.status.value, "result": _value(one.result), "error": one.error,
        "reconcileAttempts": one.tries, "nextReconcileAt": maybe_to_text(one.next_ms),
        "resolvedBy": one.resolved_by, "createdAt": to_text(one.created_ms),
    }  # fmt: skip


def version_record(one: Script, *, in_force: int) -> Record:
    """One version of a script, without its text."""
    return {
        "version": one.version, "inForce": one.version == in_force, "reason": one.reason,
        "digest": one.digest, "textKept": bool(one.text),
        "modules": sorted(json.loads(one.modules)), "deployedAt": to_text(one.deployed_ms),
    }  # fmt: skip


def event_record(one: Event) -> Record:
    return {
        "number": one.number, "topic": one.topic, "id": one.id, "status": one.status.value,
        "payload": _value(one.payload), "attempt": one.attempt, "reservedBy": one.reserved_by,
        "createdBy": one.created_by, "inputs": list(one.causes),
        "createdAt": to_text(one.created_ms),
    }  # fmt: skip


def input_record(one: Input) -> Record:
    return {
        "id": one.id, "title": one.title, "skipped": one.skipped, "pending": one.pending,
        "createdAt": to_text(one.created_ms),
    }  # fmt: skip


def _value(text: str | None) -> object:
    return None if text is None else json.loads(text)
