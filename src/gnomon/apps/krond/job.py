"""
A job: one entry of a krontab file, read and checked.

It is a schedule, what is executed, and whom to tell. Its identity is the absolute path of its
file, a colon and its name: seeds are drawn from it and periods are handled under it, so that two
files may use one name. The ledger knows the job by an id that is made from the identity.

A job holds no state, and nothing here asks the machine.

Spec: KRONTAB-1 to KRONTAB-3.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from sys import intern

from gnomon.apps.krond.execution import Execution, write_target
from gnomon.core.decision import Decider
from gnomon.core.recurrence import Recurrence
from gnomon.core.schedule import (
    LAUNCHES_MAX,
    Catchup,
    Overlap,
    PauseRule,
    Policy,
    Schedule,
    Uncertain,
)
from gnomon.errors import DefinitionError
from gnomon.shell.observe.notify.rule import NotifyRule

__all__ = [
    "NAME_MAX",
    "UNTOLD",
    "Job",
    "check_name",
    "id_stem",
    "identity_of",
    "job_policy",
    "make_job",
]

NAME_MAX = 100

_NAME = re.compile(r"[a-z0-9/-]+", re.ASCII)
_HASH_DIGITS = 16
UNTOLD = NotifyRule()
"""The rule of a job that does not say whom to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job; equal when nothing about it differs."""

    name: str
    file: str
    """The absolute path of the krontab file."""
    schedule: Schedule
    """With the execution as its target."""
    execution: Execution
    suspend: bool = False
    """While this holds nothing is triggered, and no period is handled."""
    notify: NotifyRule = UNTOLD
    description: str = ""

    @property
    def identity(self) -> str:
        return self.schedule.decider.identity

    @property
    def schedule_id(self) -> str:
        """The id under which the ledger keeps the job."""
        return self.schedule.schedule_id


def make_job(
    *, name: str, decider: Decider, recurrence: Recurrence, policy: Policy, execution: Execution,
    suspend: bool, notify: NotifyRule, description: str,
) -> Job:  # fmt: skip
    """A job from its parts; the decider has the job's identity."""
    schedule = Schedule(
        schedule_id=_schedule_id(name, decider.identity),
        recurrence=recurrence,
        decider=decider,
        policy=policy,
        target=write_target(execution),
    )
    return Job(
        name=name,
        file=intern(decider.identity.removesuffix(f":{name}")),  # one text for all jobs of a file
        schedule=schedule,
        execution=execution,
        suspend=suspend,
        notify=notify,
        description=description,
    )


def identity_of(file: str, name: str) -> str:
    """What seeds are drawn from, and under what periods are handled."""
    return f"{file}:{name}"


def job_policy(*, overlap: Overlap = Overlap.SKIP, deadline: timedelta = timedelta(0)) -> Policy:
    """How the periods of a job are judged: each on its own, at most once, or not at all."""
    return Policy(
        overlap=overlap,
        catchup=Catchup.RECENT,
        deadline=deadline,
        pause=PauseRule.HOLD,
        uncertain=Uncertain.ABANDON,
        launches_max=LAUNCHES_MAX,  # what cannot be started is tried again until its deadline
    )


def id_stem(name: str) -> str:
    """What the ids of all jobs with this name begin with."""
    return name.strip("/-").replace("/", ".") or "job"


def check_name(name: str) -> None:
    """Refuse a name that krontab files do not allow."""
    if len(name) > NAME_MAX or not _NAME.fullmatch(name):
        raise DefinitionError(
            f"must be 1 to {NAME_MAX} lower-case letters, digits, hyphens and slashes",
            where="name", got=name, hint="write e.g. nightly-backup or db/vacuum",
        )  # fmt: skip


def _schedule_id(name: str, identity: str) -> str:
    """The name, for people, and enough of a hash to tell files apart."""
    return f"{id_stem(name)}-{sha256(identity.encode()).hexdigest()[:_HASH_DIGITS]}"
