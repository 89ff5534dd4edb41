"""
The definition of the kind KronJob for an API server: schema, rules, columns.

What a schema or a rule can refuse is refused when it is written; the rest is said in a condition.
Every field has a description, so that `kubectl explain` answers. The status keeps what the schema
does not name, because its seal is taken over all of it.

Spec: OPERATOR-27 to OPERATOR-29.
"""

from collections.abc import Mapping, Sequence

from gnomon.apps.operator.definition import NAME_MAX, RECORDS_MAX
from gnomon.apps.operator.status_schema import status_schema
from gnomon.core.cron.dialect import Dst
from gnomon.core.decision.distribution_text import PARAMS
from gnomon.core.decision.seed import SeedStrategy
from gnomon.core.decision.window import Placement
from gnomon.core.schedule import CONCURRENCY
from gnomon.ports.kubernetes import GROUP, VERSION, Kind

__all__ = ["Schema", "custom_resource_definition"]

Schema = dict[str, object]

_DURATION = r"^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$"
_WHOLE_SECONDS = r"^(0|([0-9]+(s|m|h))+)$"
_SCHEDULE = r"^\s*(@[A-Za-z]+|\S+(\s+\S+){4,5})\s*$"
_ZONE = r"^[A-Za-z0-9_+/-]+$"
_NO_WINDOW = "0s"
_DEADLINE = "1m"
"""Also in the default of what holds them: rules are asked of that before it is filled in."""
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
                f"the name must have at most {NAME_MAX} characters: Jobs carry it in a label",
            )
        ],
    }


def _spec() -> Schema:
    return {
        "type": "object",
        "description": "When periods come, how they are judged, and what Job each makes.",
        "required": ["schedule", "jobTemplate"],
        "properties": {
            "schedule": _text(
                "A cron expression of five fields, or six with seconds first, or a macro such as "
                "@daily. Steps, names, L, W and # are known.",
                maxLength=1024, minLength=1, pattern=_SCHEDULE,
            ),
            "timezone": _text(
                "The zone of the IANA database in which schedule and constraints are read.",
                default="UTC", maxLength=64, minLength=1, pattern=_ZONE,
            ),
            "dst": _choice(
                "What becomes of local times that a change of clocks skips or repeats.",
                [one.value for one in Dst], "vixie",
            ),
            "window": _window(),
            "distribution": _distribution(),
            "seed": _choice(
                "What the choice within the window is drawn from: each period, each local date or "
                "each ISO week.",
                [one.value for one in SeedStrategy], "stable",
            ),
            "salt": _text("A text that changes every choice.", default="", maxLength=1024),
            "constraints": _constraints(),
            "policy": _policy(),
            "jobTemplate": _template(),
            "successfulJobsHistoryLimit": _count(
                "How many Jobs that succeeded are kept.", 3, 0, 1000
            ),
            "failedJobsHistoryLimit": _count("How many Jobs that failed are kept.", 1, 0, 1000),
            "recordsLimit": _count(
                "How many outcomes of periods the status shows.", 20, 1, RECORDS_MAX
            ),
        },
        "x-kubernetes-validations": [
            _rule(
                "timestamp('2026-01-01T00:00:00Z').getFullYear(self.timezone) > 2000",
                "the zone is not one of the IANA database",
                field=".timezone",
            )
        ],
    }  # fmt: skip


def _window() -> Schema:
    return {
        "type": "object",
        "description": "The seconds around the nominal instant of which one is chosen.",
        "default": {"duration": _NO_WINDOW},
        "properties": {
            "mode": _choice(
                "Where the window lies: after, around or before the nominal instant.",
                [one.value for one in Placement], "after",
            ),
            "duration": _text(
                "How long the window is, for example 1h30m; 0s for the nominal instant itself.",
                default=_NO_WINDOW, maxLength=64, pattern=_DURATION,
            ),
        },
        "x-kubernetes-validations": [
            _rule(
                "duration(self.duration) <= duration('8784h')",
                "a window has at most 366 days (8784h)", field=".duration",
            )
        ],
    }  # fmt: skip


def _distribution() -> Schema:
    takes = {
        name: [known for known, params in PARAMS.items() if name in params]
        for name in ("shape", "mu", "sigma", "lambda", "dir")
    }
    rules = [
        _rule(
            f"!has(self.{name}) || self.name in {_listed(known)}",
            f"{name} is a parameter of {' and '.join(known)} only", field=f".{name}",
        )
        for name, known in takes.items()
    ]  # fmt: skip
    return {
        "type": "object",
        "description": "How the chosen second is spread over the window.",
        "default": {},
        "properties": {
            "name": _choice("The distribution.", list(PARAMS), "uniform"),
            "shape": _number("Of skewEarly and skewLate: how much; 2 when left out."),
            "mu": {
                **_text("Of normal: its centre."), "enum": ["nominal", "start", "mid", "end"],
            },
            "sigma": _text(
                "Of normal: its width, a duration; a sixth of the window when left out.",
                maxLength=64, pattern=_DURATION,
            ),
            "lambda": _number("Of exponential: its rate; 1 when left out."),
            "dir": {**_text("Of exponential: which side is likelier."), "enum": ["early", "late"]},
        },
        "x-kubernetes-validations": rules,
    }  # fmt: skip


def _constraints() -> Schema:
    kinds = "hours, dow, dom, months, between, date and dates, for example hours=9-17;dow=mon-fri"
    return {
        "type": "object",
        "description": "Which seconds of a window may be chosen.",
        "default": {},
        "properties": {
            "only": _text(f"Only these: clauses of {kinds}.", maxLength=8192, minLength=1),
            "avoid": _text(f"None of these: clauses of {kinds}.", maxLength=8192, minLength=1),
        },
    }


def _policy() -> Schema:
    return {
        "type": "object",
        "description": "How a period is judged when its chosen second has come.",
        "default": {"deadline": _DEADLINE},
        "properties": {
            "concurrency": _choice(
                "What is done while a Job of the KronJob is active: allow runs beside it, forbid "
                "skips the period, replace ends it first.",
                list(CONCURRENCY), "forbid",
            ),
            "deadline": _text(
                "How late a period may start, in whole seconds, for example 10m; with 0s only in "
                "its chosen second. Later it is missed.",
                default=_DEADLINE, maxLength=64, pattern=_WHOLE_SECONDS,
            ),
            "suspend": {
                "type": "boolean", "default": False,
                "description": "While true nothing starts, and no period is handled.",
            },
        },
        "x-kubernetes-validations": [
            _rule(
                "duration(self.deadline) <= duration('8784h')",
                "a deadline has at most 366 days (8784h)", field=".deadline",
            )
        ],
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
                        "type": "object", "description": "The Pod of the Job, as in v1.", **_KEPT,
                    }
                },
                **_KEPT,
            },
        },
    }  # fmt: skip


def _text(description: str, **more: object) -> Schema:
    return {"type": "string", "description": description, **more}


def _choice(description: str, words: Sequence[str], default: str) -> Schema:
    return {
        "type": "string", "description": description, "enum": list(words), "default": default,
    }  # fmt: skip


def _number(description: str) -> Schema:
    return {"type": "number", "description": description}


def _count(description: str, default: int, least: int, greatest: int) -> Schema:
    return {
        "type": "integer", "description": description, "default": default, "minimum": least,
        "maximum": greatest,
    }  # fmt: skip


def _rule(rule: str, message: str, *, field: str = "") -> Mapping[str, object]:
    found: Schema = {"rule": rule, "message": message}
    return found | {"fieldPath": field} if field else found


def _listed(words: Sequence[str]) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"
