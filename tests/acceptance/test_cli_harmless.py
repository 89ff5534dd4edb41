"""
Whatever a job, a script, an event or a service says, no command passes it on to the terminal.

The text is drawn: escape sequences, control characters, half characters, marks that turn the
direction, bytes that are no UTF-8, and long lines. Each door is made to say it in every place where
it can, and everything that reads is asked, in a terminal and in a pipe.
"""

import asyncio
import contextlib
import json
import logging
import random
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.cli import main
from gnomon.cli.live_table import Line, live_table
from gnomon.cli.problem import RemoteError
from gnomon.cli.service.client import Client
from gnomon.cli.terminal import console
from gnomon.core.civil.zone import load_zone
from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.errors.root import harmless
from gnomon.shell.observe.log import PlainLines
from gnomon.shell.observe.notify.message import Happening, Mail, messages
from gnomon.shell.observe.notify.rule import Occasion
from gnomon.shell.store.sqlite import SqliteLedger
from tests.acceptance.command_line import StoppedClock
from tests.acceptance.krond_process import krond, write_krontab
from tests.acceptance.running import EVERY_SECOND, running, write
from tests.apps.krond.krontab.reading import job
from tests.clauses import clause
from tests.tidy.tree import ROOT

HIDE = "\x1b[8m"
PIECES = (
    HIDE, "\x1b]0;title\x07", "\x1b[2J", "\x1b]52;c;cm0=\x07", "\x1b", "\x9b8m", "\x9d0;t\x9c",
    "\r", "\b\b\b", "\x00", "\x7f", "\x0b", "\u202e", "\u2066", "\u200f", "ü", "日本", "\t", "word",
    "\n", "x" * 3_000,
)  # fmt: skip
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_OURS = re.compile(r"\x1b\[(?:0|1|2|22|3\d|1;3\d|2;3\d|22;3\d|39|49)?m")
"""What rich writes for the few styles that Gnomon has."""
SEEDS = ("east", "west", "north")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def odd_text(seed: str, *without: str) -> str:
    """All pieces in an order of its own."""
    dice, pieces = random.Random(seed), [one for one in PIECES if one not in without]
    return "-".join(dice.sample(pieces, len(pieces)))


def ask(*arguments: str, kinds: Sequence[type[StringIO]] = (Terminal, StringIO)) -> None:
    """The command, in a terminal and in a pipe; what it prints is harmless."""
    for kind in kinds:
        with redirect_stdout(kind()) as out, redirect_stderr(kind()) as err:
            code = main(list(arguments), clock=StoppedClock())
        for text in (out.getvalue(), err.getvalue()):
            judge(text, kind is Terminal)
        assert "this is a bug" not in err.getvalue()
        assert code in (0, 1, 2), err.getvalue()
        if "--json" in arguments and code == 0:
            json.loads(out.getvalue())


def judge(text: str, in_terminal: bool = False) -> None:
    rest = _OURS.sub("", text) if in_terminal else text
    found = _ODD.search(rest)
    assert found is None, rest[max(found.start() - 60, 0) : found.end() + 60]


