"""
How is the line protected, and who is at the other end? TLS, and client certificates by choice.

With an authority for clients, every connection must show a certificate of that authority: the
authorities that the system trusts are not asked. Certificates can be exchanged without a restart,
and how long they are still good for is known, so that an operator can be told in time.

Spec: AUTH-13.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from gnomon.errors import DefinitionError
from gnomon.shell.http.authentication import Certificate

__all__ = ["ALARM_SECONDS", "TlsFiles", "expires_at", "peer_certificate", "server_context"]

ALARM_SECONDS = 14 * 86_400
"""So long before a certificate ends the log warns of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """Where the certificates are."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
    """The only authority whose clients are let in; None asks clients for no certificate."""


def server_context(files: TlsFiles) -> ssl.SSLContext:
    """A context for servers; load it again with `load_cert_chain` when the files have changed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(files.certificate, files.key)
        if files.client_authority is not None:
            context.load_verify_locations(files.client_authority)
            context.verify_mode = ssl.CERT_REQUIRED
    except ssl.SSLError as error:
        raise DefinitionError(
            f"must be a certificate and its key in PEM ({error.reason})", where="tls",
            got=str(files.certificate),
        ) from None  # fmt: skip
    return context


def expires_at(path: Path) -> int:
    """The last second for which the certificate in this file is good."""
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    return int(certificate.not_valid_after_utc.timestamp())


def peer_certificate(connection: object) -> Certificate | None:
    """The certificate at the other end of a connection, once TLS has accepted it."""
    if not isinstance(connection, ssl.SSLObject):
        return None
    data, parts = connection.getpeercert(binary_form=True), connection.getpeercert()
    if not data or not parts:
        return None
    names = parts.get("subjectAltName", ())
    return Certificate.of(data, tuple(str(one[1]) for one in names if isinstance(one, tuple)))
