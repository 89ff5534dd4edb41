"""
Post each order to a web hook, once, whatever happens to this process.

Orders are JSON files in the folder `orders`; the address of the hook is in the file `webhook.url`.
When the process dies between the request and its answer, the hook is asked whether it has seen the
key. Try it: `gnomon workflow run webhook.py`, beside a server that answers as described below.

    POST URL        with the header Idempotency-Key
    GET  URL/KEY    200 when a request with this key was taken, 404 when not
"""

import json
from datetime import timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from gnomon.errors import LogicError, TransientError
from gnomon.workflow import (
    Call,
    Context,
    Finding,
    Outcome,
    Prepared,
    Workflow,
    applied,
    not_applied,
    unknown,
)

IN_FLIGHT_AT_MOST = timedelta(milliseconds=300)
"""A request that has left is taken within this time, or not at all."""
TIMEOUT_S = 10

webhook = Workflow("webhook", title="Orders to the web hook")


@webhook.producer(interval="1s", publishes=["orders"])
def collect(ctx: Context, state: object) -> None:
    """Publish every file; those that were published before are not published again."""
    for file in sorted(Path("orders").glob("*.json")):
        order = ctx.input("folder", "order", file.stem, title=file.name)
        ctx.publish("orders", file.stem, json.loads(file.read_text()), inputs=[order])


post = webhook.consumer("post", subscribes=["orders"])


@post.prepare
def choose(ctx: Context, state: object) -> object:
    orders = ctx.peek("orders", limit=1)
    return {
        "reservations": [{"topic": "orders", "ids": [one.id]} for one in orders],
        "data": [{"id": one.id, "order": one.payload} for one in orders],
        "ui": {"title": f"Post order {orders[0].id}" if orders else ""},
    }


@post.mutate
def mutate(ctx: Context, prepared: Prepared) -> None:
    (order,) = prepared.data
    ctx.mutate("deliver", order, title=f"Post order {order['id']}")


@post.next
def conclude(ctx: Context, prepared: Prepared, outcome: Outcome) -> None:
    if outcome.status == "applied":
        ctx.note(f"{prepared.title}: delivered")


@webhook.tool("deliver")
def deliver(call: Call) -> object:
    headers = {"Idempotency-Key": call.key, "Content-Type": "application/json"}
    body = json.dumps(call.params).encode()
    try:
        with urlopen(Request(_url(), body, headers), timeout=TIMEOUT_S) as answer:  # noqa: S310
            return json.load(answer)
    except HTTPError as error:
        if 400 <= error.code < 500:  # it says that it has done nothing
            raise LogicError(f"the hook refuses: {error}") from error
        raise TransientError(f"the hook is in trouble: {error}") from error


@deliver.reconcile
def was_delivered(call: Call) -> Finding:
    try:
        with urlopen(f"{_url()}/{quote(call.key, safe='')}", timeout=TIMEOUT_S) as answer:  # noqa: S310
            return applied(json.load(answer))
    except HTTPError as error:
        if error.code != 404:
            return unknown(str(error))
    return not_applied() if call.now - call.first_tried > IN_FLIGHT_AT_MOST else unknown()


def _url() -> str:
    return Path("webhook.url").read_text().strip()
