"""
Every text that a request can hold, on both stores: the answer is one that the document states.

The places come from the OpenAPI document: each parameter of the address, each header and each text
in a body. The texts are those that stores, parsers and terminals are known to stumble over, and
others that are drawn. The judge knows two rules: nothing from 500 on, and no status that the
document does not state for the operation.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple
from urllib.parse import quote

import httpx2
import pytest

from gnomon.shell.executor.signature import Purpose, signed
from tests.apps.service.http.asking import ask
from tests.apps.service.http.bare import bare_app
from tests.apps.service.http.service_stage import KEYS, MINUTELY, NOON, Stage, play
from tests.clauses import clause

ODD = [
    "\0", "a\0b", "%00", "", " ", "'", '"', "\\", "%", "_", "~", "/", "//", "..a", "1~", "~1",
    "-1~x", "999999999999~x", "9" * 20, "-5", "0", "1e9", "NaN", "null", "true", "\u202e",
    "\ufffe", "\U0010ffff", "\u00e9", "e\u0301", "\x7f", "\x85", "a" * 600, "a/b",
    "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "{}", "[]", "x;y",
    "2026-03-01T12:00:00+14:00", "9" * 40, "minutely", "report", "* * * * *",
    "manual:minutely:k", "2026-02-30T00:00:00Z",
]  # fmt: skip
DRAWN = 4
"""Further texts for each place."""
EVERY = "GNOMON_EVERY_TEXT" in os.environ
"""Whether each place gets each of the odd texts, and not some of them."""
ALPHABET = "a0-~.:/%'\\\0\x1f\x7f\u00df\u2028\ud7ff\U0001f600"
FILLING = {
    "workflow_id": "report", "version": 1, "user_id": "acme", "schedule_id": "minutely",
    "key": "manual:minutely:k", "node_id": "a", "run_at": "2026-03-01T12:00:00Z",
    "scheduled_for": "2026-03-01T12:00:00Z", "idempotency_key": "k", "paused": True,
    "cron_expr": "* * * * *", "start": "2026-03-01T11:00:00Z", "end": "2026-03-01T11:05:00Z",
    "status": "SUCCESS", "nodes": [{"id": "a", "type": "action", "uses": "no"}],
}  # fmt: skip


class Place(NamedTuple):
    """Where a text can stand."""

    method: str
    path: str
    where: str
    name: str


Operation = Mapping[str, list[dict[str, str]]]
"""An operation of the document, as far as it is read here: mostly its parameters."""
DOCUMENT = ask(bare_app(), "GET", "/openapi.json", token="acme-read").json
FOUND = DOCUMENT["paths"]
assert isinstance(FOUND, dict)
PATHS: dict[str, dict[str, Operation]] = FOUND


def _is_text(schema: dict[str, object]) -> bool:
    kinds = schema.get("anyOf", [schema])
    assert isinstance(kinds, list)
    return any(one.get("type") == "string" for one in kinds)


def _form(operation: Operation) -> dict[str, dict[str, object]]:
    """The fields of a body."""
    text = json.dumps(operation.get("requestBody", {}))
    name = text.partition("#/components/schemas/")[2].partition('"')[0]
    components = DOCUMENT["components"]
    assert isinstance(components, dict)
    found = components["schemas"].get(name, {}).get("properties", {})
    assert isinstance(found, dict)
    return found


def _places() -> Iterator[Place]:
    for path, methods in PATHS.items():
        for method, operation in methods.items():
            for one in operation.get("parameters", ()):
                if one["name"] == "follow":
                    continue  # a stream that is followed does not end
                yield Place(method, path, one["in"], one["name"])
            for name, schema in _form(operation).items():
                if _is_text(schema):
                    yield Place(method, path, "body", name)


PLACES = list(_places())


def _texts(place: Place) -> list[str]:
    random = Random(repr(place))
    drawn = ["".join(random.choices(ALPHABET, k=random.randrange(1, 30))) for _ in range(DRAWN)]
    return [*(ODD if EVERY else random.sample(ODD, 9)), *drawn]


async def _answer(stage: Stage, client: httpx2.AsyncClient, place: Place, text: str) -> int:
    operation = PATHS[place.path][place.method]
    parameters = operation.get("parameters", ())
    path, query, headers = place.path, dict[str, str](), dict[str, str]()
    for one in parameters:
        name, mine = one["name"], one["name"] == place.name and one["in"] == place.where
        value = text if mine else str(FILLING.get(name, ""))
        if one["in"] == "path":
            path = path.replace(f"{{{name}}}", quote(value, safe="") or "-")
        elif mine or one["required"]:
            (query if one["in"] == "query" else headers)[name] = value
    if place.path == "/events":
        query.setdefault("follow", "false")  # or it would go on
    body = None
    fields = _form(operation)
    if fields:
        filled = {name: FILLING[name] for name in fields if name in FILLING}
        filled |= {place.name: text} if place.where == "body" else {}
        body = json.dumps(filled).encode()
        headers["content-type"] = "application/json"
        if place.path == "/executor/callbacks":
            headers |= signed(KEYS, Purpose.CALLBACK, body, now_ms=NOON * 1000)
    line = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    raw = {name.encode(): value.encode() for name, value in headers.items()}
    found = await client.request(
        place.method, f"{path}?{line}" if line else path, headers=raw, content=body
    )
    return found.status_code


@clause("HTTP-26", "HTTP-28")
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_any_text_anywhere_gets_an_answer_that_the_document_states(
    store: str, request: pytest.FixtureRequest
) -> None:
    postgres = None
    if store == "postgres":
        postgres = request.getfixturevalue("common_database"), request.getfixturevalue("schema")

    async def story(stage: Stage) -> list[str]:
        wrong = []
        assert (await stage.acme.post("/schedules/upsert", json=MINUTELY)).status_code == 200
        headers = {"idempotency-key": "k"}
        await stage.acme.post("/schedules/minutely/trigger", headers=headers)
        for place in PLACES:
            operations = PATHS[place.path]
            stated = list(map(str, operations[place.method]["responses"]))
            for number, text in enumerate(_texts(place)):
                client = (stage.acme, stage.admin)[number % 2]
                status = await _answer(stage, client, place, text)
                if status >= 500 or str(status) not in stated:
                    wrong.append(f"{place} {text!r}: {status}")
                await asyncio.sleep(0)
        return wrong

    assert play(story, postgres=postgres) == []


@clause("HTTP-28")
@pytest.mark.parametrize(
    "path", ["/schedules?text=a%00", "/runs/a%00", "/audit?schedule_id=%00", "/schedules/%00"]
)
def test_a_text_that_no_store_keeps_is_refused_by_name(path: str) -> None:
    answer = ask(bare_app(), "GET", path, token="admin")

    assert answer.status == 422
    assert "has a NUL, which no store keeps" in str(answer.json["detail"])
