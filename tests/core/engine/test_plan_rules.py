"""
The rules of the engine, one on a line: before | definition | now | what it does | next look.

How to read and write a line is told in `rules.py`. The first table has the situations that the
CronJob controller of Kubernetes is tested with, in our words: `forbid` is `skip`, `suspended` is a
pause, and "starts the most recent of the missed" is the catch-up policy `latest`.
"""
# ruff: noqa: E501 - a rule is one line, however long

import pytest

from tests.clauses import clause
from tests.core.engine.rules import Rule, answer, rules

LIKE_KUBERNETES = rules(
    """
    # never ran, it is not time
    ran 09:00  | overlap=allow                      | 09:59:59.999 | nothing       | 10:00
    ran 09:00  | overlap=skip                       | 09:59:59.999 | nothing       | 10:00
    ran 09:00  | overlap=replace                    | 09:59:59.999 | nothing       | 10:00
    ran 09:00  | overlap=queue                      | 09:59:59.999 | nothing       | 10:00
    ran 09:00  | timezone=Asia/Kolkata              | 09:00        | nothing       | 09:30
    # it is time
    ran 09:00  | overlap=allow                      | 10:00        | start 10:00   | 11:00
    ran 09:00  | overlap=skip                       | 10:00        | start 10:00   | 11:00
    ran 09:00  | overlap=replace                    | 10:00        | start 10:00   | 11:00
    ran 09:00  | overlap=queue                      | 10:00        | start 10:00   | 11:00
    ran 08:30  | timezone=Asia/Kolkata              | 09:30        | start 09:30   | 10:30
    ran 09:00  | overlap=allow                      | 10:00:01     | start 10:00   | 11:00
    ran 09:00  | overlap=skip                       | 10:00:01     | start 10:00   | 11:00
    ran 09:00  | overlap=replace                    | 10:00:01     | start 10:00   | 11:00
    # it is time, but suspended
    ran 09:00, paused           | overlap=allow     | 10:00:01     | nothing       | -
    ran 09:00, paused           | overlap=skip      | 10:00:01     | nothing       | -
    ran 09:00, paused           | overlap=replace   | 10:00:01     | nothing       | -
    ran 09:00, until 12:00      | overlap=allow     | 10:00:01     | nothing       | 12:00
    # it is time, with a deadline
    ran 09:00  | overlap=allow deadline=10s         | 10:00:11     | miss(deadline) 10:00 | 11:00
    ran 09:00  | overlap=skip deadline=10s          | 10:00:11     | miss(deadline) 10:00 | 11:00
    ran 09:00  | overlap=replace deadline=10s       | 10:00:11     | miss(deadline) 10:00 | 11:00
    ran 09:00  | overlap=allow deadline=10s         | 10:00:10.999 | start 10:00   | 11:00
    ran 09:00  | overlap=allow deadline=1h          | 10:00:01     | start 10:00   | 11:00
    ran 09:00  | overlap=skip deadline=1h           | 10:00:01     | start 10:00   | 11:00
    ran 09:00  | overlap=replace deadline=1h        | 10:00:01     | start 10:00   | 11:00
    # the previous run is still active, and it is not time
    runs 09:00 | overlap=allow                      | 09:59:59     | nothing       | 10:00
    runs 09:00 | overlap=skip                       | 09:59:59     | nothing       | 10:00
    runs 09:00 | overlap=replace                    | 09:59:59     | nothing       | 10:00
    runs 09:00 | overlap=queue                      | 09:59:59     | nothing       | 10:00
    # still active, and it is time
    runs 09:00 | overlap=allow                      | 10:00:01     | start 10:00            | 11:00
    runs 09:00 | overlap=skip                       | 10:00:01     | skip(overlap) 10:00    | 11:00
    runs 09:00 | overlap=forbid                     | 10:00:01     | skip(overlap) 10:00    | 11:00
    runs 09:00 | overlap=replace                    | 10:00:01     | end 09:00, start 10:00 | 11:00
    runs 09:00 | overlap=queue                      | 10:00:01     | queue 10:00            | 11:00
    runs 08:00, runs 09:00 | overlap=allow          | 10:00        | start 10:00            | 11:00
    runs 08:00, runs 09:00 | overlap=replace        | 10:00     | end 08:00 09:00, start 10:00 | 11:00
    # still active, it is time, but suspended or too late
    runs 09:00, paused     | overlap=allow          | 10:00:01     | nothing                | -
    runs 09:00, paused     | overlap=replace        | 10:00:01     | nothing                | -
    runs 09:00 | overlap=allow deadline=10s         | 10:00:11     | miss(deadline) 10:00   | 11:00
    runs 09:00 | overlap=skip deadline=10s          | 10:00:11     | miss(deadline) 10:00   | 11:00
    runs 09:00 | overlap=replace deadline=10s       | 10:00:11     | miss(deadline) 10:00   | 11:00
    runs 09:00 | overlap=queue deadline=10s         | 10:00:11     | miss(deadline) 10:00   | 11:00
    runs 09:00 | overlap=replace deadline=1h        | 10:00:01     | end 09:00, start 10:00 | 11:00
    # many missed, no deadline or a long one: the newest runs
    ran d-7 09:00 | overlap=allow catchup=latest    | 10:59 | miss(outage) d-7 10:00..07:00 x166 08:00 09:00, start 10:00 | 11:00
    ran d-7 09:00 | overlap=skip catchup=latest     | 10:59 | miss(outage) d-7 10:00..07:00 x166 08:00 09:00, start 10:00 | 11:00
    ran d-7 09:00 | overlap=replace catchup=latest  | 10:59 | miss(outage) d-7 10:00..07:00 x166 08:00 09:00, start 10:00 | 11:00
    ran d-7 09:00 | catchup=latest deadline=1h      | 10:59 | miss(deadline) d-7 10:00..07:00 x166 08:00 09:00, start 10:00 | 11:00
    runs d-7 09:00 | overlap=skip catchup=latest    | 10:59 | miss(outage) d-7 10:00..07:00 x166 08:00 09:00, skip(overlap) 10:00 | 11:00
    runs d-7 09:00 | overlap=replace catchup=latest | 10:59 | end d-7 09:00, miss(outage) d-7 10:00..07:00 x166 08:00 09:00, start 10:00 | 11:00
    # many missed, a deadline that even the newest has missed
    ran d-7 09:00 | overlap=allow deadline=10s      | 10:59 | miss(deadline) d-7 10:00..07:00 x166 08:00 09:00 10:00 | 11:00
    ran d-7 09:00 | overlap=skip deadline=10s       | 10:59 | miss(deadline) d-7 10:00..07:00 x166 08:00 09:00 10:00 | 11:00
    ran d-7 09:00 | overlap=replace deadline=10s    | 10:59 | miss(deadline) d-7 10:00..07:00 x166 08:00 09:00 10:00 | 11:00
    # the same, suspended: nothing is judged, and nothing is written
    ran d-7 09:00, paused | catchup=latest          | 10:59 | nothing | -
    # an expression that comes once in four years
    ran 2024-02-29T00:00:00+00:00 | cron=0_0_29_2_* catchup=latest | 10:00 | nothing | d+721 00:00
    """
)

