"""What is sent to whom: mail for people, JSON for programs, a ping for who waits."""

import json
from dataclasses import replace
from email.parser import BytesParser
from email.policy import default

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.errors.root import printable
from gnomon.shell.observe.notify.mail import compose
from gnomon.shell.observe.notify.message import Call, Mail, Message, messages
from gnomon.shell.observe.notify.rule import Occasion
from tests.clauses import clause
from tests.shell.observe.notify.happenings import happened


def sent(occasion: Occasion, fields: str, *, output: str = "") -> tuple[Message, ...]:
    return messages(happened(occasion, fields), host="db1", output=output)


@clause("NOTIFY-1")
def test_a_mail_says_everything() -> None:
    (mail,) = sent(
        Occasion.FAILURE, "mail=root,ops@example.org description=Nightly", output="no space\n"
    )

    assert isinstance(mail, Mail)
    assert mail.to == ("root", "ops@example.org")
    assert mail.subject == "[db1] backup failed: exit 2, 0.1 s"
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
        ("", {Occasion.FAILURE, Occasion.MISSED}),
        ("notify=always", set(Occasion)),
        ("notify=never", set()),
        ("notify=success,skipped", {Occasion.SUCCESS, Occasion.SKIPPED}),
    ],
)
def test_only_the_occasions_that_were_named_are_told(notify: str, told: set[Occasion]) -> None:
    fields = f"mail=root webhook=https://e.org/h {notify}"

    assert {one for one in Occasion if sent(one, fields)} == told


@clause("NOTIFY-10")
@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("exit 3", "failed: exit 3"),
        ("exit 3 (user 0.100s, system 0.000s, memory 1 KiB)", "failed: exit 3"),
        ("No such file or directory: /srv/a,b", "failed: No such file or directory: /srv/a,b"),
        ("no program, got 'x'; write it", "failed: no program, got 'x'; write it"),
        ("x" * 200, f"failed: {'x' * 119}…"),
        ("", "failed"),
    ],
)
def test_a_subject_says_all_that_fits(detail: str, said: str) -> None:
    told = happened(Occasion.FAILURE, "mail=root", detail=detail)

    (mail,) = messages(told, host="db1", output="")

    assert isinstance(mail, Mail)
    assert mail.subject == f"[db1] backup {said}"


@clause("NOTIFY-10")
def test_why_a_period_was_missed_stands_in_the_subject() -> None:
    told = happened(Occasion.MISSED, "mail=root", detail="there is no user deploy")

    (mail,) = messages(told, host="db1", output="")

    assert isinstance(mail, Mail)
    assert mail.subject == "[db1] backup was missed (deadline): there is no user deploy"


ANY = st.text(st.characters(), max_size=60)
"""Surrogates too, which the names of files may hold."""


@clause("NOTIFY-10")
@given(detail=ANY, output=ANY, host=ANY, file=ANY)
@example(detail="a,b", output="", host="db1", file="/etc/krond.d/a\nBcc: x")
@example(detail="=?utf-8?q?x?=", output="\udc80", host="dö1", file="/e/\udcff")
def test_a_reader_of_mail_reads_what_was_meant(
    detail: str, output: str, host: str, file: str
) -> None:
    told = happened(Occasion.FAILURE, "mail=root,ops@example.org", detail=detail)
    (mail,) = messages(told, host=host, output=output)
    assert isinstance(mail, Mail)
    mail = replace(mail, headers=(("X-Gnomon-Job", file),))

    read = BytesParser(policy=default).parsebytes(compose(mail, sender="k@db1").as_bytes())

    assert read.keys()[:6] == ["From", "To", "Subject", "Date", "Auto-Submitted", "X-Gnomon-Job"]
    assert read.defects == []
    assert _plain(read["Subject"]) == _plain(printable(mail.subject))
    assert _plain(read["X-Gnomon-Job"]) == _plain(printable(file))
    assert read["To"] == "root, ops@example.org"
    body = read.get_body()
    assert body is not None
    written = mail.body.encode("utf-8", "backslashreplace").decode()
    assert body.get_content().splitlines() == written.splitlines()


def _plain(text: str) -> str:
    """Without differences that no reader of a header sees: how blanks are folded."""
    return "".join(text.encode("utf-8", "backslashreplace").decode().split())


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
