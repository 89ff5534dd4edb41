"""
The claims that a worker has won and not launched yet.

Those that are ready are launched in their order. Those that wait are freed when what is in their
way has ended, and let in by the next turn, which asks whether a caller has killed them meanwhile. A
claim that was lost, killed or replaced is taken out and never launched.
"""

from collections import deque

from gnomon.ports import Claim

__all__ = ["Claims"]


class Claims:
    """Claims in the hand of one worker."""

    def __init__(self) -> None:
        self.ready: deque[Claim] = deque()
        self.waiting: dict[str, Claim] = {}
        """By key, those that wait for the end of another run."""
        self.freed: deque[Claim] = deque()
        """Those that have waited, and are to be let in among those that are ready."""
        self.launching: Claim | None = None
        """The one that is being launched at this moment."""
        self.giving_way: dict[tuple[str, int], Claim] = {}
        """By key and fencing number, those that were taken out to be replaced, and of which an
        earlier try is being ended."""
        self._is_given_up = False

    def __len__(self) -> int:
        return len(self.ready) + len(self.waiting) + len(self.freed) + len(self.giving_way)

    def has(self, key: str, fence: int) -> bool:
        """Whether a claim is in hand, and can be replaced here."""
        if (key, fence) in self.giving_way:
            return True
        mine = (*self.ready, *self.freed, *self.waiting.values())
        return any((one.key, one.fence) == (key, fence) for one in mine)

    def is_launching(self, key: str, fence: int) -> bool:
        now = self.launching
        return now is not None and (now.key, now.fence) == (key, fence)

    def withdraw(self, key: str, fence: int) -> list[Claim]:
        """Take out the claim on a run; it is the list's only one, or there is none."""
        gone = list[Claim]()
        for some in (self.ready, self.freed):
            found = [one for one in some if (one.key, one.fence) == (key, fence)]
            for one in found:
                some.remove(one)
            gone += found
        waiting = self.waiting.get(key)
        if waiting is not None and waiting.fence == fence:
            gone.append(self.waiting.pop(key))
        return gone

    def let_in(self) -> bool:
        """Make ready who has waited; whether anybody is ready whom an earlier turn has won."""
        self.ready.extend(self.freed)
        self.freed.clear()
        return bool(self.ready)

    def hold_back(self, claim: Claim) -> bool:
        """Keep one that could not be started; False for one that is to be judged again."""
        if self._is_given_up or claim.schedule.policy.deadline is not None:
            return False
        self.ready.appendleft(claim)
        return True

    def give_up_waiting(self, *, strained: bool) -> list[Claim]:
        """Take out those that wait, those that give way, and those that cannot be started."""
        self._is_given_up = True
        waiting = [*self.waiting.values(), *self.giving_way.values()]
        self.waiting.clear()
        self.giving_way.clear()
        if strained:
            waiting += self.ready
            self.ready.clear()
        return waiting
