"""
The text format of Prometheus: families of samples with labels.

Each family has a line of help, a line with its type, and its samples; a label is written with its
backslashes, quotes and line feeds escaped.

Spec: METRICS-1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = ["CONTENT_TYPE", "Family", "Sample", "histogram", "render_families"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""What Prometheus expects."""


class Sample(NamedTuple):
    """One figure."""

    value: float
    labels: Mapping[str, str] = {}
    suffix: str = ""
    """What stands behind the name of the family; for histograms."""


@dataclass(slots=True, kw_only=True)
class Family:
    """Figures of one kind."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: list[Sample] = field(default_factory=list)


def render_families(families: Iterable[Family]) -> str:
    """The families that have samples, one below the other."""
    lines: list[str] = []
    for family in families:
        if family.samples:
            lines.append(f"# HELP {family.name} {family.help}")
            lines.append(f"# TYPE {family.name} {family.kind}")
            lines += [_line(family.name, sample) for sample in family.samples]
    return "".join(f"{line}\n" for line in lines)


def histogram(
    name: str, help_text: str, buckets: Sequence[tuple[float, int]], *, count: int, total: float
) -> Family:
    """A histogram from the numbers of what was not greater than each bound."""
    samples = [Sample(number, {"le": _number(bound)}, "_bucket") for bound, number in buckets]
    samples += [Sample(count, {"le": "+Inf"}, "_bucket"), Sample(total, suffix="_sum")]
    samples.append(Sample(count, suffix="_count"))
    return Family(name=name, kind="histogram", help=help_text, samples=samples)


def _line(name: str, sample: Sample) -> str:
    labels = ",".join(f'{key}="{_escaped(text)}"' for key, text in sample.labels.items())
    braces = f"{{{labels}}}" if labels else ""
    return f"{name}{sample.suffix}{braces} {_number(sample.value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
