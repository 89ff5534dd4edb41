"""
The private authority of one cluster: it signs the API server and everyone who talks to it.

A user is the common name of a certificate, and the groups are its organisations, as Kubernetes
reads them.
"""

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Authority"]

_BEGIN = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_END = datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC)
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


class Authority:
    """An authority whose files are in one folder, which only its owner may enter."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject("gnomon test cluster")
        self.file = folder / "ca.pem"
        built = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_SIGNS, critical=True)
            .add_extension(self._key_id(), critical=False)
        )
        _write(self.file, _pem(built.sign(self._key, hashes.SHA256())))

    def server(self, address: str) -> tuple[Path, Path]:
        """The certificate of a server at an address, and its key."""
        names: list[x509.GeneralName] = [x509.DNSName(name) for name in _SERVER_NAMES]
        names.append(x509.IPAddress(ipaddress.ip_address(address)))
        return self._sign("server", _subject("kube-apiserver"), names)

    def client(self, user: str, groups: tuple[str, ...] = ()) -> tuple[Path, Path]:
        """The certificate of a user, and its key."""
        return self._sign(f"client-{user.replace(':', '-')}", _subject(user, groups), [])

    def key(self, name: str) -> Path:
        """A key without a certificate, as tokens of service accounts are signed with."""
        path = self._folder / f"{name}.key"
        if not path.exists():
            _write(path, _private(ec.generate_private_key(ec.SECP256R1())))
        return path

    def _sign(
        self, stem: str, subject: x509.Name, names: list[x509.GeneralName]
    ) -> tuple[Path, Path]:
        certificate, path = self._folder / f"{stem}.pem", self._folder / f"{stem}.key"
        if certificate.exists():
            return certificate, path
        key = ec.generate_private_key(ec.SECP256R1())
        purpose = ExtendedKeyUsageOID.SERVER_AUTH if names else ExtendedKeyUsageOID.CLIENT_AUTH
        authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._key_id())
        builder = (
            _builder(subject, self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(authority, critical=False)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        _write(path, _private(key))
        _write(certificate, _pem(builder.sign(self._key, hashes.SHA256())))
        return certificate, path

    def _key_id(self) -> x509.SubjectKeyIdentifier:
        return x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())


_SIGNS = x509.KeyUsage(
    digital_signature=True, content_commitment=False, key_encipherment=False,
    data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
    encipher_only=False, decipher_only=False,
)  # fmt: skip


def _subject(name: str, groups: tuple[str, ...] = ()) -> x509.Name:
    said = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*said, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGIN)
        .not_valid_after(_END)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(part, path)
