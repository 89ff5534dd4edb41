"""
Scripts: the text that an author wrote, and the workflow that stands in it.

A script is a Python module that makes one `Workflow`. Its versions are kept with the workflow, with
the modules beside it that it imports, and each run names the one that it used; a version whose text
was kept can be run by any host.

Spec: FLOW-6, FLOW-9, FLOW-21, FLOW-27, FLOW-28.
"""

import json
import traceback
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import CodeType

from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.script_modules import BESIDE, gather, run_script
from gnomon.errors import DefinitionError
from gnomon.ports.workflow_facts import Script
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["MODULES_MAX", "Library", "load_workflow", "make_script"]

MODULES_MAX = 1_000_000
"""How many characters the modules beside a script may have together."""


def load_workflow(
    text: str, *, where: str, folder: Path | None = None, modules: Mapping[str, str] | None = None
) -> Workflow:
    """
    Run a script and return the workflow that it makes; `DefinitionError` says what is wrong.

    Modules beside it come from its folder, or else from `modules`, as they were kept.
    """
    beside = dict(modules or {}) if folder is None else _gathered(text, folder, where)
    try:
        module = run_script(text, where=where, modules=beside)
    except DefinitionError:
        raise
    except SyntaxError as error:
        raise DefinitionError(
            f"must be Python ({error.msg}, line {error.lineno})", where=error.filename or where,
            got=(error.text or "").strip(), hint="correct the line",
        ) from error  # fmt: skip
    except ModuleNotFoundError as error:
        name = (error.name or "").removeprefix(BESIDE).partition(".")[2] or error.name
        raise DefinitionError(
            f"must import what is there (no module {name}{_line(error, where, beside)})",
            where=where, got=name,
            hint="install it where the host runs, or put it beside the script",
        ) from error  # fmt: skip
    except (Exception, SystemExit) as error:
        raise DefinitionError(
            f"must run without an error ({type(error).__name__}: {error}"
            f"{_line(error, where, beside)})",
            where=where, got="a script that fails", hint="correct it there",
        ) from error  # fmt: skip
    found = {id(one): one for one in vars(module).values() if isinstance(one, Workflow)}
    if len(found) != 1:
        raise DefinitionError(
            "must make exactly one workflow", where=where, got=f"{len(found)} workflows",
            hint='write e.g. orders = Workflow("orders")',
        )  # fmt: skip
    (made,) = found.values()
    made.handlers()
    made.modules = beside
    return made


def make_script(workflow: Workflow, text: str, *, reason: str) -> Script:
    """A version to be deployed; without a text, its shape and its code tell it from others."""
    modules = json.dumps(dict(workflow.modules), sort_keys=True) if text else "{}"
    shape = f"{text}\0{modules}" if workflow.modules and text else text
    shape = shape or repr((
        workflow.standing(), workflow.handlers(), sorted(workflow.tools),
        [_code(getattr(function, "__code__", None)) for function in _functions(workflow)],
    ))  # fmt: skip
    return Script(0, sha256(shape.encode()).hexdigest(), text, reason, 0, modules)


class Library:
    """
    The workflows that this host can run.

    Those that the program has are known by their digest, and known before they are deployed: when
    the answer of the store is lost, the script may be in force all the same.
    """

    def __init__(self, log: WorkflowLog) -> None:
        self._log = log
        self._own: dict[tuple[str, str], Workflow] = {}
        self._found: dict[tuple[str, int], Workflow] = {}

    def add(self, workflow: Workflow, text: str) -> None:
        digest = make_script(workflow, text, reason="").digest
        self._own[workflow.name, digest] = workflow

    def forget(self, name: str) -> None:
        """Look its versions up again: another workflow may have the name now."""
        for key in [key for key in self._found if key[0] == name]:
            del self._found[key]

    async def find(self, name: str, version: int) -> Workflow | None:
        """The workflow as this version has it; None when only another program could run it."""
        found = self._found.get((name, version))
        if found is None:
            script = await self._log.script(name, version)
            if script is None:
                return None
            found = self._own.get((name, script.digest))
            if found is None and not script.text:
                return None
            if found is None:
                found = load_workflow(
                    script.text, where=f"{name} version {version}",
                    modules=json.loads(script.modules),
                )  # fmt: skip
            self._found[name, version] = found
        return found


def _gathered(text: str, folder: Path, where: str) -> dict[str, str]:
    try:
        found = gather(text, folder)
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(
            f"must import modules that can be read ({error})", where=where, got=str(folder),
            hint="check the modules beside the script",
        ) from error  # fmt: skip
    size = sum(map(len, found.values()))
    if size > MODULES_MAX:
        raise DefinitionError(
            f"must import at most {MODULES_MAX} characters from its own folder", where=where,
            got=size, hint="install the larger part as a package",
        )  # fmt: skip
    return found


def _line(error: BaseException, where: str, beside: Iterable[str]) -> str:
    """Where in the script, or in a module beside it, an error came out of it."""
    place = PurePosixPath(where)
    folder = place.parent if where.endswith(".py") else place
    known = {where: "", **{str(folder / path): f"{path} " for path in beside}}
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{known[one.filename]}line {one.lineno}" for one in frames if one.filename in known]
    return f", {lines[-1]}" if lines else ""


def _functions(workflow: Workflow) -> list[object]:
    """Everything that the author wrote, in the order of names."""
    found: list[object] = [one.handler for _, one in sorted(workflow.producers.items())]
    for _, consumer in sorted(workflow.consumers.items()):
        found += [consumer.on_prepare, consumer.on_mutate, consumer.on_next]
    for _, tool in sorted(workflow.tools.items()):
        found += [tool.on_call, tool.on_reconcile]
    return found


def _code(code: object) -> object:
    """What a function does, as something that is the same in every process."""
    if isinstance(code, CodeType):
        return code.co_code, code.co_names, [_code(one) for one in code.co_consts]
    return sorted(map(repr, code)) if isinstance(code, frozenset) else repr(code)
