"""
The way to a Kubernetes API server: what fulfils `ports/kubernetes.py` outside of simulations.

Here belongs how the server is reached and who asks (`access`), what a call is on the wire (`wire`),
and the sending of it (`client`); and what doors on a cluster share over the port, whichever server
is behind it: a copy of its objects (`mirror`) and the Jobs that one process looks after (`jobs`).
What is asked, and why, does not belong here. What speaks to a network needs the extra `kubernetes`;
nothing of Gnomon imports it unless a cluster is meant.
"""
