"""
One operator in one thread: passes over an API server in memory, one after the other.

What it is told to see may be older than what is there. Its clock is the server's, but for a skew.
"""

from collections.abc import Callable, Mapping, Sequence

from gnomon.apps.operator.asking import Agreement, Asking, Heard, Question, Verdict
from gnomon.apps.operator.notice import Notice
from gnomon.apps.operator.one_pass import one_pass
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.ports.kubernetes import (
    API_VERSION,
    Answer,
    Create,
    Denied,
    Done,
    Find,
    Found,
    Get,
    Kind,
    MergePatch,
    NoAnswer,
    Object,
)
from gnomon.ports.kubernetes_object import at, text
from gnomon.simulation.kubernetes.controllers import collect_garbage, run_jobs
from gnomon.simulation.kubernetes.server import SimulatedServer

__all__ = ["POD", "Cluster", "epoch", "kronjob"]

POD: Mapping[str, object] = {
    "restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1"}],
}  # fmt: skip
START = "2026-03-01T00:00:00Z"


def epoch(written: str) -> int:
    return to_epoch(parse_instant(written))


def kronjob(**spec: object) -> dict[str, object]:
    return {
        "apiVersion": API_VERSION, "kind": "KronJob", "metadata": {"name": "report"},
        "spec": {
            "schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": {"spec": POD}}}, **spec,
        },
    }  # fmt: skip


class Cluster:
    """A server with one KronJob, its controllers, and an operator."""

    def __init__(self, *, start: str = START, lasts_s: int = 30, **spec: object) -> None:
        self.now_ms = epoch(start) * 1000
        self.skew_s = 0
        self.lasts_s = lasts_s
        self.server = SimulatedServer(lambda: self.now_ms)
        self.notices: list[Notice] = []
        self.asked: list[Question] = []
        self.broken: dict[int, Denied | NoAnswer] = {}
        """What is answered instead, by the number of the question."""
        self.deny: Callable[[Question], Denied | NoAnswer | None] = lambda question: None
        """What is answered instead, by the question."""
        self.done(Create(Kind.KRONJOB, "prod", kronjob(**spec)))

    def done(self, call: Create | MergePatch) -> Object:
        answer = self.server.send(call)
        assert isinstance(answer, Done), answer
        return answer.object

    def edit(self, **spec: object) -> None:
        self.done(MergePatch(Kind.KRONJOB, "prod", "report", {"spec": spec}))

    @property
    def kronjob(self) -> Object:
        answer = self.server.send(Get(Kind.KRONJOB, "prod", "report"))
        assert isinstance(answer, Done)
        return answer.object

    @property
    def jobs(self) -> Sequence[Object]:
        return self.server.objects_of(Kind.JOB)

    def pass_over(
        self, *, seeing: Object | None = None, jobs: Sequence[Object] | None = None,
        questions: int = 1000,
    ) -> Verdict | None:  # fmt: skip
        """One pass; None when it was cut off after so many questions."""
        asking = Asking(
            seeing or self.kronjob, self.jobs if jobs is None else jobs,
            now_ms=self._local_ms(), clock=Agreement.UNKNOWN,
        )  # fmt: skip
        steps = one_pass(asking)
        try:
            question = next(steps)
            while questions:
                questions -= 1
                answer = self._answer(question)
                question = steps.send(Heard(answer, self._local_ms(), self._agreement()))
        except StopIteration as stop:
            verdict: Verdict = stop.value
            return verdict
        finally:
            self.notices += asking.notices
        return None

    def until(self, written: str, *, every_s: int = 1) -> None:
        """Let time pass, with a pass and a look of the controllers each second."""
        while self.now_ms < epoch(written) * 1000:
            self.now_ms += every_s * 1000
            run_jobs(self.server, lambda job: self.lasts_s)
            collect_garbage(self.server)
            self.pass_over()

    def sleep_until(self, written: str) -> None:
        """Let time pass without an operator."""
        while self.now_ms < epoch(written) * 1000:
            self.now_ms += 1000
            run_jobs(self.server, lambda job: self.lasts_s)

    def status(self, *path: str) -> object:
        return at(self.kronjob, "status", *path)

    def outcomes(self) -> list[str]:
        """What became of periods, the newest first: `00:05 executed Succeeded`."""
        recent = self.status("recent")
        assert isinstance(recent, list)
        return [_line(one) for one in recent]

    def ran(self) -> list[str]:
        """The periods whose Jobs were ever released, in order."""
        seen: dict[str, str] = {}
        for one in self.server.history:
            if one.kind is Kind.JOB and at(one.object, "spec", "suspend") is not True:
                uid = text(one.object, "metadata", "uid")
                period = text(one.object, "metadata", "annotations", "gnomon.dev/period")
                seen.setdefault(uid, period[11:16])
        return list(seen.values())

    def _answer(self, question: Question) -> Answer | Found:
        self.asked.append(question)
        if (broken := self.broken.get(len(self.asked))) is not None:
            return broken
        if (denied := self.deny(question)) is not None:
            return denied
        return (
            self.server.find(question) if isinstance(question, Find) else self.server.send(question)
        )

    def _local_ms(self) -> int:
        return self.now_ms + self.skew_s * 1000

    def _agreement(self) -> Agreement:
        return Agreement.AGREES if abs(self.skew_s) <= 2 else Agreement.DIFFERS


def _line(one: Mapping[str, object]) -> str:
    if "from" in one:
        span = f"{str(one['from'])[11:16]}-{str(one['to'])[11:16]} x{one['count']}"
    else:
        span = str(one["period"])[11:16]
    words = [span, one["outcome"], one.get("result"), one.get("reason")]
    return " ".join(str(word) for word in words if word)
