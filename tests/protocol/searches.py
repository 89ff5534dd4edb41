"""
Which protocols are searched, how far, and what must come of it.

`SEARCHES` are mixtures of policies and faults under which the chosen protocol must hold; `BROKEN`
are what it becomes when a part is left out, and rejected ones, each with the clause it breaks.
"""

from typing import NamedTuple

from tests.protocol.cluster import FAULTS, Bounds
from tests.protocol.operators import CHOSEN, ClaimThenMake, NameAlone, Protocol

__all__ = ["BROKEN", "SEARCHES", "SMALL", "Wrong", "described"]

_TWO = Bounds(chosen=(0, 1))
_NEXT = Bounds(chosen=(1,), end=3)
_THREE = Bounds(chosen=(0, 1, 2))
_POLICIES = ("allow", "forbid", "replace")
_TWICE, _NEVER = "two executions of one period", "executed, and it never ran"


class Wrong(NamedTuple):
    """A protocol that must break a clause."""

    name: str
    protocol: Protocol
    bounds: Bounds
    clause: str


SMALL = (
    Bounds(late=1, delete=1),
    Bounds(suspend=1, edit=1),
    _NEXT._replace(operators=1, recreate=1, delete=1),
    Bounds(wipe=1),
    *(_TWO._replace(operators=1, policy=policy, late=1) for policy in _POLICIES),
)

SEARCHES = (
    Bounds(late=1, delete=1, suspend=2, edit=1),
    _NEXT._replace(late=1, delete=1, recreate=1, suspend=1),
    Bounds(late=1, delete=1, wipe=1, suspend=1),
    Bounds(late=2, delete=2, suspend=1),
    _NEXT._replace(late=1, recreate=1, wipe=1),
    *(_TWO._replace(policy=policy, late=1, delete=1) for policy in _POLICIES),
    *(_TWO._replace(policy=policy, wipe=1) for policy in _POLICIES),
    *(_TWO._replace(policy=policy, edit=1) for policy in _POLICIES),
    *(_TWO._replace(policy=policy, recreate=1) for policy in _POLICIES),
    *(_TWO._replace(policy=policy, suspend=1) for policy in _POLICIES),
    *(_TWO._replace(policy=policy, forgets=True) for policy in _POLICIES),
    *(_THREE._replace(policy=policy) for policy in _POLICIES),
    *(_THREE._replace(policy=policy, operators=1, late=1, delete=1) for policy in _POLICIES),
    *(
        _TWO._replace(policy=policy, operators=1, late=1, delete=1, suspend=1, edit=1)
        for policy in _POLICIES
    ),
)


def described(bounds: Bounds) -> str:
    """What a search covers, in words."""
    faults = [f"{fault} {getattr(bounds, fault)}" for fault in FAULTS if getattr(bounds, fault)]
    faults += ["forgets"] * bounds.forgets
    size = f"{len(bounds.chosen)} periods, {bounds.operators} operators"
    return f"{bounds.policy}, {size}: {', '.join(faults) or 'deaths alone'}"


def _without(part: str) -> Protocol:
    return Protocol(CHOSEN._replace(**{part: False}))


BROKEN = (
    Wrong("the name alone", NameAlone(), Bounds(delete=1), _TWICE),
    Wrong("the name alone, with a TTL", NameAlone(), Bounds(), _TWICE),
    Wrong("claim, then make, again", ClaimThenMake(again=True), Bounds(delete=1), _TWICE),
    Wrong("claim, then make, once", ClaimThenMake(again=False), Bounds(), _NEVER),
    Wrong("release, then claim", _without("claim_first"), Bounds(delete=1), _TWICE),
    Wrong("no version", _without("version"), Bounds(late=1, delete=1), "an outcome changed"),
    Wrong("no edition", _without("edition_in_name"), Bounds(edit=1), "claimed from an old spec"),
    Wrong("no uid in the name", _without("uid_in_name"),
          Bounds(chosen=(1,), deadline=2, recreate=1), _NEVER),
    Wrong("sweep all", _without("sweep_handled_only"), Bounds(), _NEVER),
    Wrong("no waiting", _without("wait_for_end"), _TWO._replace(policy="replace"),
          "two are active"),
    Wrong("skip unasked", _without("ask_before_skip"), _TWO._replace(policy="forbid"),
          "skipped, and nothing was active"),
    Wrong("unseen is gone", _without("ask_when_unseen"), Bounds(), _NEVER),
    Wrong("own clock", _without("clock_guard"), Bounds(skew=1), "missed before its deadline"),
    Wrong("born too early", _without("strict_birth"), Bounds(recreate=1), _TWICE),
    Wrong("wiped is new", _without("repair"), Bounds(wipe=1), _TWICE),
    Wrong("the repair deletes", _without("repair_spares"), _TWO._replace(late=0, delete=1, wipe=1),
          _NEVER),
    Wrong("void for ever", _without("replace_void"), _TWO._replace(policy="replace", wipe=1),
          _NEVER),
    Wrong("forget what runs", _without("keep_active"),
          _TWO._replace(policy="forbid", forgets=True), "two are active"),
    Wrong("release by name", _without("release_uid"), Bounds(late=1, delete=1), _TWICE),
    Wrong("something else resumes", Protocol(), Bounds(resume=1), _TWICE),
)  # fmt: skip
