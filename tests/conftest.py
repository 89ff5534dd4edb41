"""How the suite runs: how hard hypothesis looks, and `--clause ID` for the tests of one promise."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Timing never decides a test, so nothing here has a deadline and nothing is "too slow".
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", settings.get_profile("dev"), derandomize=True, max_examples=400, print_blob=True
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--clause", action="append", default=[], metavar="ID",
        help="run only the tests of this clause of docs/spec; may be given several times",
    )  # fmt: skip


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = set(config.getoption("--clause"))
    if not wanted:
        return
    chosen = [item for item in items if wanted & _clauses_of(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _clauses_of(item: pytest.Item) -> set[str]:
    return {clause for mark in item.iter_markers("clause") for clause in mark.args}