OVERLAP = rules(
    """
    # several owed at once, oldest first, nothing in flight
    ran 07:00  | overlap=allow catchup=fire_immediately   | 10:00 | start 08:00 09:00 10:00 | 11:00
    ran 07:00  | overlap=skip catchup=fire_immediately    | 10:00 | start 08:00, skip(overlap) 09:00 10:00 | 11:00
    ran 07:00  | overlap=queue catchup=fire_immediately   | 10:00 | start 08:00, queue 09:00 10:00 | 11:00
    ran 07:00  | overlap=replace catchup=fire_immediately | 10:00 | skip(superseded) 08:00 09:00, start 10:00 | 11:00
    # a limit on how many start at a time: the others are looked at again at once
    waits 06:00@10:00, waits 07:00@10:00, waits 08:00@10:00, waits 09:00@10:00, ran 10:00 | overlap=allow | 10:00 | start 06:00 07:00 08:00 | now
    # several owed, with a run in flight
    runs 07:00 | overlap=allow catchup=fire_immediately   | 10:00 | start 08:00 09:00 10:00 | 11:00
    runs 07:00 | overlap=skip catchup=fire_immediately    | 10:00 | skip(overlap) 08:00 09:00 10:00 | 11:00
    runs 07:00 | overlap=queue catchup=fire_immediately   | 10:00 | queue 08:00 09:00, skip(queue_full) 10:00 | 11:00
    runs 07:00 | overlap=replace catchup=fire_immediately | 10:00 | end 07:00, skip(superseded) 08:00 09:00, start 10:00 | 11:00
    # the queue: first in, first out, one at a time, and full is full
    queued 08:00, queued 09:00             | overlap=queue | 09:30 | start 08:00 | 10:00
    runs 07:00, queued 08:00, queued 09:00 | overlap=queue | 09:30 | nothing     | 10:00
    runs 07:00, queued 08:00, queued 09:00 | overlap=queue | 10:00 | skip(queue_full) 10:00 | 11:00
    queued 08:00, queued 09:00             | overlap=queue | 10:00 | start 08:00, queue 10:00 | 11:00
    queued 09:00, waits 08:00@10:00        | overlap=queue | 10:00 | queue 08:00, start 09:00, queue 10:00 | 11:00
    runs 07:00, queued 09:00, waits 08:00@10:00 | overlap=queue | 10:00 | queue 08:00, skip(queue_full) 10:00 | 11:00
    # a period that had its turn and could not be launched goes first
    retry 08:00@09:30, queued 09:00        | overlap=queue | 09:30 | start 08:00 | 10:00
    retry 08:00@09:40, queued 09:00        | overlap=queue | 09:30 | nothing     | 09:40
    retry 08:00@10:10, queued 09:00        | overlap=queue | 10:00 | queue 10:00 | 10:10
    runs 07:00, retry 06:00@09:30, queued 08:00, queued 09:00 | overlap=queue | 09:30 | queue 06:00 | 10:00
    # a queue that waits does not become too late
    queued 09:00                           | overlap=queue deadline=10s | 09:30 | start 09:00 | 10:00
    # the policy was changed while something waited
    runs 08:00, queued 09:00               | overlap=skip    | 09:30 | skip(overlap) 09:00     | 10:00
    queued 08:00, queued 09:00             | overlap=skip    | 09:30 | start 08:00, skip(overlap) 09:00 | 10:00
    queued 08:00, queued 09:00             | overlap=allow   | 09:30 | start 08:00 09:00       | 10:00
    runs 07:00, queued 08:00, queued 09:00 | overlap=replace | 09:30 | end 07:00, skip(superseded) 08:00, start 09:00 | 10:00
    # an older period does not replace a newer run because it failed to launch before
    runs 09:00, retry 08:00@09:30          | overlap=replace | 09:30 | skip(superseded) 08:00  | 10:00
    runs 08:00, retry 09:00@09:30          | overlap=replace | 09:30 | end 08:00, start 09:00  | 10:00
    queued 09:00, retry 08:00@09:30        | overlap=replace | 09:30 | skip(superseded) 08:00, start 09:00 | 10:00
    queued 08:00, retry 09:00@09:30        | overlap=replace | 09:30 | skip(superseded) 08:00, start 09:00 | 10:00
    """
)

