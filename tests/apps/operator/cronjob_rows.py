"""
What CronJob does and what KronJob does, situation by situation: a table, and nothing else.

The situations are those of CronJob's own table test in Kubernetes v1.36.3, each told once, and some
that its other tests, its documentation and its users ask about. What KronJob does is played on a
simulated API server (`test_cronjob_rows`); what stands without `alone` is played by the CronJob
controller and an operator side by side (`tests/cluster/test_beside_cronjob`).

The same minutes pass in both plays. The objects are made; the minute `b0` comes, in which what has
run before runs; both controllers go away; the minute `b1` comes, in which what is due is due; 15 s
later both come back, and look. Where `absence_s` is given, they were away for so long before `b1`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["LATE_S", "LIMIT_S", "REASONS", "ROWS", "WEEK_S", "Act", "Before", "Row"]

LATE_S = 15
"""So long after `b1` both controllers are back."""
LIMIT_S = 60
"""So long after `b1` is looked at what became of it."""
WEEK_S = 7 * 86_400


class Before(Enum):
    """What became of the run before."""

    NEVER = auto()
    DONE = auto()
    """Its Job has ended."""
    ACTIVE = auto()
    """Its Job has not ended."""


class Act(Enum):
    """What happens beside the clock, mostly while both controllers are away."""

    NOTHING = auto()
    SUSPENDED = auto()
    DELETED = auto()
    JOB_DELETED = auto()
    JOB_STRUCK = auto()
    JOB_ENDS = auto()
    SCHEDULE_EDITED = auto()
    ZONE_EDITED_TO = auto()
    ZONE_EDITED_FROM = auto()
    TEMPLATE_EDITED = auto()
    STRANGER = auto()
    NAME_TAKEN = auto()
    DIED_AFTER_MAKING = auto()
    OLD_VIEW = auto()
    NO_JOBS_SEEN = auto()
    CLOCK_BACK = auto()
    NO_ANSWER = auto()
    ENDING_NAMESPACE = auto()
    NO_ROOM = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One situation, for one or several of the policies `allow`, `forbid` and `replace`."""

    name: str
    policies: tuple[str, ...] = ("allow", "forbid", "replace")
    before: Before = Before.NEVER
    due: bool = True
    schedule: str = ""
    """With `{b0}`, `{b1}` and `{hour}` to fill in; left out, it follows from `before` and `due`."""
    zone: str = ""
    deadline_s: int | None = None
    act: Act = Act.NOTHING
    absence_s: int = 0
    late_s: int = LATE_S
    kept: int | None = None
    """The limit of finished Jobs that are kept; the outcomes say how many are there."""
    constraints: str = ""
    cronjob: str
    kronjob: str
    why: str = ""
    """A key of `REASONS`, where the two start different Jobs or say different things of them."""
    alone: str = ""
    """Why the two are not played side by side."""


REASONS: Mapping[str, str] = {
    "every": "The periods of `@every` count from the moment in which the object was made, so that"
    " no calendar tells them; KronJob takes only what can be foretold.",
    "never": "A schedule that never comes is a mistake, and KronJob says so in a condition.",
    "said": "KronJob writes down what became of each period; CronJob tells an Event, which is gone"
    " after an hour.",
    "deadline": "Without a deadline CronJob starts the newest missed run however late it is;"
    " KronJob always has one, of 1m when nothing is said.",
    "each": "CronJob starts the newest missed run and drops the others; KronJob judges each period:"
    " the newest 32 that are still within the deadline run, or are skipped by the policy.",
    "oldest": "Under `Forbid` CronJob starts the newest missed run; KronJob starts the oldest that"
    " is within the deadline, and skips the later ones, because its Job is active.",
    "held": "KronJob has taken the period, and its Job waits, suspended, until the server says that"
    " the older one has gone; CronJob begins anew.",
    "waits": "CronJob starts a run that `Forbid` held back as soon as the Job before has ended;"
    " KronJob skips the period, so that no Job runs at a time that the schedule does not name.",
    "edit": "An edit of a KronJob makes no new period due: its new timing opens no period before"
    " the edit was seen.",
    "opened": "The period had come before the edit, under the timing that was then in force;"
    " KronJob does not lose it.",
    "name": "CronJob takes a Job of that name for its run, though another owns it; a KronJob tries"
    " another name, since only the uid in its status counts.",
    "struck": "CronJob believes its list of active Jobs, and runs two at a time; KronJob notices"
    " that the status was edited, and lets nothing run that was due by then.",
    "window": "CronJob has no windows and no constraints.",
}

_VIEW = "a view cannot be made old from outside"
_ONE, _NONE = "starts one", "starts none"
_SHORT_S, _MEDIUM_S, _LONG_S = 10, 7_200, 1_000_000
_NEVER, _DONE, _ACTIVE = Before.NEVER, Before.DONE, Before.ACTIVE
_LACKS = "refused"