@pytest.fixture(params=SEEDS)
def seed(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@clause("CLI-61")
@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x9b\r\n\u202e"))))
def test_what_is_shown_is_the_text_without_commands(text: str) -> None:
    found = harmless(text)

    judge(found.replace("\r\n", "\n"))
    assert harmless(found) == found
    assert found == text or _ODD.search(text)


@clause("CLI-61")
def test_a_ledger_that_has_odd_texts_is_shown(
    seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = odd_text(seed, "\x00")
    file = write(tmp_path, EVERY_SECOND)
    with running(file) as process:
        process.until("run ended")
    change("run.sqlite3", "UPDATE schedule_runs SET detail = ?1, run_id = ?1, owner = ?1", text)

    place = ["--store", "run.sqlite3"]
    for words in (["history"], ["history", "tick"], ["doctor"]):
        ask(*words, *place)
        ask(*words, *place, "--json")
    ask("history", text, *place)
    ask("history", "--store", text.replace("/", ""))
    draw_live_table(Path("run.sqlite3"))
    change("run.sqlite3", "UPDATE schedules SET pause_reason = ?1, next_run_at = ?1", text)
    ask("doctor", *place)


def change(store: Path | str, statement: str, text: str) -> None:
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        assert connection.execute(statement, (text,)).rowcount


def draw_live_table(store: Path) -> None:
    async def read() -> list[Line]:
        ledger = SqliteLedger.look_into(store)
        rows = await ledger.runs("tick", limit=100)
        await ledger.close()
        last = replace(rows[0], status=Status.FAILED)
        return [Line(text, text, load_zone("UTC"), None, last, 0) for text in ("tick", HIDE)]

    with redirect_stdout(Terminal()) as out:
        console().print(live_table(asyncio.run(read()), left_out=0, now_ms=0))
    judge(out.getvalue(), in_terminal=True)


@clause("CLI-61", "KROND-27")
def test_what_a_job_prints_commands_no_terminal(seed: str, tmp_path: Path) -> None:
    text, state = odd_text(seed), tmp_path / "state"
    printed = text.encode("utf-8", "replace") + b"\xff\xfe\xc3 no UTF-8"
    (tmp_path / "odd").write_bytes(printed)
    line = f'* * * * * * name=tick shell=true command="cat {tmp_path}/odd; exit 3"\n'
    with krond(write_krontab(tmp_path, line), state) as process:
        process.until("job_finished")
    place = ["--state-dir", str(state)]
    for words in (["history", "tick"], ["status"]):
        ask("krond", *words, *place)
        ask("krond", *words, *place, "--json")
    ask("krond", "logs", "tick", *place, kinds=[Terminal])
    ask("krond", "logs", "tick", *place, "--json")
    with redirect_stdout(StringIO()) as out:
        main(["krond", "logs", "tick", *place])
    assert out.getvalue() == printed.decode(errors="replace")  # for a program, as it was printed

    found = text.replace("\x00", "")
    ask("krond", "history", found, *place)
    change(state / "krond.sqlite3", "UPDATE schedule_runs SET detail = ?1, run_id = ?1", found)
    for words in (["history", "tick"], ["status"]):
        ask("krond", *words, *place)


@clause("CLI-61", "NOTIFY-1")
def test_a_mail_has_no_commands_in_it(seed: str) -> None:
    text = odd_text(seed)
    happening = Happening(
        job=job("* * * * * name=tick mail=a@example.org notify=failure command=true"),
        occasion=Occasion.FAILURE, period_id="2026-03-01T02:00:00Z", outcome=Outcome.EXECUTED,
        detail=text, ended_ms=0,
    )  # fmt: skip
    (mail,) = messages(happening, host="here", output=text)

    assert isinstance(mail, Mail)
    judge(mail.subject + mail.body)


@clause("CLI-61", "SEEN-1")
def test_what_a_script_and_its_events_say_is_shown(
    seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = odd_text(seed)
    Path("mail.py").write_text(_SCRIPT.replace("ODD", ascii(text)), encoding="utf-8")
    ask("workflow", "deploy", "mail.py")
    ask("workflow", "publish", "mail", "in", text.replace("\x00", "")[:150], "5")
    ask("workflow", "test", "mail.py", "--event", "in/1")
    ask("workflow", "test", "mail.py", "--event", "in/1", "--json")
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon", "workflow", "run"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            judge(line)
            if "NeedsAttention" in line:
                break
        process.send_signal(signal.SIGKILL)
    statement = "INSERT INTO inputs VALUES ('mail', ?1, ?1, 0, '2026-03-01T00:00:00.000Z')"
    change("workflows.sqlite3", statement, text.replace("\x00", ""))
    change("workflows.sqlite3", "UPDATE scripts SET reason = ?", text)
    for words in ("status", "status mail", "runs mail", "events mail", "inputs mail",
                  "versions mail", "doctor"):  # fmt: skip
        ask("workflow", *words.split())
        ask("workflow", *words.split(), "--json")
    change("workflows.sqlite3", "UPDATE runs SET note = ?1, traceback = ?1, status = 'idle'", text)
    for column in ("title", "trouble", "holder"):
        change("workflows.sqlite3", f"UPDATE workflows SET {column} = ?", text)
    for words in ("status", "status mail", "runs mail", "doctor"):
        ask("workflow", *words.split())


_SCRIPT = """
from gnomon.workflow import Workflow

mail = Workflow("mail", title="Mail")


def prepare(ctx, state):
    raise ValueError(ODD)


mail.consumer("sheet", subscribes=["in"]).prepare(prepare)
"""


@clause("CLI-61", "CLIENT-4")
def test_what_a_service_answers_is_shown(seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = odd_text(seed)
    one: dict[str, object] = dict.fromkeys(_KEYS, text)
    one |= {"warnings": [text], "sentences": [text], "facts": {"detail": text}, "preview": [text],
            "schedules": [text], "deleted": [text], "added": [text], "removed": [text]}  # fmt: skip
    answer = one | {"items": [one], "next": None}
    monkeypatch.setattr(Client, "_call", lambda *_, **__: answer)
    for words in (
        ["schedule", "list"], ["schedule", "show", "a"], ["schedule", "runs"],
        ["schedule", "runs", "a"], ["schedule", "explain", "a", "2026-03-01T00:00:00Z"],
        ["schedule", "trigger", "a"], ["schedule", "pause", "a"], ["schedule", "kill", "a"],
        ["schedule", "upsert", "--id", "a"], ["schedule", "diff", "--id", "a"],
        ["schedule", "skip-next", "a"], ["dag", "list"], ["dag", "show", "a"],
        ["dag", "remove", "a"], ["dag", "remove", "a", "--yes"],
    ):  # fmt: skip
        ask(*words)
        ask(*words, "--json")

    def refuse(*_: object, **__: object) -> None:
        raise RemoteError(text, hint=text, code=1)

    monkeypatch.setattr(Client, "_call", refuse)
    ask("schedule", "list")


@clause("CLI-61")
def test_commands_print_in_one_place() -> None:
    folder = ROOT / "src" / "gnomon" / "cli"
    found = [
        f"{path.name}: {word}"
        for path in sorted(folder.rglob("*.py"))
        for word in ("click.echo(", "print(", "= Console(", "import echo")
        if re.search(rf"(?<![\w.]){re.escape(word)}", path.read_text(encoding="utf-8"))
    ]
    assert found == []


_KEYS = (
    "schedule_id", "workflow_id", "user_id", "cron_expr", "timezone", "next_run_at", "run_at",
    "ended_at", "status", "state", "outcome", "reason", "detail", "idempotency_key", "version",
    "created_at", "periods", "run_id", "dag",
)  # fmt: skip


@clause("CLI-61", "CLI-21")
def test_a_log_line_with_the_error_of_a_script_is_harmless(seed: str) -> None:
    text = odd_text(seed)
    try:
        raise ValueError(text)
    except ValueError:
        failure = sys.exc_info()
    record = logging.LogRecord("gnomon", logging.ERROR, "here", 1, "%s", (text,), failure)

    judge(PlainLines("%(levelname)s %(message)s").format(record))