CATCHUP = rules(
    """
    # none: in time, recent, old
    ran 09:00 | catchup=none   | 10:00:02     | start 10:00         | 11:00
    ran 09:00 | catchup=none   | 10:01:01     | start 10:00         | 11:00
    ran 09:00 | catchup=none   | 10:01:01.001 | miss(outage) 10:00  | 11:00
    ran 07:00 | catchup=none   | 10:00        | miss(outage) 08:00 09:00, start 10:00 | 11:00
    ran 07:00 | catchup=none   | 10:30        | miss(outage) 08:00 09:00 10:00 | 11:00
    ran 02:00 | catchup=none   | 10:00        | miss(outage) 03:00..07:00 x5 08:00 09:00, start 10:00 | 11:00
    # none looks at each period by its own lateness: who is in time is not a matter of catch-up
    ran 09:59:57 | cron=*_*_*_*_*_* overlap=allow | 10:00 | start 09:59:58 09:59:59 10:00 | 10:00:01
    ran 09:59:55 | cron=*_*_*_*_*_* overlap=allow | 10:00 | miss(outage) 09:59:56 09:59:57, start 09:59:58 09:59:59 10:00 | 10:00:01
    # latest: the newest, however old
    ran 07:00 | catchup=latest | 10:30        | miss(outage) 08:00 09:00, start 10:00 | 11:00
    ran 02:00 | catchup=latest | 10:30        | miss(outage) 03:00..07:00 x5 08:00 09:00, start 10:00 | 11:00
    # recent: the last few, oldest first; older ones are skipped, and only overdue ones count
    ran 09:00 | catchup=recent overlap=allow             | 10:30 | start 10:00       | 11:00
    ran 08:00 | catchup=recent overlap=allow             | 10:30 | start 09:00 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=allow             | 10:30 | skip(catchup_limit) 03:00..08:00 x6, start 09:00 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=allow             | 10:00 | skip(catchup_limit) 03:00..07:00 x5, start 08:00 09:00 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=skip              | 10:30 | skip(catchup_limit) 03:00..08:00 x6, start 09:00, skip(overlap) 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=replace           | 10:30 | skip(catchup_limit) 03:00..08:00 x6, skip(superseded) 09:00, start 10:00 | 11:00
    runs 02:00 | catchup=recent overlap=skip             | 10:30 | skip(catchup_limit) 03:00..08:00 x6, skip(overlap) 09:00 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=allow deadline=0s | 10:30 | miss(deadline) 03:00..09:00 x7 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=allow deadline=2h | 10:30 | miss(deadline) 03:00..08:00 x6, start 09:00 10:00 | 11:00
    ran 02:00 | catchup=recent overlap=allow deadline=4h | 10:30 | miss(deadline) 03:00..06:00 x4, skip(catchup_limit) 07:00..08:00 x2, start 09:00 10:00 | 11:00
    ran 06:00 | catchup=recent overlap=allow window=after,30m | 10:00 | skip(catchup_limit) 07:00..07:00 x1, start 08:00 09:00, plan 10:00@10:23:58 | 10:23:58
    ran 10:00, waits 08:00@10:10, waits 09:00@10:20, waits 10:00@10:25 | catchup=recent overlap=allow | 10:30 | skip(catchup_limit) 08:00, start 09:00 10:00 | 11:00
    # a deadline comes before the catch-up policy
    ran 02:00 | catchup=fire_immediately overlap=allow deadline=2h | 10:30 | miss(deadline) 03:00..06:00 x4 07:00 08:00, start 09:00 10:00 | 11:00
    ran 07:00 | catchup=spread overlap=allow deadline=2h           | 10:30 | miss(deadline) 08:00, start 09:00, plan 10:00@10:30:30 | 10:30:30
    ran 02:00 | catchup=latest deadline=2h | 10:30 | miss(deadline) 03:00..07:00 x5 08:00, miss(outage) 09:00, start 10:00 | 11:00
    ran 02:00 | catchup=latest deadline=5h | 10:30 | miss(deadline) 03:00..05:00 x3, miss(outage) 06:00..07:00 x2 08:00 09:00, start 10:00 | 11:00
    """
)

