"""
What does a KronJob define? Its spec, read and checked.

The words are those of krontab files, and so are their meanings. The timing (when) is kept apart
from the rest, because the status remembers the timing in force until an edit of it was taken up;
policies and the template of the Job are always the newest.

An error names the field by its path and says what to write instead.

Spec: OPERATOR-1 to OPERATOR-3.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import islice, takewhile

from gnomon.core.civil.duration import parse_duration, short_duration
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import (
    Constraint,
    Decider,
    WindowRule,
    parse_constraint,
    parse_seed_strategy,
    parse_window,
    render_constraint,
)
from gnomon.core.decision.distribution import Distribution, Normal
from gnomon.core.decision.distribution_text import make_distribution, name_of, params_of
from gnomon.core.decision.window import LENGTH_MAX
from gnomon.core.recurrence import Cron, cron
from gnomon.core.schedule import CONCURRENCY, Catchup, Overlap, PauseRule, Policy, Schedule
from gnomon.errors import DefinitionError
from gnomon.ports.kubernetes_object import at, digest, text, things

__all__ = ["CONTAINERS", "DEADLINE", "DURATIONS", "LENGTHS", "NAME_MAX", "RECORDS_MAX", "RESERVED",
           "TEMPLATE_MAX", "WHOLE_SECONDS", "WINDOWED_MAX", "Definition", "read_definition",
           "read_timing", "write_timing"]  # fmt: skip

DEADLINE = timedelta(minutes=1)
"""When nothing is said: a start takes two calls, and a new leader some seconds."""
NAME_MAX = 63
TEMPLATE_MAX = 1_000_000
"""Bytes of a template as JSON; Job and KronJob must both fit into etcd."""
WINDOWED_MAX = 500
"""So many periods may lie within the window of one, because the status names them."""
RECORDS_MAX = 100
RESERVED = "gnomon.dev/"
DURATIONS = "write e.g. 90s, 15m, 1h30m or 500ms, and 24h for a day"
LENGTHS = "must lie between 0s and 8784h, which is 366 days"
WHOLE_SECONDS = "must be whole seconds"
"""What both the schema and the operator say of a duration."""
CONTAINERS = "write at least one with name and image"
"""What both say of a template without a container that can run."""

_RECORDS, _SUCCESSFUL, _FAILED, _HISTORY_MAX = 20, 3, 1, 1_000
_FIELDS = ("schedule", "timezone", "dst", "window", "distribution", "seed", "salt", "constraints",
           "policy", "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
           "recordsLimit")  # fmt: skip
_SAMPLES = [1_767_225_600 + month * 2_629_800 for month in range(24)]  # from January 2026 on


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A KronJob as it is meant."""

    schedule: Schedule
    suspend: bool
    template: Mapping[str, object]
    """Of the Job, as it was written."""
    successful_max: int
    failed_max: int
    records_max: int

    @property
    def timing(self) -> dict[str, object]:
        return write_timing(self.schedule)

    @property
    def spec_hash(self) -> str:
        """What a Job is made from: the timing and the template, and no policy."""
        return digest(self.timing, self.template)[:16]


def read_definition(identity: str, spec: object) -> Definition:
    """The definition of the KronJob `namespace/name`."""
    if not isinstance(spec, Mapping):
        raise DefinitionError(
            "must be an object", where="spec", got=spec, hint="write schedule: and jobTemplate:"
        )
    if len(name := identity.partition("/")[2]) > NAME_MAX:
        raise DefinitionError(
            f"is longer than {NAME_MAX} characters", where="metadata.name", got=name,
            hint="Jobs carry it in a label, which takes no more",
        )  # fmt: skip
    for field in spec:
        if field not in _FIELDS:
            raise DefinitionError(
                "is not a field of KronJob", where=f"spec.{field}", got=field,
                hint=f"the fields are {', '.join(_FIELDS)}",
            )  # fmt: skip
    policy = _object(spec, "policy", ("concurrency", "deadline", "suspend"))
    deadline = policy.get("deadline")
    return Definition(
        schedule=_schedule(
            identity, spec,
            overlap=_concurrency(policy.get("concurrency", "forbid")),
            deadline=DEADLINE if deadline is None else _deadline(deadline),
        ),
        suspend=_truth(policy.get("suspend", False), "spec.policy.suspend"),
        template=_template(spec.get("jobTemplate")),
        successful_max=_count(spec, "successfulJobsHistoryLimit", _SUCCESSFUL, 0, _HISTORY_MAX),
        failed_max=_count(spec, "failedJobsHistoryLimit", _FAILED, 0, _HISTORY_MAX),
        records_max=_count(spec, "recordsLimit", _RECORDS, 1, RECORDS_MAX),
    )  # fmt: skip


