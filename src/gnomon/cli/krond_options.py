"""
The options of `gnomon krond start`, and what those about the things beside the jobs become.

Spec: NOTIFY-7, NOTIFY-9, METRICS-5.
"""

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from gnomon.compose.krond_beside import BesideOptions

__all__ = [
    "DebugOption",
    "DetachOption",
    "GraceOption",
    "HeartbeatOption",
    "JsonLogOption",
    "KeepOption",
    "LogFileOption",
    "MailByOption",
    "MailFromOption",
    "MetricsOption",
    "ReadyOption",
    "beside_arguments",
    "read_beside",
]

DetachOption = Annotated[
    bool, typer.Option("--detach", help="Run in the background; return when it is ready.")
]
GraceOption = Annotated[
    str, typer.Option("--grace", metavar="DURATION", help="How long a stop waits for jobs.")
]
KeepOption = Annotated[
    str,
    typer.Option(
        "--keep",
        metavar="DURATION",
        help="How long to keep what has ended; forever to keep everything.",
    ),
]
LogFileOption = Annotated[
    Path | None,
    typer.Option("--log-file", metavar="PATH", help="Log there; left out, standard error."),
]
JsonLogOption = Annotated[bool, typer.Option("--json-log", help="Log lines as JSON.")]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Log seeds and draws of each decision too.")
]
ReadyOption = Annotated[
    int | None,
    typer.Option("--ready-fd", metavar="N", help="Write the process id there when ready."),
]
MailByOption = Annotated[
    str,
    typer.Option(
        "--mail-by",
        metavar="ROUTE",
        help="A program like sendmail, or smtp://HOST or smtps://HOST.",
    ),
]
MailFromOption = Annotated[
    str | None,
    typer.Option("--mail-from", metavar="ADDRESS", help="Who mail is from; left out, krond@HOST."),
]
HeartbeatOption = Annotated[
    str | None,
    typer.Option("--heartbeat", metavar="URL", help="Call this every minute while all is well."),
]
MetricsOption = Annotated[
    Path | None,
    typer.Option("--metrics-file", metavar="PATH", help="Keep metrics for Prometheus there."),
]


def read_beside(
    mail_by: str, mail_from: str | None, heartbeat: str | None, metrics: Path | None
) -> "BesideOptions":
    """What to do beside the jobs."""
    from gnomon.compose.krond_beside import BesideOptions
    from gnomon.shell.observe.notify.mail import MailRoute

    if heartbeat is not None and urlsplit(heartbeat).scheme not in ("http", "https"):
        raise DefinitionError(
            "must be a URL of http or https", where="heartbeat", got=heartbeat,
            hint="write e.g. https://hc.example.org/ping/4f2a",
        )  # fmt: skip
    if "://" not in mail_by and not mail_by.startswith("/"):
        raise DefinitionError(
            "must be the path of a program or the URL of a mail server", where="mail-by",
            got=mail_by, hint="write e.g. /usr/sbin/sendmail or smtp://localhost",
        )  # fmt: skip
    sender = mail_from or f"krond@{socket.gethostname()}"
    by_server = "://" in mail_by
    return BesideOptions(
        route=MailRoute(sender=sender, smtp=mail_by)
        if by_server
        else MailRoute(sender=sender, sendmail=mail_by),
        heartbeat=heartbeat or "",
        metrics=None if metrics is None else metrics.absolute(),
    )


def beside_arguments(
    mail_by: str, mail_from: str | None, heartbeat: str | None, metrics: Path | None
) -> list[str]:
    """The same options again, for the krond that is started in the background."""
    given = {
        "--mail-by": mail_by,
        "--mail-from": mail_from,
        "--heartbeat": heartbeat,
        "--metrics-file": None if metrics is None else str(metrics.absolute()),
    }
    return [text for name, value in given.items() if value is not None for text in (name, value)]
