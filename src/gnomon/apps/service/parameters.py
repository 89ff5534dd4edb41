"""
What is a run given? Parameters: a JSON object, of the schedule and of the one who triggers it.

Those of a trigger go before those of the schedule of the same name. They are kept as they are, and
handed to the run; what they mean is the DAG's business.

Spec: SERVICE-64.
"""

import json
from collections.abc import Mapping

from gnomon.core.schedule_record import canonical
from gnomon.errors import DefinitionError

__all__ = ["PARAMS_MAX", "Params", "checked_params", "joined_params"]

PARAMS_MAX = 16_384
"""Characters of parameters as JSON."""

Params = Mapping[str, object]


def checked_params(found: object, *, where: str = "params") -> Params:
    """Parameters that can be kept."""
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise DefinitionError(
            "must be an object", where=where, got=found, hint='write e.g. {"day": "monday"}'
        )
    text = canonical(found)
    if len(text) > PARAMS_MAX or "\\u0000" in text:
        what = f"must have at most {PARAMS_MAX} characters as JSON, and no NUL"
        hint = "keep the rest elsewhere, and say where"
        raise DefinitionError(what, where=where, got=f"{len(text)} characters", hint=hint)
    return found


def joined_params(of_schedule: str, given: Params | None) -> str | None:
    """What a run by hand is given, as text; None where that is what its schedule says."""
    if given is None:
        return None
    text = canonical({**json.loads(of_schedule), **checked_params(dict(given))})
    checked_params(json.loads(text))
    return text
