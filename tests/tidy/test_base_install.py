"""What a base install brings: the packages that `pip install gnomon` puts on a machine."""

import tomllib
from collections.abc import Iterable
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tidy.tree import ROOT

NAMED = {"click", "prometheus-client", "rich", "tzdata", "tzlocal"}
BROUGHT = {*NAMED, "markdown-it-py", "mdurl", "pygments"}
"""Those that Gnomon names, and three that rich needs to draw."""


def packages(requirements: Iterable[str]) -> set[str]:
    """The packages that are installed for these requirements on this machine, without extras."""
    found = map(Requirement, requirements)
    return {
        canonicalize_name(one.name)
        for one in found
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }


def brought(names: set[str]) -> set[str]:
    """These packages, and all that they require."""
    found, to_see = set[str](), set(names)
    while to_see:
        name = to_see.pop()
        found.add(name)
        to_see |= packages(requires(name) or []) - found
    return found


def named() -> set[str]:
    """What the project requires; the metadata of an editable install may be of an older day."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return packages(project["dependencies"])


def test_the_project_names_few_packages() -> None:
    assert named() == NAMED


def test_a_base_install_brings_these_packages_and_no_others() -> None:
    assert brought(named()) == BROUGHT
