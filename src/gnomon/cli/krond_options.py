"""
The options of `gnomon krond start`, and what those about the things beside the jobs become.

Spec: NOTIFY-7, NOTIFY-9, METRICS-5.
"""

import socket
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from gnomon.cli.click_parts import PATH
from gnomon.errors import DefinitionError

if TYPE_CHECKING:
    from gnomon.compose.krond_beside import BesideOptions

__all__ = [
    "beside_arguments",
    "debug_option",
    "detach_option",
    "grace_option",
    "heartbeat_option",
    "json_log_option",
    "keep_option",
    "log_file_option",
    "mail_by_option",
    "mail_from_option",
    "metrics_option",
    "read_beside",
    "ready_option",
]

detach_option = click.option(
    "--detach", is_flag=True, help="Run in the background; return when it is ready."
)
grace_option = click.option(
    "--grace", default="30s", metavar="DURATION", help="How long a stop waits for jobs."
)
keep_option = click.option(
    "--keep",
    default="2160h",
    metavar="DURATION",
    help="How long to keep what has ended; forever to keep everything.",
)
log_file_option = click.option(
    "--log-file", type=PATH, metavar="PATH", help="Log there; left out, standard error."
)
json_log_option = click.option("--json-log", is_flag=True, help="Log lines as JSON.")
debug_option = click.option(
    "--debug", is_flag=True, help="Log seeds and draws of each decision too."
)
ready_option = click.option(
    "--ready-fd", type=int, metavar="N", help="Write the process id there when ready."
)
mail_by_option = click.option(
    "--mail-by",
    default="/usr/sbin/sendmail",
    metavar="ROUTE",
    help="A program like sendmail, or smtp://HOST or smtps://HOST.",
)
mail_from_option = click.option(
    "--mail-from", metavar="ADDRESS", help="Who mail is from; left out, krond@HOST."
)
heartbeat_option = click.option(
    "--heartbeat", metavar="URL", help="Call this every minute while all is well."
)
metrics_option = click.option(
    "--metrics-file", type=PATH, metavar="PATH", help="Keep metrics for Prometheus there."
)


def read_beside(
    mail_by: str, mail_from: str | None, heartbeat: str | None, metrics: Path | None
) -> "BesideOptions":
    """What to do beside the jobs."""
    from gnomon.compose.krond_beside import BesideOptions
    from gnomon.shell.observe.notify.mail import MailRoute

    if heartbeat is not None and urlsplit(heartbeat).scheme not in ("http", "https"):
        raise DefinitionError(
            "must be a URL of http or https",
            where="heartbeat",
            got=heartbeat,
            hint="write e.g. https://hc.example.org/ping/4f2a",
        )
    if "://" not in mail_by and not mail_by.startswith("/"):
        raise DefinitionError(
            "must be the path of a program or the URL of a mail server",
            where="mail-by",
            got=mail_by,
            hint="write e.g. /usr/sbin/sendmail or smtp://localhost",
        )
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
