"""Scripts as modules: what authors write in real ones works, and its folder belongs to it."""

import shutil
import typing
from collections.abc import Mapping
from pathlib import Path

import pytest

from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.failure import classify
from gnomon.apps.workflow.script import load_workflow, make_script
from gnomon.apps.workflow.script_modules import gather, run_script
from gnomon.errors import DefinitionError
from tests.clauses import clause

END = """
from gnomon.workflow import Workflow
orders = Workflow("orders")
orders.producer("poll", interval="5m")(lambda ctx, state: FOUND)
"""
KINDS = {
    "annotations that are put off, and a dataclass": """
from __future__ import annotations
from dataclasses import dataclass, field, KW_ONLY
from typing import ClassVar, get_type_hints
@dataclass(frozen=True, slots=True)
class Order:
    kind: ClassVar[str] = "order"
    _: KW_ONLY
    name: str = "five"
    parts: list[Order] = field(default_factory=list)
FOUND = Order(parts=[Order()]).name if get_type_hints(Order)["parts"] == list[Order] else ""
""",
    "an enumeration that is pickled": """
import enum, pickle
class Kind(enum.Enum):
    FIVE = "five"
FOUND = pickle.loads(pickle.dumps(Kind.FIVE)).value
""",
    "a typed tuple and a protocol": """
from __future__ import annotations
from typing import NamedTuple, Protocol, runtime_checkable
@runtime_checkable
class Named(Protocol):
    name: str
class Order(NamedTuple):
    name: str
FOUND = Order("five").name if isinstance(Order("five"), Named) else ""
""",
    "a module beside it": "import shared\nFOUND = shared.FIVE\n",
    "a name of a module beside it": "from shared import FIVE as FOUND\n",
    "a module beside it, within a function": (
        "def found():\n    from shared import FIVE\n    return FIVE\nFOUND = found()\n"
    ),
    "a package beside it, with relative imports": "from parts.inner import FOUND\n",
    "a module of a package by its whole name": "import parts.inner\nFOUND = parts.inner.FOUND\n",
    "a module of a package as a name": "from parts import inner\nFOUND = inner.FOUND\n",
    "a folder without an __init__": "from bare.thing import FOUND\n",
    "a star": "from shared import *\nFOUND = FIVE\n",
}
BESIDE = {
    "shared.py": "import deeper\nFIVE = deeper.FIVE\n",
    "deeper.py": "from __future__ import annotations\nFIVE: Missing = 'five'\n",
    "unused.py": "raise ValueError\n",
    "parts/__init__.py": "from . import inner\n",
    "parts/inner.py": "from ..parts.other import FOUND\n",
    "parts/other.py": "from .last import FOUND\nimport shared\n",
    "parts/last.py": "FOUND = 'five'\n",
    "bare/thing.py": "FOUND = 'five'\n",
}


def put(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def polled(made: Workflow) -> object:
    handler = made.producers["poll"].handler
    assert handler is not None
    return handler(None, None)


@clause("FLOW-27", "FLOW-28")
@pytest.mark.parametrize("kind", KINDS)
def test_a_script_may_have(kind: str, tmp_path: Path) -> None:
    folder = put(tmp_path / "folder", BESIDE)
    text = KINDS[kind] + END

    made = load_workflow(text, where=str(folder / "orders.py"), folder=folder)
    kept = make_script(made, text, reason="deploy")
    shutil.rmtree(folder)
    again = load_workflow(text, where="orders version 1", modules=made.modules)

    assert polled(made) == polled(again) == "five"
    assert "unused.py" not in kept.modules


@clause("FLOW-28")
def test_a_change_of_a_module_beside_a_script_is_another_version(tmp_path: Path) -> None:
    text = "import shared\nFOUND = shared.FIVE\n" + END
    folder = put(tmp_path, {"shared.py": "FIVE = 5\n", "other.py": "1\n"})

    def digest() -> str:
        return make_script(
            load_workflow(text, where="orders.py", folder=folder), text, reason="deploy"
        ).digest

    first = digest()
    put(tmp_path, {"other.py": "2\n"})
    assert digest() == first
    put(tmp_path, {"shared.py": "FIVE = 6\n"})
    assert digest() != first


@clause("FLOW-28")
def test_two_scripts_each_see_their_own_module_of_one_name(tmp_path: Path) -> None:
    text = "def found():\n    import shared\n    return shared.FIVE\nFOUND = None\n" + END.replace(
        "FOUND", "found()"
    )
    one = put(tmp_path / "one", {"shared.py": "FIVE = 1\n"})
    two = put(tmp_path / "two", {"shared.py": "FIVE = 2\n"})
    first = load_workflow(text, where=str(one / "orders.py"), folder=one)
    second = load_workflow(text, where=str(two / "orders.py"), folder=two)

    assert (polled(first), polled(second), polled(first)) == (1, 2, 1)
    with pytest.raises(ModuleNotFoundError):
        __import__("shared")


@clause("FLOW-27")
def test_a_module_knows_its_name_and_is_found_by_it() -> None:
    module = run_script("class A:\n    x: 'A'\n", where="a.py", modules={})

    assert typing.get_type_hints(module.A) == {"x": module.A}


@clause("FLOW-26", "FLOW-27")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere_to_be_found\n", "no module nowhere_to_be_found, line 1"),
        ("from shared import gone\n", "cannot import name 'gone'"),
        ("from . import shared\n", "line 1"),
        ("\n\nraise ValueError('no')\n", "ValueError: no, line 3"),
        ("import broken\n", "must be Python"),
        ("import unhappy\n", "no module missing_here"),
    ],
)
def test_what_cannot_be_imported_is_said_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    folder = put(
        tmp_path,
        {"shared.py": "", "broken.py": "x = (\n", "unhappy.py": "import missing_here\n"},
    )

    with pytest.raises(DefinitionError, match=said):
        load_workflow(text + END, where=str(folder / "orders.py"), folder=folder)


@clause("FLOW-28")
def test_modules_that_cannot_be_kept_are_refused(tmp_path: Path) -> None:
    put(tmp_path, {"large.py": f"x = '{'a' * 1_000_000}'\n"})
    (tmp_path / "odd.py").write_bytes(b"\xff\xfe")

    with pytest.raises(DefinitionError, match="at most 1000000 characters"):
        load_workflow("import large\n" + END, where="orders.py", folder=tmp_path)
    with pytest.raises(DefinitionError, match="that can be read"):
        load_workflow("import odd\n" + END, where="orders.py", folder=tmp_path)


@clause("FLOW-28")
def test_what_is_no_module_beside_it_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, {"sys.py": "", "gnomon/__init__.py": "", "csv.py": "OWN = True\n"})

    assert gather("import sys, json\nfrom gnomon import workflow\n", tmp_path) == {}
    assert list(gather("import csv\n", tmp_path)) == ["csv.py"]
    assert gather("x = (", tmp_path) == {}


@clause("FAIL-18")
def test_a_traceback_shows_the_lines_of_a_script_that_came_from_the_store() -> None:
    module = run_script(
        "import shared\ndef fail():\n    shared.fail()\n", where="orders version 3",
        modules={"shared.py": "def fail():\n    raise ValueError('no')  # here\n"},
    )  # fmt: skip
    with pytest.raises(ValueError, match="no") as raised:
        module.fail()

    told = classify(raised.value, by_tool=False).traceback

    assert 'File "orders version 3", line 3, in fail\n    shared.fail()' in told
    assert "shared.py\", line 2, in fail\n    raise ValueError('no')  # here" in told
