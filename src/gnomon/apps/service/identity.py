"""
Who asks, and which schedule is meant when no id was given?

A tenant is a `user_id`: everything belongs to one, and who acts for a tenant sees nothing of the
others. An omitted schedule id is derived from workflow, user and trigger, so that deploying the
same workflow again finds the same schedule.

Spec: SERVICE-3, SERVICE-4.
"""

import re
from hashlib import sha256
from typing import NamedTuple

from gnomon.errors import DefinitionError

__all__ = ["ID", "ID_MAX", "START", "Actor", "check_id", "derived_id", "direct_id"]

ID_MAX = 200
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)
START = "start"
"""The trigger of what is started directly."""
_DIGITS = 16


class Actor(NamedTuple):
    """Who asks for something."""

    subject: str
    """A name for the audit log."""
    tenant: str | None = None
    """The one tenant that is acted for; None for all of them."""

    def may_see(self, user_id: str | None) -> bool:
        return self.tenant is None or self.tenant == user_id


def check_id(text: object, *, where: str) -> str:
    """`text` if it can be an id."""
    if not isinstance(text, str) or not ID.fullmatch(text):
        raise DefinitionError(
            "must be 1 to 200 letters, digits, dots, underscores or hyphens", where=where,
            got=text, hint="begin with a letter or digit, e.g. billing.nightly",
        )  # fmt: skip
    return text


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
