"""
A Kubernetes API server as a contract: what is asked of it, and what it answers.

A question is a value, so that the next question can be decided without asking it, and a call can be
counted, delayed, lost or recorded on its way. An answer is a value too: what a server may refuse is
expected, and so is an answer that never comes (`NoAnswer`). An object is the
plain JSON of its kind, as it goes over the wire.

Writes to one object happen one after the other. A name belongs to one object while it lives, a uid
to one object for ever. A write that carries a resourceVersion happens only to that version; a test
in a patch and a uid in a deletion are asked in the same moment in which the write happens.

This port knows no schedule and decides nothing.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

__all__ = ["API_VERSION", "GROUP", "VERSION", "Answer", "ApiServer", "Call", "Change", "Create",
           "Delete", "Denial", "Denied", "Done", "Find", "Found", "Get", "JsonPatch", "Kind",
           "MergePatch", "NoAnswer", "Object", "Propagation", "PutStatus", "Replace", "Seen",
           "Watch"]  # fmt: skip

Object = Mapping[str, object]
"""An object as JSON: texts, numbers, truth values, None, lists, and mappings of texts."""

GROUP = "gnomon.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
"""Of the kind KronJob."""


class Kind(StrEnum):
    """The kinds that are asked about, by the word in their address."""

    KRONJOB = "kronjobs"
    JOB = "jobs"
    POD = "pods"
    EVENT = "events"
    LEASE = "leases"


class Propagation(StrEnum):
    """What becomes of the objects that a deleted object owns."""

    FOREGROUND = "Foreground"
    """They go first, and it is there, marked as being deleted, until they have gone."""
    BACKGROUND = "Background"
    """It goes at once, and they follow."""


class Get(NamedTuple):
    """The object as it is now, not as a cache has it."""

    kind: Kind
    namespace: str
    name: str


class Create(NamedTuple):
    """A new object; one of the same name that is there, though being deleted, denies it."""

    kind: Kind
    namespace: str
    object: Object


class Replace(NamedTuple):
    """The whole object but its status, if its `metadata.resourceVersion` is the present one."""

    kind: Kind
    namespace: str
    object: Object


class PutStatus(NamedTuple):
    """The whole status and nothing else, if the object still has this uid and version."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    resource_version: str
    status: Object


class MergePatch(NamedTuple):
    """
    The fields named here get these values, and None takes a field away.

    A uid or a resourceVersion in its metadata must be the present one.
    """

    kind: Kind
    namespace: str
    name: str
    patch: Object


class JsonPatch(NamedTuple):
    """All operations in order (`test`, `add`, `replace`, `remove`), or none: INVALID."""

    kind: Kind
    namespace: str
    name: str
    operations: Sequence[Object]


class Delete(NamedTuple):
    """The object of that name goes, if it has this uid; another one is a CONFLICT."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    propagation: Propagation = Propagation.BACKGROUND


Call = Get | Create | Replace | PutStatus | MergePatch | JsonPatch | Delete


class Find(NamedTuple):
    """All objects of a kind as they are now, not as a cache has them."""

    kind: Kind
    namespace: str | None = None
    """None for those of all namespaces."""
    labels: Mapping[str, str | None] = {}
    """Those that have all of these labels; None stands for any value."""


class Watch(NamedTuple):
    """What happens to the objects of a kind after a version."""

    kind: Kind
    resource_version: str
    namespace: str | None = None
    labels: Mapping[str, str | None] = {}
    """As in `Find`; an object that loses them is told as deleted."""
    timeout_s: int = 60
    """After so long the server ends the watch of its own accord."""


class Done(NamedTuple):
    """
    The server has done it, or has it: the object afterwards.

    After a deletion the object as it was last, or its name, namespace and uid alone.
    """

    object: Object
    at: int | None
    """The server's own time in whole seconds, from the head of its answer."""


class Found(NamedTuple):
    """The objects of one moment, and the version from which they can be watched."""

    objects: Sequence[Object]
    resource_version: str
    at: int | None


class Denial(StrEnum):
    """Why a server has certainly not done it."""

    CONFLICT = "conflict"
    """Another version, or another uid."""
    EXISTS = "exists"
    """The name is taken."""
    NOT_FOUND = "not_found"
    """There is no object of that name: said of the object, never of the address alone."""
    NO_SUCH_KIND = "no_such_kind"
    """The server does not know the kind: its definition is not installed."""
    EXPIRED = "expired"
    """The version to watch from is too old; find again."""
    INVALID = "invalid"
    """The object is not one of its kind, or a test of a patch has failed."""
    FORBIDDEN = "forbidden"
    """The caller lacks the right, or an admission policy refuses."""
    QUOTA = "quota"
    """The namespace has no room for it."""
    TERMINATING = "terminating"
    """The namespace is being deleted."""
    UNAUTHENTICATED = "unauthenticated"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    """Too many requests at a time; `retry_after_ms` may say when to come back."""


class Denied(NamedTuple):
    """The server has answered that it will not, and certainly has not."""

    why: Denial
    message: str
    """In the server's words."""
    at: int | None
    retry_after_ms: int | None = None


class NoAnswer(NamedTuple):
    """
    The outcome is unknown: not reached, cut off, or an error inside the server.

    A write may have happened, and may still happen at any later time.
    """

    message: str


Answer = Done | Denied | NoAnswer


class Seen(StrEnum):
    """What a watch tells of an object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    """Nothing has happened up to the version in its metadata."""


class Change(NamedTuple):
    """One thing that has happened."""

    seen: Seen
    object: Object


class ApiServer(Protocol):
    """A server as one caller sees it, with that caller's rights."""

    async def send(self, call: Call) -> Answer:
        """Ask for one thing, once; nothing is tried again. Raises nothing but cancellation."""
        ...

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        """Everything of a kind, page by page, as of one version."""
        ...

    def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        """
        What happens, in order, for each object without a gap.

        It ends without a word when its time is over, and after a `Denied` or a `NoAnswer`. It may
        also fall silent and never end; its reader must notice.
        """
        ...
