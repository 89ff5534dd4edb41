"""
A batch with a time-out: ten lines are appended at once, or what there is after a minute.

Events come from outside: `gnomon workflow publish batch lines 1 '"first line"'`. The lines of a
batch end with its key, so that the file itself can say whether the batch was appended.
"""

from datetime import datetime, timedelta
from pathlib import Path

from gnomon.workflow import Call, Context, Finding, Prepared, Workflow, applied, not_applied

FULL = 10
PATIENCE = timedelta(minutes=1)
FILE = Path("batches.txt")

batch = Workflow("batch", title="Lines in batches")
append = batch.consumer("append", subscribes=["lines"])


@append.prepare
def gather(ctx: Context, state: object) -> object:
    """The state is when the present batch began to wait."""
    lines = ctx.peek("lines", limit=FULL)
    if not lines:
        return {}
    since = datetime.fromisoformat(str(state)) if state else ctx.now
    if len(lines) < FULL and ctx.now - since < PATIENCE:
        return {"data": since.isoformat(), "wakeAt": (since + PATIENCE).isoformat()}
    return {
        "reservations": [{"topic": "lines", "ids": [one.id for one in lines]}],
        "data": [str(one.payload) for one in lines],
        "ui": {"title": f"Append {len(lines)} lines"},
    }


@append.mutate
def mutate(ctx: Context, prepared: Prepared) -> None:
    ctx.mutate("write", prepared.data, title=prepared.title)


@append.next
def remember(ctx: Context, prepared: Prepared, outcome: object) -> object:
    return "" if prepared.reservations else prepared.data


@batch.tool("write")
def write(call: Call) -> None:
    assert isinstance(call.params, list)
    with FILE.open("a") as file:  # one write, so that a batch is there as a whole or not at all
        file.write("".join(f"{line}\n" for line in call.params) + f"-- {call.key}\n")


@write.reconcile
def was_written(call: Call) -> Finding:
    text = FILE.read_text() if FILE.exists() else ""
    return applied() if f"-- {call.key}\n" in text else not_applied()
