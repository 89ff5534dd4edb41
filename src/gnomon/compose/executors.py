"""
Who carries DAGs out? The embedded executor, or one that is called over HTTP.

Which one, and what it may do, is said by variables: `GNOMON_EXECUTOR_URL` names an executor that is
called, with `GNOMON_EXECUTOR_KEY_ID` and `GNOMON_EXECUTOR_SECRET_FILE` for the signature, the same
with FORMER in it for a key that is still believed, and `GNOMON_CALLBACK_URL` for its reports.
Without it the embedded one is used; then `GNOMON_ALLOW_COMMANDS` allows nodes that start processes,
`GNOMON_PYTHON_MODULES` lists the modules whose functions may be called, and
`GNOMON_SECRETS_DIRECTORY` has the secrets of DAGs. `GNOMON_JOB_TEMPLATES` has the templates of
nodes that are Jobs of Kubernetes, in `GNOMON_JOB_NAMESPACE`. Requests go to public addresses only,
unless `GNOMON_OUTGOING_NETWORKS` names others.

Spec: UP-6, EXEC-40.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from gnomon.errors import DefinitionError, MissingExtraError
from gnomon.ports import Clock
from gnomon.ports.dag import DagRuns
from gnomon.ports.executor import Executor
from gnomon.shell.executor.command_node import CommandNodes
from gnomon.shell.executor.embedded import EmbeddedExecutor
from gnomon.shell.executor.http import HttpExecutor
from gnomon.shell.executor.http_node import HttpNodes
from gnomon.shell.executor.job_node import JobNodes, JobTemplates
from gnomon.shell.executor.node_runners import NodeRunners
from gnomon.shell.executor.python_node import PythonNodes
from gnomon.shell.executor.secrets import Secrets
from gnomon.shell.executor.signature import Keyring
from gnomon.shell.http.address_rule import read_rule
from gnomon.shell.http.outgoing import Outgoing
from gnomon.shell.kubernetes.jobs import Jobs
from gnomon.shell.launcher.process import ProcessLauncher, ProcessRules
from gnomon.shell.launcher.strain import raise_limit
from gnomon.shell.settings import environment

__all__ = ["ExecutorSettings", "callback_keys", "make_executor", "open_executor"]


class ExecutorSettings(BaseSettings):
    """Who carries DAGs out."""

    model_config = SettingsConfigDict(env_prefix="GNOMON_", extra="ignore", frozen=True)

    executor_url: str | None = None
    executor_key_id: str | None = None
    executor_secret_file: Path | None = None
    executor_former_key_id: str | None = None
    executor_former_secret_file: Path | None = None
    callback_url: str | None = None
    allow_commands: bool = False
    python_modules: str = ""
    secrets_directory: Path | None = None
    job_templates: Path | None = None
    job_namespace: str | None = None
    outgoing_hosts: str = ""
    outgoing_networks: str = ""


def callback_keys(settings: ExecutorSettings) -> Keyring | None:
    """What an executor over HTTP signs with; None without one."""
    if settings.executor_url is None:
        return None
    current = _key(settings.executor_key_id, settings.executor_secret_file)
    if settings.executor_key_id is None or current is None:
        raise DefinitionError(
            "needs a key to sign with", where="GNOMON_EXECUTOR_URL", got=settings.executor_url,
            hint="set GNOMON_EXECUTOR_KEY_ID and GNOMON_EXECUTOR_SECRET_FILE",
        )  # fmt: skip
    former = _key(settings.executor_former_key_id, settings.executor_former_secret_file)
    return Keyring(current=settings.executor_key_id, secrets={**(former or {}), **current})


def make_executor(
    settings: ExecutorSettings,
    dag_runs: DagRuns,
    clock: Clock,
    *,
    output: Path | None,
    jobs: JobNodes | None = None,
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
    rules = ProcessRules(descriptors=raise_limit())
    commands = CommandNodes(ProcessLauncher(clock, directory=output, rules=rules))
    modules = _words(settings.python_modules)
    runners = NodeRunners(
        commands=commands if settings.allow_commands else None,
        requests=HttpNodes(outgoing),
        functions=PythonNodes(modules, clock) if modules else None,
        secrets=Secrets(settings.secrets_directory),
        jobs=jobs,
    )
    return EmbeddedExecutor(dag_runs, clock, runners)


@asynccontextmanager
async def open_executor(
    settings: ExecutorSettings, dag_runs: DagRuns, clock: Clock, *, output: Path | None
) -> AsyncIterator[Executor]:
    """The executor as long as the block lasts, however it ends."""
    async with AsyncExitStack() as stack:
        templates = _job_templates(settings)
        jobs = None
        if templates is not None:
            jobs = await _open_jobs(settings, templates, clock, stack)
        executor = make_executor(settings, dag_runs, clock, output=output, jobs=jobs)
        stack.push_async_callback(executor.close)
        yield executor


async def _open_jobs(
    settings: ExecutorSettings, templates: JobTemplates, clock: Clock, stack: AsyncExitStack
) -> JobNodes:
    """The way to the cluster, for as long as the stack lasts."""
    from gnomon.shell.kubernetes.access import load_of  # it needs an extra
    from gnomon.shell.kubernetes.client import KubernetesServer

    api = await stack.enter_async_context(KubernetesServer(load_of(environment())))
    namespace = settings.job_namespace or api.namespace
    return JobNodes(Jobs(api, clock, namespace), templates)


def _job_templates(settings: ExecutorSettings) -> JobTemplates | None:
    templates = settings.job_templates
    if templates is None:
        return None
    if settings.executor_url is not None:
        raise _refused(
            templates,
            "is not for an executor that is called",
            "leave out GNOMON_EXECUTOR_URL or the templates",
        )
    if not templates.is_dir():
        raise _refused(
            templates, "there is no such directory", "name the directory that has the templates"
        )
    try:
        from gnomon.shell.plain_yaml import YAMLError, load
    except ImportError as error:
        raise MissingExtraError("Kubernetes", extra="kubernetes") from error

    def read(text: str) -> object:
        try:
            return load(text)
        except YAMLError as error:
            raise ValueError(str(error)) from error

    return JobTemplates(templates, read)


def _refused(templates: Path, reason: str, hint: str) -> DefinitionError:
    return DefinitionError(reason, where="GNOMON_JOB_TEMPLATES", got=str(templates), hint=hint)


def _key(name: str | None, file: Path | None) -> dict[str, bytes] | None:
    if name is None or file is None:
        return None
    try:
        return {name: file.read_bytes().strip()}
    except OSError as error:
        raise DefinitionError(
            f"cannot be read ({error.strerror})", where="GNOMON_EXECUTOR_SECRET_FILE",
            got=str(file), hint="name a file that this user may read",
        ) from None  # fmt: skip


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
