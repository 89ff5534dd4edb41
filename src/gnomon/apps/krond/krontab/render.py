"""
Jobs as text: the line, or the lines of YAML, that read back as the same job.

What has its default is left out, that of the file or else that of krond, and what is written has
one way to be written: schedule, modifiers and fields in a fixed order.

Spec: KRONTAB-19, KRONTAB-50.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache

from gnomon.apps.krond.execution import SHELL, Execution
from gnomon.apps.krond.job import Job
from gnomon.apps.krond.krontab.draft import AT_BOOT, DEFAULTS, SCHEDULE, quote
from gnomon.apps.krond.krontab.policy_options import usual_deadline
from gnomon.apps.krond.krontab.reader import Entry, read_krontab
from gnomon.core.civil.duration import short_duration
from gnomon.core.cron.dialect import find_dialect
from gnomon.core.decision import render_constraint
from gnomon.core.decision.distribution_text import name_of, params_of
from gnomon.core.recurrence import Boot, Cron
from gnomon.core.schedule import CONCURRENCY
from gnomon.errors import DefinitionError
from gnomon.shell.observe.notify.rule import Occasion

__all__ = [
    "render_defaults",
    "render_line",
    "render_yaml",
    "yaml_defaults",
    "yaml_item",
]

_CALLED = {overlap: name for name, overlap in CONCURRENCY.items()}
_PLAIN_WORD = re.compile(r'[^\s"\\]+')
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9/._+-]*")
_YAML_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


def render_line(job: Job, defaults: Entry | None = None) -> str:
    """The job as one line, which leaves out what the defaults of its file say."""
    words = [_schedule(job), *(f"@{name}({text})" for name, text in _modifiers(job, defaults))]
    words += [f"name={job.name}", f"command={_command(job.execution)}"]
    words += _field_words(job, defaults)
    line = " ".join(words)
    if "\n" in line:
        raise DefinitionError(
            "has a command of several lines", where=job.name, got=job.execution.arguments[0],
            hint="keep it in YAML, or move the command to a script",
        )  # fmt: skip
    return line


def render_defaults(defaults: Entry) -> str:
    """The defaults of a file as one line."""
    words = [f"@{name}({text})" for name, text in _own_modifiers(defaults)]
    return " ".join([f"@{DEFAULTS}", *words, *_field_words(defaults.job, None)])


def render_yaml(jobs: Sequence[Job], defaults: Entry | None = None) -> str:
    """A whole file of YAML."""
    lines = [] if defaults is None else yaml_defaults(defaults)
    lines.append("jobs:" if jobs else "jobs: []")
    for job in jobs:
        lines += [f"  {line}" for line in yaml_item(job, defaults)]
    return "\n".join(lines) + "\n"


def yaml_item(job: Job, defaults: Entry | None = None) -> list[str]:
    """The lines of a job in the list of a file of YAML."""
    pairs = [("name", _scalar(job.name)), (SCHEDULE, _scalar(_schedule(job)))]
    pairs += [(name, _scalar(text)) for name, text in _modifiers(job, defaults)]
    arguments = job.execution.arguments
    if job.execution.shell:
        pairs.append(("command", _scalar(arguments[0])))
    elif len(arguments) == 1 and _PLAIN.fullmatch(arguments[0]):
        pairs.append(("command", arguments[0]))
    else:
        pairs.append(("command", f"[{', '.join(map(_json, arguments))}]"))
    lines = [f"  {name}: {text}" for name, text in [*pairs, *_yaml_fields(job, defaults)]]
    return [f"- {lines[0].lstrip()}", *lines[1:]]


def yaml_defaults(defaults: Entry) -> list[str]:
    """The lines of the defaults in a file of YAML."""
    pairs = [(name, _scalar(text)) for name, text in _own_modifiers(defaults)]
    pairs += _yaml_fields(defaults.job, None)
    lines = [f"  {name}: {text}" for name, text in pairs]
    return [f"{DEFAULTS}:", *lines] if lines else [f"{DEFAULTS}: {{}}"]


def _field_words(job: Job, defaults: Entry | None) -> list[str]:
    words = [f"{name}={_value(text)}" for name, text in _fields(job, defaults)]
    clears, pairs = _env(job, defaults)
    words += [f"env={_value('')}"] if clears else []
    return words + [f"env={name}={_value(value)}" for name, value in pairs]


def _yaml_fields(job: Job, defaults: Entry | None) -> Iterator[tuple[str, str]]:
    for name, text in _fields(job, defaults):
        yield name, _scalar(text)
    clears, pairs = _env(job, defaults)
    if clears:
        yield "env", f"[{', '.join(map(_json, ['', *map('='.join, pairs)]))}]"
    elif pairs:
        yield "env", f"{{{', '.join(f'{name}: {_json(value)}' for name, value in pairs)}}}"


def _schedule(job: Job) -> str:
    return AT_BOOT if _at_boot(job) else _cron(job).expression.text


def _own_modifiers(defaults: Entry) -> list[tuple[str, str]]:
    """Those of the defaults; `dst` where they name it, as a job may name another dialect."""
    texts = dict(_modifiers(defaults.job, None))
    if "dst" in defaults.places:
        texts["dst"] = _cron(defaults.job).dst.value
    return [(name, texts[name]) for name in (*_when(defaults.job), "policy") if name in texts]


def _modifiers(job: Job, defaults: Entry | None) -> Iterator[tuple[str, str]]:
    """What stands in the parentheses of each modifier that the job needs."""
    usual = _plain() if defaults is None else defaults
    at_boot, others, policy = _at_boot(job), _when(usual.job), _policy(usual.job)
    own = {"tz": job.schedule.decider.zone} if at_boot else _when(job)
    if at_boot:
        if defaults is None:
            policy["deadline"] = short_duration(usual_deadline(at_boot=True))
        elif not defaults.job.schedule.policy.deadline:
            policy["deadline"] = ""  # they say 0s or nothing, so that the job says what it has
    elif "dst" not in usual.places:
        others["dst"] = find_dialect(_cron(job).expression.dialect).dst.value
    yield from _differences(own, others)
    policy = dict(_differences(_policy(job), policy))
    if text := ",".join(f"{key}={value}" for key, value in policy.items()):
        yield "policy", text


def _fields(job: Job, defaults: Entry | None) -> Iterator[tuple[str, str]]:
    """The fields after name and command that the job needs, except `env`."""
    yield from _differences(_how(job), _how((defaults or _plain()).job))


def _env(job: Job, defaults: Entry | None) -> tuple[bool, list[tuple[str, str]]]:
    """Whether the variables of the defaults are taken away, and those that the job adds."""
    env, usual = dict(job.execution.env), dict((defaults or _plain()).job.execution.env)
    clears = not usual.keys() <= env.keys()
    return clears, [one for one in env.items() if clears or one not in usual.items()]


def _differences(own: dict[str, str], others: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in own.items() if text != others[name])


def _when(job: Job) -> dict[str, str]:
    """All modifiers but `policy`, also those that have their default."""
    decider, expression = job.schedule.decider, _cron(job).expression
    params = params_of(decider.distribution).items()
    salt = [f"salt={quote(decider.salt)}"] if decider.salt else []
    return {
        "tz": decider.zone,
        "dst": _cron(job).dst.value,
        "dialect": find_dialect(expression.dialect).name,
        "win": f"{decider.window.placement},{short_duration(decider.window.length)}",
        "dist": ",".join(
            [name_of(decider.distribution), *(f"{k}={_number(v)}" for k, v in params)]
        ),
        "seed": ",".join([decider.seed.value, *salt]),
        "only": "" if decider.only is None else render_constraint(decider.only),
        "avoid": "" if decider.avoid is None else render_constraint(decider.avoid),
    }


def _policy(job: Job) -> dict[str, str]:
    policy = job.schedule.policy
    return {
        "concurrency": _CALLED[policy.overlap],
        "deadline": short_duration(policy.deadline or timedelta(0)),
        "suspend": "true" if job.suspend else "false",
    }


def _how(job: Job) -> dict[str, str]:
    """All fields but `env`, also those that have their default."""
    execution, rule = job.execution, job.notify
    occasions = [one.value for one in Occasion if one in rule.on]
    shells = {"": "false", SHELL: "true"}
    return {
        "shell": shells.get(execution.shell, execution.shell),
        "user": execution.user,
        "group": execution.group,
        "cwd": execution.cwd,
        "umask": "" if execution.umask is None else f"{execution.umask:04o}",
        "timeout": "" if execution.timeout is None else short_duration(execution.timeout),
        "grace": short_duration(execution.grace),
        "stdout": str(execution.stdout),
        "stderr": str(execution.stderr),
        "mail": ",".join(rule.mail),
        "webhook": rule.webhook,
        "ping": rule.ping,
        "notify": "always" if len(occasions) == len(Occasion) else ",".join(occasions) or "never",
        "description": job.description,
    }


def _at_boot(job: Job) -> bool:
    return isinstance(job.schedule.recurrence, Boot)


def _cron(job: Job) -> Cron:
    recurrence = job.schedule.recurrence
    assert isinstance(recurrence, Cron)
    return recurrence


@cache
def _plain() -> Entry:
    """A job that says nothing of its own, in a file without defaults."""
    (entry,) = read_krontab("@yearly name=a command=a", file="/").entries
    return entry


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
