"""The judge of the campaign finds what is wrong, and nothing where nothing is."""

from datetime import UTC, datetime

from tests.kube.judge import Judge

T0 = 1_772_323_200  # 2026-03-01T00:00:00Z
OPERATOR, VANDAL, CONTROLLER = "gnomon-operator", "vandal", "job-controller"


def instant(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def event(
    verb: str, resource: str, one: object, *, at: float, user: str = OPERATOR, code: int = 200,
    subresource: str = "", name: str = "",
) -> dict[str, object]:  # fmt: skip
    return {
        "verb": verb, "user": {"username": user}, "responseStatus": {"code": code},
        "objectRef": {"resource": resource, "subresource": subresource, "name": name},
        "requestReceivedTimestamp": instant(at), "responseObject": one,
    }  # fmt: skip


def kronjob(*records: object, **policy: object) -> dict[str, object]:
    return {
        "kind": "KronJob",
        "metadata": {
            "name": "report", "namespace": "prod", "uid": "k-1", "creationTimestamp": instant(T0),
        },
        "spec": {
            "schedule": "0,30 * * * * *",
            "policy": {"concurrency": "allow", "deadline": "10s"} | policy,
        },
        "status": {"recent": list(records)},
    }  # fmt: skip


def job(period: int, uid: str, *, suspend: bool = True, **status: object) -> dict[str, object]:
    return {
        "kind": "Job",
        "metadata": {
            "name": f"report-{period}", "uid": uid,
            "annotations": {"gnomon.dev/period": instant(T0 + period)},
            "ownerReferences": [{"kind": "KronJob", "uid": "k-1", "controller": True}],
        },
        "spec": {"suspend": suspend},
        "status": status,
    }  # fmt: skip


def judged(*events: dict[str, object], **policy: object) -> Judge:
    judge = Judge([OPERATOR])
    judge.see(event("create", "kronjobs", kronjob(**policy), at=T0, user="admin"))
    for one in events:
        judge.see(one)
    return judge


def ran(period: int, uid: str, *, at: float | None = None) -> list[dict[str, object]]:
    due = T0 + period
    return [
        event("create", "jobs", job(period, uid), at=due),
        event("patch", "jobs", job(period, uid, suspend=False), at=due + 0.5 if at is None else at),
    ]


def lost(judge: Judge, seconds: int = 61) -> list[str]:
    return list(judge.lost(until=T0 + seconds))


def test_each_period_run_once_leaves_nothing_to_say() -> None:
    judge = judged(*ran(30, "j-1"), *ran(60, "j-2"))

    assert list(judge.twice()) == []
    assert lost(judge, 80) == []
    assert judge.lateness_ms() == [500, 500]


def test_two_jobs_that_were_released_for_one_period_are_two_executions() -> None:
    (found,) = judged(*ran(30, "j-1"), *ran(30, "j-2")).twice()

    assert found.startswith(f"prod/report ran its period {T0 + 30} 2 times")


def test_a_job_that_was_never_released_is_no_execution() -> None:
    spare = event("create", "jobs", job(30, "j-2"), at=T0 + 31)

    assert list(judged(*ran(30, "j-1"), spare).twice()) == []


def test_a_pod_shows_an_execution_whose_release_is_not_in_the_log() -> None:
    pod = {
        "kind": "Pod",
        "metadata": {"ownerReferences": [{"kind": "Job", "uid": "j-2", "controller": True}]},
    }
    spare = event("create", "jobs", job(30, "j-2"), at=T0 + 31)
    started = event("create", "pods", pod, at=T0 + 32, user=CONTROLLER)

    assert len(list(judged(*ran(30, "j-1"), spare, started).twice())) == 1


def test_a_write_that_was_refused_has_not_happened() -> None:
    refused = event("patch", "jobs", job(30, "j-2", suspend=False), at=T0 + 31, code=409)

    assert list(judged(*ran(30, "j-1"), refused).twice()) == []


def test_a_period_that_no_job_ran_is_lost() -> None:
    (found,) = lost(judged(event("create", "jobs", job(30, "j-1"), at=T0 + 30)))

    assert found == f"prod/report did not run its period {T0 + 30}; its status said nothing"


def test_a_period_is_not_yet_lost_while_its_deadline_holds() -> None:
    assert lost(judged(), 41) == []


def test_a_candidate_that_another_user_removed_is_not_lost() -> None:
    removed = event(
        "delete", "jobs", {"kind": "Status", "details": {"uid": "j-1"}}, at=T0 + 30.2, user=VANDAL
    )

    assert lost(judged(event("create", "jobs", job(30, "j-1"), at=T0 + 30), removed)) == []


def test_a_candidate_that_the_operator_removed_is_lost() -> None:
    removed = event("delete", "jobs", job(30, "j-1"), at=T0 + 30.2)

    assert len(lost(judged(event("create", "jobs", job(30, "j-1"), at=T0 + 30), removed))) == 1


def test_a_run_after_the_deadline_or_before_its_time_is_said() -> None:
    late, *_ = lost(judged(*ran(30, "j-1", at=T0 + 84)), 120)
    (early,) = lost(judged(*ran(30, "j-1", at=T0 + 20)))

    assert "after its deadline: 54.0 s" in late
    assert "10.0 s too early" in early


def test_nothing_is_due_while_it_is_suspended_or_after_it_has_gone() -> None:
    gone = {"kind": "Status", "details": {"uid": "k-1"}}

    assert lost(judged(suspend=True)) == []
    assert lost(judged(event("delete", "kronjobs", gone, at=T0 + 20, user="admin"))) == []


def test_a_period_may_be_skipped_only_beside_a_job_that_was_active() -> None:
    ended = job(30, "j-1", suspend=False, conditions=[{"type": "Complete", "status": "True"}])
    first = ran(30, "j-1")
    over = event("update", "jobs", ended, at=T0 + 70, user=CONTROLLER, subresource="status")
    soon = event("update", "jobs", ended, at=T0 + 40, user=CONTROLLER, subresource="status")
    skip = put(T0 + 60.5, said(60, "skipped") | {"reason": "overlap"}, concurrency="forbid")

    assert lost(judged(*first, skip, over, concurrency="forbid"), 80) == []
    assert len(lost(judged(*first, soon, skip, concurrency="forbid"), 120)) == 1
    assert len(lost(judged(*first, over), 80)) == 1


def test_a_job_that_started_while_the_log_was_away_is_known_by_its_start() -> None:
    late = job(30, "j-1", suspend=False, startTime=instant(T0 + 31))
    judge = judged()
    judge.see_now([late], T0 + 500)

    assert lost(judge) == []


def put(at: float, *records: object, **policy: object) -> dict[str, object]:
    written = kronjob(*records, **policy)
    return event("update", "kronjobs", written, at=at, subresource="status")


def said(period: int, outcome: str) -> dict[str, object]:
    return {"period": instant(T0 + period), "outcome": outcome}


def test_what_a_status_says_is_compared_with_what_happened() -> None:
    executed, missed = said(30, "executed"), said(30, "missed")
    whole = {"from": instant(T0), "to": instant(T0 + 60), "outcome": "missed"}
    run = ran(30, "j-1")

    assert list(judged(*run, put(T0 + 31, executed)).lies()) == []
    assert "changed its word" in next(judged(*run, put(31, executed), put(32, missed)).lies())
    assert "it has no Job" in next(judged(put(T0 + 31, executed)).lies())
    assert "which ran" in next(judged(*run, put(T0 + 31, missed)).lies())
    assert "of many" in next(judged(*run, put(T0 + 90, whole)).lies())
    assert "never said" in next(judged(*run, put(T0 + 31, said(0, "missed"))).lies())


def test_requests_of_operators_are_counted() -> None:
    assert judged(*ran(30, "j-1")).requests == 2
