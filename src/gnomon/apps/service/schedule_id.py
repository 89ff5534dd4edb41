"""
Which schedule is meant when no id was given?

An omitted id is derived from DAG, user and trigger, so that deploying the same DAG again
finds the same schedule.

Spec: SERVICE-4.
"""

from hashlib import sha256

from gnomon.core.identifier import ID_MAX

__all__ = ["START", "derived_id", "direct_id"]

START = "start"
"""The trigger of what is started directly."""
_DIGITS = 16


def derived_id(workflow_id: str, user_id: str, trigger_id: str = "main") -> str:
    """
    The id of the schedule of a trigger: readable where it fits, and different for different ones.

    The hash is over the three with their lengths, so that no two triples give one text.
    """
    parts = (workflow_id, user_id, trigger_id)
    digest = sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()
    readable = f"{workflow_id}.{trigger_id}"[: ID_MAX - _DIGITS - 1]
    return f"{readable}.{digest[:_DIGITS]}"


def direct_id(workflow_id: str, version: int, user_id: str) -> str:
    """The id of the schedule of runs that are started directly."""
    parts = (workflow_id, str(version), user_id)
    digest = sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()
    tail = f".v{version}.{digest[:_DIGITS]}"
    return f"{START}.{workflow_id}"[: ID_MAX - len(tail)] + tail
