"""
Requests to other machines, by people who may not be trusted with our network.

A user who writes a URL into a DAG or an executor's address has this machine make a request.
Here belongs everything that keeps such a request from reaching what was not meant: which hosts and
addresses may be called (`rule`), a connection that goes to an address that was checked and to no
other (`checked`), and limits on time and size (`client`). What a request is for does not belong
here. Needs the extra `service`; nothing of Gnomon imports this package unless a request is made.
"""

from gnomon.errors import MissingExtraError

try:
    import httpcore  # noqa: F401
except ImportError as error:
    raise MissingExtraError("making HTTP requests", extra="service") from error
