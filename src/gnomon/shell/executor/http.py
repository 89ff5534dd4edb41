"""
An executor somewhere else: it is asked over HTTP, and answers again when a run begins and ends.

The DAG and the facts of the run are posted, signed, with the idempotency key as a header. What the
answer means is decided here: taken on, not now, never, or not known. A worker that asks again asks
under the same key, and an executor that knows keys starts one run. The executor's word about a run
comes back as a callback (`callback`), so that runs go on without this process.

Spec: EXEC-20 to EXEC-24.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime

from gnomon.core.civil.instant import format_instant, to_epoch
from gnomon.core.ledger.detail import one_line
from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Clock
from gnomon.ports.executor import Accepted, Answer, Feedback, Meta, Refused, Unanswered
from gnomon.shell.executor.signature import Keyring, Purpose, signed
from gnomon.shell.http.outgoing import Fault, Outgoing, Request, Response, Trouble

__all__ = ["ANSWER_MS", "RETRY_AFTER_MAX_MS", "HttpExecutor"]

ANSWER_MS = 10_000
"""How long an executor may take to say whether it takes a run on."""
RETRY_AFTER_MAX_MS = 3_600_000
_RUN_ID_MAX = 200
_SAID_MAX = 200
_NOT_NOW = (408, 409, 425, 429, 503)
"""Statuses that say: nothing was begun, ask again."""


class HttpExecutor:
    """A `gnomon.ports.executor.Executor` at a URL."""

    def __init__(
        self, url: str, keyring: Keyring, outgoing: Outgoing, clock: Clock, *,
        callback_url: str | None = None, answer_ms: int = ANSWER_MS,
    ) -> None:  # fmt: skip
        self._url = url
        self._keyring = keyring
        self._outgoing = outgoing
        self._clock = clock
        self._callback_url = callback_url
        self._answer_ms = answer_ms

    @property
    def detached(self) -> bool:
        return True

    async def run(self, dag_json: str, meta: Meta) -> Answer:
        facts = {"callback_url": self._callback_url, **_facts(meta)}
        body = f'{{"dag":{dag_json},"meta":{json.dumps(facts)}}}'.encode()
        came = await self._ask("POST", Purpose.RUN, meta.idempotency_key, body)
        if isinstance(came, Trouble):
            if came.fault is Fault.UNKNOWN:
                return Unanswered(came.message)
            return Refused(came.message, permanent=came.fault is Fault.REFUSED)
        return self._judge(came, meta.idempotency_key)

    async def feedback(self) -> Sequence[Feedback]:
        """Nothing ever: feedback comes as callbacks, to the routes that receive them."""
        never: asyncio.Future[Sequence[Feedback]] = asyncio.get_running_loop().create_future()
        return await never

    async def adopt(self, key: str, run_id: str) -> bool:
        return True

    async def kill(self, key: str, reason: Reason) -> bool:
        """Ask the executor to end a run; True when it says that the run is over, or unknown."""
        body = json.dumps({"idempotency_key": key, "reason": reason}).encode()
        came = await self._ask("DELETE", Purpose.KILL, key, body)
        return isinstance(came, Response) and (came.status in (404, 410) or _is_good(came))

    async def drain(self, *, grace_ms: int) -> None:
        """Runs go on elsewhere."""

    async def close(self) -> None:
        await self._outgoing.close()

    async def _ask(
        self, method: str, purpose: Purpose, key: str, body: bytes
    ) -> Response | Trouble:
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": key,
            **signed(self._keyring, purpose, body, now_ms=self._clock.now_ms()),
        }
        return await self._outgoing.request(
            Request(method, self._url, headers, body, self._answer_ms)
        )

    def _judge(self, came: Response, key: str) -> Answer:
        if _is_good(came):
            return Accepted(_run_id(came) or key)
        message = f"status {came.status}{_said(came)}"
        if came.status in _NOT_NOW:
            after_ms = _retry_after_ms(came.headers.get("retry-after"), self._clock.now_ms())
            return Refused(message, permanent=False, retry_after_ms=after_ms)
        if came.status >= 500:
            return Unanswered(message)  # it may have come far before it failed
        return Refused(message, permanent=True)


def _facts(meta: Meta) -> dict[str, object]:
    return {
        "source": meta.source,
        "workflow_id": meta.workflow_id,
        "version": meta.version,
        "user_id": meta.user_id,
        "schedule_id": meta.schedule_id,
        "scheduled_for": format_instant(meta.scheduled_for),
        "idempotency_key": meta.idempotency_key,
        "attempt": meta.attempt,
        "params": json.loads(meta.params),
    }


def _is_good(came: Response) -> bool:
    return 200 <= came.status < 300


def _run_id(came: Response) -> str | None:
    """What the executor calls the run, when it says so in a way that can be kept."""
    try:
        found = json.loads(came.body)
    except (ValueError, RecursionError):
        return None
    name = found.get("run_id") if isinstance(found, Mapping) else None
    if isinstance(name, str) and 0 < len(name) <= _RUN_ID_MAX and name.isprintable():
        return name
    return None


def _said(came: Response) -> str:
    text = one_line(came.body[:_SAID_MAX].decode(errors="replace").strip())
    return f": {text}" if text else ""


def _retry_after_ms(text: str | None, now_ms: int) -> int | None:
    """How long to wait, from a number of seconds or a date; None when it does not say."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return min(int(text[:10]) * 1000, RETRY_AFTER_MAX_MS)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(to_epoch(at) * 1000 - now_ms, 0), RETRY_AFTER_MAX_MS)
