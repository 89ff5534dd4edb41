"""
How the operator starts, runs and stops: `gnomon operator run`.

The port for figures and checks is taken first, then access is loaded: without either nothing is
asked. From then on the API server may come and go. The first signal lets passes under way come to
their end; the second leaves at once, which is as safe as a crash.

Spec: OPERATOR-34 to OPERATOR-36, OPERATOR-38.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

from gnomon.apps.operator.controller import Controller, LeaseAt
from gnomon.apps.operator.health import operator_families, what_is_dead, what_is_unready
from gnomon.apps.operator.manifests import ACCOUNT
from gnomon.ports import Clock
from gnomon.shell.http.listening import bind, url_of
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer
from gnomon.shell.observe.log import log, log_lines
from gnomon.shell.observe.page import serving_page
from gnomon.shell.observe.prometheus import page_text
from gnomon.shell.settings import environment
from gnomon.shell.version import installed_version

__all__ = ["OperatorOptions", "run_operator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOptions:
    """How to run."""

    namespace: str | None
    """The one that is looked after; None for all."""
    kubeconfig: str | None
    context: str | None
    leader: bool
    lease_namespace: str | None
    listen: tuple[str, int] | None
    grace_ms: int
    json_log: bool


def run_operator(options: OperatorOptions, clock: Clock) -> bool:
    """Run until told to stop; False when it was told twice."""
    with log_lines(logging.StreamHandler(sys.stderr), as_json=options.json_log):
        return asyncio.run(_run(options, clock))


async def _run(options: OperatorOptions, clock: Clock) -> bool:
    started_ms = clock.now_ms()
    with contextlib.ExitStack() as ports:
        listener = options.listen and ports.enter_context(bind(*options.listen))
        load = load_of(environment(), kubeconfig=options.kubeconfig, context=options.context)
        async with KubernetesServer(load) as api:
            lease = None
            if options.leader:
                home = options.lease_namespace or options.namespace or api.namespace
                lease = LeaseAt(home, ACCOUNT)
            controller = Controller(
                api, clock, reporter=_identity(), namespace=options.namespace, lease=lease
            )
            log(
                logging.INFO, "running", namespace=options.namespace or "all",
                lease="none" if lease is None else f"{lease.namespace}/{lease.name}",
                version=installed_version(),
            )  # fmt: skip
            async with _served(listener, controller, clock, started_ms=started_ms):
                return await _until_stopped(controller, options.grace_ms)


async def _until_stopped(controller: Controller, grace_ms: int) -> bool:
    running = asyncio.ensure_future(controller.run(grace_ms=grace_ms))
    signals = 0

    def on_signal() -> None:
        nonlocal signals
        signals += 1
        if signals == 1:
            controller.stop()
        else:
            running.cancel()

    loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, on_signal)
    try:
        await running
    except asyncio.CancelledError:
        if signals < 2:
            raise
        log(logging.WARNING, "left at once")
        return False
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
    log(logging.INFO, "stopped")
    return True


@contextlib.asynccontextmanager
async def _served(
    listener: socket.socket | None, controller: Controller, clock: Clock, *, started_ms: int
) -> AsyncIterator[None]:
    """Figures at /metrics, checks at /livez and /readyz, where a port was taken for them."""

    async def page() -> str:
        return page_text(
            operator_families(controller, clock, version=installed_version(), started_ms=started_ms)
        )

    if listener is None:
        yield
        return
    checks = {
        "/livez": lambda: what_is_dead(controller, clock),
        "/readyz": lambda: what_is_unready(controller, clock),
    }
    async with serving_page(listener, page, checks=checks):
        log(logging.INFO, "listening", url=url_of(listener.getsockname()[0], listener))
        yield


def _identity() -> str:
    """The name in the Lease and in Events: the pod's, else machine and process."""
    return environment().get("POD_NAME") or f"{socket.gethostname()}-{os.getpid()}"
