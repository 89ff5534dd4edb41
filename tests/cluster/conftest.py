"""The cluster that the tests of one process share, and a namespace for each of them."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.kube.cluster import Cluster

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Do not stop any part of it; `own_cluster` is for that."""
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """A cluster of one module, for tests that break it and leave it whole."""
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    """An empty namespace of the shared cluster."""
    name = f"test-{next(_NUMBERS)}"
    cluster.kubectl("create", "namespace", name)
    return name
