"""
Hints are followed: what an error says to write is written, and is then accepted.

Every field of every body whose form is text is given what is no text, and the hint is applied as a
person would: the text in its quotes, or the value itself in quotes. Every other field is given its
own value in quotes, and numbers with a point, and the hint is applied in the same way.
"""

import json
import re

import pytest

from gnomon.apps.service.http import forms
from gnomon.shell.http.openapi import Form
from tests.apps.service.http.service_stage import MINUTELY, NOON, Stage, play
from tests.clauses import clause

PATHS: dict[str, tuple[type[Form], dict[str, object]]] = {
    "/schedules/upsert": (forms.ScheduleForm, MINUTELY),
    "/schedules/diff": (forms.ScheduleForm, MINUTELY),
    "/schedules/preview": (forms.PreviewForm, {"cron_expr": "* * * * *"}),
    "/schedules/pause": (forms.PauseForm, {"schedule_id": "minutely", "paused": True}),
    "/schedules/pause-many": (forms.BulkPauseForm, {"paused": True}),
    "/schedules/minutely/trigger": (forms.TriggerForm, {}),
    "/schedules/minutely/backfill": (
        forms.BackfillForm, {"start": "2026-03-01T11:00:00Z", "end": "2026-03-01T11:01:00Z"},
    ),
    "/run-launcher/start": (
        forms.StartForm,
        {"workflow_id": "report", "version": 1, "user_id": "acme", "idempotency_key": "k",
         "scheduled_for": "2026-03-01T12:00:00Z"},
    ),
}  # fmt: skip
SECONDS = [
    NOON - 60, NOON * 1000 + 86_400_000, NOON + 86_400.5, 90, 3_601, 86_400, 0, -1, 1e300, [], {},
    True, 1.5,
]  # fmt: skip
IN_QUOTES = re.compile(r'"([^"]*)"')
ALONE: dict[str, dict[str, object]] = {
    "every": {"cron_expr": None}, "once": {"cron_expr": None},
    "anchor": {"cron_expr": None, "every": "1h"},
}  # fmt: skip
"""What must go along with a field."""
FREE = ("reason", "text", "salt", "idempotency_key")
"""Texts that can be anything; of the others a number in quotes is mostly none."""


BARE_TOLD = re.compile(r"write (\d+|true|false), without quotes")
BARE: dict[str, list[float]] = {"integer": [2, 2.0, 60.0], "boolean": [True, False]}
"""What is meant, by the kind of a field; it is sent in quotes too."""


def cases(*kinds: str) -> list[tuple[str, str]]:
    found = []
    for path, (form, _) in PATHS.items():
        fields = form.model_json_schema()["properties"]
        for name, schema in fields.items():
            own = [one.get("type") for one in schema.get("anyOf", [schema])]
            if set(kinds) & set(own) and "enum" not in json.dumps(schema):
                found.append((path, name))
    return found


@clause("SERVICE-9", "HTTP-2")
@pytest.mark.parametrize(("path", "name"), cases("string"))
def test_what_a_hint_says_to_write_is_accepted(path: str, name: str) -> None:
    body = PATHS[path][1] | ALONE.get(name, {})

    async def story(stage: Stage) -> list[str]:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        wrong = []
        for got in SECONDS:
            refused = await stage.acme.post(path, json=body | {name: got})
            if refused.status_code < 400:
                continue
            [error] = refused.json()["errors"]
            told = IN_QUOTES.search(error["hint"])
            if told is None and name not in FREE:
                continue
            text = json.dumps(got)[:50] if told is None else told[1]
            again = await stage.acme.post(path, json=body | {name: text})
            reason = "" if again.status_code < 400 else again.json()["detail"]
            if reason and not _is_of_the_instant(reason):
                wrong.append(f"{got!r}: {error['hint']!r}: {reason}")
        return wrong

    assert play(story) == []


@clause("SERVICE-9", "HTTP-2")
@pytest.mark.parametrize(("path", "name"), cases(*BARE))
def test_what_a_hint_says_to_write_without_quotes_is_accepted(path: str, name: str) -> None:
    kind = "boolean" if (path, name) in cases("boolean") else "integer"

    async def story(stage: Stage) -> list[str]:
        await stage.acme.post("/schedules/upsert", json=MINUTELY)
        wrong = []
        for meant in BARE[kind]:
            for got in (meant, json.dumps(meant)):
                refused = await stage.acme.post(path, json=PATHS[path][1] | {name: got})
                if refused.status_code < 400:
                    continue
                [error] = refused.json()["errors"]
                told = BARE_TOLD.fullmatch(error["hint"])
                value = json.loads(told[1]) if told else got
                again = await stage.acme.post(path, json=PATHS[path][1] | {name: value})
                if again.status_code >= 400:
                    wrong.append(f"{got!r}: {error['hint']!r}: {again.json()['detail']}")
        return wrong

    assert play(story) == []


def _is_of_the_instant(reason: str) -> bool:
    """Whether it is read, and only another time is wanted than the sender has sent."""
    wanted = (
        "must not lie before", "must not lie ahead", "would be more than", "must lie ahead",
        "goes with a pause only", "has passed", "must not be after", "lies after",
    )  # fmt: skip
    return any(one in reason for one in wanted)


@clause("SERVICE-9")
def test_a_number_of_seconds_is_shown_as_its_instant() -> None:
    async def story(stage: Stage) -> None:
        hints = []
        for got in (NOON + 60, (NOON + 60) * 1000, 5, "x"):
            body = MINUTELY | {"start_at": got}
            answer = (await stage.acme.post("/schedules/upsert", json=body)).json()
            hints.append(answer["errors"][0]["hint"])
        length = MINUTELY | {"max_duration": 90}
        answer = (await stage.acme.post("/schedules/upsert", json=length)).json()

        assert hints == [
            'write "2026-03-01T12:01:00Z"', 'write "2026-03-01T12:01:00Z"',
            'write "2027-01-01T00:00:00Z"', "write e.g. 2026-03-01T00:00:00Z or with +02:00",
        ]  # fmt: skip
        assert answer["errors"][0]["hint"] == 'write "90s", if seconds are meant'

    play(story)