DEADLINE = rules(
    """
    # whole seconds are compared
    ran 09:00 | deadline=0s  | 10:00        | start 10:00          | 11:00
    ran 09:00 | deadline=0s  | 10:00:00.999 | start 10:00          | 11:00
    ran 09:00 | deadline=0s  | 10:00:01     | miss(deadline) 10:00 | 11:00
    ran 09:00 | deadline=30s | 10:00:30.999 | start 10:00          | 11:00
    ran 09:00 | deadline=30s | 10:00:31     | miss(deadline) 10:00 | 11:00
    # it counts from the chosen instant, not from the nominal one
    ran 09:00, waits 10:00@10:20 | deadline=30s | 10:20:30 | start 10:00          | 11:00
    ran 09:00, waits 10:00@10:20 | deadline=30s | 10:20:31 | miss(deadline) 10:00 | 11:00
    # a further try is judged again, by the instant that was chosen first
    retry 10:00@10:00:08 | deadline=10s | 10:00:08 | start 10:00          | 11:00
    retry 10:00@10:00:16 | deadline=10s | 10:00:16 | miss(launch_failed) 10:00 | 11:00
    retry 10:00@10:10    | -            | 10:10    | start 10:00          | 11:00
    # whatever became of the definition since
    retry 10:00@10:10    | avoid=hours=10 deadline=10s | 10:10 | miss(launch_failed) 10:00 | 11:00
    retry 10:00@10:10    | avoid=hours=10 deadline=10m | 10:10 | start 10:00 | 11:00
    """
)

