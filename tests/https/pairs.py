"""Certificates of web servers with their keys, issued here."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from esign.core.instant import to_datetime
from esign.system.clock import SystemClock
from tests.pki import Key

YEAR = timedelta(days=365)


@dataclass(frozen=True)
class WebPair:
    """A certificate with its key, in PEM and as objects."""

    certificate: x509.Certificate
    private: Key

    @property
    def chain(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key(self) -> bytes:
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def serial(self) -> int:
        return self.certificate.serial_number


def make_name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def make_authority(name: str = "Test Web Root") -> WebPair:
    key = ec.generate_private_key(ec.SECP256R1())
    return WebPair(_sign(make_name(name), key, make_name(name), key, None, None, ca=True), key)


def make_pair(
    *names: str,
    issuer: WebPair,
    begins: datetime | None = None,
    ends: datetime | None = None,
    key: Key | None = None,
) -> WebPair:
    """A certificate for names and addresses."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    certificate = _sign(
        make_name(names[0]), key, issuer.certificate.subject, issuer.private, begins, ends, names=names
    )
    return WebPair(certificate, key)


def _sign(
    subject: x509.Name,
    key: Key,
    issuer: x509.Name,
    above: Key,
    begins: datetime | None,
    ends: datetime | None,
    names: tuple[str, ...] = (),
    ca: bool = False,
) -> x509.Certificate:
    now = to_datetime(SystemClock().now())
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins or now - timedelta(hours=1))
        .not_valid_after(ends or now + YEAR)
        .add_extension(x509.BasicConstraints(ca, None), True)
    )
    if names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_make_entry(one) for one in names]), False
        )
    return builder.sign(above, SHA256())


def _make_entry(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
