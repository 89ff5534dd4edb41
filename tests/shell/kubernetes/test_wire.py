"""What a call is on the wire, and what every kind of answer says."""

import json

import pytest

from gnomon.ports.kubernetes import (
    Change,
    Create,
    Delete,
    Denial,
    Denied,
    Done,
    Find,
    Get,
    JsonPatch,
    Kind,
    MergePatch,
    NoAnswer,
    Propagation,
    PutStatus,
    Replace,
    Seen,
    Watch,
)
from gnomon.shell.kubernetes.wire import (
    answer_of,
    change_of,
    find_request,
    request_of,
    server_time,
    watch_request,
)
from tests.clauses import clause

DATE = {"Date": "Sun, 01 Mar 2026 00:00:00 GMT"}
AT = 1_772_323_200
GET = Get(Kind.JOB, "prod", "report")
DELETE = Delete(Kind.JOB, "prod", "report", "u-1", Propagation.FOREGROUND)


def status(reason: str, message: str = "it says why", **details: object) -> bytes:
    said = {"kind": "Status", "reason": reason, "message": message, "details": details}
    return json.dumps(said).encode()


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (Kind.KRONJOB, "/apis/gnomon.dev/v1alpha1/namespaces/prod/kronjobs/report"),
        (Kind.JOB, "/apis/batch/v1/namespaces/prod/jobs/report"),
        (Kind.POD, "/api/v1/namespaces/prod/pods/report"),
        (Kind.EVENT, "/api/v1/namespaces/prod/events/report"),
        (Kind.LEASE, "/apis/coordination.k8s.io/v1/namespaces/prod/leases/report"),
    ],
)
def test_every_kind_has_its_address(kind: Kind, path: str) -> None:
    assert request_of(Get(kind, "prod", "report")) == ("GET", path, None, "application/json")


def test_a_name_cannot_leave_its_place_in_an_address() -> None:
    asked = request_of(Get(Kind.JOB, "prod", "../../secrets?x=1"))

    assert asked.path == "/apis/batch/v1/namespaces/prod/jobs/..%2F..%2Fsecrets%3Fx%3D1"


def test_an_object_is_created_in_its_namespace_and_replaced_by_its_name() -> None:
    one = {"metadata": {"name": "report"}}

    made, replaced = request_of(Create(Kind.JOB, "prod", one)), request_of(
        Replace(Kind.JOB, "prod", one)
    )  # fmt: skip

    assert made[:3] == (
        "POST", "/apis/batch/v1/namespaces/prod/jobs", b'{"metadata":{"name":"report"}}',
    )  # fmt: skip
    assert replaced[:2] == ("PUT", "/apis/batch/v1/namespaces/prod/jobs/report")


@clause("KUBE-2")
def test_a_status_names_the_uid_and_the_version_that_it_is_for() -> None:
    asked = request_of(PutStatus(Kind.KRONJOB, "prod", "report", "u-1", "7", {"cursor": "x"}))

    assert asked[:2] == (
        "PUT", "/apis/gnomon.dev/v1alpha1/namespaces/prod/kronjobs/report/status",
    )  # fmt: skip
    assert json.loads(asked.body or b"") == {
        "apiVersion": "gnomon.dev/v1alpha1",
        "kind": "KronJob",
        "metadata": {
            "name": "report", "namespace": "prod", "uid": "u-1", "resourceVersion": "7",
        },
        "status": {"cursor": "x"},
    }  # fmt: skip


@clause("KUBE-3")
def test_each_kind_of_patch_says_which_it_is() -> None:
    tests = [{"op": "test", "path": "/metadata/uid", "value": "u-1"}]

    merge = request_of(MergePatch(Kind.JOB, "prod", "report", {"spec": {"suspend": False}}))
    steps = request_of(JsonPatch(Kind.JOB, "prod", "report", tuple(tests)))

    assert merge.content_type == "application/merge-patch+json"
    assert steps.content_type == "application/json-patch+json"
    assert json.loads(steps.body or b"") == tests


@clause("KUBE-4")
def test_a_deletion_names_the_uid_and_what_becomes_of_what_it_owns() -> None:
    assert json.loads(request_of(DELETE).body or b"") == {
        "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u-1"},
        "propagationPolicy": "Foreground",
    }  # fmt: skip


def test_a_page_and_a_watch_ask_for_labels_in_all_namespaces() -> None:
    labels = {"b": "2", "a": "1", "c": None}

    page = find_request(Find(Kind.JOB, None, labels), "next")
    watch = watch_request(Watch(Kind.JOB, "9", None, labels, timeout_s=30))

    assert page.path == (
        "/apis/batch/v1/jobs?limit=500&labelSelector=a%3D1%2Cb%3D2%2Cc&continue=next"
    )
    assert watch.path == (
        "/apis/batch/v1/jobs?watch=1&allowWatchBookmarks=true&resourceVersion=9"
        "&timeoutSeconds=30&labelSelector=a%3D1%2Cb%3D2%2Cc"
    )


