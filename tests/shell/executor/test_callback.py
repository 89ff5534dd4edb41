"""Callbacks of executors: what they say, and which are not listened to."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.ports.executor import Feedback, FeedbackStatus
from gnomon.shell.executor.callback import Rejected, read_callback
from gnomon.shell.executor.signature import Keyring, Purpose, signed
from tests.clauses import clause

NOW_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
KEYRING = Keyring(current="k", secrets={"k": b"s" * 32})


def heard(body: object) -> Feedback | Rejected:
    """What comes of a callback that is signed as it should be."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = signed(KEYRING, Purpose.CALLBACK, text, now_ms=NOW_MS)
    return read_callback(headers, text, KEYRING, now_ms=NOW_MS)


@clause("EXEC-25")
@pytest.mark.parametrize("status", ["STARTED", "SUCCESS", "FAILED"])
def test_a_callback_says_how_a_run_goes(status: str) -> None:
    assert heard({"idempotency_key": "abc", "status": status}) == Feedback(
        "abc", FeedbackStatus(status), ""
    )


@clause("EXEC-25")
def test_a_callback_may_say_more() -> None:
    said = {
        "idempotency_key": "abc", "status": "FAILED", "run_id": "r-7", "detail": "no\nmoney",
        "at": "2026-03-01T01:00:00+01:00",
    }  # fmt: skip

    assert heard(said) == Feedback("abc", FeedbackStatus.FAILED, "r-7", "no\\nmoney", NOW_MS)


@clause("EXEC-25")
@pytest.mark.parametrize(
    ("body", "status", "where"),
    [
        (b"{", 400, ""),
        (b"\xff", 400, ""),
        ([], 422, "callback"),
        ({"idempotency_key": "a", "status": "DONE"}, 422, "status"),
        ({"idempotency_key": "a", "status": ["SUCCESS"]}, 422, "status"),
        ({"status": "SUCCESS"}, 422, "idempotency_key"),
        ({"idempotency_key": 5, "status": "SUCCESS"}, 422, "idempotency_key"),
        ({"idempotency_key": "a" * 501, "status": "SUCCESS"}, 422, "idempotency_key"),
        ({"idempotency_key": "a", "status": "SUCCESS", "run_id": "\0"}, 422, "run_id"),
        ({"idempotency_key": "\ud800", "status": "SUCCESS"}, 422, "idempotency_key"),
        ({"idempotency_key": "a", "status": "SUCCESS", "at": "now"}, 422, "at"),
        ({"idempotency_key": "a", "status": "SUCCESS", "more": 1}, 422, "more"),
        (b"x" * 70_000, 413, ""),
    ],
    ids=range(13),
)
def test_a_callback_that_makes_no_sense_is_rejected(body: object, status: int, where: str) -> None:
    rejected = heard(body)

    assert isinstance(rejected, Rejected)
    assert (rejected.status, rejected.where) == (status, where)


@clause("EXEC-25")
def test_a_callback_that_is_not_signed_is_rejected_whatever_it_says() -> None:
    body = b'{"idempotency_key": "a", "status": "SUCCESS"}'

    assert read_callback({}, body, KEYRING, now_ms=NOW_MS) == Rejected(401, "the key is not known")
    assert read_callback({}, b"{", KEYRING, now_ms=NOW_MS) == Rejected(401, "the key is not known")


@clause("EXEC-25")
@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["idempotency_key", "status", "run_id", "detail", "at"]), inner
    ),
))  # fmt: skip
def test_whatever_is_said_is_heard_or_rejected(body: object) -> None:
    with contextlib.suppress(UnicodeEncodeError):
        assert isinstance(heard(body), Feedback | Rejected)
