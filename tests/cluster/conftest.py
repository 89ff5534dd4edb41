"""What needs a real Kubernetes, which `make kube` builds; `make test-operator` runs it."""

from collections.abc import Iterator

import pytest

from tests.kube.cluster import Cluster


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """A cluster of one module, for tests that break it and leave it whole."""
    with Cluster() as cluster:
        yield cluster
