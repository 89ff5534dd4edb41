"""
CronJob and KronJob side by side on a real cluster: every row of the table, in two minutes.

The rows say what happens (`tests/apps/operator/cronjob_rows`). Both controllers run until what ran
before has run; then both are stopped, a minute passes without them, and both come back. A run that
lies an hour or a week back is written into both statuses, because no cluster lives for so long.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from gnomon.apps.operator.definition import read_definition
from gnomon.apps.operator.job import candidate
from gnomon.apps.operator.one_pass import MARKER
from gnomon.apps.operator.status import Opened, Status
from gnomon.apps.operator.status_text import read_status, write_status
from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes_object import at, text, things
from tests.apps.operator.cronjob_minutes import Minutes, kronjob_spec, said_of, starts_of
from tests.apps.operator.cronjob_rows import LATE_S, ROWS, Act, Before, Row
from tests.kube.caller import Caller
from tests.kube.cluster import Cluster
from tests.kube.kronjobs import until_kronjobs
from tests.kube.operator_process import operating
from tests.kube.packaging import FOLDER
from tests.kube.process import until

__all__ = ["PLAYS", "Beside", "Play"]

Object = Mapping[str, object]
Play = tuple[Row, str]

PLAYS: Sequence[Play] = [(row, policy) for row in ROWS if not row.alone for policy in row.policies]
"""The rows that are played side by side, with each of their policies."""

_BEGIN_S, _GONE_S = 20, 50
"""So long before the first minute all is begun, and so long after it both controllers are gone."""
_QUIET_S, _END_S = 25, 75
"""So long both are back at least, so that they have looked; and the end of it."""
_LONG_S = 600
_SPACES = {"CronJob": "cronjobs", "KronJob": "kronjobs"}
_GROUPS = {"CronJob": "batch/v1", "KronJob": "gnomon.dev/v1alpha1"}
_POLICIES = {"allow": "Allow", "forbid": "Forbid", "replace": "Replace"}


class Beside:
    """All rows, played at once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._server = Caller(cluster.kubeconfig())
        self.close = self._server.close
        self._refused: set[tuple[str, str]] = set()
        self._jobs_before: dict[str, list[Object]] = {}
        self._other_names: dict[str, str] = {}
        """Of Jobs whose names were taken, by their KronJobs."""
        self._minutes = Minutes(0, 0)

    def play(self) -> dict[tuple[str, str], tuple[str, str]]:
        """What CronJob and KronJob did, by the name of the row and the policy."""
        self._install()
        with operating(self._cluster, "before", "--no-leader") as operator:
            operator.until_ready()
            now = int(time.time())
            b0 = (now + _BEGIN_S) // 60 * 60 + 60
            self._minutes = Minutes(b0, b0 + 60)
            self._make()
            self._wait(b0 + _GONE_S, self._lacks)
            self._cluster.stop("kube-controller-manager")
        assert time.time() < self._minutes.b1, "the controllers went away too late"
        self._act(is_after=False)
        self._wait(self._minutes.b1 + 5, lambda: self._before(self._minutes.b1 + 2))
        self._act(is_after=True)
        self._wait(self._minutes.b1 + 60, lambda: self._before(self._minutes.b1 + LATE_S))
        self._jobs_before = self._jobs("CronJob")
        self._cluster.start("kube-controller-manager")
        with operating(self._cluster, "after", "--no-leader"):
            with suppress(TimeoutError):  # each row that differs is told by its own test
                self._wait(self._minutes.b1 + _END_S, self._differs)
            return self._seen()

    def _install(self) -> None:
        kubectl = self._cluster.kubectl
        kubectl("apply", f"--filename={FOLDER / 'install.yaml'}")
        until_kronjobs(self._cluster)
        quota = {"hard": {"count/jobs.batch": "1"}}
        for space in _SPACES.values():
            kubectl("create", "namespace", space)
            kubectl("create", "namespace", f"{space}-full")
            self._cluster.apply({
                "apiVersion": "v1", "kind": "ResourceQuota", "spec": quota,
                "metadata": {"name": "one", "namespace": f"{space}-full"},
            })  # fmt: skip

    def _make(self) -> None:
        for number, play in enumerate(PLAYS):
            row = play[0]
            for kind in _kinds(row):
                code, said = self._server.ask("POST", self._path(kind, play), {
                    "apiVersion": _GROUPS[kind], "kind": kind,
                    "metadata": {"name": _name(number), "annotations": {"row": row.name}},
                    "spec": self._spec(kind, play),
                })  # fmt: skip
                if code == 422:
                    self._refused.add((kind, _name(number)))
                else:
                    assert code == 201, said.get("message")

    def _spec(self, kind: str, play: Play) -> dict[str, object]:
        row, policy = play
        template = _template(row)
        if kind == "KronJob":
            return {**kronjob_spec(row, policy, self._minutes), "jobTemplate": template}
        spec: dict[str, object] = {
            "schedule": self._minutes.schedule(row), "concurrencyPolicy": _POLICIES[policy],
            "jobTemplate": template, "timeZone": row.zone or None,
            "startingDeadlineSeconds": row.deadline_s,
            "successfulJobsHistoryLimit": None if row.act is Act.NO_ROOM else row.kept,
        }  # fmt: skip
        return {name: value for name, value in spec.items() if value is not None}

    def _lacks(self) -> str | None:
        """What has not come to its rest yet before both controllers go."""
        if complaint := self._before(self._minutes.b0):
            return complaint
        for kind in _SPACES:
            found = self._objects(kind)
            for number, (row, _) in enumerate(PLAYS):
                one = found.get(_name(number))
                rests = _cronjob_rests if kind == "CronJob" else _kronjob_rests
                if one is not None and not rests(row, one):
                    return f"{kind} {_name(number)} ({row.name}) has not come to rest"
        return None

    def _act(self, *, is_after: bool) -> None:
        """What happens while both controllers are away, before or after the second minute."""
        for play in PLAYS:
            if (play[0].act is Act.ZONE_EDITED_FROM) is not is_after:
                continue
            for kind in _kinds(play[0]):
                if (kind, _name(PLAYS.index(play))) in self._refused:
                    continue
                if play[0].absence_s:
                    self._move_back(kind, play)
                self._act_on(kind, play)

    def _act_on(self, kind: str, play: Play) -> None:
        path, fill = self._path(kind, play, named=True), self._minutes.fill
        is_cronjob = kind == "CronJob"
        zone, labels = "timeZone" if is_cronjob else "timezone", {"edit": "1"}
        hold = {"suspend": True} if is_cronjob else {"policy": {"suspend": True}}
        edits: Mapping[Act, object] = {
            Act.SUSPENDED: {"spec": hold},
            Act.DELETED: {"metadata": {"finalizers": ["gnomon.test/held"]}},
            Act.SCHEDULE_EDITED: {"spec": {"schedule": fill("{b1} * * * *")}},
            Act.ZONE_EDITED_TO: {"spec": {zone: "UTC"}},
            Act.ZONE_EDITED_FROM: {"spec": {zone: "Asia/Tokyo"}},
            Act.TEMPLATE_EDITED: {"spec": {"jobTemplate": {"metadata": {"labels": labels}}}},
            Act.NO_ROOM: {
                "spec": {"successfulJobsHistoryLimit": 0, "jobTemplate": _job_template(_LONG_S)}
            },
        }
        act = play[0].act
        if act in edits:
            self._server.done("PATCH", path, edits[act])
        if act is Act.DELETED:
            self._server.done("DELETE", path)
        elif act is Act.JOB_DELETED:
            (job,) = self._jobs(kind)[_name(PLAYS.index(play))]
            name = text(job, "metadata", "name")
            body = {"propagationPolicy": "Background"}
            self._server.done("DELETE", f"{self._folder('Job', kind, play[0])}/{name}", body)
        elif act is Act.JOB_STRUCK:
            self._server.done("PATCH", f"{path}/status", {"status": {"active": []}})
        elif act in (Act.STRANGER, Act.NAME_TAKEN):
            self._make_stranger(kind, play)

    def _make_stranger(self, kind: str, play: Play) -> None:
        """A Job that the object does not own: with its labels, or with the name of its next Job."""
        name = f"stranger-{_name(PLAYS.index(play))}"
        if play[0].act is Act.NAME_TAKEN and kind == "CronJob":
            name = f"{_name(PLAYS.index(play))}-{self._minutes.b1 // 60}"
        elif play[0].act is Act.NAME_TAKEN:
            name, self._other_names[_name(PLAYS.index(play))] = self._next_job_names(play)
        spec = _template(play[0])["spec"]
        metadata = {"name": name, "labels": {"row": "1"}}
        self._server.done("POST", self._folder("Job", kind, play[0]), {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec,
        })  # fmt: skip

    def _next_job_names(self, play: Play) -> tuple[str, str]:
        """What the Job of the second minute is called, and what if that name is taken."""
        kronjob, status = self._kronjob(play)
        identity = f"{_SPACES['KronJob']}/{_name(PLAYS.index(play))}"
        definition = read_definition(identity, at(kronjob, "spec"))
        b1 = self._minutes.b1
        due = Opened(b1, b1, definition.schedule.decider.decide(b1).seed_hash)
        first, second = (
            candidate(kronjob, definition, due, revision=status.revision, number_of_try=number)
            for number in range(2)
        )
        return text(first, "metadata", "name"), text(second, "metadata", "name")

    def _move_back(self, kind: str, play: Play) -> None:
        """As if the run before was handled so long ago, and both were away since."""
        path = f"{self._path(kind, play, named=True)}/status"
        last = self._minutes.b1 - play[0].absence_s
        if kind == "CronJob":
            patch = {"status": {"lastScheduleTime": format_instant(last)}}
            self._server.done("PATCH", path, patch)
            return
        kronjob, status = self._kronjob(play)
        moved = write_status(
            replace(status, cursor=last, since=last), text(kronjob, "metadata", "uid")
        )
        self._server.done("PUT", path, {**kronjob, "status": moved})

    def _kronjob(self, play: Play) -> tuple[Object, Status]:
        kronjob = self._server.done("GET", self._path("KronJob", play, named=True))
        status = read_status(at(kronjob, "status"), text(kronjob, "metadata", "uid"))
        assert isinstance(status, Status), play
        return kronjob, status

    def _differs(self) -> str | None:
        """Which rows are not what they say yet; those that start nothing need the whole time."""
        seen = self._seen()
        wrong = [
            f"{row.name} ({policy})" for row, policy in PLAYS
            if seen[row.name, policy] != (row.cronjob, row.kronjob)
        ]  # fmt: skip
        return ", ".join(wrong) or self._before(self._minutes.b1 + LATE_S + _QUIET_S)

    def _seen(self) -> dict[tuple[str, str], tuple[str, str]]:
        jobs = {kind: self._jobs(kind) for kind in _SPACES}
        kronjobs = self._objects("KronJob")
        seen = {}
        for number, (row, policy) in enumerate(PLAYS):
            name = _name(number)
            cronjob = starts_of(row, self._jobs_before.get(name, []), jobs["CronJob"].get(name, []))
            if ("CronJob", name) in self._refused:
                cronjob = "refused"
            if "CronJob" not in _kinds(row):
                cronjob = row.cronjob
            kronjob = "refused"
            if ("KronJob", name) not in self._refused:
                own = jobs["KronJob"].get(name, [])
                kronjob = said_of(row, self._minutes, kronjobs[name], own)
                other = self._other_names.get(name)
                if other and other not in [text(one, "metadata", "name") for one in own]:
                    kronjob += f", not as {other}"
            seen[row.name, policy] = cronjob, kronjob
        return seen

    def _objects(self, kind: str) -> dict[str, Object]:
        """All objects of a kind by name."""
        said = self._server.done("GET", f"/apis/{_GROUPS[kind]}/{kind.lower()}s")
        return {text(one, "metadata", "name"): one for one in _objects(said)}

    def _jobs(self, kind: str) -> dict[str, list[Object]]:
        """The Jobs that objects of a kind own, by the names of these."""
        owned: dict[str, list[Object]] = {}
        for job in _objects(self._server.done("GET", "/apis/batch/v1/jobs")):
            for owner in things(job, "metadata", "ownerReferences"):
                if text(owner, "kind") == kind:
                    owned.setdefault(text(owner, "name"), []).append(job)
        return owned

    def _path(self, kind: str, play: Play, *, named: bool = False) -> str:
        return self._folder(kind, kind, play[0]) + (f"/{_name(PLAYS.index(play))}" if named else "")

    def _folder(self, kind: str, owner: str, row: Row) -> str:
        """Where objects of a kind lie that belong to an owner of that kind."""
        space = _SPACES[owner] + ("-full" if row.act is Act.NO_ROOM else "")
        group = _GROUPS.get(kind, "batch/v1")
        return f"/apis/{group}/namespaces/{space}/{kind.lower()}s"

    def _before(self, instant: float) -> str | None:
        return f"{instant - time.time():.0f} s are left" if time.time() < instant else None

    def _wait(self, instant: float, complaint: Callable[[], str | None]) -> None:
        until(complaint, limit_s=max(instant - time.time(), 0))


