"""
How do the answers of a service look on a screen? Lines and columns, from the JSON that came.

Every command can print the JSON itself instead. What comes from outside is made printable. A list
is put together from the pages of the service up to a limit; what is cut off there is never left out
in silence: a note beside the text, or `next` in the JSON, says how to go on.

Spec: CLIENT-4, CLIENT-9.
"""

import json
from collections.abc import Callable, Mapping, Sequence

import click

from gnomon.cli.click_parts import FC
from gnomon.cli.problem import printable
from gnomon.cli.screen import say
from gnomon.cli.service.client import Client

__all__ = [
    "LIMIT_MAX",
    "after_option",
    "all_run_rows",
    "columns",
    "dag_rows",
    "facts",
    "json_text",
    "limit_option",
    "listed",
    "listing",
    "run_rows",
    "schedule_rows",
    "schedule_text",
    "warn",
]

Answer = Mapping[str, object]
LIMIT_MAX = 1_000_000
"""How many items one command shows."""
PAGE = 1_000


def json_text(answer: object) -> str:
    text = json.dumps(answer, indent=2, ensure_ascii=False)
    lines = text.split("\n")  # what JSON lets stand in a text, and a terminal would obey
    return "".join(f"{_escaped(line)}\n" for line in lines)


def facts(answer: Answer, *, leave_out: Sequence[str] = ()) -> str:
    """One line for each fact; what is not there is left out."""
    shown = {
        name: _text(value)
        for name, value in answer.items()
        if name not in leave_out and value not in (None, "", [], {})
    }
    width = max(map(len, shown), default=0)
    return "".join(f"{name:<{width}}  {text}\n" for name, text in shown.items())


def warn(answer: Answer, *, about: str = "") -> None:
    """Say on standard error what an answer warns of."""
    found = answer.get("warnings")
    for one in found if isinstance(found, list) else []:
        say(f"warning: {about}{_text(one)}", err=True)


def listing(title: str, items: object) -> str:
    """A title, and below it one line for each item; nothing when there is none."""
    found = items if isinstance(items, list) else []
    return "".join([f"{title}\n", *(f"  {_text(one)}\n" for one in found)]) if found else ""


def schedule_rows(items: object) -> str:
    names = ("schedule", "when", "zone", "next run", "state")
    return columns(names, [_schedule_row(one) for one in _objects(items)], empty="no schedules\n")


def dag_rows(items: object) -> str:
    names = ("dag", "version", "user", "deployed")
    keys = ("workflow_id", "version", "user_id", "created_at")
    rows = [[_text(one.get(key)) for key in keys] for one in _objects(items)]
    return columns(names, rows, empty="no DAGs\n")


def schedule_text(found: Answer) -> str:
    """One schedule, and when it runs next as things are."""
    runs = listing("next runs", found.get("preview"))
    if not runs and found.get("paused"):
        name = _text(found.get("schedule_id"))
        runs = f"no next run while it is paused; gnomon schedule resume {name} lets it go on\n"
    return facts(found, leave_out=["preview"]) + runs


def run_rows(items: object) -> str:
    names = ("run at", "status", "outcome", "reason", "periods", "key")
    rows = [
        [
            _text(one.get("run_at")),
            _text(one.get("status") or one.get("state")),
            _text(one.get("outcome")),
            _text(one.get("reason")),
            _text(one.get("periods")),
            _text(one.get("idempotency_key")),
        ]
        for one in _objects(items)
    ]
    return columns(names, rows, empty="no runs\n")


def all_run_rows(items: object) -> str:
    names = ("schedule", "run at", "ended", "status", "reason", "detail", "key")
    rows = [
        [
            _text(one.get("schedule_id")),
            _text(one.get("run_at")),
            _text(one.get("ended_at")),
            _text(one.get("status") or one.get("state")),
            _text(one.get("reason")),
            _text(one.get("detail") or None),
            _text(one.get("idempotency_key")),
        ]
        for one in _objects(items)
    ]
    return columns(names, rows, empty="no runs\n")


def columns(names: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str = "") -> str:
    """A table of plain text."""
    if not rows:
        return empty
    table = [list(names), *rows]
    widths = [max(len(row[place]) for row in table) for place in range(len(names))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
    return "\n".join(lines) + "\n"


def _schedule_row(one: Answer) -> list[str]:
    when = one.get("cron_expr") or one.get("every") or one.get("once")
    return [
        _text(one.get("schedule_id")),
        _text(when),
        _text(one.get("timezone")),
        _text(one.get("next_run_at")),
        "paused" if one.get("paused") else "active",
    ]


def _escaped(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)


def _objects(items: object) -> list[Answer]:
    return [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case str():
            return printable(value)
        case list():
            return ", ".join(_text(one) for one in value)
        case _:
            return printable(json.dumps(value) if isinstance(value, dict) else str(value))


def limit_option(default: int) -> Callable[[FC], FC]:
    return click.option(
        "--limit", type=click.IntRange(1, LIMIT_MAX), default=default, metavar="N",
        help="How many at most.",
    )  # fmt: skip


after_option = click.option(
    "--after", metavar="NEXT", help="Go on where a list was cut; it says where."
)


def listed(
    client: Client, path: str, query: Mapping[str, object], show: Callable[[object], str],
    limit: int, after: str | None, *, as_json: bool,
) -> str:  # fmt: skip
    """The items of a list from a place on; where it is cut, how to go on."""
    items, following = _pages(client, path, query, limit, after)
    if as_json:
        return json_text({"items": items, "next": following})
    if following is not None:
        noun = "only the first" if after is None else "only the next"
        say(
            f"note: these are {noun} {limit}; go on with --after {printable(following)}, "
            "or show more with --limit",
            err=True,
        )
    return show(items)


def _pages(
    client: Client, path: str, query: Mapping[str, object], limit: int, after: str | None
) -> tuple[list[dict[str, object]], str | None]:
    """As many items as are wanted, page by page, and where those that follow begin."""
    items: list[dict[str, object]] = []
    while True:
        size = min(PAGE, limit - len(items))
        page = client.get(path, **query, after=after, limit=size)
        found, following = page.get("items"), page.get("next")
        items += [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        after = None if following is None else str(following)
        if after is None or len(items) >= limit:
            return items, after