@clause("KUBE-6")
def test_an_answer_carries_the_object_and_the_time_of_the_server() -> None:
    assert answer_of(GET, 200, DATE, b'{"kind": "Job"}') == Done({"kind": "Job"}, AT)


@pytest.mark.parametrize("heads", [{}, {"Date": "yesterday"}])
def test_a_server_may_fail_to_say_its_time(heads: dict[str, str]) -> None:
    assert server_time(heads) is None


@clause("KUBE-6")
@pytest.mark.parametrize(
    ("code", "body", "why"),
    [
        (409, status("AlreadyExists", name="report"), Denial.EXISTS),
        (409, status("Conflict", name="report"), Denial.CONFLICT),
        (404, status("NotFound", name="report", kind="jobs"), Denial.NOT_FOUND),
        (404, b"404 page not found\n", Denial.NO_SUCH_KIND),
        (410, status("Expired"), Denial.EXPIRED),
        (410, status("Gone"), Denial.EXPIRED),
        (422, status("Invalid"), Denial.INVALID),
        (400, status("BadRequest"), Denial.INVALID),
        (403, status("Forbidden"), Denial.FORBIDDEN),
        (403, status("Forbidden", "exceeded quota: small, used: 1"), Denial.QUOTA),
        (
            403,
            status("Forbidden", causes=[{"reason": "NamespaceTerminating"}]),
            Denial.TERMINATING,
        ),
        (401, status("Unauthorized"), Denial.UNAUTHENTICATED),
        (413, status("RequestEntityTooLarge"), Denial.TOO_LARGE),
        (429, status("TooManyRequests"), Denial.TOO_MANY),
    ],
)
def test_a_denial_says_why(code: int, body: bytes, why: Denial) -> None:
    denied = answer_of(GET, code, DATE, body)

    assert isinstance(denied, Denied)
    assert denied.why is why
    assert denied.at == AT
    assert denied.message


@pytest.mark.parametrize(
    ("heads", "body", "expected"),
    [
        ({}, status("TooManyRequests", retryAfterSeconds=2), 2_000),
        ({"Retry-After": "3"}, b"", 3_000),
        ({"Retry-After": "99999999"}, b"", None),
        ({"Retry-After": "9999"}, b"", 3_600_000),
        ({"Retry-After": "soon"}, b"", None),
        ({}, b"", None),
    ],
)
def test_a_server_may_say_when_to_come_back(
    heads: dict[str, str], body: bytes, expected: int | None
) -> None:
    denied = answer_of(GET, 429, heads, body)

    assert isinstance(denied, Denied)
    assert denied.retry_after_ms == expected


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (500, status("InternalError")), (503, b"<html>"), (504, status("Timeout")),
        (302, b""), (200, b'{"kind": "Jo'), (200, b"[]"), (200, b""),
    ],
)  # fmt: skip
def test_every_other_trouble_leaves_the_outcome_unknown(code: int, body: bytes) -> None:
    assert isinstance(answer_of(GET, code, DATE, body), NoAnswer)


def test_a_deletion_that_leaves_nothing_says_what_has_gone() -> None:
    said = b'{"kind": "Status", "status": "Success", "details": {"name": "report"}}'

    done = answer_of(DELETE, 200, DATE, said)

    assert isinstance(done, Done)
    assert done.object == {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "report", "namespace": "prod", "uid": "u-1"},
    }  # fmt: skip


@pytest.mark.parametrize("seen", list(Seen))
def test_a_watch_tells_what_has_happened_to_an_object(seen: Seen) -> None:
    line = json.dumps({"type": seen.value, "object": {"kind": "Job"}}).encode()

    assert change_of(line) == Change(seen, {"kind": "Job"})


@clause("KUBE-5")
def test_a_watch_from_a_version_that_is_too_old_is_expired() -> None:
    error = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    line = json.dumps({"type": "ERROR", "object": error}).encode()

    assert change_of(line) == Denied(Denial.EXPIRED, "too old", None)


@pytest.mark.parametrize(
    "line",
    [
        b"no json", b"[]", b'{"type": "ADDED"}', b'{"type": "DANCED", "object": {}}',
        b'{"type": "ERROR", "object": {"code": 500}}', b'{"type": "ERROR", "object": {}}',
    ],
)  # fmt: skip
def test_a_watch_that_tells_what_is_no_change_has_no_answer(line: bytes) -> None:
    assert isinstance(change_of(line), NoAnswer)
