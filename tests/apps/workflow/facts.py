"""Small facts for the tests of what follows from facts: a workflow, a run, a mutation."""

from gnomon.ports.workflow_facts import (
    Facts,
    Handler,
    HandlerKind,
    Mode,
    Mutation,
    MutationStatus,
    Pending,
    Phase,
    Run,
    RunStatus,
    Standing,
)

__all__ = ["NOW", "consumer", "facts", "mutation", "producer", "run"]

NOW = 1_772_323_200_000  # 2026-03-01T00:00:00Z


def producer(
    name: str = "poll", *, schedule: str = "every 5m0s", next_run_ms: int | None = NOW + 60_000,
    place: int = 0,
) -> Handler:  # fmt: skip
    return Handler(
        name=name, kind=HandlerKind.PRODUCER, place=place, schedule=schedule,
        publishes=("orders",), next_run_ms=next_run_ms,
    )  # fmt: skip


def consumer(
    name: str = "sheet", *, topic: str = "orders", wake_ms: int | None = None, place: int = 1
) -> Handler:
    return Handler(
        name=name, kind=HandlerKind.CONSUMER, place=place, subscribes=(topic,), wake_ms=wake_ms
    )


def run(
    phase: Phase = Phase.PREPARING, status: RunStatus = RunStatus.ACTIVE, *, number: int = 7,
    handler: str = "sheet", kind: HandlerKind = HandlerKind.CONSUMER, mutation: int | None = None,
) -> Run:  # fmt: skip
    """Run 7 of the consumer `sheet`, with the results that its phase has."""
    prepared = None if phase is Phase.PREPARING else '{"data":1}'
    mutated = '{"status": "applied", "result": 5}' if phase.is_settled else None
    return Run(
        number=number, handler=handler, kind=kind, script=1, phase=phase, status=status,
        prepared=prepared, mutated=mutated, mutation=mutation, created_ms=NOW, updated_ms=NOW,
    )  # fmt: skip


def mutation(
    status: MutationStatus = MutationStatus.IN_FLIGHT, *, reconcilable: bool = True, tries: int = 0
) -> Mutation:
    return Mutation(
        run=7, tool="append", params="{}", key="orders/7", status=status, tries=tries,
        reconcilable=reconcilable, created_ms=NOW,
    )  # fmt: skip


def facts(
    *handlers: Handler, open_run: Run | None = None, of: Mutation | None = None,
    mode: Mode = Mode.ACTIVE, failures: int = 0, retry_ms: int | None = None, repairs: int = 0,
    script: int = 1, **pending: tuple[int, int],
) -> Facts:  # fmt: skip
    """The workflow `orders`; of each topic the oldest event and the newest arrival."""
    standing = Standing(
        name="orders", mode=mode, script=script, version=3, runs=7, failures=failures,
        current=None if open_run is None else open_run.number, retry_ms=retry_ms, repairs=repairs,
    )  # fmt: skip
    return Facts(
        standing=standing, handlers=handlers or (producer(), consumer()), run=open_run,
        mutation=of,
        pending={topic: Pending(1, oldest, newest) for topic, (oldest, newest) in pending.items()},
    )  # fmt: skip