PAUSE = rules(
    """
    # while it lasts nothing starts, nothing is judged, and nothing is written
    ran 07:00, waits 08:00@08:10, queued 07:00, paused | -  | 10:00        | nothing | -
    ran 07:00, until 10:00 | -                              | 09:59:59.999 | nothing | 10:00
    # when it is over, what fell into it is skipped, as one range
    ran 07:00, until 09:30 | -                              | 09:30 | skip(paused) 08:00..09:00 x2, resume | 10:00
    ran 02:00, until 09:30 | catchup=fire_immediately       | 09:30 | skip(paused) 03:00..09:00 x7, resume | 10:00
    ran 07:00, until 11:30 | end_at=10:00                   | 12:00 | skip(paused) 08:00..10:00 x3, resume | -
    ran 08:00, until 09:30 | catchup=latest                 | 09:30 | skip(paused) 09:00, resume           | 10:00
    ran 09:00, until 09:30 | -                              | 09:30 | resume | 10:00
    # it ends just before its last instant
    ran 08:00, until 10:00 | -                              | 10:00 | skip(paused) 09:00..09:00 x1, start 10:00, resume | 11:00
    ran 08:00, until 10:00:00.001 | -                       | 10:00:00.001 | skip(paused) 09:00..10:00 x2, resume | 11:00
    # what waited is skipped too, unless it is chosen to run later
    ran 09:00, waits 08:00@09:20, waits 09:00@09:40, until 09:30 | - | 09:30 | skip(paused) 08:00, resume | 09:40
    runs 07:00, queued 08:00, until 08:30 | overlap=queue   | 08:30 | skip(paused) 08:00, resume | 09:00
    # but not what had its turn before the pause
    retry 08:00@08:10, until 08:30        | -               | 08:30 | start 08:00, resume | 09:00
    retry 08:00@08:10, until 08:30        | deadline=10m    | 08:30 | miss(launch_failed) 08:00, resume | 09:00
    # no worker looked when it ended: the pause first, then the outage
    ran 04:00, until 06:30 | catchup=latest                 | 10:00 | skip(paused) 05:00..06:00 x2, miss(outage) 07:00..07:00 x1 08:00 09:00, start 10:00, resume | 11:00
    ran 04:00, until 06:30 | deadline=1h catchup=latest     | 10:00 | skip(paused) 05:00..06:00 x2, miss(deadline) 07:00..07:00 x1 08:00, miss(outage) 09:00, start 10:00, resume | 11:00
    # a schedule that holds: no outcome; afterwards it is as if no worker had looked
    ran 07:00, held until 09:30 | catchup=none              | 09:30 | miss(outage) 08:00 09:00, resume | 10:00
    ran 07:00, held until 09:30 | catchup=latest            | 09:30 | miss(outage) 08:00, start 09:00, resume | 10:00
    ran 07:00, held until 09:30 | catchup=latest deadline=10m | 09:30 | miss(deadline) 08:00 09:00, resume | 10:00
    ran 07:00, held until 09:30 | catchup=fire_immediately deadline=45m overlap=allow | 09:30 | miss(deadline) 08:00, start 09:00, resume | 10:00
    ran 02:00, held until 09:30 | catchup=recent overlap=allow deadline=3h | 09:30 | miss(deadline) 03:00..06:00 x4, skip(catchup_limit) 07:00..07:00 x1, start 08:00 09:00, resume | 10:00
    queued 08:00, held until 09:30 | overlap=queue          | 08:30 | nothing | 09:30
    queued 09:00, held until 09:30 | overlap=queue          | 09:30 | start 09:00, resume | 10:00
    # a run in flight is not touched by a pause; a lost one is settled
    lost 09:00, paused      | uncertain=abandon             | 09:30 | leave 09:00 | -
    lost 09:00, paused      | uncertain=restart             | 09:30 | back 09:00  | -
    unstarted 09:00, paused | -                             | 09:30 | back 09:00  | -
    """
)

