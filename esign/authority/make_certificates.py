"""Create the certificates made here: an authority for ten years, a seal under it for three."""

from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from esign.authority.checks import PrivateKey

AUTHORITY_LIFE = timedelta(days=3652)
SEAL_LIFE = timedelta(days=1096)
SKEW = timedelta(hours=1)  # a clock that is slightly behind must not find a new certificate invalid
DOCUMENT_SIGNING = ObjectIdentifier("1.3.6.1.5.5.7.3.36")  # RFC 9336
# NSS (and poppler with it), OpenSSL's default purpose and Adobe's rules do not know document signing, and refuse a
# certificate that names it alone. All three accept e-mail protection, the usual purpose of signatures by S/MIME.
PURPOSES = (DOCUMENT_SIGNING, ExtendedKeyUsageOID.EMAIL_PROTECTION)
NAME_LIMIT = (
    64  # bytes of a common or organisation name; X.520 counts characters, the certificate library does not
)


def _build_subject(name: str, role: str) -> x509.Name:
    """Return a subject with the organisation and, as common name, its name and the role, each cut to the length
    allowed.
    """
    common = f"{_shorten_name(name, NAME_LIMIT - len(role) - 1)} {role}"
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, _shorten_name(name, NAME_LIMIT)),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _shorten_name(name: str, limit: int) -> str:
    """Return the name cut to `limit` bytes at most, ending with a whole character."""
    return name.encode()[:limit].decode(errors="ignore").strip()


def _build_key_usage(*allowed: str) -> x509.KeyUsage:
    names = (
        "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign"
        " crl_sign encipher_only decipher_only"
    )
    return x509.KeyUsage(**{name: name in allowed for name in names.split()})


def read_organisation(certificate: x509.Certificate) -> str:
    """Return the organisation name of a certificate made here."""
    return str(certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)[0].value)


def has_current_profile(certificate: x509.Certificate) -> bool:
    """Return whether a seal certificate made here names all purposes that new ones name."""
    try:
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return False
    return set(PURPOSES) <= set(purposes)


def make_authority_certificate(key: PrivateKey, name: str, at: datetime, number: int = 1) -> x509.Certificate:
    """Return a new self-signed authority certificate. `number` distinguishes successors in the same organisation."""
    subject = _build_subject(name, "Authority" if number == 1 else f"Authority {number}")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(at - SKEW)
        .not_valid_after(at + AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_build_key_usage("key_cert_sign", "crl_sign"), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, SHA256())
    )


def make_seal_certificate(
    key: PrivateKey, name: str, issuer: x509.Certificate, issuer_key: PrivateKey, at: datetime
) -> x509.Certificate:
    """Return a new seal certificate, which ends no later than its issuer."""
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    above = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    last = min(at + SEAL_LIFE, issuer.not_valid_after_utc)
    return (
        x509.CertificateBuilder(
            issuer.subject,
            _build_subject(name, "Document Seal"),
            key.public_key(),
            x509.random_serial_number(),
        )
        .not_valid_before(at - SKEW)
        .not_valid_after(last)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_build_key_usage("digital_signature", "content_commitment"), critical=True)
        .add_extension(x509.ExtendedKeyUsage(PURPOSES), critical=False)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(above), critical=False)
        .sign(issuer_key, SHA256())
    )
