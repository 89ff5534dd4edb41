"""
What a job of root's krond can reach: exactly what its user can, whatever was planted.

Users and groups are real. What a user can reach is told by `setpriv`, which shares nothing with the
launcher: it becomes the user, goes to the directory, opens the file and looks at all that lies
around. A job with the same user, directory and output must see the same, or fail to start where
that fails. Owners, modes, links, directories and groups are drawn.
"""

import asyncio
import grp
import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from threading import Event, Thread
from typing import NamedTuple

import pytest

from gnomon.ports import Failed
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher
from tests.clauses import clause
from tests.shell.launcher.claims import a_claim
from tests.system.accounts import made, setpriv

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has jobs of other users")

USERS = {"gnomon-ann": ("gnomon-ops", "gnomon-web"), "gnomon-bob": ("gnomon-web",)}
GROUPS = ("gnomon-ops", "gnomon-web", "gnomon-krond", "root")
OWNERS = (*USERS, "root")
WORLDS, JOBS, RACES = 12, 8, 80
SEED = int(os.environ.get("GNOMON_SEED", "20261119"))

PROBE = r"""
grep -E '^(Uid|Gid|Groups):' /proc/self/status
pwd -P
for one in "$ROOT"/* "$ROOT"/*/*; do
    [ -e "$one" ] || [ -h "$one" ] || continue
    [ -r "$one" ] && cat "$one" >/dev/null 2>&1 && echo "reads $one"
    [ -f "$one" ] && { true >>"$one"; } 2>/dev/null && echo "writes $one"
    (cd "$one") 2>/dev/null && echo "enters $one"
done
exit 0
"""


class Run(NamedTuple):
    """What became of a command: whether it was started, and what it printed."""

    started: bool
    printed: str


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """A directory that everyone can enter; the worker is in a group that no user is in."""
    former = os.getgroups()
    with made({**USERS, "gnomon-worker": ("gnomon-krond",)}):
        os.setgroups([0, grp.getgrnam("gnomon-krond").gr_gid])
        place = Path(mkdtemp(prefix="gnomon-rights-", dir="/var/tmp"))
        place.chmod(0o755)
        try:
            yield place
        finally:
            os.setgroups(former)
            shutil.rmtree(place)


def launched(target: dict[str, object], kept: Path) -> Run:
    """What a launcher makes of a command."""

    async def scenario() -> Run:
        launcher = ProcessLauncher(SystemClock(), directory=kept)
        claim = a_claim(target)
        answer = await launcher.launch(claim)
        if isinstance(answer, Failed):
            assert "/proc" not in answer.message  # it is said to be what it is
            return Run(False, "")
        await launcher.release(claim.key)
        await launcher.ended()
        path = launcher.output.newest(claim.key)
        text = path.read_text() if path else ""
        if path:
            path.unlink()
        return Run(True, text)

    return asyncio.run(scenario())


def really(who: list[str], cwd: str, sink: str, env: dict[str, str], text: str) -> Run:
    """What a user can really do there."""
    start = 'cd -P "$1" && true >>"$2"'
    tried = subprocess.run(
        [*who, "/bin/sh", "-c", start, "sh", cwd, sink], env=env, check=False, capture_output=True
    )
    if tried.returncode:
        return Run(False, "")
    done = subprocess.run(
        [*who, "/bin/sh", "-c", text], cwd=cwd, env=env, check=True, capture_output=True, text=True
    )
    return Run(True, done.stdout)


class World:
    """A tree of files and directories whose owners, groups and modes were drawn."""

    def __init__(self, place: Path, dice: Random) -> None:
        self.place, self.dice = place, dice
        self.directories: list[Path] = []
        for number in range(4):
            folder = place / f"dir-{number}"
            folder.mkdir()
            for name in ("a", "b"):
                file = folder / name
                file.write_text(f"{file}\n")
                self._own(file, (0o600, 0o640, 0o660, 0o604, 0o606, 0o060, 0o006))
            self.directories.append(folder)
        for number in range(3):
            link = place / f"link-{number}"
            aim = dice.choice((*self.directories, *(one / "a" for one in self.directories)))
            link.symlink_to(aim)
            self.directories.append(link)
        for folder in self.directories[:4]:
            self._own(folder, (0o700, 0o750, 0o770, 0o710, 0o701, 0o755, 0o070, 0o007))

    def _own(self, path: Path, modes: tuple[int, ...]) -> None:
        shutil.chown(path, self.dice.choice(OWNERS), self.dice.choice(GROUPS))
        path.chmod(self.dice.choice(modes))

    def sink(self) -> str:
        folder = self.dice.choice(self.directories)
        return str(self.dice.choice((folder, folder / "a", folder / "b", folder / "new")))


@clause("LAUNCH-13", "LAUNCH-15", "LAUNCH-16")
@pytest.mark.parametrize("number", range(WORLDS))
def test_a_job_can_do_what_its_user_can(root: Path, number: int) -> None:
    dice = Random(SEED + number)
    place = root / f"world-{number}"
    place.mkdir()
    world = World(place, dice)
    kept = root / f"kept-{number}"
    for _ in range(JOBS):
        user = dice.choice(tuple(USERS))
        group = dice.choice(("", "", "gnomon-web", "gnomon-ops"))
        cwd, sink = str(dice.choice(world.directories)), world.sink()
        target: dict[str, object] = {
            "shell": PROBE, "user": user, "cwd": cwd, "stderr": f"file:{sink}",
            "env": {"ROOT": str(place)},
        }  # fmt: skip
        if group:
            target["group"] = group
        env = {"ROOT": str(place), "PATH": "/usr/bin:/bin"}

        expected = really(setpriv(user, group), cwd, sink, env, PROBE)
        found = launched(target, kept)

        assert found == expected, (SEED + number, target)


@clause("LAUNCH-13", "LAUNCH-16")
def test_a_link_that_is_swapped_leads_no_job_where_its_user_cannot_go(root: Path) -> None:
    secret, own = root / "secret", root / "own"
    secret.mkdir(mode=0o700)
    (secret / "word").write_text("of root\n")
    (secret / "word").chmod(0o600)
    own.mkdir()
    (own / "word").write_text("of ann\n")
    for path in (own, own / "word"):
        shutil.chown(path, "gnomon-ann")
    link, over = root / "swapped", Event()
    link.symlink_to(own)

    def swap() -> None:
        for turn in count():
            spare = root / "spare"
            spare.symlink_to(secret if turn % 2 else own)
            spare.rename(link)
            if over.is_set():
                return

    swapper = Thread(target=swap)
    swapper.start()
    try:
        target: dict[str, object] = {
            "shell": "cat word; pwd -P", "user": "gnomon-ann", "cwd": str(link),
            "stderr": f"file:{link}/errors",
        }  # fmt: skip
        runs = [launched(target, root / "kept-race") for _ in range(RACES)]
    finally:
        over.set()
        swapper.join()

    assert any(run.started for run in runs)
    assert {run.printed for run in runs} <= {"", f"of ann\n{own}\n"}
    assert sorted(one.name for one in secret.iterdir()) == ["word"]


@clause("LAUNCH-15")
def test_the_groups_of_the_worker_are_as_before(root: Path) -> None:
    before = sorted(os.getgroups())

    run = launched({"shell": "id -nG", "user": "gnomon-ann", "cwd": "/"}, root / "kept-groups")

    assert sorted(os.getgroups()) == before
    assert set(run.printed.split()) == {"gnomon-ann", "gnomon-ops", "gnomon-web"}
