"""
How does a command show a list that may be long? So many items, and whether more follow.

A service answers in pages. They are put together up to the limit; what is cut off there is never
left out in silence: a note beside the text, or `next` in the JSON, says how to go on.

Spec: CLIENT-9.
"""

from collections.abc import Callable, Mapping

import click

from gnomon.cli.command import FC
from gnomon.cli.problem import printable
from gnomon.cli.screen import say
from gnomon.cli.service.answers import json_text
from gnomon.cli.service.client import Client

__all__ = ["LIMIT_MAX", "after_option", "limit_option", "listed"]

LIMIT_MAX = 1_000_000
"""How many items one command shows."""
PAGE = 1_000


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
