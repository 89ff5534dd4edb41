"""The ways through the house that ARCHITECTURE.md tells lead through functions that are there."""

import ast
import re

import pytest

from tests.tidy.tree import ROOT, parse

PAGE = ROOT / "ARCHITECTURE.md"
WAYS = ("`gnomon run FILE`", "`POST /schedules/upsert`", "A krontab line",
        "A registration of `gnomon.Scheduler`", "An event of a workflow")  # fmt: skip


def ways() -> dict[str, list[tuple[str, str]]]:
    """For each way, its functions with their files, in their order."""
    text = PAGE.read_text(encoding="utf-8").partition("## Five ways through the house")[2]
    found = {}
    for part in text.partition("\n## ")[0].split("\n### ")[1:]:
        title, _, body = part.partition("\n")
        steps, file = list[tuple[str, str]](), ""
        for code in re.findall(r"`([^`]+)`", body):
            named = re.fullmatch(r"([\w/]+\.py): ([\w.]+)", code)
            if named:
                file = named[1]
                steps.append((file, named[2]))
            elif re.fullmatch(r"[\w.]+", code):
                steps.append((file, code))
        found[title] = steps
    return found


def names(file: str) -> set[str]:
    """The functions and classes of a module, methods after the name of their class and a dot."""
    found = set[str]()
    for node in parse(ROOT / "src" / "gnomon" / file).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            within = (ast.FunctionDef, ast.AsyncFunctionDef)
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, within)}
    return found


def test_five_ways_are_told() -> None:
    assert tuple(ways()) == WAYS


@pytest.mark.parametrize("way", WAYS)
def test_each_step_of_a_way_names_a_function_that_is_there(way: str) -> None:
    steps = ways()[way]
    assert len(steps) > 5
    assert [step for step in steps if step[1] not in names(step[0])] == []


@pytest.mark.parametrize("way", WAYS)
def test_no_step_of_a_way_is_told_twice(way: str) -> None:
    steps = ways()[way]
    assert len(steps) == len(set(steps))
