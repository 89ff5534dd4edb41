"""
The service on the command line: starting it, and asking it.

`up`, `api` and `worker` put a service together from its parts; `schedule` is a client that talks to
one over HTTP and knows nothing of its inside. All of it needs the extra `service`.
"""
