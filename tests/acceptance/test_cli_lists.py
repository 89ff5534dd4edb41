"""
Lists of a service on the command line: none is cut in silence, and where it was cut one can go on.

Every command that has a `--limit` is tried; a new one is not passed over, because it must be given
its arguments here.
"""

import json
from collections.abc import Iterator

import click
import pytest

from gnomon.cli.program import app
from tests.acceptance.command_line import commands_of
from tests.acceptance.serving import Up, up
from tests.clauses import clause

ITEMS = 3
NODE = {"id": "a", "type": "command", "command": ["true"]}
LISTS = {
    "schedule list": ("--text", "listed-"),
    "schedule runs": ("listed-0",),
    "schedule runs of all": ("--user", "runner", "--since", "1h"),
    "dag list": ("--user", "acme"),
}
"""Every command that shows a list, with arguments that find three items."""
NAMES = {"schedule list": "schedule_id", "schedule runs": "idempotency_key",
         "schedule runs of all": "idempotency_key",
         "dag list": "workflow_id"}  # fmt: skip
"""What an item is known by."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("service")
    with up(folder, "--no-samples") as found:
        for number in range(ITEMS):
            done = found.schedule(
                "upsert", "--id", f"listed-{number}", "--dag", "report", "--dag-version",
                "1", "--user", "acme", "--cron", "0 3 * * *",
            )  # fmt: skip
            assert done.code == 0, done.err
            found.schedule(
                "upsert", "--id", "of-runner", "--dag", "report", "--dag-version", "1",
                "--user", "runner", "--cron", "0 3 * * *", "--overlap", "allow",
            )  # fmt: skip
            found.schedule("trigger", "of-runner", "--key", f"key-{number}")
            found.schedule("trigger", "listed-0", "--key", f"key-{number}")
            dag = {"workflow_id": f"dag-{number}", "version": 1, "nodes": [NODE]}
            (folder / "dag.json").write_text(json.dumps(dag))
            done = found.ask("dag", "deploy", str(folder / "dag.json"), "--user", "acme")
            assert done.code == 0, done.err
        yield found


def _command(name: str) -> str:
    return name.removesuffix(" of all")


def limited(command: click.Command, path: str = "") -> Iterator[str]:
    """The commands that have both options of a list."""
    for name, one in commands_of(command).items():
        yield from limited(one, f"{path} {name}".strip())
    if {"limit", "url"} <= {one.name for one in command.params}:
        yield path


@clause("CLIENT-9")
def test_every_list_of_a_service_is_tried_here() -> None:
    assert set(limited(app)) == {_command(name) for name in LISTS}
    assert set(LISTS) == set(NAMES)


@clause("CLIENT-9")
@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_is_cut_says_so_and_how_to_go_on(service: Up, name: str) -> None:
    cut = service.ask(*_command(name).split(), *LISTS[name], "--limit", "2")
    first = service.ask(*_command(name).split(), *LISTS[name], "--limit", "2", "--json").json
    following = str(first["next"])
    rest = service.ask(*_command(name).split(), *LISTS[name], "--limit", "2", "--after", following)

    assert len(cut.lines) == 1 + 2
    assert cut.err == (
        f"note: these are only the first 2; go on with --after {following}, "
        "or show more with --limit\n"
    )
    assert (len(rest.lines), rest.err) == (1 + 1, "")


@clause("CLIENT-9")
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_the_parts_of_a_list_are_the_whole(service: Up, name: str, limit: int) -> None:
    whole = service.ask(*_command(name).split(), *LISTS[name], "--json").json
    after: list[str] = []
    ids, parts = [], 0
    while not parts or after:
        part = service.ask(
            *_command(name).split(), *LISTS[name], "--limit", str(limit), *after, "--json"
        )
        items = part.json["items"]
        assert isinstance(items, list)
        ids += [one[NAMES[name]] for one in items]
        after = [] if part.json["next"] is None else ["--after", str(part.json["next"])]
        parts += 1

    assert isinstance(whole["items"], list)
    assert whole["next"] is None
    assert ids == [one[NAMES[name]] for one in whole["items"]]
    assert (len(ids), parts) == (ITEMS, -(-ITEMS // limit))
