"""
Was every period of every KronJob executed at most once, and none lost? Said from the audit log.

The rules are those of the simulated worlds (`gnomon.simulation.operator.judge`), which share no
code with the operator. Here is what they are told: what the API server wrote down, with who asked
for it.
"""

from collections.abc import Iterable, Mapping

from gnomon.simulation.operator import judge
from gnomon.simulation.operator.duty import at, text
from gnomon.simulation.operator.seen import seconds

__all__ = ["Judge"]


class Judge(judge.Judge):
    """`see` every event of the log, then ask."""

    def __init__(self, operators: Iterable[str]) -> None:
        super().__init__(operators)
        self.requests = 0

    def see(self, event: Mapping[str, object]) -> None:
        """One event of the audit log, of the stage at which the answer is known."""
        user = text(event, "user", "username")
        self.requests += user in self.operators
        about, code = at(event, "objectRef"), at(event, "responseStatus", "code")
        if not isinstance(code, int) or not 200 <= code < 300:
            return
        received = seconds(text(event, "requestReceivedTimestamp"))
        one = at(event, "responseObject")
        verb, resource = text(event, "verb"), text(about, "resource")
        if verb == "delete" and resource in ("jobs", "kronjobs"):
            uid = text(one, "metadata", "uid") or text(one, "details", "uid")
            self.see_deletion(resource, uid, text(about, "name"), received, by=user)
        elif isinstance(one, Mapping):
            is_status = text(about, "subresource") == "status"
            self.see_object(one, received, by=user, is_status=is_status)

    def see_now(self, objects: Iterable[Mapping[str, object]], received: float) -> None:
        """What is there at the end, in case a server died before it wrote something down."""
        for one in objects:
            self.see_object(one, received, by="", is_status=False)
