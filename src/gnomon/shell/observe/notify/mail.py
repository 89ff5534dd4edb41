"""
Which way mail leaves this machine: through a program like sendmail, or to a server.

`smtp://host:25` speaks plainly, and under TLS as soon as the server offers it; `smtps://host:465`
speaks under TLS from the start. A user and a password may stand in the URL.

Spec: NOTIFY-7.
"""

import smtplib
import ssl
import subprocess
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from urllib.parse import unquote, urlsplit

from gnomon.errors import DefinitionError
from gnomon.errors.root import printable
from gnomon.shell.observe.notify.message import Mail, SendError

__all__ = ["MailRoute", "compose"]

TIMEOUT_S = 30
_PORTS = {"smtp": 25, "smtps": 465}


@dataclass(frozen=True, slots=True, kw_only=True)
class MailRoute:
    """How mail is sent, and from whom."""

    sender: str
    sendmail: str = "/usr/sbin/sendmail"
    smtp: str = ""
    """The URL of a server; empty for the program."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.smtp)
        if self.smtp and (parts.scheme not in _PORTS or not parts.hostname):
            raise DefinitionError(
                "must be the URL of a mail server", where="smtp", got=self.smtp,
                hint="write e.g. smtp://localhost:25 or smtps://user:password@mail.example.org",
            )  # fmt: skip

    def deliver(self, mail: Mail) -> None:
        """Hand a mail on; this waits."""
        message = compose(mail, sender=self.sender)
        if self.smtp:
            self._to_server(message, mail.to)
        else:
            self._to_program(message, mail.to)

    def _to_program(self, message: EmailMessage, to: tuple[str, ...]) -> None:
        try:
            done = subprocess.run(  # noqa: S603 (addresses are checked, and stand behind --)
                [self.sendmail, "-i", "--", *to],
                input=message.as_bytes(policy=message.policy.clone(linesep="\n")),
                capture_output=True, timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise SendError(f"{self.sendmail}: {error.strerror}", again=False) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SendError(f"{self.sendmail}: {error}", again=True) from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[-200:]
            raise SendError(f"{self.sendmail} exited with {done.returncode}: {said}", again=True)

    def _to_server(self, message: EmailMessage, to: tuple[str, ...]) -> None:
        parts = urlsplit(self.smtp)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        secure = ssl.create_default_context()
        try:
            with (
                smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_S, context=secure)
                if parts.scheme == "smtps"
                else smtplib.SMTP(host, port, timeout=TIMEOUT_S)
            ) as server:
                server.ehlo_or_helo_if_needed()
                if parts.scheme == "smtp" and server.has_extn("starttls"):
                    server.starttls(context=secure)
                if parts.username:
                    server.login(unquote(parts.username), unquote(parts.password or ""))
                server.send_message(message, from_addr=self.sender, to_addrs=to)
        except smtplib.SMTPRecipientsRefused as error:
            raise SendError(f"{host}: all recipients were refused", again=False) from error
        except (OSError, smtplib.SMTPException) as error:
            raise SendError(f"{host}:{port}: {error}", again=True) from error


def compose(mail: Mail, *, sender: str) -> EmailMessage:
    """The mail with its headers."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = ", ".join(mail.to)
    message["Subject"] = _header(mail.subject)
    message["Date"] = formatdate(mail.at_ms / 1000)
    message["Auto-Submitted"] = "auto-generated"  # so that no notice of absence answers
    for name, value in mail.headers:
        message[name] = _header(value)
    message.set_content(mail.body.encode("utf-8", "backslashreplace").decode())
    return message


def _header(text: str) -> str:
    """The text as a header may have it: on one line, in characters that can be written."""
    plain = printable(text).encode("utf-8", "backslashreplace").decode()
    return plain.replace("=?", "= ?")  # which would begin a word in another encoding