def _kinds(row: Row) -> Sequence[str]:
    """What can be made of a row: no CronJob has constraints."""
    return ("KronJob",) if row.constraints else ("CronJob", "KronJob")


def _name(number: int) -> str:
    return f"row-{number:02d}"


def _template(row: Row) -> dict[str, object]:
    """What each Job runs: for long where one is to be active, or several follow each other."""
    if row.act is Act.JOB_ENDS:
        return _job_template(60 + LATE_S + 10)
    is_long = row.before is Before.ACTIVE or row.absence_s
    return _job_template(_LONG_S if is_long else 0)


def _job_template(lasts_s: int) -> dict[str, object]:
    pod = {
        "metadata": {"annotations": {"gnomon.test/seconds": f"{lasts_s}s"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]},
    }
    return {"metadata": {"labels": {"row": "1"}}, "spec": {"backoffLimit": 0, "template": pod}}


def _cronjob_rests(row: Row, one: Object) -> bool:
    if row.before is Before.NEVER:
        return True
    is_active = bool(things(one, "status", "active"))
    ran = bool(text(one, "status", "lastScheduleTime"))
    return ran and is_active is (row.before is Before.ACTIVE)


def _kronjob_rests(row: Row, one: Object) -> bool:
    if any(text(said, "type") == "InvalidSpec" for said in things(one, "status", "conditions")):
        return True
    if not text(one, "metadata", "annotations", MARKER):
        return False
    if row.before is Before.NEVER:
        return True
    ran = bool(text(one, "status", "lastExecuted", "job"))
    is_active = bool(things(one, "status", "active"))
    return ran and is_active is (row.before is Before.ACTIVE)


def _objects(said: object) -> list[Object]:
    return [one for one in things(said, "items") if isinstance(one, Mapping)]
