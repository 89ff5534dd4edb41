"""The documentation is complete and true: everything public has an entry, every example runs."""

import contextlib
import inspect
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import click
import pytest

import gnomon
from gnomon import Recurrence, errors
from gnomon.cli import app
from gnomon.core.cron.dialect import DIALECTS, Dst
from tests.acceptance.command_line import commands_of
from tests.tidy.markdown import Block, anchors, blocks, code_words, headings, links, sections
from tests.tidy.tree import ROOT, markdown_files, relative

REFERENCE = [page for page in markdown_files() if page.parent == ROOT / "docs" / "reference"]
EXAMPLES = [page for page in markdown_files() if relative(page).startswith(("README", "docs/"))]


def with_blocks(language: str) -> list[Path]:
    return [page for page in EXAMPLES if any(b.language == language for b in blocks(page))]


def commands(command: click.Command, path: str = "gnomon") -> Iterator[tuple[str, click.Command]]:
    """Every command that can be run, with the words to write for it."""
    below = commands_of(command)
    for name, inner in sorted(below.items()):
        yield from commands(inner, f"{path} {name}")
    if not below:
        yield path, command


COMMANDS = dict(commands(app))


def documented() -> set[str]:
    return {word for page in REFERENCE for word in code_words(page)}


def test_every_public_name_has_an_entry() -> None:
    assert set(gnomon.__all__) - documented() == set()


def test_every_public_method_of_a_recurrence_has_an_entry() -> None:
    methods = {name for name, _ in inspect.getmembers(Recurrence) if not name.startswith("_")}

    assert methods - documented() == set()


def test_the_page_of_errors_has_one_heading_for_each_code() -> None:
    codes = [getattr(errors, name).code for name in errors.__all__]
    page = ROOT / "docs" / "reference" / "errors.md"

    assert sorted(headings(page)[1:]) == sorted(codes)


def test_every_error_class_has_an_entry() -> None:
    assert set(errors.__all__) - documented() == set()


def test_every_dialect_and_every_policy_has_an_entry() -> None:
    assert {*DIALECTS, *Dst} - documented() == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_stands_in_its_section(name: str) -> None:
    page = ROOT / "docs" / "reference" / "cli.md"
    text = "".join(body for heading, body in sections(page) if heading.startswith(name))
    options = [
        option
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option)
        for option in [*parameter.opts, *parameter.secondary_opts]
        if option != "--help"
    ]

    assert text, f"docs/reference/cli.md has no heading {name}"
    assert [option for option in options if option not in text] == []


@pytest.mark.parametrize("page", markdown_files(), ids=relative)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [target for target in links(page) if not _is_there(page, target)] == []


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, open_pages = set[Path](), [ROOT / "README.md", ROOT / "docs" / "README.md"]
    while open_pages:
        page = open_pages.pop()
        if page.suffix == ".md" and page.is_file() and page not in reached:
            reached.add(page)
            open_pages += [_file(page, target) for target in links(page)]

    assert sorted(map(relative, set(markdown_files()) - reached)) == []


def test_the_first_page_is_a_screen_and_a_half() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 90
    assert any(line.startswith("$ make run ") for line in lines[:12])


@pytest.mark.parametrize("page", with_blocks("python"), ids=relative)
def test_every_python_example_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "example"}
    for block in blocks(page):
        if block.language == "python":
            # Blank lines in front, so that a traceback names the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, relative(page), "exec")
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, namespace)


@pytest.mark.parametrize("page", with_blocks("console"), ids=relative)
def test_every_command_shown_prints_what_is_shown(page: Path) -> None:
    shown = [found for block in blocks(page) for found in _shown_commands(block)]

    different = {
        command: printed
        for command, expected in shown
        if not OutputChecker().check_output(expected, printed := _printed(command), ELLIPSIS)
    }
    assert different == {}


def _file(page: Path, target: str) -> Path:
    path, _, _ = target.partition("#")
    return (page.parent / path).resolve() if path else page


def _is_there(page: Path, target: str) -> bool:
    _, _, anchor = target.partition("#")
    file = _file(page, target)
    return file.exists() and (not anchor or file.suffix != ".md" or anchor in anchors(file))


def _shown_commands(block: Block) -> Iterator[tuple[str, str]]:
    """Each `$ gnomon ...` of a console block, with the output below it."""
    if block.language == "console":
        for part in block.text.split("$ ")[1:]:
            command, _, expected = part.partition("\n")
            if command.startswith("gnomon ") and expected.strip():
                yield command, expected.rstrip() + "\n"


def _printed(command: str) -> str:
    """What the command prints in a terminal of a hundred columns without colours."""
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=ROOT, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    printed = done.stdout + done.stderr
    return "\n".join(line.rstrip() for line in printed.rstrip().splitlines()) + "\n"
