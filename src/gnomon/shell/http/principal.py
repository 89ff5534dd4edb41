"""
Who is asking, and for whom? A principal: a subject, one tenant or all, and scopes.

A tenant is a `user_id` of the schedules. A subject that acts for one tenant sees nothing of the
others, not even that it is there. `admin` contains `write`, and `write` contains `read`. To act for
every tenant takes `admin`; that is written `*`.

Spec: AUTH-7 to AUTH-9.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from gnomon.errors import DefinitionError

__all__ = ["EVERYBODY", "Principal", "Scope", "read_principal"]

EVERYBODY = "*"
SUBJECT_MAX = 200


class Scope(StrEnum):
    """What a principal may do."""

    READ = "read"
    """See schedules, runs and DAGs of its tenant."""
    WRITE = "write"
    """Change them too."""
    ADMIN = "admin"
    """Act for every tenant."""


_CONTAINED = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.WRITE: frozenset({Scope.READ, Scope.WRITE}),
    Scope.ADMIN: frozenset(Scope),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A sender that the service knows."""

    subject: str
    tenant: str | None
    """The `user_id` it acts for; None for all of them."""
    scopes: frozenset[Scope]

    def may_act_for(self, user_id: str) -> bool:
        return self.tenant is None or self.tenant == user_id


def read_principal(*, subject: str, user_id: str, scopes: Iterable[str]) -> Principal:
    """A principal from its three texts; scopes of other services are passed over."""
    if not 0 < len(subject) <= SUBJECT_MAX or not subject.isprintable():
        raise DefinitionError(
            f"must have 1 to {SUBJECT_MAX} printable characters", where="sub", got=subject
        )
    known = [_CONTAINED[Scope(name)] for name in scopes if name in list(Scope)]
    held = frozenset[Scope]().union(*known)
    if user_id != EVERYBODY:
        return Principal(subject=subject, tenant=user_id, scopes=held)
    if Scope.ADMIN not in held:
        raise DefinitionError(
            "may be * only with the scope admin", where="user_id", got=user_id,
            hint="name one user_id, or add admin to the scopes",
        )  # fmt: skip
    return Principal(subject=subject, tenant=None, scopes=held)
