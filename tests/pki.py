"""Certificate authorities and credentials for tests: real keys, real certificates, no files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from esign.core.seal_credential import Credential

NOW = 1_795_219_200_000  # 2026-11-21T00:00:00Z
MADE = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@cache
def a_key(kind: str, number: int = 0) -> Key:
    """A private key of that kind; making RSA keys is slow, so that each is made once."""
    curves = {"p256": ec.SECP256R1(), "p384": ec.SECP384R1(), "p521": ec.SECP521R1()}
    curves |= {"p192": ec.SECP192R1(), "k256": ec.SECP256K1()}
    if kind in ("rsa", "rsa1024"):
        return rsa.generate_private_key(65537, 1024 if kind == "rsa1024" else 2048)
    return ec.generate_private_key(curves[kind])


@dataclass(frozen=True)
class Issued:
    """A certificate with its key and its issuers."""

    key: Key
    certificate: x509.Certificate
    issuers: tuple[x509.Certificate, ...] = ()

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def credential(self) -> Credential:
        return Credential(
            self.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
            self.der,
            tuple(issuer.public_bytes(Encoding.DER) for issuer in self.issuers),
        )

    @property
    def pem(self) -> bytes:
        """The certificate and its issuers."""
        return b"".join(one.public_bytes(Encoding.PEM) for one in (self.certificate, *self.issuers))

    def key_pem(self, passphrase: str | None = None) -> bytes:
        locked = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)

    def pkcs12(self, passphrase: str) -> bytes:
        return pkcs12.serialize_key_and_certificates(
            b"seal", self.key, self.certificate, self.issuers, BestAvailableEncryption(passphrase.encode())
        )


def _make_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def an_authority(name: str = "Test Root", kind: str = "p256", above: Issued | None = None) -> Issued:
    key = a_key(kind, hash(name))
    issuer = above.certificate.subject if above else _make_name(name)
    certificate = (
        x509.CertificateBuilder(issuer, _make_name(name), key.public_key(), x509.random_serial_number())
        .not_valid_before(MADE)
        .not_valid_after(MADE + 10 * YEAR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(above.key if above else key, SHA256())
    )
    return Issued(key, certificate, (above.certificate, *above.issuers) if above else ())


def a_seal(
    authority: Issued,
    kind: str = "p256",
    name: str = "Acme Ltd Document Seal",
    first: datetime = MADE,
    last: datetime = MADE + 3 * YEAR,
    usage: Sequence[str] = ("digital_signature", "content_commitment"),
    extensions: tuple[x509.ExtensionType, ...] = (),
) -> Issued:
    key = a_key(kind)
    every = (
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign"
        " crl_sign encipher_only decipher_only"
    )
    builder = (
        x509.CertificateBuilder(
            authority.certificate.subject, _make_name(name), key.public_key(), x509.random_serial_number()
        )
        .not_valid_before(first)
        .not_valid_after(last)
        .add_extension(x509.KeyUsage(**{use: use in usage for use in every.split()}), critical=True)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    certificate = builder.sign(authority.key, SHA256())
    return Issued(key, certificate, (authority.certificate, *authority.issuers))
