"""`gnomon workflow` as a person uses it, with the examples as they stand."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.command_line import Done, gnomon
from tests.clauses import clause
from tests.tidy.tree import ROOT

EXAMPLES = ROOT / "examples" / "workflows"
SCRIPT = """
from gnomon.workflow import Workflow

orders = Workflow("orders", title="Orders")
orders.producer("poll", interval="5m", publishes=["orders"])(lambda ctx, state: None)
sheet = orders.consumer("sheet", subscribes=["orders"])
sheet.prepare(lambda ctx, state: {})
"""
INPUTS = """
from gnomon.workflow import Workflow

mail = Workflow("mail")


@mail.producer("poll", interval="1h", publishes=["mail"])
def poll(ctx, state):
    for id, title in (("1", "One"), ("2", "Two")):
        ctx.publish("mail", id, inputs=[ctx.input("gmail", "email", id, title=title)])


mail.consumer("sheet", subscribes=["mail"]).prepare(lambda ctx, state: {})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.py").write_text(SCRIPT)
    return tmp_path


def workflow(*arguments: str) -> Done:
    return gnomon("workflow", *arguments)


@contextmanager
def serving(folder: Path, *files: str) -> Iterator["subprocess.Popen[str]"]:
    """A host in a process of its own; it must end well when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gnomon", "workflow", "run", *files],
        cwd=folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
            assert process.returncode == 0, said
    finally:
        process.kill()
        process.communicate()


def until(process: "subprocess.Popen[str]", *words: str) -> str:
    """The first line of the log that has all these words."""
    assert process.stderr is not None
    for line in process.stderr:
        if all(word in line for word in words):
            return line
    raise AssertionError(f"it ended without {words}")


@clause("WCLI-2", "SEEN-8", "SEEN-6", "FLOW-6", "FLOW-9")
def test_a_script_is_deployed_and_its_status_is_shown(folder: Path) -> None:
    assert workflow("deploy", "orders.py").out == "orders: version 1 is in force\n"
    assert workflow("deploy", "orders.py").out == "orders: version 1 is in force\n"
    (folder / "orders.py").write_text(SCRIPT + "# again\n")
    assert workflow("deploy", "orders.py", "--json").json == {"workflow": "orders", "version": 2}

    assert workflow("status").lines == [
        "orders (Orders): Needs attention",
        "  No host works on it",
        "  to go on: gnomon workflow run --store workflows.sqlite3",
        "  Checks every 5 minutes",
        "  0 pending",
    ]
    (found,) = json.loads(workflow("status", "orders", "--json").out)["workflows"]
    assert (found["status"], found["script"], found["pending"]) == ("Needs attention", 2, 0)
    with serving(folder) as process:
        until(process, "RunCommitted", "'poll'")
        lines = workflow("status", "orders").lines
        assert [line.partition(" in ")[0] for line in lines] == [
            "orders (Orders): Idle",
            "  Checks every 5 minutes, next",
            "  0 pending",
            "  poll: Checks every 5 minutes; begins",
            "  sheet: waits for an event",
        ]


@clause("WCLI-2", "SEEN-1", "SEEN-10", "WASK-1")
def test_commands_without_a_host_are_kept_for_when_there_is_one(folder: Path) -> None:
    workflow("deploy", "orders.py")

    assert workflow("publish", "orders", "orders", "o1", '{"n": 5}').out == (
        "orders/o1: published\n"
    )
    assert workflow("publish", "orders", "orders", "o1", '{"n": 5}', "--json").json["changed"] is (
        False
    )
    assert workflow("run-now", "orders").out == "orders: its producers run\n"
    assert workflow("pause", "orders", "--json").json["result"] == "stopped"
    assert workflow("status", "orders").lines[0] == "orders (Orders): Stopped"
    assert workflow("resume", "orders").out == "orders: goes on; No host works on it\n"
    assert workflow("resume", "orders").out == "orders: was going on already\n"
    events = json.loads(workflow("events", "orders", "--status", "pending", "--json").out)
    assert [(one["id"], one["payload"]) for one in events["events"]] == [("o1", {"n": 5})]
    assert "orders/o1" not in workflow("status").out
    assert "pending   o1" in workflow("events", "orders").out
    assert workflow("runs", "orders").out == "no runs yet\n"
    assert workflow("inputs", "orders").out == "no inputs yet\n"
    assert workflow("runs", "orders", "--json").json == {
        "workflow": "orders", "runs": [], "next": None,
    }  # fmt: skip


@clause("WCLI-6")
def test_events_are_listed_page_by_page(folder: Path) -> None:
    workflow("deploy", "orders.py")
    for name in ("o1", "o2", "o3"):
        workflow("publish", "orders", "orders", name)

    first = workflow("events", "orders", "--count", "2")
    rest = workflow("events", "orders", "--count", "2", "--after", "2", "--json").json

    assert [line.split()[4] for line in first.lines[:2]] == ["o3", "o2"]
    assert first.lines[2:] == ["there are more: --after 2"]
    assert rest["next"] is None
    assert isinstance(rest["events"], list)
    assert [one["id"] for one in rest["events"]] == ["o1"]


@clause("WCLI-4", "WASK-6")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pause", "nope"), "deployed are: orders"),
        (("approve", "orders"), "waits for no approval"),
        (("approve", "orders", "--reject"), "no mutation that waits for approval"),
        (("resolve", "orders", "happened"), "no mutation whose end is unknown"),
        (("resolve", "orders", "maybe"), "write one of try-again, happened"),
        (("publish", "orders", "other", "1"), "must be a topic of the workflow"),
        (("publish", "orders", "orders", "1", "{"), "must be JSON"),
        (("publish", "orders", "orders", ""), "id: must be text of 1 to 500 characters"),
        (("publish", "orders", "orders", "x" * 501), "id: must be text of 1 to 500 characters"),
        (("inputs", "nope"), "deployed are: orders"),
        (("run", "--keep", "23h"), "keep: must be at least a day"),
        (("run", "--keep", "soon"), "keep"),
        (("events", "orders", "--status", "lost"), "write one of pending"),
        (("skip-input", "orders", "mail/1"), "must be an input"),
        (("runs", "orders", "--count", "0"), "count"),
        (("deploy", "broken.py"), "must be Python"),
        (("status", "--store", "none.sqlite3"), "must be a file of workflows"),
    ],
)
def test_a_command_that_cannot_be_followed_says_why(
    folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "broken.py").write_text("x = (")
    workflow("deploy", "orders.py")

    done = workflow(*arguments)

    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert not (folder / "none.sqlite3").exists()


@clause("WCLI-1", "WCLI-3", "WCLI-5", "WLOG-9")
def test_a_host_follows_commands_of_other_processes_at_once(folder: Path) -> None:
    shutil.copy(EXAMPLES / "correlation.py", folder)

    with serving(folder, "correlation.py") as process:
        until(process, "RunCommitted", "handover")
        assert workflow("publish", "handover", "orders", "17").code == 0
        until(process, "RunCommitted", "handover")
        assert workflow("publish", "handover", "payments", "17").code == 0
        until(process, "RunCommitted", "Hand over 17")

    assert (folder / "handed-over" / "17").read_text().startswith("handover/3-")
    assert "Hand over 17" in workflow("status", "handover").out
    run = json.loads(workflow("runs", "handover", "--json").out)["runs"][0]
    assert (run["phase"], run["status"]) == ("committed", "committed")


@clause("SEEN-9", "SEEN-10", "SEEN-15", "WDOC-4")
def test_a_host_that_was_killed_and_a_script_that_cannot_be_loaded_are_said(folder: Path) -> None:
    (folder / "orders.py").write_text(SCRIPT + "import os\nos.environ['FOR_THE_SCRIPT']\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOR_THE_SCRIPT", "1")
        assert workflow("deploy", "orders.py").code == 0

    os.mkfifo(folder / "told")
    with serving(folder, "--alert", "sh -c 'cat > told'") as process:
        until(process, "ScriptNotFound")
        told = json.loads((folder / "told").read_text())
        assert (told["status"], told["script"], told["run"]) == ("unloadable", 1, None)
        assert "FOR_THE_SCRIPT" in told["issue"]
        found = workflow("status", "orders")
        assert found.lines[0] == "orders (Orders): Needs attention"
        assert "Its script cannot be loaded" in found.lines[1]
        assert "FOR_THE_SCRIPT" in found.lines[1]
        assert "next in" not in found.out
        doctor = workflow("doctor")
        assert (doctor.code, "cannot be loaded by its host" in doctor.out) == (1, True)
        (folder / "orders.py").write_text(SCRIPT)
        workflow("deploy", "orders.py")
        until(process, "RunCommitted", "'poll'")
        assert workflow("status", "orders").lines[0] == "orders (Orders): Idle"
        assert workflow("doctor").code == 0
        process.kill()
        process.wait()
        assert workflow("status", "orders").lines[1] == "  No host works on it"


@clause("WCLI-7")
def test_without_a_command_the_help_is_printed() -> None:
    done = workflow()

    assert (done.code, done.err) == (0, "")
    assert "Usage: gnomon workflow" in done.out
    assert "run-now" in done.out


@clause("INPUT-2", "WCLI-2")
def test_inputs_are_listed_with_what_waits_for_them(folder: Path) -> None:
    (folder / "mail.py").write_text(INPUTS)

    with serving(folder, "mail.py") as process:
        until(process, "RunCommitted", "'poll'")
        until(process, "RunCommitted", "'sheet'")
    workflow("skip-input", "mail", "gmail/email/2")

    (later, first) = json.loads(workflow("inputs", "mail", "--json").out)["inputs"]
    assert (first["id"], first["title"], first["skipped"], first["pending"]) == (
        "gmail/email/2", "Two", True, 0,
    )  # fmt: skip
    assert (later["id"], later["skipped"], later["pending"]) == ("gmail/email/1", False, 1)
    assert [line.split("Z  ")[1] for line in workflow("inputs", "mail").lines] == [
        "gmail/email/1  One  1 pending",
        "gmail/email/2  Two  skipped",
    ]


@clause("WCLI-5")
def test_the_importer_imports_a_file_once_also_after_a_restart(folder: Path) -> None:
    shutil.copy(EXAMPLES / "importer.py", folder)
    (folder / "drop").mkdir()
    (folder / "drop" / "a.csv").write_text("x,1\ny,2\n")

    with serving(folder, "importer.py") as process:
        until(process, "RunCommitted", "Import a.csv")
    (folder / "drop" / "b.csv").write_text("z,3\n")
    workflow("run-now", "importer")
    with serving(folder) as process:
        until(process, "RunCommitted", "Import b.csv")

    rows = sqlite3.connect(folder / "imported.sqlite3").execute("SELECT * FROM rows").fetchall()
    assert rows == [("x", "1"), ("y", "2"), ("z", "3")]


@clause("WCLI-5")
def test_the_batch_appends_ten_lines_at_once(folder: Path) -> None:
    shutil.copy(EXAMPLES / "batch.py", folder)
    workflow("deploy", "batch.py")
    for number in range(10):
        workflow("publish", "batch", "lines", str(number), json.dumps(f"line {number}"))

    with serving(folder) as process:
        until(process, "RunCommitted", "Append 10 lines")

    lines = (folder / "batches.txt").read_text().splitlines()
    assert lines[:10] == [f"line {number}" for number in range(10)]
    assert lines[10].startswith("-- batch/")


@clause("WCLI-5")
def test_the_digest_waits_for_nine(folder: Path) -> None:
    shutil.copy(EXAMPLES / "digest.py", folder)
    (folder / "inbox").mkdir()
    (folder / "inbox" / "a.txt").write_text("Hello\n")

    with serving(folder, "digest.py") as process:
        until(process, "RunCommitted", "'look'")
        until(process, "RunCommitted", "'daily'")

        (found,) = json.loads(workflow("status", "digest", "--json").out)["workflows"]
    assert found["schedule"] == ["Checks every minute"]
    assert found["status"] == "Idle"


@clause("WASK-9", "WASK-10", "SEEN-12", "WCLI-2", "WCLI-4")
def test_versions_are_listed_shown_rolled_back_and_removed_on_the_command_line(
    folder: Path,
) -> None:
    workflow("deploy", "orders.py")
    (folder / "orders.py").write_text(SCRIPT + "# better\n")
    workflow("deploy", "orders.py")

    assert workflow("versions", "orders", "--show", "1").out == SCRIPT
    back = workflow("rollback", "orders")
    assert back.out == "orders: version 3 is in force, with the text of version 1\n"
    listed = workflow("versions", "orders").out.splitlines()
    assert [line.split()[0] for line in listed] == ["3", "2", "1"]
    assert listed[0].endswith("rollback to 1  in force")
    found = json.loads(workflow("versions", "orders", "--json").out)
    assert [one["inForce"] for one in found["versions"]] == [True, False, False]

    refused = workflow("remove", "orders")
    assert (refused.code, "pause orders first" in refused.err) == (1, True)
    workflow("pause", "orders")
    assert workflow("remove", "orders").out == "orders: removed\n"
    assert workflow("status").out == "no workflows are deployed\n"
