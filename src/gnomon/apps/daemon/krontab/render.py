"""
Jobs as text: the line, or the lines of YAML, that read back as the same job.

What has its default is left out, and what is written has one way to be written: schedule, modifiers
and fields in a fixed order.

Spec: KRONTAB-19.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence

from gnomon.apps.daemon.execution import GRACE, SHELL, Execution, Sink
from gnomon.apps.daemon.job import Job
from gnomon.apps.daemon.krontab.draft import SCHEDULE
from gnomon.apps.daemon.krontab.piece import quote
from gnomon.apps.daemon.notice import TROUBLE, Notice, Occasion
from gnomon.core.civil.duration import short_duration
from gnomon.core.cron.dialect import STANDARD, find_dialect
from gnomon.core.decision import SeedStrategy, WindowRule, render_constraint
from gnomon.core.decision.distribution import Uniform
from gnomon.core.decision.distribution_text import name_of, params_of
from gnomon.core.recurrence import Cron
from gnomon.core.schedule import CONCURRENCY, Overlap
from gnomon.errors import DefinitionError

__all__ = ["render_line", "render_yaml"]

_CALLED = {overlap: name for name, overlap in CONCURRENCY.items()}
_PLAIN_WORD = re.compile(r'[^\s"\\]+')
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9/._+-]*")
_YAML_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


def render_line(job: Job) -> str:
    """The job as one line."""
    texts = dict(_modifiers(job))
    words = [texts.pop(SCHEDULE)]
    words += [f"@{name}({text})" for name, text in texts.items()]
    words += [f"name={job.name}", f"command={_command(job.execution)}"]
    words += [f"{name}={_value(text)}" for name, text in _fields(job)]
    words += [f"env={name}={_value(value)}" for name, value in job.execution.env]
    line = " ".join(words)
    if "\n" in line:
        raise DefinitionError(
            "has a command of several lines", where=job.name, got=job.execution.arguments[0],
            hint="keep it in YAML, or move the command to a script",
        )  # fmt: skip
    return line


def render_yaml(jobs: Sequence[Job]) -> str:
    """A whole file of YAML."""
    lines = ["jobs:"] if jobs else ["jobs: []"]
    for job in jobs:
        first = "  - "
        for name, text in _yaml_items(job):
            lines.append(f"{first}{name}: {text}")
            first = "    "
    return "\n".join(lines) + "\n"


def _yaml_items(job: Job) -> Iterator[tuple[str, str]]:
    yield "name", _scalar(job.name)
    for name, text in _modifiers(job):
        yield name, _scalar(text)
    arguments = job.execution.arguments
    if job.execution.shell:
        yield "command", _scalar(arguments[0])
    elif len(arguments) == 1 and _PLAIN.fullmatch(arguments[0]):
        yield "command", arguments[0]
    else:
        yield "command", f"[{', '.join(map(_json, arguments))}]"
    for name, text in _fields(job):
        yield name, _scalar(text)
    if job.execution.env:
        pairs = ", ".join(f"{name}: {_json(value)}" for name, value in job.execution.env)
        yield "env", f"{{{pairs}}}"


def _modifiers(job: Job) -> Iterator[tuple[str, str]]:
    """The schedule and the modifiers, as they stand in parentheses."""
    decider, policy = job.schedule.decider, job.schedule.policy
    recurrence = job.schedule.recurrence
    assert isinstance(recurrence, Cron)
    yield SCHEDULE, recurrence.expression.text
    if decider.zone != "UTC":
        yield "tz", decider.zone
    dialect = find_dialect(recurrence.expression.dialect)
    if recurrence.dst is not dialect.dst:
        yield "dst", recurrence.dst.value
    if dialect is not STANDARD:
        yield "dialect", dialect.name
    if decider.window != WindowRule():
        yield "win", f"{decider.window.placement},{short_duration(decider.window.length)}"
    if decider.distribution != Uniform():
        params = params_of(decider.distribution).items()
        yield (
            "dist",
            ",".join([name_of(decider.distribution), *(f"{k}={_number(v)}" for k, v in params)]),
        )
    if decider.seed is not SeedStrategy.STABLE or decider.salt:
        salt = [f"salt={quote(decider.salt)}"] if decider.salt else []
        yield "seed", ",".join([decider.seed.value, *salt])
    if decider.only is not None:
        yield "only", render_constraint(decider.only)
    if decider.avoid is not None:
        yield "avoid", render_constraint(decider.avoid)
    conduct = []
    if policy.overlap is not Overlap.SKIP:
        conduct.append(f"concurrency={_CALLED[policy.overlap]}")
    if policy.deadline:
        conduct.append(f"deadline={short_duration(policy.deadline)}")
    if job.suspend:
        conduct.append("suspend=true")
    if conduct:
        yield "policy", ",".join(conduct)


def _fields(job: Job) -> Iterator[tuple[str, str]]:
    """The fields after name and command that are not left out, except `env`."""
    execution = job.execution
    if execution.shell:
        yield "shell", "true" if execution.shell == SHELL else execution.shell
    for name in ("user", "group", "cwd"):
        if text := getattr(execution, name):
            yield name, text
    if execution.umask is not None:
        yield "umask", f"{execution.umask:04o}"
    if execution.timeout is not None:
        yield "timeout", short_duration(execution.timeout)
    if execution.grace != GRACE:
        yield "grace", short_duration(execution.grace)
    for name, sink in (("stdout", execution.stdout), ("stderr", execution.stderr)):
        if sink != Sink():
            yield name, str(sink)
    yield from _notice(job.notice)
    if job.description:
        yield "description", job.description


def _notice(notice: Notice) -> Iterator[tuple[str, str]]:
    if notice.mail:
        yield "mail", ",".join(notice.mail)
    if notice.webhook:
        yield "webhook", notice.webhook
    if notice.ping:
        yield "ping", notice.ping
    if notice.on != TROUBLE:
        words = [one.value for one in Occasion if one in notice.on]
        yield "notify", "always" if len(words) == len(Occasion) else ",".join(words) or "never"


def _command(execution: Execution) -> str:
    if len(execution.arguments) == 1 and _PLAIN_WORD.fullmatch(execution.arguments[0]):
        return execution.arguments[0]
    if execution.shell:
        return _quoted(execution.arguments[0])
    return _quoted(shlex.join(execution.arguments))


def _number(value: str | float) -> str:
    return str(value).removesuffix(".0")


def _value(text: str) -> str:
    return text if _PLAIN_WORD.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _scalar(text: str) -> str:
    """A text as YAML reads it back: plain when nothing can be read into it, else in quotes."""
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _YAML_WORDS
    return text if is_plain else _json(text)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
