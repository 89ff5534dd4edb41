"""
Who examines a file of Gnomon's that was brought to the wrong doctor?

A ledger, the workflows of a host and the journal of a `gnomon.Scheduler` are files that look alike
from outside. A user who names one of them to the doctor of another reads what it is and what to
write instead.

Spec: CLI-36.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from gnomon.core.ledger.audit import Finding
from gnomon.shell.store.family import Family, family_of
from gnomon.shell.store.workflow_examination import WorkflowFinding

__all__ = ["referred"]

_F = TypeVar("_F", Finding, WorkflowFinding)
_REMEDIES: dict[Family, str] = {
    "ledger": "it is a ledger: gnomon doctor --store {path}",
    "workflow": "it holds workflows: gnomon workflow doctor --store {path}",
    "journal": "it is the journal of a gnomon.Scheduler: gnomon check {path}",
}


def referred(findings: Sequence[_F], path: Path) -> list[_F]:
    """The findings; one about a file that another doctor examines names that doctor."""
    return [_referred(one, path) if one.code == "foreign" else one for one in findings]


def _referred(finding: _F, path: Path) -> _F:
    family = family_of(path)
    if family is None:
        return finding
    return finding._replace(remedy=_REMEDIES[family].format(path=shlex.quote(str(path))))
