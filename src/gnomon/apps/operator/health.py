"""
Is an operator well, can it work, and what are its figures at this moment?

An operator is alive while its loop turns. It is ready when it has seen everything and hears the
server; one that only waits for the Lease is ready too. It is not restarted because the server is
away.

Spec: OPERATOR-35, OPERATOR-36.
"""

from collections.abc import Iterator

from gnomon.apps.operator.controller import Controller
from gnomon.apps.operator.figures import PREFIX, families_of
from gnomon.ports import Clock
from gnomon.shell.kubernetes.mirror import SILENT_MS, WATCH_S
from gnomon.shell.observe.counts import Family, build_family, counter, gauge

__all__ = ["STUCK_MS", "UNHEARD_MS", "operator_families", "what_is_dead", "what_is_unready"]

STUCK_MS = 60_000
"""A loop that has not turned for so long never will."""
UNHEARD_MS = 2 * WATCH_S * 1000 + SILENT_MS


def what_is_dead(controller: Controller, clock: Clock) -> str:
    """Why this process is to be restarted; empty while it is alive."""
    turned_ms = controller.turned_ms
    if turned_ms is not None and clock.monotonic_ms() - turned_ms > STUCK_MS:
        return f"nothing was looked at for {(clock.monotonic_ms() - turned_ms) // 1000} s"
    return ""


def what_is_unready(controller: Controller, clock: Clock) -> str:
    """Why this operator could not work now; empty when it could."""
    for what, mirror in (("KronJobs", controller.kronjobs), ("Jobs", controller.jobs)):
        if mirror.trouble:
            return f"{what} cannot be watched: {mirror.trouble}"
        if mirror.alive_ms is None:
            return f"{what} were not seen yet"
        if clock.monotonic_ms() - mirror.alive_ms > UNHEARD_MS:
            return f"nothing was heard of {what} for {UNHEARD_MS // 1000} s"
    if controller.elector is not None and controller.elector.trouble:
        return f"the Lease cannot be had: {controller.elector.trouble}"
    return ""


def operator_families(
    controller: Controller, clock: Clock, *, version: str, started_ms: int
) -> Iterator[Family]:
    """Everything that is counted, and how things are now."""
    yield build_family(PREFIX, "Which Gnomon this is.", version)
    yield from families_of(
        controller.figures,
        {
            "start_time_seconds": ("When this operator was started.", started_ms / 1000),
            "leader": ("Whether this operator is the one that works.", int(controller.leads)),
            "kronjobs": ("KronJobs that are looked after.", len(controller.kronjobs)),
            "jobs": ("Jobs of KronJobs that are there.", len(controller.jobs)),
            "passes_waiting": (
                "KronJobs that are to be looked at now.", controller.queue.due(clock.now_ms())
            ),
            "kronjobs_in_trouble": (
                "KronJobs that are held back after trouble.", controller.queue.held
            ),
        },
    )  # fmt: skip
    mirrors = (("kronjobs", controller.kronjobs), ("jobs", controller.jobs))
    age = gauge(f"{PREFIX}_watch_age_seconds", "How long ago a watch was last heard.")
    lists = counter(f"{PREFIX}_lists_total", "Times that everything of a kind was looked up.")
    for kind, mirror in mirrors:
        if mirror.alive_ms is not None:
            age.add((clock.monotonic_ms() - mirror.alive_ms) / 1000, kind=kind)
        lists.add(mirror.lists, kind=kind)
    yield from (age, lists)
