"""
Who carries workflows out? The embedded executor, or one that is called over HTTP.

Which one, and what it may do, is said by variables: `GNOMON_EXECUTOR_URL` names an executor that is
called, with `GNOMON_EXECUTOR_KEY_ID` and `GNOMON_EXECUTOR_SECRET_FILE` for the signature and
`GNOMON_CALLBACK_URL` for its reports. Without it the embedded one is used; then
`GNOMON_ALLOW_COMMANDS` allows nodes that start processes, and `GNOMON_PYTHON_MODULES` lists the
modules whose functions may be called. Requests go to public addresses only, unless
`GNOMON_OUTGOING_NETWORKS` names others.

Spec: UP-6.
"""

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from gnomon.apps.service.executor.command_node import CommandNodes
from gnomon.apps.service.executor.embedded import EmbeddedExecutor
from gnomon.apps.service.executor.http import HttpExecutor
from gnomon.apps.service.executor.http_node import HttpNodes
from gnomon.apps.service.executor.python_node import PythonNodes
from gnomon.apps.service.executor.signature import Keyring
from gnomon.apps.service.executor.works import Works
from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.ports.executions import Executions
from gnomon.ports.executor import Executor
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.outgoing.client import Outgoing
from gnomon.shell.outgoing.rule import read_rule

__all__ = ["ExecutorSettings", "callback_keys", "make_executor"]


class ExecutorSettings(BaseSettings):
    """Who carries workflows out."""

    model_config = SettingsConfigDict(env_prefix="GNOMON_", extra="ignore", frozen=True)

    executor_url: str | None = None
    executor_key_id: str | None = None
    executor_secret_file: Path | None = None
    callback_url: str | None = None
    allow_commands: bool = False
    python_modules: str = ""
    outgoing_hosts: str = ""
    outgoing_networks: str = ""


def callback_keys(settings: ExecutorSettings) -> Keyring | None:
    """What an executor over HTTP signs with; None without one."""
    if settings.executor_url is None:
        return None
    if settings.executor_key_id is None or settings.executor_secret_file is None:
        raise DefinitionError(
            "needs a key to sign with", where="GNOMON_EXECUTOR_URL", got=settings.executor_url,
            hint="set GNOMON_EXECUTOR_KEY_ID and GNOMON_EXECUTOR_SECRET_FILE",
        )  # fmt: skip
    secret = settings.executor_secret_file.read_bytes().strip()
    return Keyring(current=settings.executor_key_id, secrets={settings.executor_key_id: secret})


def make_executor(
    settings: ExecutorSettings, executions: Executions, clock: Clock, *, output: Path | None
) -> Executor:
    """The executor; `output` is where the embedded one keeps what commands print."""
    outgoing = Outgoing(
        clock,
        rule=read_rule(
            hosts=_words(settings.outgoing_hosts) or None,
            networks=_words(settings.outgoing_networks),
        ),
    )
    keys = callback_keys(settings)
    if settings.executor_url is not None and keys is not None:
        return HttpExecutor(
            settings.executor_url, keys, outgoing, clock, callback_url=settings.callback_url
        )
    commands = CommandNodes(ProcessLauncher(clock, directory=output))
    modules = _words(settings.python_modules)
    works = Works(
        commands=commands if settings.allow_commands else None,
        requests=HttpNodes(outgoing),
        functions=PythonNodes(modules, clock) if modules else None,
    )
    return EmbeddedExecutor(executions, clock, works)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
