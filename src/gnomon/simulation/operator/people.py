"""
What people, quotas and clocks do to a cluster while operators work on it.

Each errand does one thing to one object that is there; which, its number says.

Spec: OSIM-1.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gnomon.ports.kubernetes import (
    Create,
    Delete,
    Denial,
    Kind,
    MergePatch,
    Object,
    Propagation,
    PutStatus,
)
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kubernetes.server import metadata_of
from gnomon.simulation.operator.plan import Do, Errand, edited

if TYPE_CHECKING:
    from gnomon.simulation.operator.world import OperatorWorld

__all__ = ["NAMESPACE", "People"]

NAMESPACE = "prod"
_PERSON = "person"
_SKEWS_MS = (1_500, 1_900, 4_000, 61_000, 3_600_000, 86_400_000)
_DENIALS = (Denial.QUOTA, Denial.FORBIDDEN, Denial.TERMINATING, Denial.INVALID)
_WRONG, _RIGHT = {"recordsLimit": 0}, {"recordsLimit": 60}
_LASTS_MS = (3_000, 15_000, 40_000)


class People:
    """Everybody but the operators."""

    def __init__(self, world: "OperatorWorld", dice: Dice) -> None:
        self._world, self._dice = world, dice
        self._acts: Mapping[Do, Callable[[Errand], object]] = {
            Do.DELETE_JOB: self._delete_job, Do.USURP: self._usurp,
            Do.EDIT_TEMPLATE: self._edit, Do.EDIT_TIMING: self._edit, Do.EDIT_POLICY: self._edit,
            Do.LABEL: self._label, Do.SUSPEND: self._suspend, Do.RESUME: self._suspend,
            Do.MAKE_AGAIN: self._make_again, Do.WIPE: self._wipe, Do.FORGE: self._forge,
            Do.QUOTA: self._deny, Do.DENY_STATUS: self._deny, Do.SET_CLOCK: self._set_clock,
            Do.KILL: self._kill, Do.CUT: self._cut, Do.FORGET: self._forget,
            Do.BREAK: self._break,
        }  # fmt: skip

    def act(self, errand: Errand) -> None:
        self._world.notes.log(self._world.at(), "", f"errand {errand.do}")
        if self._world.server.objects_of(Kind.KRONJOB):  # one that is made again may be away
            self._world.notes.hit(f"errand {errand.do}")
            self._acts[errand.do](errand)

    def heal(self) -> None:
        """Clocks go right, nothing is denied, cut off, suspended or wrong."""
        world = self._world
        world.denied.clear()
        for slot in range(world.spec.operators):
            world.skews_ms[slot] = 0
        world.cut.clear()
        for one in world.server.objects_of(Kind.KRONJOB):
            self._patch(one, {"spec": {"policy": {"suspend": False}, **_RIGHT}})

    def _one(self, errand: Errand, objects: Sequence[Object]) -> Object | None:
        return objects[errand.which % len(objects)] if objects else None

    def _kronjob(self, errand: Errand) -> Object:
        one = self._one(errand, self._world.server.objects_of(Kind.KRONJOB))
        assert one is not None
        return one

    def _delete_job(self, errand: Errand) -> None:
        newest = sorted(
            self._world.server.objects_of(Kind.JOB), key=lambda job: str(metadata_of(job)["uid"])
        )
        job = self._one(errand, newest[-3:])
        if job is not None:
            how = tuple(Propagation)[errand.which % 2]
            self._delete(Kind.JOB, job, how)

    def _usurp(self, errand: Errand) -> None:
        """A Job is deleted, and another one that no operator made takes its name."""
        job = self._one(errand, self._world.server.objects_of(Kind.JOB))
        if job is not None:
            self._delete(Kind.JOB, job, Propagation.BACKGROUND)
            mine = {"metadata": {"name": metadata_of(job)["name"]}, "spec": {"suspend": True}}
            self._world.act_as(_PERSON, Create(Kind.JOB, NAMESPACE, mine))

    def _edit(self, errand: Errand) -> None:
        one = self._kronjob(errand)
        words = one["spec"]
        assert isinstance(words, Mapping)
        self._patch(one, {"spec": edited(self._dice, words, errand.do)})

    def _label(self, errand: Errand) -> None:
        label = {"edit": str(self._dice.below(1_000_000))}
        self._patch(self._kronjob(errand), {"metadata": {"labels": label}})

    def _suspend(self, errand: Errand) -> None:
        is_held = errand.do is Do.SUSPEND
        self._patch(self._kronjob(errand), {"spec": {"policy": {"suspend": is_held}}})

    def _make_again(self, errand: Errand) -> None:
        one = self._kronjob(errand)
        name = str(metadata_of(one)["name"])
        words = one["spec"]
        assert isinstance(words, Mapping)
        self._delete(Kind.KRONJOB, one, Propagation.BACKGROUND)
        number = int(name.rpartition("-")[2])
        pause_ms = self._dice.pick((0, 300, 4_000))
        if pause_ms:
            self._world.later(pause_ms, lambda: self._world.make(number, words))
        else:
            self._world.make(number, words)

    def _wipe(self, errand: Errand) -> None:
        self._write_status(self._kronjob(errand), {})

    def _forge(self, errand: Errand) -> None:
        """An edit by hand that does not know the seal."""
        one = self._kronjob(errand)
        status = one.get("status")
        if isinstance(status, Mapping) and "cursor" in status:
            forged = {**status, "ahead": [], "active": []}
            self._write_status(one, forged if errand.which % 2 else {**forged, "recent": []})

    def _deny(self, errand: Errand) -> None:
        kind = Kind.JOB if errand.do is Do.QUOTA else Kind.KRONJOB
        length_ms = _LASTS_MS[errand.which % len(_LASTS_MS)]
        self._world.denied[kind] = _DENIALS[errand.which % len(_DENIALS)]
        self._world.disturb_all(length_ms)

        def allow() -> None:
            self._world.denied.pop(kind, None)

        self._world.later(length_ms, allow)

    def _set_clock(self, errand: Errand) -> None:
        """For a while the clock of one operator is wrong."""
        world, slot = self._world, errand.which % self._world.spec.operators
        skew_ms = self._dice.pick(_SKEWS_MS) * self._dice.pick((1, -1))
        length_ms = _LASTS_MS[errand.which % len(_LASTS_MS)]
        world.skews_ms[slot] = skew_ms
        world.disturb(f"operator-{slot}.0", length_ms)
        world.later(length_ms, lambda: world.skews_ms.update({slot: 0}))

    def _kill(self, errand: Errand) -> None:
        names = sorted(self._world.lives)
        if names:
            self._world.kill(names[errand.which % len(names)])

    def _cut(self, errand: Errand) -> None:
        """One operator gets no answers, and its watches fall silent."""
        names = sorted(self._world.lives)
        if names:
            name = names[errand.which % len(names)]
            length_ms = _LASTS_MS[errand.which % len(_LASTS_MS)]
            self._world.cut.add(name)
            self._world.disturb(name, length_ms)
            self._world.later(length_ms, lambda: self._world.cut.discard(name))

    def _break(self, errand: Errand) -> None:
        """A spec that cannot be meant, and after a while the one that was there."""
        one = self._kronjob(errand)
        name = str(metadata_of(one)["name"])
        self._patch(one, {"spec": _WRONG})
        length_ms = _LASTS_MS[errand.which % len(_LASTS_MS)]

        def mend() -> None:
            patch = MergePatch(Kind.KRONJOB, NAMESPACE, name, {"spec": _RIGHT})
            self._world.act_as(_PERSON, patch)

        self._world.later(length_ms, mend)

    def _forget(self, errand: Errand) -> None:
        self._world.server.forget_history()

    def _patch(self, one: Object, patch: Object) -> None:
        name = str(metadata_of(one)["name"])
        self._world.act_as(_PERSON, MergePatch(Kind.KRONJOB, NAMESPACE, name, patch))

    def _delete(self, kind: Kind, one: Object, how: Propagation) -> None:
        metadata = metadata_of(one)
        name, uid = str(metadata["name"]), str(metadata["uid"])
        self._world.act_as(_PERSON, Delete(kind, NAMESPACE, name, uid, how))

    def _write_status(self, one: Object, status: Object) -> None:
        metadata = metadata_of(one)
        name, uid = str(metadata["name"]), str(metadata["uid"])
        version = str(metadata["resourceVersion"])
        self._world.act_as(_PERSON, PutStatus(Kind.KRONJOB, NAMESPACE, name, uid, version, status))