def read_timing(identity: str, timing: Mapping[str, object], policy: Policy) -> Schedule:
    """The schedule of a timing that was written with `write_timing`, judged by a newer policy."""
    deadline = DEADLINE if policy.deadline is None else policy.deadline
    return _schedule(identity, timing, overlap=policy.overlap, deadline=deadline)


def write_timing(schedule: Schedule) -> dict[str, object]:
    """The timing with every default spelled out, so that equal timings are equal."""
    decider, recurrence = schedule.decider, schedule.recurrence
    assert isinstance(recurrence, Cron)
    constraints = {
        name: render_constraint(one)
        for name, one in (("only", decider.only), ("avoid", decider.avoid))
        if one is not None
    }
    return {
        "schedule": recurrence.expression.text,
        "timezone": decider.zone,
        "dst": recurrence.dst.value,
        "window": {
            "mode": decider.window.placement.value,
            "duration": short_duration(decider.window.length),
        },
        "distribution": {"name": name_of(decider.distribution), **_written(decider.distribution)},
        "seed": decider.seed.value,
        "salt": decider.salt,
        "constraints": constraints,
    }


@lru_cache(20_000)
def _made(identity: str, written: str, overlap: Overlap, deadline: timedelta) -> Schedule:
    """Read once, though it is asked for in every pass."""
    timing: dict[str, object] = json.loads(written)
    zone = _zone(timing.get("timezone", "UTC"))
    window = _object(timing, "window", ("mode", "duration"))
    constraints = _object(timing, "constraints", ("only", "avoid"))
    schedule = Schedule(
        schedule_id=identity.replace("/", "."),
        recurrence=_recurrence(timing, zone),
        decider=Decider(
            identity=identity,
            zone=zone,
            window=_window(window.get("mode", "after"), window.get("duration", "0s")),
            distribution=_distribution(timing.get("distribution")),
            seed=parse_seed_strategy(
                _text(timing.get("seed", "stable"), "spec.seed"), where="spec.seed"
            ),
            salt=_text(timing.get("salt", ""), "spec.salt"),
            only=_constraint(constraints, "only"),
            avoid=_constraint(constraints, "avoid"),
        ),
        policy=Policy(
            overlap=overlap, catchup=Catchup.RECENT, deadline=deadline, pause=PauseRule.HOLD
        ),
    )
    _check_density(schedule, window.get("duration"))
    return schedule


def _schedule(
    identity: str, spec: Mapping[str, object], *, overlap: Overlap, deadline: timedelta
) -> Schedule:
    timing = {name: spec[name] for name in _FIELDS[:8] if spec.get(name) is not None}
    try:
        return _made(identity, json.dumps(timing, sort_keys=True), overlap, deadline)
    except DefinitionError as error:
        if error.where.startswith("spec."):
            raise
        raise DefinitionError(  # of the core, which knows no path
            error.reason, where=f"spec.{_FIELD_OF.get(error.where, error.where)}", got=error.got,
            hint=error.hint,
        ) from error  # fmt: skip


_FIELD_OF = {"deadline": "policy.deadline", "zone": "timezone"}


def _recurrence(timing: Mapping[str, object], zone: str) -> Cron:
    text = _text(timing.get("schedule"), "spec.schedule")
    dst = timing.get("dst")
    try:
        return cron(text, zone=zone, dst=None if dst is None else _text(dst, "spec.dst"))
    except DefinitionError as error:
        where = "spec.dst" if error.where == "dst" else "spec.schedule"
        field = "" if error.where in ("dst", "expression") else f"{error.where} field "
        raise DefinitionError(
            f"{field}{error.reason}", where=where, got=error.got, hint=error.hint
        ) from error


def _zone(name: object) -> str:
    return load_zone(_text(name, "spec.timezone"), where="spec.timezone").name


def _window(mode: object, duration: object) -> WindowRule:
    where = "spec.window.mode"
    rule = parse_window(f"{_text(mode, where)},0s", where=where)
    return WindowRule(placement=rule.placement, length=_length(duration, "spec.window.duration"))


def _distribution(given: object) -> Distribution:
    if given is None:
        return make_distribution("uniform", {})
    if not isinstance(given, Mapping):
        raise DefinitionError(
            "must be an object", where="spec.distribution", got=given,
            hint="write e.g. {name: normal, mu: mid, sigma: 10m}",
        )  # fmt: skip
    name = _text(given.get("name", "uniform"), "spec.distribution.name")
    params = {key: value for key, value in given.items() if key != "name"}
    return make_distribution(name, params, where="spec.distribution")


def _written(distribution: Distribution) -> dict[str, object]:
    """Parameters without fractions where they have none, as a server gives them back."""
    written: dict[str, object] = {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in params_of(distribution).items()
    }
    if isinstance(distribution, Normal) and distribution.sigma is not None:
        written["sigma"] = short_duration(distribution.sigma)
    return written