ROWS: tuple[Row, ...] = (
    # What is written is wrong.
    Row(name="the schedule is no expression", schedule="61 * * * *", cronjob=_LACKS,
        kronjob=_LACKS),
    Row(name="the zone does not exist", zone="Mars/Phobos", cronjob=_LACKS, kronjob=_LACKS),
    Row(name="the schedule names a zone too", schedule="TZ=UTC {b1} * * * *",
        zone="America/New_York", cronjob=_LACKS, kronjob=_LACKS),
    Row(name="the schedule never comes", schedule="0 0 31 2 *", cronjob=_NONE, kronjob=_LACKS,
        why="never"),
    # It never ran.
    Row(name="it is not yet time", due=False, cronjob=_NONE, kronjob="nothing"),
    Row(name="it is not yet time where its zone is", schedule="{b1} {hour} * * *",
        zone="America/New_York", due=False, cronjob=_NONE, kronjob="nothing"),
    Row(name="it is time", cronjob=_ONE, kronjob="executed"),
    Row(name="it is time where its zone is", schedule="{b1} {york} * * *", zone="America/New_York",
        cronjob=_ONE, kronjob="executed"),
    Row(name="it is time, but suspended", act=Act.SUSPENDED, cronjob=_NONE, kronjob="nothing"),
    Row(name="it is past its deadline", deadline_s=_SHORT_S, cronjob=_NONE,
        kronjob="missed(deadline)", why="said"),
    Row(name="it is within its deadline", deadline_s=_LONG_S, cronjob=_ONE, kronjob="executed"),
    Row(name="it is time, with @every", policies=("allow",), schedule="@every 50m",
        absence_s=3_600, cronjob=_ONE, kronjob=_LACKS, why="every"),
    # It ran, and its Job is done.
    Row(name="it is not yet time again", before=_DONE, due=False, cronjob=_NONE, kronjob="nothing"),
    Row(name="it is time again", before=_DONE, cronjob=_ONE, kronjob="executed"),
    Row(name="it is time again, but suspended", before=_DONE, act=Act.SUSPENDED, cronjob=_NONE,
        kronjob="nothing"),
    Row(name="it is past its deadline again", before=_DONE, deadline_s=_SHORT_S, cronjob=_NONE,
        kronjob="missed(deadline)", why="said"),
    Row(name="it is within its deadline again", before=_DONE, deadline_s=_LONG_S, cronjob=_ONE,
        kronjob="executed"),
    Row(name="the controller died when it had made the Job, before it wrote so", before=_DONE,
        act=Act.DIED_AFTER_MAKING, cronjob=_ONE, kronjob="executed",
        alone="a controller cannot be stopped between two of its calls from outside"),
    Row(name="its Job was made just now, and the view is older", before=_DONE, act=Act.OLD_VIEW,
        cronjob=_ONE, kronjob="executed", alone=_VIEW),
    Row(name="it is time again, but the name of its next Job is another Job's", before=_DONE,
        act=Act.NAME_TAKEN, cronjob=_NONE, kronjob="executed", why="name"),
    Row(name="its Job was made just now, and the clock goes back a minute", policies=("forbid",),
        before=_DONE, act=Act.CLOCK_BACK, cronjob=_ONE, kronjob="executed",
        alone="the clock of the cluster is this machine's"),
    Row(name="it is not yet time again, and the Job before was deleted by hand", before=_DONE,
        due=False, act=Act.JOB_DELETED, cronjob=_NONE, kronjob="nothing"),
    Row(name="no finished Job is kept", policies=("forbid",), before=_DONE, due=False, kept=0,
        cronjob="starts none, 0 kept", kronjob="nothing, 0 kept"),
    Row(name="ten finished Jobs are kept", policies=("forbid",), before=_DONE, due=False, kept=10,
        cronjob="starts none, 1 kept", kronjob="nothing, 1 kept"),
    # Its Job is active.
    Row(name="it is not yet time, one is active", before=_ACTIVE, due=False, cronjob=_NONE,
        kronjob="nothing"),
    Row(name="one is active, allow", policies=("allow",), before=_ACTIVE, cronjob=_ONE,
        kronjob="executed"),
    Row(name="one is active, forbid", policies=("forbid",), before=_ACTIVE, cronjob=_NONE,
        kronjob="skipped(overlap)", why="waits"),
    Row(name="one is active, replace", policies=("replace",), before=_ACTIVE,
        cronjob="starts one, ends the older", kronjob="executed, the older Replaced"),
    Row(name="one is active when both are back, and ends soon after", policies=("forbid",),
        before=_ACTIVE, act=Act.JOB_ENDS, cronjob=_ONE, kronjob="skipped(overlap)", why="waits"),
    Row(name="one was active, and was deleted by hand", policies=("forbid",), before=_ACTIVE,
        act=Act.JOB_DELETED, cronjob=_ONE, kronjob="executed, the older Deleted"),
    Row(name="one is active, and the server does not answer for it", policies=("replace",),
        before=_ACTIVE, act=Act.NO_ANSWER, cronjob=_NONE, kronjob="executed, held", why="held",
        alone="a server cannot be made to fail for one question from outside"),
    Row(name="one is active, suspended", before=_ACTIVE, act=Act.SUSPENDED, cronjob=_NONE,
        kronjob="nothing"),
    Row(name="one is active, past the deadline", policies=("allow",), before=_ACTIVE,
        deadline_s=_SHORT_S, cronjob=_NONE, kronjob="missed(deadline)", why="said"),
    Row(name="one is active, within the deadline", policies=("allow",), before=_ACTIVE,
        deadline_s=_LONG_S, cronjob=_ONE, kronjob="executed"),
    Row(name="one is active, and the view has no Jobs yet", before=_ACTIVE, due=False,
        act=Act.NO_JOBS_SEEN, cronjob=_NONE, kronjob="nothing", alone=_VIEW),
    Row(name="one is active, and was struck from the status by hand", policies=("forbid",),
        before=_ACTIVE, act=Act.JOB_STRUCK, cronjob=_ONE, kronjob="missed(status_lost)",
        why="struck"),
    Row(name="a Job with its labels is active that it does not own", policies=("forbid",),
        act=Act.STRANGER, cronjob=_ONE, kronjob="executed"),
    # Nothing has run for long.
    Row(name="five minutes late", policies=("allow",), schedule="{ago} * * * *", absence_s=3_600,
        cronjob=_ONE, kronjob="missed(deadline)", why="deadline"),
    Row(name="a week late", absence_s=WEEK_S, cronjob=_ONE,
        kronjob="executed, 167 missed(deadline)"),
    Row(name="a week late, all within the deadline, allow", policies=("allow",), absence_s=WEEK_S,
        deadline_s=_LONG_S, cronjob=_ONE, kronjob="32 executed, 136 skipped(catchup_limit)",
        why="each"),
    Row(name="a week late, all within the deadline, forbid", policies=("forbid",),
        absence_s=WEEK_S, deadline_s=_LONG_S, cronjob=_ONE,
        kronjob="executed, 136 skipped(catchup_limit), 31 skipped(overlap)", why="oldest"),
    Row(name="a week late, all within the deadline, replace", policies=("replace",),
        absence_s=WEEK_S, deadline_s=_LONG_S, cronjob=_ONE,
        kronjob="executed, 136 skipped(catchup_limit), 31 skipped(superseded)"),
    Row(name="a week late, two within the deadline, allow", policies=("allow",), absence_s=WEEK_S,
        deadline_s=_MEDIUM_S, cronjob=_ONE, kronjob="2 executed, 166 missed(deadline)", why="each"),
    Row(name="a week late, two within the deadline, forbid", policies=("forbid",),
        absence_s=WEEK_S, deadline_s=_MEDIUM_S, cronjob=_ONE,
        kronjob="executed, 166 missed(deadline), skipped(overlap)", why="oldest"),
    Row(name="a week late, two within the deadline, replace", policies=("replace",),
        absence_s=WEEK_S, deadline_s=_MEDIUM_S, cronjob=_ONE,
        kronjob="executed, 166 missed(deadline), skipped(superseded)"),
    Row(name="a week late, and in time for the newest", absence_s=WEEK_S, deadline_s=_SHORT_S,
        late_s=0, cronjob=_ONE, kronjob="executed, 167 missed(deadline)",
        alone="no controller can be started for one second"),
    Row(name="a week late, past the deadline of all", absence_s=WEEK_S, deadline_s=_SHORT_S,
        cronjob=_NONE, kronjob="168 missed(deadline)", why="said"),
    # It is edited, or it goes.
    Row(name="an edit of the schedule names a time that has just passed", due=False,
        act=Act.SCHEDULE_EDITED, cronjob=_ONE, kronjob="nothing", why="edit"),
    Row(name="an edit of the zone makes it a time that has just passed", due=False,
        schedule="{b1} {hour} * * *", zone="Asia/Tokyo", act=Act.ZONE_EDITED_TO, cronjob=_ONE,
        kronjob="nothing", why="edit"),
    Row(name="it is time, and then the zone is edited", schedule="{b1} {hour} * * *",
        act=Act.ZONE_EDITED_FROM, cronjob=_NONE, kronjob="executed", why="opened"),
    Row(name="it is time, and then the template is edited", act=Act.TEMPLATE_EDITED, cronjob=_ONE,
        kronjob="executed"),
    Row(name="it is time, but it is being deleted and a finalizer holds it", act=Act.DELETED,
        cronjob=_NONE, kronjob="nothing"),
    Row(name="it is time, and its namespace is being deleted", before=_DONE,
        act=Act.ENDING_NAMESPACE, deadline_s=30, cronjob=_NONE, kronjob="missed(launch_failed)",
        why="said", alone="the namespace controller deletes the object itself at once"),
    Row(name="it is time, and a finished Job beyond the limit fills the quota",
        policies=("forbid",), before=_DONE, kept=0, act=Act.NO_ROOM, cronjob="starts one, 0 kept",
        kronjob="executed, 0 kept"),
    # What only a KronJob can say.
    Row(name="it is time, and its constraints allow no second", constraints="hours={elsewhere}",
        cronjob="has no such field", kronjob="unschedulable(constraints)", why="window"),
)  # fmt: skip
