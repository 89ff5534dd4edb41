"""
Scripts as modules: the script itself, and the modules beside it that it imports.

A script becomes a module like any other, under a name of its own, so that what looks modules up by
their names finds it, as dataclasses do. The modules of its own folder that it imports belong to its
version: their texts are gathered from the import statements, kept with the script, and imported
from there wherever it is run, also on a machine that does not have the folder. Each version sees
its own: two scripts may both have a module `shared`.

Spec: FLOW-27, FLOW-28.
"""

import ast
import builtins
import hashlib
import importlib
import json
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path, PurePosixPath
from types import CodeType, ModuleType

__all__ = ["BESIDE", "gather", "run_script"]

BESIDE = "gnomon_beside_"
"""How the packages of modules beside scripts are called, before a digest."""
_SCRIPT = "gnomon_script_"
_NEVER = frozenset({*sys.builtin_module_names, "__future__", "gnomon"})
Package = tuple[str, ...]


def gather(text: str, folder: Path) -> dict[str, str]:
    """The texts of the modules beside a script that it imports, by their paths from there."""
    found: dict[str, str] = {}
    todo: list[tuple[str, Package]] = [(text, ())]
    while todo:
        source, package = todo.pop()
        for name in _imported(source, package):
            for path, inside in _files_of(name):
                file = folder / path
                if path not in found and file.is_file():
                    found[path] = file.read_text(encoding="utf-8")
                    todo.append((found[path], inside))
    return dict(sorted(found.items()))


def run_script(text: str, *, where: str, modules: Mapping[str, str]) -> ModuleType:
    """The script as a module, when it has run; whatever it raises comes out."""
    digest = hashlib.sha256(json.dumps([where, text, dict(modules)]).encode()).hexdigest()[:16]
    beside = _Beside(BESIDE + digest, where, modules)
    _finder.known[beside.name] = beside
    for name in [one for one in sys.modules if f"{one}.".startswith(f"{beside.name}.")]:
        del sys.modules[name]
    module = ModuleType(_SCRIPT + digest)
    module.__file__ = where
    sys.modules[module.__name__] = module
    beside.run(text, where, module)
    return module


class _Beside(Loader):
    """The modules beside one script, as a package that nothing else sees."""

    def __init__(self, name: str, where: str, modules: Mapping[str, str]) -> None:
        self.name = name
        self._where = where
        self._modules = modules
        self._tops = {path.partition("/")[0].removesuffix(".py") for path in modules}
        self._builtins = vars(builtins) | {"__import__": self._import}

    def spec_of(self, name: str) -> ModuleSpec | None:
        """How a module of this package is found; None when it is not there."""
        path = "/".join(name.split(".")[1:])
        if not path or any(one.startswith(f"{path}/") for one in self._modules):
            file = f"{path}/__init__.py"
            spec = ModuleSpec(name, self, is_package=True, origin=file)
            spec.submodule_search_locations = []
            return spec
        return (
            ModuleSpec(name, self, origin=f"{path}.py") if f"{path}.py" in self._modules else None
        )

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary one."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        path = module.__spec__.origin or ""
        folder = PurePosixPath(self._where)
        place = folder.parent if self._where.endswith(".py") else folder
        module.__file__ = str(place / path)
        self.run(self._modules.get(path, ""), module.__file__, module)

    def run(self, text: str, where: str, module: ModuleType) -> None:
        code: CodeType = compile(text, where, "exec", dont_inherit=True)
        lines = text.splitlines(keepends=True)
        linecache.cache[where] = (len(text), None, lines, where)  # for tracebacks
        module.__dict__["__builtins__"] = self._builtins
        exec(code, module.__dict__)  # noqa: S102 - it is what scripts are for

    def _import(
        self, name: str, globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None, fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:  # fmt: skip
        """As Python imports, but what stands beside the script goes first."""
        top = name.partition(".")[0]
        if level or top not in self._tops:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        importlib.import_module(f"{self.name}.{name}")
        if not fromlist:
            return sys.modules[f"{self.name}.{top}"]
        return builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist, 0)


class _Finder:
    """Finds the modules beside all scripts."""

    def __init__(self) -> None:
        self.known: dict[str, _Beside] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = self.known.get(name.partition(".")[0])
        return None if found is None else found.spec_of(name)


_finder = _Finder()
sys.meta_path.append(_finder)


def _imported(source: str, package: Package) -> Iterator[str]:
    """The names of what a module may import, from the folder of the script."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # the host that runs it says what is wrong
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{one.name}".lstrip(".") for one in node.names)


def _files_of(name: str) -> Iterator[tuple[str, Package]]:
    """Where a module and the packages above it may stand, and what is relative to them."""
    parts = tuple(name.split("."))
    if not name or parts[0] in _NEVER or "*" in parts:
        parts = tuple(one for one in parts[:-1] if parts[0] not in _NEVER)
    for length in range(1, len(parts) + 1):
        path = "/".join(parts[:length])
        yield f"{path}.py", parts[: length - 1]
        yield f"{path}/__init__.py", parts[:length]
