"""Which Gnomon is installed here?"""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["installed_version"]


def installed_version() -> str:
    """Its version; empty in a source tree that was never installed."""
    try:
        return version("gnomon")
    except PackageNotFoundError:
        return ""
