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

from gnomon.cli.check_command import check_command
from gnomon.cli.command import Group
from gnomon.cli.krond_commands import krond_app
from gnomon.cli.krontab_commands import krontab_app
from gnomon.cli.ledger_commands import (
    doctor_command,
    history_command,
    migrate_store_command,
    run_command,
)
from gnomon.cli.operator_commands import operator_app
from gnomon.cli.problem import (
    RemoteError,
    describe_problem,
    remote_problem,
    store_problem,
    system_problem,
    usage_problem,
)
from gnomon.cli.screen import output, safe, say
from gnomon.cli.service.commands import api_command, up_command, worker_command
from gnomon.cli.service.dag_commands import dag_app
from gnomon.cli.service.run_commands import schedule_app
from gnomon.cli.simulate_command import simulate_command
from gnomon.cli.time_commands import (
    decide_command,
    describe_command,
    next_command,
    preview_command,
)
from gnomon.cli.workflow_commands import workflow_app
from gnomon.cli.workflow_versions import add_version_commands
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


@click.group(cls=Group, name="gnomon", context_settings={"show_default": True})
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


for _command in (
    next_command, describe_command, decide_command, preview_command,
    run_command, history_command, doctor_command, migrate_store_command, check_command,
    simulate_command, up_command, api_command, worker_command,
    krontab_app, krond_app, operator_app, workflow_app, schedule_app, dag_app,
):  # fmt: skip
    app.add_command(_command)
add_version_commands(workflow_app)
