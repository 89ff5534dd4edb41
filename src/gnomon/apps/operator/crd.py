"""
The definition of the kind KronJob for an API server: schema, rules, columns.

What a schema or a rule can refuse is refused when it is written; the rest is said in a condition.
The server tells the field and what it got; the message of a rule tells what is wrong and what to
write. So rules are asked of the fields themselves, and no pattern is, which a server would show.
Every field has a description, so that `kubectl explain` answers. The status keeps what the schema
does not name, because its seal is taken over all of it.

Spec: OPERATOR-27 to OPERATOR-29.
"""

from collections.abc import Sequence

from gnomon.apps.operator.definition import (
    CONTAINERS,
    DURATIONS,
    LENGTHS,
    NAME_MAX,
    RECORDS_MAX,
    WHOLE_SECONDS,
)
from gnomon.apps.operator.status_schema import status_schema
from gnomon.core.cron.dialect import MACROS, Dst
from gnomon.core.decision.distribution_text import PARAMS
from gnomon.core.decision.seed import SeedStrategy
from gnomon.core.decision.window import Placement
from gnomon.core.schedule import CONCURRENCY
from gnomon.ports.kubernetes import GROUP, VERSION, Kind

__all__ = ["Schema", "custom_resource_definition"]

Schema = dict[str, object]

_EPOCH = "timestamp('1970-01-01T00:00:00Z')"
_PART = "([0-9]+([.][0-9]+)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h)"
_IS_DURATION = f"self.matches('^[+-]?(0|({_PART})+)$')"
_IS_SCHEDULE = (
    rf"self.matches('^[ \t]*((?i:{'|'.join(MACROS)})|[^@ \t][^ \t]*([ \t]+[^ \t]+){{4,5}})[ \t]*$')"
)
_IS_ZONE = "self.matches('^[A-Za-z0-9_+/-]+$')"
_CLAUSE = r"[ \t]*(hours|dow|dom|months|between|date|dates)[ \t]*=[ \t]*[^; \t][^;]*"
_IS_CONSTRAINT = rf"self.matches('^([ \t]*;)*{_CLAUSE}(;({_CLAUSE}|[ \t]*))*$')"
_ZONE = "must be a zone of the IANA database; write e.g. Europe/Berlin, or UTC"
_NO_CONTAINER = f"is missing; {CONTAINERS}"
_KEPT = {"x-kubernetes-preserve-unknown-fields": True}


