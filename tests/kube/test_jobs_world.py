"""What the judge of Jobs reads from an audit log."""

from collections.abc import Mapping

from tests.kube.jobs_world import effects_of


def an_event(one: Mapping[str, object], code: int = 201) -> dict[str, object]:
    return {"responseStatus": {"code": code}, "responseObject": one}


def a_job(uid: str, *, suspend: bool) -> dict[str, object]:
    marks = {"gnomon.dev/key": "k", "gnomon.dev/schedule": "all"}
    return {
        "kind": "Job",
        "metadata": {"uid": uid, "annotations": marks},
        "spec": {"suspend": suspend},
    }


def test_a_job_that_was_seen_unsuspended_or_had_a_pod_is_an_effect() -> None:
    pod = {"kind": "Pod", "metadata": {"ownerReferences": [{"uid": "c"}]}}
    events = [
        an_event(a_job("a", suspend=True)),
        an_event(a_job("b", suspend=True)),
        an_event(a_job("b", suspend=False)),
        an_event(a_job("b", suspend=True)),
        an_event(a_job("c", suspend=True)),
        an_event(pod),
    ]

    assert sorted(effects_of(events)) == ["b", "c"]


def test_what_the_server_refused_is_no_effect() -> None:
    assert effects_of([an_event(a_job("a", suspend=False), code=409)]) == {}


def test_a_job_of_another_owner_is_no_effect() -> None:
    other = {"kind": "Job", "metadata": {"uid": "x"}, "spec": {"suspend": False}}

    assert effects_of([an_event(other)]) == {}
