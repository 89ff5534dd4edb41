"""The rows beside CronJob, as far as KronJob goes: each is played on a simulated API server."""

import re
from collections.abc import Callable, Mapping

import pytest

from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes import (
    Create,
    Delete,
    Denial,
    Denied,
    Get,
    Kind,
    MergePatch,
    NoAnswer,
    PutStatus,
)
from gnomon.ports.kubernetes_object import text, things
from tests.apps.operator.cronjob_minutes import Minutes, kronjob_spec, said_of
from tests.apps.operator.cronjob_page import PAGE, with_tables
from tests.apps.operator.cronjob_rows import LIMIT_S, REASONS, ROWS, Before, Row
from tests.apps.operator.lone_operator import POD, Cluster, epoch
from tests.clauses import clause

MINUTES = Minutes(epoch("2026-03-10T10:05:00Z"), epoch("2026-03-10T10:06:00Z"))
_AWAY_S = 20
_LONG_S = 10_000
_TEMPLATE = {"spec": {"template": {"spec": POD}}}
_PLAYS = [(row, policy) for row in ROWS for policy in row.policies]


class _Play:
    """One row with one policy, on an API server in memory."""

    def __init__(self, row: Row, policy: str) -> None:
        self.row = row
        made = MINUTES.b1 - row.absence_s + 5 if row.absence_s else MINUTES.b0 - 30
        is_long = row.before is Before.ACTIVE or row.absence_s
        self.cluster = Cluster(
            start=format_instant(made), lasts_s=_LONG_S if is_long else 5,
            **kronjob_spec(row, policy, MINUTES),
        )  # fmt: skip

    def until(self, instant: int) -> None:
        self.cluster.until(format_instant(instant))

    def run(self) -> str:
        row, cluster = self.row, self.cluster
        if row.absence_s:
            self.until(MINUTES.b1 - row.absence_s + _AWAY_S)
        else:
            self.until(MINUTES.b0 + _AWAY_S)
        getattr(self, row.act.name.lower(), self.nothing)()
        cluster.now_ms = max(cluster.now_ms, (MINUTES.b1 + row.late_s) * 1000)
        cluster.pass_over()
        getattr(self, f"then_{row.act.name.lower()}", self.nothing)()
        self.until(MINUTES.b1 + LIMIT_S)
        return said_of(row, MINUTES, cluster.kronjob, cluster.jobs)

    def nothing(self) -> None:
        """No act."""

    def suspended(self) -> None:
        self.cluster.edit(policy={"suspend": True})

    def deleted(self) -> None:
        cluster = self.cluster
        held = {"metadata": {"finalizers": ["gnomon.test/held"]}}
        cluster.done(MergePatch(Kind.KRONJOB, "prod", "report", held))
        self._delete(Kind.KRONJOB, "report")

    def job_deleted(self) -> None:
        self._delete(Kind.JOB, self._job())

    def job_struck(self) -> None:
        metadata, status = self.cluster.kronjob["metadata"], self.cluster.kronjob["status"]
        assert isinstance(status, Mapping)
        struck = {**status, "active": []}
        uid, version = text(metadata, "uid"), text(metadata, "resourceVersion")
        self.cluster.server.send(PutStatus(Kind.KRONJOB, "prod", "report", uid, version, struck))

    def then_job_ends(self) -> None:
        self.until(MINUTES.b1 + 40)
        self.cluster.lasts_s = 0

    def schedule_edited(self) -> None:
        self.cluster.edit(schedule=MINUTES.fill("{b1} * * * *"))

    def zone_edited_to(self) -> None:
        self.cluster.edit(timezone="UTC")

    def zone_edited_from(self) -> None:
        self.cluster.now_ms = (MINUTES.b1 + 5) * 1000
        self.cluster.edit(timezone="Asia/Tokyo")

    def template_edited(self) -> None:
        labels = {"metadata": {"labels": {"edit": "1"}}}
        self.cluster.edit(jobTemplate={**_TEMPLATE, **labels})

    def stranger(self) -> None:
        labels = {"gnomon.dev/kronjob": "report"}
        job = {"metadata": {"name": "stranger", "labels": labels}, "spec": _TEMPLATE["spec"]}
        self.cluster.done(Create(Kind.JOB, "prod", job))

    def name_taken(self) -> None:
        """The name is known from a play of the same, since uids come in order here."""
        probe = _Play(Row(name="probe", before=self.row.before, cronjob="", kronjob=""), "forbid")
        probe.run()
        newest = max(probe.cluster.jobs, key=lambda job: text(job, "metadata", "name"))
        name = text(newest, "metadata", "name")
        job = {"metadata": {"name": name}, "spec": {"suspend": True}}
        self.cluster.done(Create(Kind.JOB, "prod", job))
        self.cluster.asked.clear()

    def then_name_taken(self) -> None:
        """Two names were tried, and the first was taken."""
        names = [text(one.object, "metadata", "name") for one in self.cluster.asked
                 if isinstance(one, Create)]  # fmt: skip
        stranger = next(
            job for job in self.cluster.jobs if not things(job, "metadata", "ownerReferences")
        )
        assert names[0] == text(stranger, "metadata", "name") != names[1]

    def died_after_making(self) -> None:
        self.until(MINUTES.b1 - 1)
        self.cluster.now_ms += 1000
        self.cluster.pass_over(questions=1)
        assert len(self.cluster.jobs) == 2

    def old_view(self) -> None:
        view = self.cluster.kronjob
        self.until(MINUTES.b1)
        self.cluster.pass_over(seeing=view, jobs=[])

    def no_jobs_seen(self) -> None:
        self.cluster.now_ms = (MINUTES.b1 + 10) * 1000
        self.cluster.pass_over(jobs=[])

    def clock_back(self) -> None:
        self.until(MINUTES.b1 + 20)
        self.cluster.now_ms -= 60_000

    def no_answer(self) -> None:
        job = self._job()
        lost = NoAnswer("cut off")
        self.cluster.deny = lambda asked: (
            lost if isinstance(asked, Get | Delete) and asked.name == job else None
        )

    def ending_namespace(self) -> None:
        self._deny_jobs(Denial.TERMINATING, lambda: True)

    def no_room(self) -> None:
        self._deny_jobs(Denial.QUOTA, lambda: bool(self.cluster.jobs))
        self.cluster.edit(successfulJobsHistoryLimit=0)

    def _deny_jobs(self, why: Denial, holds: Callable[[], bool]) -> None:
        denied = Denied(why, "no", None)
        self.cluster.deny = lambda asked: denied if isinstance(asked, Create) and holds() else None

    def _job(self) -> str:
        (job,) = self.cluster.jobs
        return text(job, "metadata", "name")

    def _delete(self, kind: Kind, name: str) -> None:
        found = self.cluster.server.send(Get(kind, "prod", name))
        uid = text(getattr(found, "object", {}), "metadata", "uid")
        self.cluster.server.send(Delete(kind, "prod", name, uid))


def jobs_of(words: str) -> int:
    """How many Jobs the words of a column say were started."""
    found = re.match(r"starts one|(?:(\d+) )?executed", words)
    return int(found[1] or 1) if found else 0


@clause("OPERATOR-50")
@pytest.mark.parametrize(
    ("row", "policy"), _PLAYS, ids=[f"{row.name}-{policy}" for row, policy in _PLAYS]
)
def test_a_kronjob_does_what_its_row_beside_cronjob_says(row: Row, policy: str) -> None:
    assert _Play(row, policy).run() == row.kronjob


def test_where_the_two_start_different_jobs_the_row_says_why() -> None:
    different = [row.name for row in ROWS if jobs_of(row.cronjob) != jobs_of(row.kronjob)]

    assert [row.name for row in ROWS if row.name in different and not row.why] == []
    assert {row.why for row in ROWS if row.why} == set(REASONS)
    assert len({row.name for row in ROWS}) == len(ROWS) >= 45


@clause("OPERATOR-50")
def test_the_page_beside_cronjob_has_the_rows_of_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert with_tables(page) == page
