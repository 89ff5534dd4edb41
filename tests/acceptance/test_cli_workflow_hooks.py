"""Programs that a host runs: one repairs scripts, and one is told of a workflow that waits."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.acceptance.test_cli_workflow import serving, until, workflow
from tests.clauses import clause

SCRIPT = """
from gnomon.workflow import Workflow

orders = Workflow("orders", title="Orders")
sheet = orders.consumer("sheet", subscribes=["orders"])

@sheet.prepare
def prepare(ctx, state):
    for one in ctx.peek("orders"):
        raise ValueError(one.id)
    return {}
"""
REPAIRER = """
import json, sys
asked = json.load(sys.stdin)
if asked["error"] == "ValueError: mend-me":
    print(asked["script"].replace("raise ValueError(one.id)", "ctx.note('mended')"))
"""


@clause("FAIL-20", "SEEN-13", "FAIL-10")
def test_a_program_repairs_a_script_and_another_is_told_of_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.py").write_text(SCRIPT)
    Path("mend.py").write_text(REPAIRER)
    os.mkfifo("told")
    repairer = shlex.join([sys.executable, "mend.py"])
    options = ("--repairer", repairer, "--repair-within", "1m", "--alert", "sh -c 'cat > told'")

    with serving(tmp_path, "orders.py", *options) as host:
        until(host, "RunCommitted")
        workflow("publish", "orders", "orders", "cannot-be-mended")
        told = json.loads(Path("told").read_text())
        assert (told["workflow"], told["title"], told["status"]) == (
            "orders", "Orders", "failed:logic",
        )  # fmt: skip
        assert told["issue"] == "The script failed: ValueError: cannot-be-mended"
        assert told["answer"] == "gnomon workflow deploy FILE, or resume orders"
        assert told["run"]["traceback"].endswith("ValueError: cannot-be-mended\n")

    assert [one["reason"] for one in versions()] == ["deploy"]
    for name in ("workflows.sqlite3", "workflows.sqlite3.lock"):
        Path(name).unlink(missing_ok=True)
    with serving(tmp_path, "orders.py", *options) as host:
        until(host, "RunCommitted")
        workflow("publish", "orders", "orders", "mend-me")
        until(host, "RunCommitted")
    assert [one["reason"] for one in versions()] == ["repair", "deploy"]


def versions() -> list[dict[str, object]]:
    found = json.loads(workflow("versions", "orders", "--json").out)["versions"]
    assert isinstance(found, list)
    return found


@clause("FAIL-20", "WCLI-4")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--repairer", "/nowhere/mend"), "repairer: must be a program"),
        (("--alert", "'"), "alert: must be a command"),
        (("--repair-within", "0s"), "repair-within: must be from a second"),
        (("--threads", "0"), "threads: must be a whole number"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_before_anything_is_served(
    options: tuple[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = workflow("run", *options)

    assert (done.code, said in done.err) == (1, True)
    assert list(tmp_path.iterdir()) == []
