"""
Every state that a protocol can reach, or the shortest way to a broken clause.

Breadth first, over all interleavings of operators, people and late calls. An operator may die
between any two calls; a call may be applied and its answer lost, which is the same as dying after
it. From every state of the server a lone operator that nothing disturbs, with time standing still,
must bring every due period to its outcome, taking its tasks in either order.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

from tests.protocol.cluster import (
    Bounds,
    BrokenClauseError,
    Call,
    Note,
    Operator,
    State,
    begin,
    cannot_matter,
    environment,
    serve,
    spend,
    tidy,
)
from tests.protocol.operators import Protocol

__all__ = ["Explored", "explore"]

_ROUNDS = 60
_TASKS = 20


class Explored(NamedTuple):
    """What a search has found."""

    broken: str
    """The clause that does not hold; empty when all do."""
    path: tuple[str, ...]
    states: int
    servers: int
    """States of the server from which a lone operator was followed to its rest."""
    is_whole: bool


def explore(
    protocol: Protocol, bounds: Bounds, *, wanted: str = "", states_max: int = 5_000_000,
    seconds_max: float = 1e9,
) -> Explored:  # fmt: skip
    """All states; with `wanted`, up to the first that breaks this clause, whatever else breaks."""
    root, until = begin(bounds), time.monotonic() + seconds_max
    seen, servers = {hash(root)}, set[int]()
    parents: list[tuple[int, str]] = [(-1, "")]
    level = [(root, 0)]

    def found(broken: BrokenClauseError, parent: int, label: str) -> Explored:
        path = [label]
        while parent > 0:
            parent, step = parents[parent]
            path.append(step)
        return Explored(str(broken), tuple(reversed(path)), len(seen), len(servers), False)

    while level:
        coming = []
        for state, place in level:
            server = hash(state._replace(wire=(), left=(), operators=()))
            if server not in servers:
                servers.add(server)
                for order in (1, -1):
                    broken = _rests(state, protocol, bounds, order)
                    if broken is not None and wanted in str(broken):
                        return found(broken, place, "a lone operator goes on")
            for label, after in _steps(state, protocol, bounds):
                if isinstance(after, BrokenClauseError):
                    if wanted in str(after):
                        return found(after, place, label)
                    continue
                after = _alike(tidy(after))
                if (key := hash(after)) not in seen:
                    seen.add(key)
                    parents.append((place, label))
                    coming.append((after, len(parents) - 1))
        if len(seen) > states_max or time.monotonic() > until:
            return Explored("", (), len(seen), len(servers), False)
        level = coming
    return Explored("", (), len(seen), len(servers), True)


def _alike(state: State) -> State:
    """The two operators have no names."""
    first, *others = state.operators
    if others and hash(others[0]) < hash(first):
        return state._replace(operators=(others[0], first))
    return state


def _steps(
    state: State, protocol: Protocol, bounds: Bounds
) -> Iterator[tuple[str, State | BrokenClauseError]]:
    yield from environment(state, bounds)
    for place, one in enumerate(state.operators):
        if place and one == state.operators[0]:
            continue
        who = "AB"[place]
        if one.plan is not None:
            call, note = one.plan
            yield f"{who} dies", _with(state, place, one._replace(plan=None))
            if protocol.may_send(one, call, state.now, bounds):
                yield from _send(state, place, call, note, protocol, bounds)
            continue
        if one.view != state.kronjob or not one.is_fresh:
            looked = one._replace(view=state.kronjob, is_fresh=state.kronjob is not None)
            yield f"{who} sees the KronJob", _with(state, place, looked)
        if protocol.looks_at_jobs and one.jobs != state.jobs:
            yield f"{who} sees the Jobs", _with(state, place, one._replace(jobs=state.jobs))
        for now, after in _clocks(state, protocol, bounds):
            for call, note in protocol.tasks(one, now, bounds):
                yield from _send(after, place, call, note, protocol, bounds)


def _clocks(state: State, protocol: Protocol, bounds: Bounds) -> Iterator[tuple[int, State]]:
    """What time an operator may take it to be."""
    yield state.now, state
    after = spend(state, "skew")
    if after is not None and not protocol.parts.clock_guard:
        yield from ((now, after) for now in range(bounds.end + 1) if now != state.now)


def _send(
    state: State, place: int, call: Call, note: Note, protocol: Protocol, bounds: Bounds
) -> Iterator[tuple[str, State | BrokenClauseError]]:
    """A call is answered; or it stays on the wire and its sender is dead."""
    if cannot_matter(state, call):
        return
    label = f"{'AB'[place]}: {_said(call)}"
    one = state.operators[place]
    after = spend(state, "late")
    if after is not None and call.word not in ("ask", "ask name", "list"):
        wire = tuple(sorted((*after.wire, call), key=repr))
        yield (
            f"{label} (on the wire)",
            _with(after._replace(wire=wire), place, one._replace(plan=None)),
        )
    try:
        after, answer = serve(state, call, bounds)
    except BrokenClauseError as broken:
        yield label, broken
        return
    one = after.operators[place]
    plan = protocol.hear(one, note, answer, after.now, bounds)
    yield label, _with(after, place, one._replace(plan=plan))


def _rests(
    state: State, protocol: Protocol, bounds: Bounds, order: int
) -> BrokenClauseError | None:
    """Whether a lone operator, from here on, loses anything."""
    one = state.kronjob
    old = one.records if one else ()
    is_busy = one is None or any(
        job.owner == one.uid and job.state in ("held", "running", "ending") for job in state.jobs
    )
    state = state._replace(wire=())
    try:
        for _ in range(_ROUNDS):
            before = state.kronjob, state.jobs
            kept = tuple(job for job in state.jobs if job.state != "ending")
            state = _one_round(state._replace(jobs=kept), protocol, bounds, order)
            if (state.kronjob, state.jobs) == before:
                break
        else:
            return BrokenClauseError("a lone operator never comes to rest")
    except BrokenClauseError as broken:
        return broken
    one = state.kronjob
    if one is None or one.suspended:
        return None
    new = {record.what for record, was in zip(one.records, old, strict=True) if record and not was}
    if not is_busy and "skipped" in new and "executed" not in new:
        return BrokenClauseError("skipped, and nothing was active")
    for period, chosen in enumerate(bounds.chosen):
        if chosen > state.now or chosen <= one.born or period in state.touched:
            continue
        record = one.records[period]
        if record is None or record.what == "claimed":
            return BrokenClauseError("a period has no outcome")
        newer = any(other and other.what == "executed" for other in one.records[period + 1 :])
        is_replaced = bounds.policy == "replace" and newer
        if record.what == "executed" and not state.starts[period] and not is_replaced:
            return BrokenClauseError("executed, and it never ran")
    return None


def _one_round(state: State, protocol: Protocol, bounds: Bounds, order: int) -> State:
    """Each task that there is, from a new view."""
    for number in range(_TASKS):
        jobs = state.jobs if protocol.looks_at_jobs else ()
        one = Operator(state.kronjob, state.kronjob is not None, jobs)
        tasks = list(protocol.tasks(one, state.now, bounds))[::order]
        if number >= len(tasks):
            break
        plan: tuple[Call, Note] | None = tasks[number]
        while plan is not None:
            state, answer = serve(state._replace(operators=(one,)), plan[0], bounds)
            one = state.operators[0]
            plan = protocol.hear(one, plan[1], answer, state.now, bounds)
    return state


def _with(state: State, place: int, one: Operator) -> State:
    operators = (*state.operators[:place], one, *state.operators[place + 1 :])
    return state._replace(operators=operators)


def _said(call: Call) -> str:
    if call.word == "write":
        records = (
            "-" if record is None else f"{record.what} {record.uid or ''}".strip()
            for record in call.records
        )
        return f"write [{', '.join(records)}]"
    return f"{call.word} {call.uid or call.period}"
