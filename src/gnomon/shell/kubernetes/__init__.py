"""
The way to a Kubernetes API server: what fulfils `ports/kubernetes.py` outside of simulations.

Here belongs how the server is reached and who asks (`access`), what a call is on the wire (`wire`),
and the sending of it (`client`). What is asked, and why, does not belong here. Needs the extra
`kubernetes`; nothing of Gnomon imports this package unless a cluster is meant.
"""

from gnomon.errors import MissingExtraError

try:
    import aiohttp  # noqa: F401
    import kubernetes_asyncio  # noqa: F401
except ImportError as error:
    raise MissingExtraError("Kubernetes", extra="kubernetes") from error
