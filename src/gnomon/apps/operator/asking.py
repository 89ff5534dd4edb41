"""
A pass over one KronJob: what it knows, and how it asks.

A pass is a generator. It yields a question to the API server and is given what was heard: the
answer, the time after it, and whether the local clock agrees with the server's. So everything that
is decided follows from a view and from answers, and the driver of a pass may stop at any question.

The view may be any earlier state. What is written carries the version of the view, so that a
decision from an old one is refused; then the newest state is asked for and the decision made anew.

Spec: OPERATOR-17, OPERATOR-18.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from gnomon.apps.operator.definition import Definition
from gnomon.apps.operator.job import JobView, read_job
from gnomon.apps.operator.notice import Notice, Told
from gnomon.apps.operator.periods import following
from gnomon.apps.operator.status import (
    ConditionKind,
    Status,
    with_condition,
    without_conditions,
)
from gnomon.apps.operator.status_text import write_status
from gnomon.ports.kubernetes import (
    Answer,
    Call,
    Denial,
    Denied,
    Done,
    Find,
    Found,
    Get,
    Kind,
    NoAnswer,
    Object,
    PutStatus,
)
from gnomon.ports.kubernetes_object import number, say, text

__all__ = ["Agreement", "Asking", "Flow", "Heard", "Question", "Steps", "Verdict"]

_SHORT = 5  # records that are left when a status is too large
_CONFLICTS_MAX = 4
_BLOCKERS = (
    ConditionKind.INVALID_SPEC, ConditionKind.CLOCK_SKEW, ConditionKind.NAME_TAKEN,
    ConditionKind.LAUNCH_FAILING,
)  # fmt: skip


class Agreement(StrEnum):
    """What is known of the local clock beside the server's."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNKNOWN = "unknown"
    """No answer of the last seconds says."""


class Flow(StrEnum):
    """How a pass goes on after a part of it."""

    AGAIN = "again"
    """From its beginning, because there is a newer view."""
    ON = "on"


class Heard(NamedTuple):
    """What came of a question."""

    answer: Answer | Found
    now_ms: int
    clock: Agreement


class Verdict(NamedTuple):
    """How a pass ended."""

    wake: int | None = None
    """When to look again, if nothing happens before."""
    trouble: str = ""
    """What stood in the way; the pass is made again after a while, longer each time."""
    again: bool = False
    """Whether to look again at once."""


Question = Call | Find
Steps = Generator[Question, Heard, "Verdict | Flow"]
"""Part of a pass: its verdict, or how the pass goes on."""