def custom_resource_definition() -> Schema:
    """What `kubectl apply` takes."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{Kind.KRONJOB.value}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": "KronJob", "listKind": "KronJobList", "plural": Kind.KRONJOB.value,
                "singular": "kronjob", "shortNames": ["kj"], "categories": ["all"],
            },
            "versions": [
                {
                    "name": VERSION, "served": True, "storage": True,
                    "schema": {"openAPIV3Schema": _root()},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": _columns(),
                }
            ],
        },
    }  # fmt: skip


def _columns() -> list[Schema]:
    """When next, and what became of the last."""
    rows = (
        ("Schedule", "string", ".spec.schedule", 0),
        ("Zone", "string", ".spec.timezone", 1),
        ("Next", "string", ".status.next.chosen", 0),
        ("Last", "string", ".status.last.period", 0),
        ("Outcome", "string", ".status.last.outcome", 0),
        ("Result", "string", ".status.last.result", 0),
        ("Reason", "string", ".status.last.reason", 1),
        ("Active", "integer", ".status.activeCount", 0),
        ("Suspend", "boolean", ".spec.policy.suspend", 0),
        ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status', 0),
        ("State", "string", '.status.conditions[?(@.type=="Ready")].reason', 1),
        ("Age", "date", ".metadata.creationTimestamp", 0),
    )
    return [
        {"name": name, "type": kind, "jsonPath": path, "priority": priority}
        for name, kind, path, priority in rows
    ]


def _root() -> Schema:
    return {
        "type": "object",
        "description": "A KronJob makes one Job for each period of its schedule, at most once.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _spec(),
            "status": status_schema(),
        },
        "x-kubernetes-validations": [
            _rule(
                f"size(self.metadata.name) <= {NAME_MAX}",
                f"metadata.name must have at most {NAME_MAX} characters, as Jobs carry it in a "
                "label; write a shorter one",
            )
        ],
    }


def _spec() -> Schema:
    return {
        "type": "object",
        "description": "When periods come, how they are judged, and what Job each makes. An edit "
        "makes no new period due; a period that is due already runs while its deadline lasts.",
        "required": ["schedule", "jobTemplate"],
        "properties": {
            "schedule": _text(
                "A cron expression of five fields, or six with seconds first, or a macro such as "
                "@daily. Steps, names, L, W and # are known.",
                _rule(
                    _IS_SCHEDULE,
                    "must have 5 fields, or 6 with seconds first, or be one of "
                    f"{', '.join(MACROS)}; write e.g. 30 9 * * mon-fri for 09:30 on weekdays",
                ),
                maxLength=1024,
            ),
            "timezone": _text(
                "The zone of the IANA database in which schedule and constraints are read; UTC "
                "when left out.",
                _rule(_IS_ZONE, _ZONE),
                _rule(  # a server knows no year of an unknown zone, and says so with the message
                    f"!{_IS_ZONE} || (self != 'Local' && {_EPOCH}.getFullYear(self) > 0)", _ZONE
                ),
                default="UTC", maxLength=64,
            ),
            "dst": _choice(
                "What becomes of local times that a change of clocks skips or repeats; vixie "
                "when left out. strict: a skipped time does not run, a repeated one runs once. "
                "civil: a skipped one does not run, a repeated one runs each time. vixie: a fixed "
                "time that is skipped runs just after the gap, a repeated one once; with * in "
                "minute or hour as civil.",
                [one.value for one in Dst], "vixie",
            ),
            "window": _window(),
            "distribution": _distribution(),
            "seed": _choice(
                "What the choice within the window is drawn from: each period, each local date or "
                "each ISO week; stable, which is each period, when left out.",
                [one.value for one in SeedStrategy], "stable",
            ),
            "salt": _text("A text that changes every choice.", default="", maxLength=1024),
            "constraints": _constraints(),
            "policy": _policy(),
            "jobTemplate": _template(),
            "successfulJobsHistoryLimit": _count(
                "How many Jobs that succeeded are kept; 3 when left out.", 3, 0, 1000
            ),
            "failedJobsHistoryLimit": _count(
                "How many Jobs that failed are kept; 1 when left out.", 1, 0, 1000
            ),
            "recordsLimit": _count(
                "How many outcomes of periods the status shows; 20 when left out.",
                20, 1, RECORDS_MAX,
            ),
        },
    }  # fmt: skip


def _window() -> Schema:
    return {
        "type": "object",
        "description": "The seconds around the nominal instant of which one is chosen.",
        "default": {},
        "properties": {
            "mode": _choice(
                "Where the window lies: after, around or before the nominal instant; after when "
                "left out.",
                [one.value for one in Placement], "after",
            ),
            "duration": _duration(
                "How long the window is, for example 1h30m; 0s for the nominal instant itself.",
                _length(">=", f"{LENGTHS}; write e.g. 30s, 10m or 24h"), default="0s",
            ),
        },
    }  # fmt: skip


def _distribution() -> Schema:
    takes = {
        name: [known for known, params in PARAMS.items() if name in params]
        for name in ("shape", "mu", "sigma", "lambda", "dir")
    }
    rules = [
        _rule(
            f"!has(self.{name}) || self.name in {_listed(known)}",
            f"is a parameter of {' and '.join(known)} only; leave it out, or write name: "
            f"{known[0]}",
            field=f".{name}",
        )
        for name, known in takes.items()
    ]  # fmt: skip
    return {
        "type": "object",
        "description": "How the chosen second is spread over the window.",
        "default": {},
        "properties": {
            "name": _choice("The distribution; uniform when left out.", list(PARAMS), "uniform"),
            "shape": _number("Of skewEarly and skewLate: how much; 2 when left out."),
            "mu": {
                **_text("Of normal: its centre."), "enum": ["nominal", "start", "mid", "end"],
            },
            "sigma": _duration(
                "Of normal: its width, a duration; a sixth of the window when left out.",
                _length(
                    ">", "must be above zero and at most 366 days; write e.g. 10m, or leave it out"
                ),
            ),
            "lambda": _number("Of exponential: its rate; 1 when left out."),
            "dir": {**_text("Of exponential: which side is likelier."), "enum": ["early", "late"]},
        },
        "x-kubernetes-validations": rules,
    }  # fmt: skip


def _constraints() -> Schema:
    kinds = "hours, dow, dom, months, between, date and dates, for example hours=9-17;dow=mon-fri"
    rule = _rule(
        _IS_CONSTRAINT,
        "must be clauses kind=value with a semicolon between two, of the kinds hours, dow, dom, "
        "months, between, date and dates; write e.g. hours=9-17;dow=mon-fri, or leave it out",
    )
    return {
        "type": "object",
        "description": "Which seconds of a window may be chosen.",
        "default": {},
        "properties": {
            "only": _text(f"Only these: clauses of {kinds}.", rule, maxLength=8192),
            "avoid": _text(f"None of these: clauses of {kinds}.", rule, maxLength=8192),
        },
    }


def _policy() -> Schema:
    return {
        "type": "object",
        "description": "How a period is judged when its chosen second has come.",
        "default": {},
        "properties": {
            "concurrency": _choice(
                "What is done while a Job of the KronJob is active: allow runs beside it, forbid "
                "skips the period, replace ends it first. forbid when left out.",
                list(CONCURRENCY), "forbid",
            ),
            "deadline": _duration(
                "How late after its chosen second a period may start, in whole seconds, for "
                "example 10m; with 0s only in that second. Later it is missed. 1m when left out.",
                _length(">=", f"{LENGTHS}; write e.g. 90s, 5m or 24h"),
                _rule(
                    f"!{_IS_DURATION} || timestamp(int({_EPOCH} + duration(self))) == "
                    f"{_EPOCH} + duration(self)", f"{WHOLE_SECONDS}; write e.g. 90s or 5m",
                ),
                default="1m",
            ),
            "suspend": {
                "type": "boolean", "default": False,
                "description": "While true nothing starts, and no period is handled. When it ends, "
                "a period that came in it runs while its deadline lasts, and is missed after it.",
            },
        },
    }  # fmt: skip


def _template() -> Schema:
    return {
        "type": "object",
        "description": "The Job that each period makes.",
        "required": ["spec"],
        "properties": {
            "metadata": {
                "type": "object",
                "description": "Labels and annotations of the Job; gnomon.dev/ is the operator's.",
                **_KEPT,
            },
            "spec": {
                "type": "object",
                "description": "The spec of the Job, as in batch/v1.",
                "required": ["template"],
                "properties": {
                    "template": {
                        "type": "object",
                        "description": "The Pod of the Job, as in v1.",
                        "required": ["spec"],
                        "properties": {"spec": _pod()},
                        **_KEPT,
                    }
                },
                **_KEPT,
            },
        },
    }


def _pod() -> Schema:
    """Of a pod only what a Job asks of it, and a new author forgets."""
    return {
        "type": "object",
        "description": "The spec of the Pod, as in v1.",
        "properties": {
            "restartPolicy": _text("Never or OnFailure: the Pod of a Job ends.", maxLength=64),
            "containers": {
                "type": "array",
                "description": "The containers of the Pod, as in v1: at least one, each with name "
                "and image.",
                "maxItems": 1000,
                "items": _container(),
            },
        },
        "x-kubernetes-validations": [
            _rule(
                "has(self.restartPolicy) && self.restartPolicy in ['Never', 'OnFailure']",
                "must be Never or OnFailure, as the pod of a Job ends; write Never",
                field=".restartPolicy",
            ),
            _rule(
                "has(self.containers) && size(self.containers) > 0",
                _NO_CONTAINER,
                field=".containers",
            ),
        ],
        **_KEPT,
    }


def _container() -> Schema:
    return {
        "type": "object",
        "properties": {
            name: _text(said, maxLength=4096)
            for name, said in (("name", "Its name."), ("image", "The image that it runs."))
        },
        "x-kubernetes-validations": [
            _rule(f"has(self.{name}) && self.{name} != ''", _NO_CONTAINER, field=f".{name}")
            for name in ("name", "image")
        ],
        **_KEPT,
    }


def _text(description: str, *rules: Schema, **more: object) -> Schema:
    found: Schema = {"type": "string", "description": description, **more}
    return found | ({"x-kubernetes-validations": list(rules)} if rules else {})


def _duration(description: str, *rules: Schema, **more: object) -> Schema:
    is_one = _rule(_IS_DURATION, f"must be a duration; {DURATIONS}")
    return _text(description, is_one, *rules, maxLength=64, **more)


def _length(least: str, message: str) -> Schema:
    bounds = f"duration(self) {least} duration('0s') && duration(self) <= duration('8784h')"
    return _rule(f"!{_IS_DURATION} || ({bounds})", message)


def _choice(description: str, words: Sequence[str], default: str) -> Schema:
    return {
        "type": "string", "description": description, "enum": list(words), "default": default,
    }  # fmt: skip


def _number(description: str) -> Schema:
    rule = _rule("self >= 0.001 && self <= 1000.0", "must be from 0.001 to 1000; write e.g. 2")
    return {"type": "number", "description": description, "x-kubernetes-validations": [rule]}


def _count(description: str, default: int, least: int, greatest: int) -> Schema:
    rule = _rule(
        f"self >= {least} && self <= {greatest}",
        f"must be a whole number from {least} to {greatest}; leave it out for {default}",
    )
    return {
        "type": "integer", "description": description, "default": default,
        "x-kubernetes-validations": [rule],
    }  # fmt: skip


def _rule(rule: str, message: str, *, field: str = "") -> Schema:
    found: Schema = {"rule": rule, "message": message}
    return found | {"fieldPath": field} if field else found


def _listed(words: Sequence[str]) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"
