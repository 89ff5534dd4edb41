"""
An inbox digest: what has come in is put together once a day, at nine.

Mails are text files in the folder `inbox`; a digest is a file in the folder `digests`. Mails that
come in wake the consumer, which goes back to sleep until nine. A digest is written under a name of
its own and then renamed, so that it is there as a whole or not at all.
"""

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from gnomon.workflow import Call, Context, Finding, Prepared, Workflow, applied, not_applied

ZONE = ZoneInfo("Europe/Berlin")
HOUR = 9

digest = Workflow("digest", title="Daily digest", zone="Europe/Berlin")


@digest.producer(interval="1m", publishes=["mails"])
def look(ctx: Context, state: object) -> None:
    for mail in sorted(Path("inbox").glob("*.txt")):
        source = ctx.input("inbox", "mail", mail.name, title=mail.name)
        ctx.publish("mails", mail.name, mail.read_text().splitlines()[:1], inputs=[source])


daily = digest.consumer("daily", subscribes=["mails"], sees=1000)


@daily.prepare
def wait_for_nine(ctx: Context, state: object) -> object:
    """Take everything at nine; at any other time, only say when nine is."""
    now = ctx.now.astimezone(ZONE)
    nine = now.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    done = state == now.date().isoformat()
    later = nine if now < nine else nine + timedelta(days=1)
    mails = ctx.peek("mails", limit=1000)
    if now < nine or done or not mails:
        return {"reservations": [], "wakeAt": later.isoformat()}
    return {
        "reservations": [{"topic": "mails", "ids": [one.id for one in mails]}],
        "data": {"date": now.date().isoformat(), "mails": [one.id for one in mails]},
        "ui": {"title": f"Digest of {len(mails)} mails"},
        "wakeAt": (nine + timedelta(days=1)).isoformat(),
    }


@daily.mutate
def mutate(ctx: Context, prepared: Prepared) -> None:
    ctx.mutate("write", prepared.data, title=prepared.title)


@daily.next
def remember(ctx: Context, prepared: Prepared, outcome: object) -> object:
    return prepared.data["date"] if prepared.reservations else None


@digest.tool("write")
def write(call: Call) -> str:
    target = _target(call)
    draft = target.with_suffix(".draft")
    draft.parent.mkdir(exist_ok=True)
    draft.write_text("".join(f"{name}\n" for name in call.params["mails"]))
    draft.rename(target)
    return target.name


@write.reconcile
def was_written(call: Call) -> Finding:
    return applied(_target(call).name) if _target(call).exists() else not_applied()


def _target(call: Call) -> Path:
    return Path("digests", f"{call.params['date']}.txt")