LOST = rules(
    """
    # a run that may or may not have been started
    lost claim 09:00 | uncertain=abandon           | 09:30 | leave 09:00 | 10:00
    lost claim 09:00 | uncertain=restart           | 09:30 | again 09:00 | 10:00
    lost claim 09:00 | uncertain=relaunch_same_key | 09:30 | again 09:00 | 10:00
    # a run that was started
    lost 09:00       | uncertain=abandon           | 09:30 | leave 09:00 | 10:00
    lost 09:00       | uncertain=restart           | 09:30 | again 09:00 | 10:00
    lost 09:00       | uncertain=relaunch_same_key | 09:30 | again 09:00 | 10:00
    # a claim that certainly was not started: planned again, and looked at again at once
    unstarted 09:00  | uncertain=abandon           | 09:30 | back 09:00  | now
    unstarted 09:00  | uncertain=restart           | 09:30 | back 09:00  | now
    unstarted 09:00  | uncertain=relaunch_same_key | 09:30 | back 09:00  | now
    back 09:00@09:00 | deadline=1h                 | 09:30 | start 09:00 | 10:00
    back 09:00@09:00 | deadline=10m                | 09:30 | miss(deadline) 09:00 | 10:00
    # what comes due at the same time
    lost 09:00       | uncertain=abandon overlap=skip    | 10:00 | leave 09:00, start 10:00 | 11:00
    lost 09:00       | uncertain=restart overlap=allow   | 10:00 | again 09:00, start 10:00 | 11:00
    lost 09:00       | uncertain=restart overlap=skip    | 10:00 | again 09:00, skip(overlap) 10:00 | 11:00
    lost 09:00       | uncertain=restart overlap=queue   | 10:00 | again 09:00, queue 10:00 | 11:00
    lost 09:00       | uncertain=restart overlap=replace | 10:00 | again 09:00, plan 10:00 | now
    unstarted 09:00  | overlap=skip                      | 10:00 | back 09:00, skip(overlap) 10:00 | now
    unstarted 09:00  | overlap=queue                     | 10:00 | back 09:00, queue 10:00 | now
    unstarted 09:00  | overlap=replace                   | 10:00 | back 09:00, start 10:00 | now
    lost 08:00, queued 09:00 | uncertain=abandon overlap=queue | 09:30 | leave 08:00, start 09:00 | 10:00
    lost 08:00, queued 09:00 | uncertain=restart overlap=queue | 09:30 | again 08:00 | 10:00
    # a replacement ends the others, and not a lost run, which no worker could end
    lost 08:00, runs 09:00   | uncertain=abandon overlap=replace | 10:00 | end 09:00, leave 08:00, start 10:00 | 11:00
    # under replace only the newest is started again, and it ends what is older
    lost 08:00, lost 09:00   | uncertain=restart overlap=replace | 09:30 | drop 08:00, again 09:00 | 10:00
    lost 08:00, runs 09:00   | uncertain=restart overlap=replace | 09:30 | drop 08:00              | 10:00
    runs 08:00, lost 09:00   | uncertain=restart overlap=replace | 09:30 | end 08:00, again 09:00  | 10:00
    lost 08:00, lost 09:00   | uncertain=restart overlap=allow   | 09:30 | again 08:00 09:00       | 10:00
    # what may be running counts there, too: as the newest, or as older
    lost 08:00, unsure 09:00@09:40 | uncertain=restart overlap=replace | 09:30 | drop 08:00             | 09:40
    unsure 08:00@09:40, lost 09:00 | uncertain=restart overlap=replace | 09:30 | end 08:00, again 09:00 | 09:40
    unsure 08:00@09:30, lost 09:00 | uncertain=restart overlap=replace lease=5m | 09:30 | end 08:00, move 08:00@09:35, again 09:00 | 09:35
    """
)

