"""
The commands of krond: start, reload, status, stop, run-now, history, logs, repair, replan.

Their exit codes are krond's own: 0 fine, 1 something that was written is wrong, 2 the state cannot
be used or krond does not run, 3 another krond has it, 4 it cannot be written.

Spec: KROND-21 to KROND-27, KROND-38, KROND-40.
"""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

from gnomon.cli.click_parts import PATH, CliGroup, argument
from gnomon.cli.krond_options import (
    beside_arguments,
    debug_option,
    detach_option,
    grace_option,
    heartbeat_option,
    json_log_option,
    keep_option,
    log_file_option,
    mail_by_option,
    mail_from_option,
    metrics_option,
    read_beside,
    ready_option,
)
from gnomon.cli.ledger_commands import ROWS_MAX, ledger_keep_ms
from gnomon.cli.options import answer_text, clock_of, json_option, read_count, read_length_ms
from gnomon.cli.problem import describe_problem, store_problem
from gnomon.cli.screen import printed, render_json, safe, say
from gnomon.errors import (
    DefinitionError,
    IncompatibleStateError,
    KrontabError,
    StoreError,
    StoreHeldError,
)

if TYPE_CHECKING:
    from gnomon.apps.krond.state import StateDirectory
    from gnomon.cli.screen import Json
    from gnomon.ports import Clock

__all__ = ["krond_app"]

CONFIGURATION, STATE, LOCK, PERSISTENCE = 1, 2, 3, 4
_REPLANNED = ("jobs", "periods", "all")

krond_app = CliGroup("krond", help="The daemon that runs the jobs of krontab files.")

_P = ParamSpec("_P")

sources_argument = argument(
    "files", nargs=-1, type=PATH, required=False, metavar="[FILE]...",
    help="Krontab files, or directories of them; left out, /etc/krond.d or ~/.config/krond.",
)  # fmt: skip
state_option = click.option(
    "--state-dir",
    type=PATH,
    metavar="DIR",
    help="Where krond keeps its state; left out, /var/lib/krond or ~/.local/state/krond.",
)
job_argument = argument("job", metavar="JOB", help="The name of a job, or FILE:NAME.")


def _with_codes(command: Callable[_P, int]) -> Callable[_P, int]:
    """Turn errors into the exit codes of krond."""

    @wraps(command)
    def coded(*arguments: _P.args, **options: _P.kwargs) -> int:
        try:
            return command(*arguments, **options)
        except KrontabError as error:
            return _fail(error.report, CONFIGURATION)
        except DefinitionError as error:
            return _fail(describe_problem(error), CONFIGURATION)
        except StoreHeldError as error:
            return _fail(store_problem(_held(error)), LOCK)
        except StoreError as error:
            return _fail(store_problem(error), PERSISTENCE if error.transient else STATE)
        except IncompatibleStateError as error:
            return _fail(store_problem(error), STATE)

    return coded


