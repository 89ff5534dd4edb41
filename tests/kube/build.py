"""
How are the programs of the cluster built: `python -m tests.kube build`.

An empty Go module requires Kubernetes, and Go's module proxy hands out the sources, checked
against Go's own database of sums. Each program is renamed into its place when it is whole, so that
a build that was broken off goes on where it stopped. Two builds at once wait for each other.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kube.binaries import BUILDS, KUBERNETES, KWOK, Build, MissingClusterError, cache
from tests.kube.binaries import link_flags as _link_flags

__all__ = ["build", "check_go", "needed_go", "staging"]

_MODULES = {"kubernetes": ("k8s.io/kubernetes", KUBERNETES), "kwok": ("sigs.k8s.io/kwok", KWOK)}
_NICE = 10
_SHOWN_EVERY_S = 15.0
_STAGED = re.compile(r"^\s*(?:require\s+)?(k8s\.io/[\w.-]+) v0\.0\.0(?:\s|$)", re.MULTILINE)
_GO_LINE = re.compile(r"^go (\d+)\.(\d+)", re.MULTILINE)
_GO_VERSION = re.compile(r"\bgo(\d+)\.(\d+)")

Say = Callable[[str], None]


def build(say: Say) -> Path:
    """Build what is missing; returns the folder with the programs."""
    folder = cache()
    binaries = folder / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    with _alone(folder, say):
        missing = [one for one in BUILDS if not (binaries / one.name).is_file()]
        if not missing:
            say(f"all {len(BUILDS)} programs are in {binaries}")
            return binaries
        os.nice(_NICE)
        go = _Go(check_go(), folder)
        say(f"building {len(missing)} of {len(BUILDS)} programs into {binaries}")
        say("cold, this takes about ten minutes on two cores; broken off, it goes on from there")
        for number, one in enumerate(missing, start=1):
            source = go.prepare(one.module, say)
            say(f"[{number}/{len(missing)}] {one.name}: up to {one.cold_s} s on two cores")
            started = time.monotonic()
            go.build(one, source, binaries / one.name, say)
            took, size = time.monotonic() - started, (binaries / one.name).stat().st_size
            say(f"[{number}/{len(missing)}] {one.name}: {took:.0f} s, {size / 1e6:.0f} MB")
    return binaries


def check_go() -> str:
    """The path of Go; says what to install when there is none."""
    found = shutil.which("go")
    if found is None:
        raise MissingClusterError(
            "the test cluster is built with Go, and there is no `go` on the PATH: install Go 1.26 "
            "or later from the archive on Go's download page (the packages of distributions are "
            "often too old), or name a folder with the programs in GNOMON_KUBE_BIN"
        )
    return found


def needed_go(module_file: str, said: str) -> str | None:
    """What is wrong with a Go that calls itself `said`, for a module; None when nothing is."""
    needed, have = _GO_LINE.search(module_file), _GO_VERSION.search(said)
    assert needed is not None, "every module file of today says its Go"
    want = (int(needed[1]), int(needed[2]))
    if have is not None and (int(have[1]), int(have[2])) >= want:
        return None
    return (
        f"this source needs Go {want[0]}.{want[1]} or later, and `go version` says: {said.strip()}."
        " Install a newer one from the archive on Go's download page and put it first on the PATH;"
        " the packages of distributions are often too old"
    )


def staging(module_file: str) -> list[str]:
    """The modules that Kubernetes requires at no version, because it carries them itself."""
    return sorted(set(_STAGED.findall(module_file)))


class _Go:
    """Go, in an environment that does not depend on what the user has set."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._env = os.environ | {
            "CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOWORK": "off",
        }  # fmt: skip

    def prepare(self, module: str, say: Say) -> Path:
        """The empty module from which the programs of `module` are built."""
        folder = self._folder / "source" / module
        if (folder / "ready").exists():
            return folder
        path, version = _MODULES[module]
        say(f"fetching {path} {version} and what it needs")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        module_file = self._module_file(path, version)
        if complaint := needed_go(module_file, self._run(["version"], folder)):
            raise MissingClusterError(complaint)
        (folder / "go.mod").write_text(_own_module(module_file, path, version))
        imports = [f"import _ {json.dumps(one.package)}" for one in BUILDS if one.module == module]
        (folder / "tools.go").write_text("\n".join(["//go:build tools", "package tools", *imports]))
        self._run(["mod", "tidy"], folder)
        (folder / "ready").touch()
        return folder

    def build(self, one: Build, source: Path, target: Path, say: Say) -> None:
        part = target.with_name(f".{target.name}.part")
        command = [
            self._program, "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags",
            _link_flags(), "-o", str(part), one.package,
        ]  # fmt: skip
        process = subprocess.Popen(
            command, cwd=source, env=self._env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stderr is not None
        lines: list[str] = []
        shown = time.monotonic()
        for line in process.stderr:
            lines.append(line)
            if time.monotonic() - shown >= _SHOWN_EVERY_S:
                shown = time.monotonic()
                say(f"  {len(lines)} packages compiled, now {line.strip()}")
        if process.wait():
            raise MissingClusterError(f"{one.name} was not built: {''.join(lines[-30:])}")
        os.replace(part, target)

    def _module_file(self, path: str, version: str) -> str:
        said = self._run(["mod", "download", "-json", f"{path}@{version}"], self._folder)
        return Path(json.loads(said)["GoMod"]).read_text()

    def _run(self, arguments: list[str], folder: Path) -> str:
        done = subprocess.run(
            [self._program, *arguments], cwd=folder, env=self._env, text=True,
            capture_output=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if done.returncode:
            said = f"{done.stdout}\n{done.stderr}".strip()
            raise MissingClusterError(f"go {' '.join(arguments)} failed: {said[-2000:]}")
        return done.stdout


def _own_module(module_file: str, path: str, version: str) -> str:
    """An empty module that requires one, with the versions of what that one carries itself."""
    go = _GO_LINE.search(module_file)
    assert go is not None
    lines = ["module cluster", f"go {go[1]}.{go[2]}", f"require {path} {version}"]
    carried = f"v0.{version.removeprefix('v').split('.', 1)[1]}"
    return "\n".join(
        [*lines, *(f"replace {one} => {one} {carried}" for one in staging(module_file))]
    )


@contextmanager
def _alone(folder: Path, say: Say) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build is under way here; waiting for it")
            sys.stdout.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
