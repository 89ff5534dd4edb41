"""
What does the environment say? The one place that reads it.

A program that has settings takes them as a mapping, so that tests and other hosts give their own.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["environment"]


def environment() -> Mapping[str, str]:
    """The environment of this process, as it is now."""
    return MappingProxyType(dict(os.environ))