WINDOW = rules(
    """
    # a period is planned when its window opens: after, around and before its nominal instant
    ran 09:00 | window=after,30m  | 09:59:59 | nothing                  | 10:00
    ran 09:00 | window=after,30m  | 10:00    | plan 10:00@10:23:58      | 10:23:58
    ran 09:00 | window=around,30m | 09:45    | plan 10:00@10:08:58      | 10:08:58
    ran 09:00 | window=before,30m | 09:29:59 | nothing                  | 09:30
    ran 09:00 | window=before,30m | 09:30    | plan 10:00@09:53:58      | 09:53:58
    ran 09:00, waits 10:00@09:53:58 | window=before,30m | 09:53:58 | start 10:00 | 10:30
    # its decision stays, even when the definition has changed since
    ran 09:00, waits 10:00@10:20 | window=after,5m      | 10:20    | start 10:00 | 11:00
    # windows overlap: several periods may be open, and due at the same time
    ran 08:00 | window=before,2h  | 08:00    | plan 09:00@08:06:24 10:00@09:35:51 | 08:06:24
    waits 10:00@10:20, waits 11:00@10:20, ran 12:00 | overlap=allow | 10:20 | start 10:00 11:00 | 13:00
    waits 10:00@10:20, waits 11:00@10:20, ran 12:00 | overlap=skip  | 10:20 | start 10:00, skip(overlap) 11:00 | 13:00
    waits 10:00@10:20, waits 11:00@10:20, ran 12:00 | overlap=queue | 10:20 | start 10:00, queue 11:00 | 13:00
    waits 10:00@10:20, waits 11:00@10:20, ran 12:00 | overlap=replace | 10:20 | skip(superseded) 10:00, start 11:00 | 13:00
    # no allowed second: recorded when the window opens, never ahead
    ran 09:00 | avoid=hours=10                   | 09:59:59 | nothing      | 10:00
    ran 09:00 | avoid=hours=10                   | 10:00    | refuse 10:00 | 11:00
    ran 09:00 | avoid=hours=9-10 window=before,30m | 09:29:59 | nothing    | 09:30
    ran 09:00 | avoid=hours=9-10 window=before,30m | 09:30  | refuse 10:00 | 10:30
    ran 08:00 | avoid=hours=10 catchup=latest    | 10:30    | start 09:00, refuse 10:00 | 11:00
    # jitter opens a period early, by as much as it may be shifted
    ran 09:00 | jitter_ms=5000                   | 09:59:54 | nothing      | 09:59:55
    ran 09:00 | jitter_ms=5000                   | 09:59:55 | plan 10:00@09:59:55.737 | 09:59:55.737
    # the newest that is due runs, not the newest that is open
    ran 06:00 | window=after,30m catchup=latest  | 10:00    | miss(outage) 07:00..07:00 x1 08:00, start 09:00, plan 10:00@10:23:58 | 10:23:58
    """
)

