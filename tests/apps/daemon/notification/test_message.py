"""What is sent to whom: mail for people, JSON for programs, a ping for who waits."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.daemon.notice import Occasion
from gnomon.apps.daemon.notification import Call, Mail, Message, messages
from gnomon.apps.daemon.notification.mail_route import compose
from tests.apps.daemon.notification.happenings import happened
from tests.clauses import clause


def sent(occasion: Occasion, fields: str, *, output: str = "") -> tuple[Message, ...]:
    return messages(happened(occasion, fields), host="db1", output=output)


@clause("NOTIFY-1")
def test_a_mail_says_everything() -> None:
    (mail,) = sent(
        Occasion.FAILURE, "mail=root,ops@example.org description=Nightly", output="no space\n"
    )

    assert isinstance(mail, Mail)
    assert mail.to == ("root", "ops@example.org")
    assert mail.subject == "[db1] backup failed: exit 2"
    assert mail.body == (
        "job      /etc/krond.d/site:backup\n"
        "for      Nightly\n"
        "host     db1\n"
        "period   2026-03-01T02:00:00Z\n"
        "chosen   2026-03-01T02:41:00Z\n"
        "outcome  executed\n"
        "detail   exit 2, 0.1 s\n"
        "started  2026-03-01T02:41:00Z\n"
        "ended    2026-03-01T02:44:12Z\n"
        "\n"
        "What it printed:\n"
        "\n"
        "no space\n\n"
    )


@clause("NOTIFY-1")
def test_of_a_long_output_the_end_is_sent() -> None:
    (mail,) = sent(Occasion.FAILURE, "mail=root", output="a" * 20_000 + "the end")

    assert isinstance(mail, Mail)
    assert "(the end of it)\naaa" in mail.body
    assert mail.body.endswith("athe end\n")
    assert len(mail.body) < 17_000


@clause("NOTIFY-1")
@pytest.mark.parametrize(
    ("occasion", "periods", "subject"),
    [
        (Occasion.SUCCESS, 1, "[db1] backup succeeded"),
        (Occasion.MISSED, 1, "[db1] backup was missed (deadline)"),
        (Occasion.MISSED, 40, "[db1] backup was missed 40 times (deadline)"),
        (Occasion.SKIPPED, 1, "[db1] backup was skipped (overlap)"),
        (
            Occasion.UNSCHEDULABLE,
            1,
            "[db1] backup could not be scheduled: its constraints allow no second",
        ),
    ],
)
def test_the_subject_says_what_happened(occasion: Occasion, periods: int, subject: str) -> None:
    told = happened(occasion, "mail=root notify=always", periods=periods)

    (mail,) = messages(told, host="db1", output="")

    assert isinstance(mail, Mail)
    assert mail.subject == subject


@clause("NOTIFY-2")
def test_a_webhook_is_sent_the_facts_without_the_output() -> None:
    (call,) = sent(Occasion.FAILURE, "webhook=https://e.org/h", output="secret")

    assert isinstance(call, Call)
    assert call.url == "https://e.org/h"
    assert call.key.startswith("backup-")
    assert call.key.endswith(":2026-03-01T02:00:00Z:failure")
    assert json.loads(call.body or "") == {
        "event": "failure",
        "host": "db1",
        "job": "backup",
        "identity": "/etc/krond.d/site:backup",
        "periodId": "2026-03-01T02:00:00Z",
        "periods": 1,
        "chosenTime": "2026-03-01T02:41:00Z",
        "outcome": "executed",
        "reason": None,
        "detail": "exit 2, 0.1 s",
        "startedAt": "2026-03-01T02:41:00Z",
        "endedAt": "2026-03-01T02:44:12Z",
    }


@clause("NOTIFY-3")
@pytest.mark.parametrize(
    ("occasion", "calls"),
    [
        (Occasion.SUCCESS, [Call(url="https://e.org/p?x=1")]),
        (Occasion.FAILURE, [Call(url="https://e.org/p/fail?x=1")]),
        (Occasion.MISSED, []),
        (Occasion.SKIPPED, []),
        (Occasion.UNSCHEDULABLE, []),
    ],
)
def test_a_ping_follows_runs_and_stays_away_otherwise(
    occasion: Occasion, calls: list[Call]
) -> None:
    assert list(sent(occasion, "ping=https://e.org/p?x=1 notify=never")) == calls


@clause("NOTIFY-4")
@pytest.mark.parametrize(
    ("notify", "told"),
    [
        ("", {Occasion.FAILURE, Occasion.MISSED, Occasion.UNSCHEDULABLE}),
        ("notify=always", set(Occasion)),
        ("notify=never", set()),
        ("notify=success,skipped", {Occasion.SUCCESS, Occasion.SKIPPED}),
    ],
)
def test_only_the_occasions_that_were_named_are_told(notify: str, told: set[Occasion]) -> None:
    fields = f"mail=root webhook=https://e.org/h {notify}"

    assert {one for one in Occasion if sent(one, fields)} == told


@clause("NOTIFY-4")
@given(st.text(), st.text())
def test_nothing_that_a_job_says_becomes_a_header(detail: str, output: str) -> None:
    told = happened(Occasion.FAILURE, "mail=root", detail=detail)

    (mail,) = messages(told, host="db1", output=output)

    assert isinstance(mail, Mail)
    assert "\n" not in mail.subject
    assert "\r" not in mail.subject
    body = mail.body.encode("utf-8", "replace").decode()
    composed = compose(Mail(to=mail.to, subject=mail.subject, body=body, at_ms=0), sender="k@db1")
    assert composed.keys()[:5] == ["From", "To", "Subject", "Date", "Auto-Submitted"]
    assert composed.as_bytes()
