"""
What changes when a script is deployed, for the first time or again?

A new handler runs at once. One that was there keeps its state, and a producer with the same
schedule its next run as well. The same script again changes nothing. A handler can only be removed
when no run of it is open, because `next` must run after every mutation that was made.

Spec: FLOW-6 to FLOW-12.
"""

from collections.abc import Sequence
from dataclasses import replace

from gnomon.errors import CommandRefusedError
from gnomon.ports.workflow_facts import (
    Facts,
    Handler,
    HandlerKind,
    RunStatus,
    Script,
    Standing,
    WorkflowChange,
)

__all__ = ["deploy"]


def deploy(
    facts: Facts | None, standing: Standing, handlers: Sequence[Handler], script: Script, *,
    digest: str | None, now_ms: int,
) -> WorkflowChange | None:  # fmt: skip
    """
    The change that a deployment writes; None when the script is the one that is in force.

    `standing` has the name, title and zone of the script; `digest` is that of the script in force.
    """
    if facts is None:
        new = replace(standing, script=1, created_ms=now_ms)
        return WorkflowChange(
            standing=new, script=script._replace(version=1, deployed_ms=now_ms),
            handlers=[_first(one, now_ms) for one in handlers],
        )  # fmt: skip
    if digest == script.digest:
        return None
    old = {one.name: one for one in facts.handlers}
    kept = {one.name for one in handlers if one.name in old and old[one.name].kind is one.kind}
    _check_open_run(facts, kept)
    moved = facts.standing.zone != standing.zone
    after = replace(
        facts.standing,
        title=standing.title,
        zone=standing.zone,
        script=facts.standing.script + 1,
        trouble="",
    )
    if facts.run is not None and facts.run.status is RunStatus.LOGIC:
        after = replace(after, retry_ms=now_ms)
    return WorkflowChange(
        standing=after, script=script._replace(version=after.script, deployed_ms=now_ms),
        handlers=[
            _again(one, old[one.name], now_ms, moved=moved) if one.name in kept
            else _first(one, now_ms)
            for one in handlers
        ],
        removed=[name for name in old if name not in {one.name for one in handlers}],
    )  # fmt: skip


def _first(handler: Handler, now_ms: int) -> Handler:
    if handler.kind is HandlerKind.PRODUCER:
        return replace(handler, next_run_ms=now_ms)
    return replace(handler, wake_ms=now_ms)


def _again(handler: Handler, old: Handler, now_ms: int, *, moved: bool) -> Handler:
    after = replace(handler, state=old.state, ran_ms=old.ran_ms)
    if handler.kind is HandlerKind.CONSUMER:
        return replace(after, wake_ms=now_ms)
    same = handler.schedule == old.schedule and not (moved and old.schedule.startswith("cron "))
    return replace(after, next_run_ms=old.next_run_ms if same else now_ms)


def _check_open_run(facts: Facts, kept: set[str]) -> None:
    run = facts.run
    if run is not None and run.handler not in kept:
        raise CommandRefusedError(
            f"must still have {run.handler}, whose run is not over", where=facts.standing.name,
            got=run.status.value, hint="let it end or see to what it needs, then deploy again",
        )  # fmt: skip
