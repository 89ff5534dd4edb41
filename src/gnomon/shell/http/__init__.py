"""
Serving HTTP, whatever is served: limits, who asks, TLS, problems, the server; and asking out.

Two doors are asked over HTTP, the service and the workflow host, and both are guarded here. What a
route does and what a body may hold does not belong here: nothing in this room knows a door.
`outgoing` makes requests to other machines, where `address_rule` allows them.
"""