@krond_app.command("start")
@sources_argument
@state_option
@detach_option
@grace_option
@keep_option
@log_file_option
@json_log_option
@debug_option
@ready_option
@mail_by_option
@mail_from_option
@heartbeat_option
@metrics_option
@json_option
@click.pass_context
@_with_codes
def start_command(
    context: click.Context, files: tuple[Path, ...], state_dir: Path | None, detach: bool,
    grace: str, keep: str, log_file: Path | None, json_log: bool, debug: bool, ready_fd: int | None,
    mail_by: str, mail_from: str | None, heartbeat: str | None, metrics_file: Path | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Run the jobs of krontab files until stopped."""
    from gnomon.apps.krond.state import usual_sources
    from gnomon.compose.krond import StartOptions, start_detached, start_krond

    if as_json and not detach:
        raise DefinitionError(
            "is for an answer, and krond in the foreground gives none",
            where="json",
            got="--json",
            hint="add --detach, or write --json-log for log lines as JSON",
        )
    options = StartOptions(
        sources=tuple(files) if files else (usual_sources(),),
        state=_state(state_dir),
        grace_ms=read_length_ms(grace, where="grace"),
        keep_ms=ledger_keep_ms(keep),
        json_log=json_log,
        debug=debug,
        log_file=log_file,
        ready_fd=ready_fd,
        beside=read_beside(mail_by, mail_from, heartbeat, metrics_file),
        describe=describe_problem,
    )
    if not detach:
        return 0 if start_krond(options, clock_of(context)) else 130
    flags = [flag for flag, given in (("--json-log", json_log), ("--debug", debug)) if given]
    arguments = [
        "krond", "start", *map(str, (one.absolute() for one in options.sources)), *flags,
        "--state-dir", str(options.state.path.absolute()), "--grace", grace, "--keep", keep,
        *beside_arguments(mail_by, mail_from, heartbeat, metrics_file),
    ]  # fmt: skip
    started = start_detached(arguments, options)
    if started.pid is None:
        return _fail(started.said, started.code)
    log = str(started.log)
    text = f"krond runs, process {started.pid}, log {log}\n"
    say(answer_text(text, {"pid": started.pid, "log": log}, as_json=as_json), nl=False)
    return 0


@krond_app.command("reload")
@state_option
@json_option
@_with_codes
def reload_command(state_dir: Path | None, as_json: bool) -> int:
    """Load the krontab files again; an error in them changes nothing."""
    answer = _asked(state_dir, "reload")
    if not answer["ok"]:
        return _fail(f"{str(answer['error']).rstrip()}\nthe old jobs stay\n", CONFIGURATION)
    jobs = answer["jobs"]
    assert isinstance(jobs, int)
    text = "1 job\n" if jobs == 1 else f"{jobs} jobs\n"
    say(answer_text(text, {"jobs": jobs}, as_json=as_json), nl=False)
    return 0


@krond_app.command("stop")
@state_option
@click.option("--grace", metavar="DURATION", help="How long to wait for jobs that run.")
@click.option("--kill", is_flag=True, help="End the jobs that still run after that.")
@json_option
@_with_codes
def stop_command(state_dir: Path | None, grace: str | None, kill: bool, as_json: bool) -> int:
    """Stop krond; return when it is gone. Jobs that still run then go on."""
    grace_ms = None if grace is None else read_length_ms(grace, where="grace")
    active = _asked(state_dir, "stop", graceMs=grace_ms, kill=kill).get("active")
    record = {"stopped": True, "active": active if isinstance(active, int) else None}
    say(answer_text("krond has stopped\n", record, as_json=as_json), nl=False)
    return 0


@krond_app.command("run-now")
@job_argument
@state_option
@click.option("--wait", is_flag=True, help="Wait for its end; exit 1 unless that is a success.")
@json_option
@_with_codes
def run_now_command(job: str, state_dir: Path | None, wait: bool, as_json: bool) -> int:
    """Run a job now, once; its periods stay as they are."""
    answer = _asked(state_dir, "run-now", job=job, wait=wait)
    if not answer["ok"]:
        said = str(answer["error"])
        return _fail(said if said.startswith("error: ") else f"error: {said}\n", CONFIGURATION)
    key, detail, success = str(answer["key"]), str(answer.get("detail", "asked for")), None
    if "success" in answer:
        success = bool(answer["success"])
    record = {"key": key, "success": success, "detail": detail}
    say(answer_text(f"{key}: {detail}\n", record, as_json=as_json), nl=False)
    return CONFIGURATION if wait and not success else 0


@krond_app.command("status")
@state_option
@click.option("--watch", is_flag=True, help="Draw it again every second, until interrupted.")
@json_option
@click.pass_context
@_with_codes
def status_command(
    context: click.Context, state_dir: Path | None, watch: bool, as_json: bool
) -> int:
    """Show krond and its jobs: what runs next, what runs now, what ran last."""
    from gnomon.cli.krond_view import status_text

    if watch:
        from gnomon.cli.krond_watch import watch_status  # it needs rich
        from gnomon.cli.terminal import console

        watch_status(_state(state_dir), clock_of(context), console())
        return 0
    text, code = status_text(_state(state_dir), clock_of(context), as_json=as_json)
    say(text, nl=False)
    return code


@krond_app.command("history")
@job_argument
@state_option
@click.option("--count", default="20", metavar="N", help=f"How many periods, 1 to {ROWS_MAX}.")
@json_option
@_with_codes
def history_command(job: str, state_dir: Path | None, count: str, as_json: bool) -> int:
    """Show what became of the periods of a job, newest first."""
    from gnomon.cli.krond_view import history_text

    limit = read_count(count, most=ROWS_MAX)
    say(history_text(_state(state_dir), job, limit=limit, as_json=as_json), nl=False)
    return 0


@krond_app.command("logs")
@job_argument
@state_option
@click.option("--period", metavar="ID", help="Of this period; left out, the newest run.")
@json_option
@_with_codes
def logs_command(job: str, state_dir: Path | None, period: str | None, as_json: bool) -> int:
    """Show what a job printed."""
    from gnomon.cli.krond_view import logs_text

    text = logs_text(_state(state_dir), job, period, as_json=as_json)
    say(printed(text), nl=False)
    if not text:
        say("nothing was printed", err=True)
    return 0


@krond_app.command("repair")
@state_option
@json_option
@click.pass_context
@_with_codes
def repair_command(context: click.Context, state_dir: Path | None, as_json: bool) -> int:
    """Put damaged state aside and begin anew; nothing from before that is owed."""
    import asyncio

    from gnomon.apps.krond.state import repair

    state = _state(state_dir)
    findings, aside = asyncio.run(repair(state, clock_of(context)))
    lines = [f"{finding.code}: {finding.problem}" for finding in findings]
    lines += [f"put aside: {path}" for path in aside]
    lines.append("a new ledger was begun" if aside else "there is nothing to repair")
    record: dict[str, Json] = {
        "stateDirectory": str(state.path),
        "repaired": bool(aside),
        "findings": [{"code": one.code, "problem": one.problem} for one in findings],
        "putAside": [str(path) for path in aside],
    }
    say(answer_text("".join(f"{one}\n" for one in lines), record, as_json=as_json), nl=False)
    return 0


@krond_app.command("replan")
@state_option
@json_option
@click.pass_context
@_with_codes
def replan_command(context: click.Context, state_dir: Path | None, as_json: bool) -> int:
    """After a clock that was ahead: plan again what was not started and lies ahead."""
    say(_replan_text(_state(state_dir), clock_of(context), as_json=as_json), nl=False)
    return 0


def _replan_text(state: "StateDirectory", clock: "Clock", *, as_json: bool) -> str:
    """Have a krond that runs plan again, or do it where none runs, and say how much it was."""
    import asyncio

    from gnomon.apps.krond.control import ask
    from gnomon.compose.krond import replan_stopped, replanned_record

    answer = ask(state, "replan")
    if answer is None:
        answer = {"ok": True, **replanned_record(asyncio.run(replan_stopped(state, clock)))}
    if not answer.get("ok"):
        raise StoreError(str(answer.get("error")), where=str(state.path), hint="try it once more")
    if as_json:
        return render_json({name: _number(answer, name) for name in _REPLANNED})
    jobs, periods = _number(answer, "jobs"), _number(answer, "periods")
    if not periods:
        return "no period was judged ahead of its time\n"
    left = "" if answer["all"] else "; there are more: say it again"
    return f"planned again: {periods} periods of {jobs} jobs{left}\n"


def _number(answer: Mapping[str, object], name: str) -> "Json":
    found = answer[name]
    assert isinstance(found, int)
    return found


def _asked(state_dir: Path | None, command: str, **arguments: object) -> dict[str, object]:
    from gnomon.apps.krond.control import ask

    state = _state(state_dir)
    answer = ask(state, command, **arguments)
    if answer is None:
        raise StoreError(
            "krond does not run here",
            where=str(state.path),
            hint="name its directory with --state-dir, or start it",
        )
    return answer


def _held(error: StoreHeldError) -> StoreError:
    """The same, as the user who wanted to start krond reads it."""
    return StoreError(
        f"is the state of a krond that runs, {error.holder}",
        where=str(Path(error.where).parent),
        hint="ask it with krond status, end it with krond stop, or name another --state-dir",
    )


def _state(state_dir: Path | None) -> "StateDirectory":
    from gnomon.apps.krond.state import StateDirectory, usual_state

    return StateDirectory((state_dir or usual_state()).absolute())


def _fail(message: str, code: int) -> int:
    sys.stderr.write(safe(message))
    return code