class Asking:
    """What a pass knows by now."""

    def __init__(
        self, kronjob: Object, jobs: Iterable[Object], *, now_ms: int, clock: Agreement
    ) -> None:
        self.kronjob = kronjob
        self.jobs: dict[str, JobView] = {}
        for job in map(read_job, jobs):
            if job.owner == self.uid:
                self.jobs[job.uid] = job
        self.now_ms = now_ms
        self.clock = clock
        self.notices: list[Notice] = []
        """To be told; each is certain."""
        self.touched: list[Object] = []
        """Objects as the server gave them back, newer than the view."""
        self.trouble = ""
        self._conflicts = 0

    @property
    def now(self) -> int:
        return self.now_ms // 1000

    @property
    def uid(self) -> str:
        return text(self.kronjob, "metadata", "uid")

    @property
    def namespace(self) -> str:
        return text(self.kronjob, "metadata", "namespace")

    @property
    def name(self) -> str:
        return text(self.kronjob, "metadata", "name")

    @property
    def generation(self) -> int:
        return number(self.kronjob, "metadata", "generation")

    def ask(self, question: Question) -> Generator[Question, Heard, Answer | Found]:
        heard = yield question
        self.now_ms, self.clock = heard.now_ms, heard.clock
        return heard.answer

    def saw(self, one: Object) -> JobView:
        """A Job as the server gave it just now."""
        job = read_job(one)
        self.jobs[job.uid] = job
        self.touched.append(one)
        return job

    def refresh(self) -> Steps:
        """Look at the newest state of the KronJob."""
        answer = yield from self.ask(Get(Kind.KRONJOB, self.namespace, self.name))
        match answer:
            case Done(found) if text(found, "metadata", "uid") == self.uid:
                self.kronjob = found
                self.touched.append(found)
                return Flow.AGAIN
            case Done() | Denied(Denial.NOT_FOUND):
                return Verdict()  # it has gone, and what owns its name is another pass's business
            case _:
                return Verdict(trouble=say(answer))

    def settle_clock(self, status: Status, definition: Definition) -> Steps:
        """
        An outcome is to be written, and the clocks are not known to agree.

        When it is unknown, the newest state is asked for, whose answer says it; then the caller
        decides anew. When they differ nothing is decided at all, and the status says why.
        """
        if self.clock is Agreement.UNKNOWN:
            verdict = yield from self.refresh()
            still = self.clock is Agreement.UNKNOWN  # type: ignore[comparison-overlap, unused-ignore]
            silent = Verdict(trouble="the server does not say what time it is")
            return silent if verdict is Flow.AGAIN and still else verdict
        skewed = with_condition(
            status, ConditionKind.CLOCK_SKEW, self.now, reason="ClocksDiffer",
            message="the clock of the operator and the server's differ by more than 2 s",
        )  # fmt: skip
        if skewed is not status:
            notice = Notice(Told.CLOCK_SKEW, skewed.conditions[-1].message, True)
            verdict = yield from self.put(skewed, definition, [notice])
            if verdict is not Flow.AGAIN:
                return verdict
        return Verdict(trouble="the clocks differ")

    def put(self, status: Status, definition: Definition, notices: Sequence[Notice] = ()) -> Steps:
        """Write the status if the view is the newest state; look again either way."""
        if self.clock is Agreement.AGREES:
            status = without_conditions(status, ConditionKind.CLOCK_SKEW)
        status = _with_ready(_with_suspended(status, definition, self.now), self.now)
        next_one = following(status, definition, now=self.now)
        verdict = yield from self.put_plain(write_status(status, self.uid, following=next_one))
        if verdict == Verdict(trouble=Denial.TOO_LARGE.value) and status.recent[_SHORT:]:
            return (yield from self.put(replace(status, recent=status.recent[:_SHORT]), definition))
        if verdict is Flow.AGAIN and not self._conflicts:
            self.notices += notices
        return verdict

    def put_sealed(self, status: Status) -> Steps:
        """Write a status whose spec cannot be meant, so that no period follows."""
        return (yield from self.put_plain(write_status(status, self.uid)))

    def put_plain(self, written: Object) -> Steps:
        version = text(self.kronjob, "metadata", "resourceVersion")
        put = PutStatus(Kind.KRONJOB, self.namespace, self.name, self.uid, version, written)
        answer = yield from self.ask(put)
        match answer:
            case Done(found):
                self._conflicts = 0
                self.kronjob = found
                self.touched.append(found)
                return Flow.AGAIN
            case Denied(Denial.NOT_FOUND):
                return Verdict()
            case Denied(Denial.TOO_LARGE):
                return Verdict(trouble=Denial.TOO_LARGE.value)
            case Denied(Denial.CONFLICT) | NoAnswer():
                self._conflicts += 1
                if self._conflicts > _CONFLICTS_MAX:
                    return Verdict(trouble=say(answer))
                return (yield from self.refresh())
            case _:
                return Verdict(trouble=say(answer))

    def tell(self, told: Told, message: str, *, is_warning: bool = False) -> None:
        self.notices.append(Notice(told, message, is_warning))


def _with_suspended(status: Status, definition: Definition, now: int) -> Status:
    if not definition.suspend:
        return without_conditions(status, ConditionKind.SUSPENDED)
    return with_condition(
        status, ConditionKind.SUSPENDED, now, reason="Suspended",
        message="nothing starts and no period is handled until spec.policy.suspend is false",
    )  # fmt: skip


def _with_ready(status: Status, now: int) -> Status:
    for kind in _BLOCKERS:
        found = next((one for one in status.conditions if one.kind == kind and one.holds), None)
        if found is not None:
            return with_condition(
                status, ConditionKind.READY, now, reason=kind.value, message=found.message,
                holds=False,
            )  # fmt: skip
    reason, message = "Scheduling", "periods are taken up"
    if status.has(ConditionKind.SUSPENDED):
        reason = ConditionKind.SUSPENDED.value
        message = "the spec is in force; suspended, so no period is handled"
    return with_condition(status, ConditionKind.READY, now, reason=reason, message=message)
