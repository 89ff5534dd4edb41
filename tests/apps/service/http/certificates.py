"""A private authority of the tests, and the certificates that it signs."""

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["END", "Authority"]

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
END = datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC)


class Authority:
    """A private authority that signs certificates."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        found = _builder(self._name, self._name, self._key.public_key(), END).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file.write_bytes(_pem(found.sign(self._key, hashes.SHA256())))

    def sign(
        self, *names: x509.GeneralName, end: datetime.datetime | None = None
    ) -> tuple[Path, Path]:
        """A certificate for these names, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
        builder = _builder(subject, self._name, key.public_key(), end or END).add_extension(
            x509.SubjectAlternativeName(names), critical=False
        )
        number = len(list(self._folder.iterdir()))
        certificate = self._folder / f"{number}.pem"
        certificate.write_bytes(_pem(builder.sign(self._key, hashes.SHA256())))
        path = self._folder / f"{number}.key"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return certificate, path


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    end: datetime.datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(BEGIN)
        .not_valid_after(end)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
