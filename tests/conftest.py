"""
How the suite runs: how hard hypothesis looks, `--clause ID` for the tests of one promise, and the
PostgreSQL that the tests share.
"""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

from tests.kube.cluster import Cluster
from tests.postgres import sharing
from tests.postgres.server import Server

# Timing never decides a test, so nothing here has a deadline and nothing is "too slow".
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", settings.get_profile("dev"), derandomize=True, max_examples=400, print_blob=True
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


_NUMBERS = count(1)
_SYSTEM, _CLUSTER = (Path(__file__).parent / name for name in ("system", "cluster"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What needs more than a clone has runs by `make test-system` and `make test-operator`."""
    is_asked_for = any(_SYSTEM.name in argument for argument in config.invocation_params.args)
    if collection_path == _SYSTEM and not is_asked_for:
        return True
    return True if collection_path == _CLUSTER and not config.getoption("--cluster") else None


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        sharing.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        sharing.end()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker writes its coverage while the controller waits; after ten seconds it is killed."""
    coverage = Coverage.current()
    if hasattr(session.config, "workerinput") and coverage is not None:
        coverage.stop()
        coverage.save()


@pytest.fixture(scope="session")
def postgres() -> Server:
    """The PostgreSQL server of this run; do not stop it."""
    return sharing.shared_server()


@pytest.fixture(scope="session")
def kube() -> Iterator[Cluster]:
    """The Kubernetes of this process; do not stop any part of it, and use your own namespace."""
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def kube_namespace(kube: Cluster) -> str:
    """An empty namespace of that Kubernetes."""
    name = f"test-{next(_NUMBERS)}"
    kube.kubectl("create", "namespace", name)
    return name


@pytest.fixture(scope="session")
def common_database(postgres: Server) -> str:
    """The address of a database that the tests of one process share, each with its own schema."""
    return sharing.create_database(postgres, f"common-{os.getpid()}")


@pytest.fixture
def database(postgres: Server) -> str:
    """The address of an empty database."""
    return sharing.create_database(postgres, f"own-{os.getpid()}-{next(_NUMBERS)}")


@pytest.fixture
def schema() -> str:
    """A name that no other schema of this process has."""
    return f"s{next(_NUMBERS)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--clause", action="append", default=[], metavar="ID",
        help="run only the tests of this clause of docs/spec; may be given several times",
    )  # fmt: skip
    parser.addoption(
        "--cluster", action="store_true", help="run what needs a real Kubernetes too: `make kube`"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = set(config.getoption("--clause"))
    on_cluster = bool(config.getoption("--cluster"))
    chosen = [
        item
        for item in items
        if (not wanted or wanted & _clauses_of(item))
        and (on_cluster or item.get_closest_marker("cluster") is None)
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _clauses_of(item: pytest.Item) -> set[str]:
    return {clause for mark in item.iter_markers("clause") for clause in mark.args}
