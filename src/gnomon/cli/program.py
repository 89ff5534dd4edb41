"""
The program `gnomon`: its commands and options, its exit codes, and what happens when it goes wrong.

Exit code 0 means that there is an answer, also when the answer is that there is none; 1 that the
input is invalid, or that an examination found something; 2 that the system failed, for example
that a file cannot be read.

Spec: CLI-1 to CLI-5.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from errno import EBADF
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from gnomon.cli.click_parts import CliGroup
from gnomon.cli.problem import (
    RemoteError,
    describe_problem,
    remote_problem,
    store_problem,
    system_problem,
    usage_problem,
)
from gnomon.cli.screen import output, safe, say
from gnomon.errors import (
    DefinitionError,
    IncompatibleStateError,
    MissingExtraError,
    StoreError,
)
from gnomon.errors.root import LocatedError
from gnomon.shell.clock import SystemClock

if TYPE_CHECKING:
    from gnomon.ports import Clock

__all__ = ["app", "krond_main", "main"]

_OUTPUT = "standard output"
FINE, INVALID, SYSTEM, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None, *, clock: "Clock | None" = None) -> int:
    """Run the program and give its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an odd locale is no reason to fail
    return _run(arguments, clock or SystemClock())


def krond_main() -> int:
    """The program `krond`: the same as `gnomon krond`."""
    return main(["krond", *sys.argv[1:]])


def _run(arguments: Sequence[str] | None, clock: "Clock") -> int:
    try:
        result = app(arguments, prog_name="gnomon", standalone_mode=False, obj=clock)
        if isinstance(result, str):
            _print(result)
    except (DefinitionError, LocatedError) as error:
        return _fail(describe_problem(error), INVALID)
    except click.UsageError as error:
        return _fail(usage_problem(error), INVALID)
    except (StoreError, IncompatibleStateError, MissingExtraError) as error:
        return _fail(store_problem(error), SYSTEM)
    except RemoteError as error:
        return _fail(remote_problem(error), error.code)
    except BrokenPipeError:  # the reader of the output has seen enough
        _forget_output()
        return FINE
    except SystemExit:  # the same, for what click prints by itself
        return FINE
    except OSError as error:
        _forget_output()
        return _fail(system_problem(error), SYSTEM)
    except click.Abort:
        return _fail("", INTERRUPTED)
    except Exception as error:
        import traceback

        traceback.print_exc()
        return _fail(f"error: this is a bug in Gnomon ({type(error).__name__})\n", SYSTEM)
    return result if isinstance(result, int) else FINE


def _print(text: str) -> None:
    stream = output()
    if stream is None:
        raise OSError(EBADF, "is closed", _OUTPUT)
    try:
        stream.write(safe(text))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, _OUTPUT) from error


def _forget_output() -> None:
    """Drop what cannot be written, or Python would try again at exit and complain."""
    stream = output()
    if stream is not None:
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(message: str, code: int) -> int:
    with suppress(OSError, AttributeError):  # full, or None when closed; the exit code remains
        sys.stderr.write(safe(message))
    return code


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        import platform

        from gnomon.core.civil.zone import tzdata_version
        from gnomon.shell.version import installed_version

        number = installed_version() or "(not installed)"
        say(f"gnomon {number} (tzdata {tzdata_version()}, Python {platform.python_version()})")
        context.exit()


def _show_completion(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from gnomon.cli.completion import completion_script

        say(completion_script(context.command), nl=False)
        context.exit()


def _install_completion(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from gnomon.cli.completion import install_completion

        say(install_completion(context.command), nl=False)
        context.exit()


@click.group(cls=CliGroup, name="gnomon", context_settings={"show_default": True})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Print the version and exit.",
)  # fmt: skip
@click.option(
    "--install-completion", is_flag=True, is_eager=True, expose_value=False,
    callback=_install_completion, help="Install completion for the shell that SHELL names.",
)  # fmt: skip
@click.option(
    "--show-completion", is_flag=True, is_eager=True, expose_value=False,
    callback=_show_completion, help="Print what that shell has to read for completion.",
)  # fmt: skip
def app() -> None:
    """Gnomon: when does it run, did it run, and why not."""


app.later = {
    "next": "gnomon.cli.time_commands:next_command",
    "describe": "gnomon.cli.time_commands:describe_command",
    "decide": "gnomon.cli.time_commands:decide_command",
    "preview": "gnomon.cli.time_commands:preview_command",
    "run": "gnomon.cli.ledger_commands:run_command",
    "history": "gnomon.cli.ledger_commands:history_command",
    "doctor": "gnomon.cli.ledger_commands:doctor_command",
    "migrate-store": "gnomon.cli.ledger_commands:migrate_store_command",
    "check": "gnomon.cli.check_command:check_command",
    "simulate": "gnomon.cli.simulate_command:simulate_command",
    "up": "gnomon.cli.service.commands:up_command",
    "api": "gnomon.cli.service.commands:api_command",
    "worker": "gnomon.cli.service.commands:worker_command",
    "krontab": "gnomon.cli.krontab_commands:krontab_app",
    "krond": "gnomon.cli.krond_commands:krond_app",
    "operator": "gnomon.cli.operator_commands:operator_app",
    "workflow": "gnomon.cli.workflow_commands:workflow_app",
    "schedule": "gnomon.cli.service.schedule_commands:schedule_app",
    "dag": "gnomon.cli.service.dag_commands:dag_app",
}