BOUNDS = rules(
    """
    # both bounds belong to the schedule
    ran 08:00 | start_at=10:00    | 09:59:59 | nothing     | 10:00
    ran 08:00 | start_at=10:00    | 10:00    | start 10:00 | 11:00
    ran 08:00 | start_at=10:00:01 | 10:30    | nothing     | 11:00
    ran 09:00 | end_at=10:00      | 10:00    | start 10:00 | -
    ran 10:00 | end_at=10:00      | 10:30    | nothing     | -
    ran 09:00 | end_at=09:59:59   | 10:30    | nothing     | -
    # what is owed at the end is still owed after it
    ran 07:00 | end_at=09:00 catchup=latest | 10:30 | miss(outage) 08:00, start 09:00 | -
    # nothing runs before the first instant, whatever the window says
    ran 08:00 | start_at=10:00 window=before,30m | 09:53 | plan 10:00 | 10:00
    # one instant only
    ran 08:00 | once=10:00        | 09:00    | nothing     | 10:00
    ran 08:00 | once=10:00        | 10:00    | start 10:00 | -
    ran 10:00 | once=10:00        | 10:01    | nothing     | -
    # intervals
    ran 08:00 | every=45m         | 08:15    | start 08:15 | 09:00
    # a clock that went back
    ran 12:00 | -                 | 10:30    | nothing     | 13:00
    """
)


def check(rule: Rule) -> None:
    assert answer(rule) == (rule.does, rule.wake)


@clause("ENGINE-1", "POLICY-12", "POLICY-3", "POLICY-6")
@pytest.mark.parametrize("rule", LIKE_KUBERNETES, ids=str)
def test_the_situations_of_a_cron_job_controller(rule: Rule) -> None:
    check(rule)


@clause("POLICY-6", "POLICY-7", "POLICY-8", "POLICY-9", "ENGINE-6")
@pytest.mark.parametrize("rule", OVERLAP, ids=str)
def test_the_rules_of_overlap(rule: Rule) -> None:
    check(rule)


@clause(
    "POLICY-2",
    "POLICY-3",
    "POLICY-4",
    "POLICY-11",
    "POLICY-13",
    "POLICY-14",
    "POLICY-8",
    "ENGINE-13",
)
@pytest.mark.parametrize("rule", CATCHUP, ids=str)
def test_the_rules_of_catching_up(rule: Rule) -> None:
    check(rule)


@clause("POLICY-12")
@pytest.mark.parametrize("rule", DEADLINE, ids=str)
def test_the_rules_of_the_deadline(rule: Rule) -> None:
    check(rule)


@clause("ENGINE-7")
@pytest.mark.parametrize("rule", PAUSE, ids=str)
def test_the_rules_of_a_pause(rule: Rule) -> None:
    check(rule)


@clause("ENGINE-8")
@pytest.mark.parametrize("rule", LOST, ids=str)
def test_the_rules_for_lost_runs(rule: Rule) -> None:
    check(rule)


@clause("ENGINE-2", "ENGINE-3")
@pytest.mark.parametrize("rule", WINDOW, ids=str)
def test_the_rules_of_windows(rule: Rule) -> None:
    check(rule)


@clause("ENGINE-3", "SCHED-4")
@pytest.mark.parametrize("rule", BOUNDS, ids=str)
def test_the_rules_of_bounds(rule: Rule) -> None:
    check(rule)