def _constraint(constraints: Mapping[str, object], name: str) -> Constraint | None:
    where = f"spec.constraints.{name}"
    given = constraints.get(name)
    return None if given is None else parse_constraint(_text(given, where), where=where)


def _concurrency(word: object) -> Overlap:
    if not isinstance(word, str) or word not in CONCURRENCY:
        raise DefinitionError(
            "is not a concurrency", where="spec.policy.concurrency", got=word,
            hint=f"write one of {', '.join(CONCURRENCY)}",
        )  # fmt: skip
    return CONCURRENCY[word]


def _template(given: object) -> Mapping[str, object]:
    where = "spec.jobTemplate"
    if not isinstance(given, Mapping) or not isinstance(given.get("spec"), Mapping):
        raise DefinitionError(
            "must have the spec of a Job", where=where, got=given,
            hint="write spec.template.spec.containers below it, as in a Job",
        )  # fmt: skip
    size = len(json.dumps(given).encode())
    if size > TEMPLATE_MAX:
        raise DefinitionError(
            f"is larger than {TEMPLATE_MAX} bytes", where=where, got=f"{size} bytes",
            hint="keep large texts in a ConfigMap",
        )  # fmt: skip
    metadata = given.get("metadata") or {}
    for kind in ("labels", "annotations"):
        named = metadata.get(kind) if isinstance(metadata, Mapping) else None
        for key in named if isinstance(named, Mapping) else ():
            if str(key).startswith(RESERVED):
                raise DefinitionError(
                    "is kept for the operator", where=f"{where}.metadata.{kind}", got=key,
                    hint=f"write a name that does not begin with {RESERVED}",
                )  # fmt: skip
    _check_containers(at(given, "spec", "template", "spec", "containers"))
    return given


def _check_containers(given: object) -> None:
    """A Job without a container that can run is one that no server takes."""
    where, containers = "spec.jobTemplate.spec.template.spec.containers", things(given)
    missing = where if not containers else ""
    for number, one in enumerate(containers):
        missing = missing or next(
            (f"{where}[{number}].{name}" for name in ("name", "image") if not text(one, name)), ""
        )
    if missing:
        raise DefinitionError("is missing", where=missing, got=given, hint=CONTAINERS)


def _check_density(schedule: Schedule, written: object) -> None:
    """A window that covers too many periods makes a status that no server takes."""
    span = schedule.decider.window.span
    if span < WINDOWED_MAX:  # periods are at least a second apart
        return
    for start in _SAMPLES:
        within = takewhile(
            lambda nominal: nominal < start + span,  # noqa: B023 - asked before the next start
            schedule.recurrence.iterate_epochs(start),
        )
        if sum(1 for _ in islice(within, WINDOWED_MAX + 1)) > WINDOWED_MAX:
            raise DefinitionError(
                f"covers more than {WINDOWED_MAX} periods", where="spec.window.duration",
                got=written, hint="write a shorter window, or a schedule with fewer periods",
            )  # fmt: skip


def _object(spec: Mapping[str, object], name: str, known: tuple[str, ...]) -> Mapping[str, object]:
    given = spec.get(name)
    where = f"spec.{name}"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DefinitionError(
            "must be an object", where=where, got=given, hint=f"its fields are {', '.join(known)}"
        )
    for key in given:
        if key not in known:
            raise DefinitionError(
                "is not a field", where=f"{where}.{key}", got=key,
                hint=f"the fields are {', '.join(known)}",
            )  # fmt: skip
    return {key: value for key, value in given.items() if value is not None}


def _text(given: object, where: str) -> str:
    if not isinstance(given, str):
        raise DefinitionError("must be text", where=where, got=given, hint="put it in quotes")
    return given


def _truth(given: object, where: str) -> bool:
    if not isinstance(given, bool):
        raise DefinitionError("must be true or false", where=where, got=given, hint="write true")
    return given


def _deadline(given: object) -> timedelta:
    where = "spec.policy.deadline"
    length = _length(given, where)
    if length % timedelta(seconds=1):
        raise DefinitionError(WHOLE_SECONDS, where=where, got=given, hint="write e.g. 90s or 5m")
    return length


def _length(given: object, where: str) -> timedelta:
    if not isinstance(given, str):
        raise DefinitionError("must be a duration", where=where, got=given, hint=DURATIONS)
    length = parse_duration(given, where=where)
    if not timedelta(0) <= length <= LENGTH_MAX:
        raise DefinitionError(LENGTHS, where=where, got=given, hint="write e.g. 30s, 10m or 24h")
    return length


def _count(spec: Mapping[str, object], name: str, default: int, least: int, greatest: int) -> int:
    given = spec.get(name)
    if given is None:
        return default
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= greatest:
        raise DefinitionError(
            f"must be a whole number from {least} to {greatest}", where=f"spec.{name}", got=given,
            hint=f"leave it out for {default}",
        )  # fmt: skip
    return given
