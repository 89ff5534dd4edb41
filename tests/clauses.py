"""The mark that ties a test to the promises it holds Gnomon to."""

import pytest

__all__ = ["clause"]


def clause(*ids: str) -> pytest.MarkDecorator:
    """`@clause("DST-2")`: this test fails when the promise DST-2 of docs/spec is broken."""
    return pytest.mark.clause(*ids)
