"""
Notification: what became of a job reaches the people and programs that its author named.

`rule` says who is told when, `message` what is sent to whom (both pure), `mail` and `call` send it,
`outbox` keeps it until it is sent, and `heartbeat` says that a process still works.

Here belongs nothing that decides whether a job runs: what cannot be sent is logged, and no job
waits for a message. Nothing here knows a door; what it tells of is a `Subject`.
"""
