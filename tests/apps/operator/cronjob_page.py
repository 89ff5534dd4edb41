"""
The tables of the page beside CronJob; `python -m tests.apps.operator.cronjob_page` writes them.

They are the rows of `cronjob_rows`, and a test compares them.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.apps.operator.cronjob_rows import REASONS, ROWS, Row

__all__ = ["PAGE", "with_tables"]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "beside-cronjob.md"
_HEADS = {True: "## Where they differ", False: "## Where they do the same"}
_END = "## How this was found"
_DEADLINES = {None: "", 10: "10s", 30: "30s", 7_200: "2h", 1_000_000: "11 days"}


def with_tables(page: str) -> str:
    """The page with the tables as they have to be; its own words stay."""
    before, _, rest = page.partition(_HEADS[True])
    _, _, after = rest.partition(_END)
    return before + "\n".join(_tables()) + "\n" + _END + after


def _tables() -> Iterator[str]:
    for differs, head in _HEADS.items():
        rows = [row for row in ROWS if bool(row.why) is differs]
        yield f"{head}\n"
        last = " why |" if differs else ""
        yield f"| situation | concurrency | deadline | CronJob | KronJob |{last} side by side |"
        yield "|---" * (7 if differs else 6) + "|"
        yield from (_line(row) for row in rows)
        yield ""
        if differs:
            yield from (f"- *{key}*: {why}" for key, why in REASONS.items())
            yield ""


def _line(row: Row) -> str:
    policies = "any" if len(row.policies) == 3 else ", ".join(row.policies)
    cells = [
        row.name, policies, _DEADLINES[row.deadline_s],
        row.cronjob, row.kronjob, *([row.why] if row.why else []), "no" if row.alone else "yes",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
