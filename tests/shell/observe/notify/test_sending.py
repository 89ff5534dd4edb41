"""Messages that really leave: over HTTP to a server, through a program, and over SMTP."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from gnomon.errors import DefinitionError
from gnomon.shell.observe.notify.call import UrlCaller
from gnomon.shell.observe.notify.mail import MailRoute
from gnomon.shell.observe.notify.message import Call, Mail, Message, SendError
from gnomon.shell.observe.notify.outbox import MachineSender
from tests.clauses import clause

MAIL = Mail(
    to=("ops@example.org", "-root"), subject="[db1] backup failed: ä", body="naïve\n.\nend\n",
    at_ms=1_772_332_860_000, headers=(("X-Gnomon-Job", "/etc/krond.d/site:backup"),),
)  # fmt: skip


class Site:
    """A web server that answers as it is told to and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, bytes, str | None]] = []
        self.answer = 200
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, body: bytes) -> None:
                key = self.headers.get("Idempotency-Key")
                site.asked.append((self.command, self.path, body, key))
                self.send_response(site.answer)
                if site.answer == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.close()


def send(message: Message, route: MailRoute | None = None) -> None:
    sender = MachineSender(route or MailRoute(sender="krond"), UrlCaller("gnomon-krond"))
    try:
        asyncio.run(sender.send(message))
    finally:
        sender.close()


@clause("NOTIFY-8")
def test_a_ping_is_a_get_and_a_webhook_a_post_of_json(site: Site) -> None:
    send(Call(url=f"{site.url}/ping?a=b"))
    send(Call(url=f"{site.url}/hook", body=json.dumps({"event": "failure"}), key="k1"))

    assert site.asked == [
        ("GET", "/ping?a=b", b"", None),
        ("POST", "/hook", b'{"event": "failure"}', "k1"),
    ]


@clause("NOTIFY-8")
@pytest.mark.parametrize(
    ("answer", "again"), [(302, False), (404, False), (429, True), (500, True), (503, True)]
)
def test_answers_say_whether_to_try_again(site: Site, answer: int, again: bool) -> None:
    site.answer = answer

    with pytest.raises(SendError, match=f"the answer was {answer}") as raised:
        send(Call(url=f"{site.url}/ping"))

    assert raised.value.again is again
    assert len(site.asked) == 1  # the sender followed no redirection


@clause("NOTIFY-8")
def test_a_server_that_is_not_there_may_come_back() -> None:
    with pytest.raises(SendError, match="refused") as raised:
        send(Call(url="http://127.0.0.1:9/ping"))

    assert raised.value.again


@clause("NOTIFY-7")
def test_mail_goes_through_a_program(tmp_path: Path) -> None:
    program = tmp_path / "sendmail"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/to\ncat > {tmp_path}/mail\n')
    program.chmod(0o700)

    send(MAIL, MailRoute(sender="krond@db1", sendmail=str(program)))

    assert (tmp_path / "to").read_text() == "-i -- ops@example.org -root\n"
    head, _, body = (tmp_path / "mail").read_text().partition("\n\n")
    assert "From: krond@db1" in head
    assert "To: ops@example.org, -root" in head
    assert "Date: Sun, 01 Mar 2026 02:41:00 -0000" in head
    assert "X-Gnomon-Job: /etc/krond.d/site:backup" in head
    assert body == "naïve\n.\nend\n"


@clause("NOTIFY-7")
@pytest.mark.parametrize(
    ("script", "message", "again"),
    [
        (None, "No such file or directory", False),
        ("#!/bin/sh\necho full >&2\nexit 75\n", "exited with 75: full", True),
    ],
)
def test_a_program_that_fails_is_said(
    tmp_path: Path, script: str | None, message: str, again: bool
) -> None:
    program = tmp_path / "sendmail"
    if script is not None:
        program.write_text(script)
        program.chmod(0o700)

    with pytest.raises(SendError, match=message) as raised:
        send(MAIL, MailRoute(sender="krond", sendmail=str(program)))

    assert raised.value.again is again


@clause("NOTIFY-7")
@pytest.mark.parametrize("refuses", [False, True])
def test_mail_goes_to_a_server(refuses: bool) -> None:
    said: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """As much of SMTP as there is to it."""
        writer.write(b"220 here\r\n")
        in_data = False
        while line := await reader.readline():
            text = line.decode().rstrip("\r\n")
            said.append(text)
            word = text.partition(" ")[0].upper()
            if in_data:
                in_data = text != "."
                writer.write(b"" if in_data else b"250 taken\r\n")
            elif word == "DATA":
                in_data = True
                writer.write(b"354 go on\r\n")
            elif word == "QUIT":
                writer.write(b"221 bye\r\n")
                break
            else:
                writer.write(b"550 no\r\n" if word == "RCPT" and refuses else b"250 fine\r\n")
        writer.close()

    async def scenario() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        sender = MachineSender(
            MailRoute(sender="k@db1", smtp=f"smtp://127.0.0.1:{port}"), UrlCaller("gnomon-krond")
        )
        async with server:
            try:
                await sender.send(MAIL)
            finally:
                sender.close()

    if refuses:
        with pytest.raises(SendError, match="all recipients were refused") as raised:
            asyncio.run(scenario())
        assert not raised.value.again
        return
    asyncio.run(scenario())
    assert [line for line in said if line.upper().startswith(("MAIL", "RCPT"))] == [
        "mail FROM:<k@db1>", "rcpt TO:<ops@example.org>", "rcpt TO:<-root>",
    ]  # fmt: skip
    assert ".." in said  # a line with a dot does not end the mail


@clause("NOTIFY-7")
def test_a_route_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(DefinitionError, match="must be the URL of a mail server"):
        MailRoute(sender="krond", smtp="http://mail.example.org")
