"""Format the names and times of certificates for a report."""

from datetime import datetime

from asn1crypto import x509

from esign.core.instant import rfc3339
from esign.pdf.report import SignerCertificate


def write_moment(moment: datetime) -> str:
    return rfc3339(int(moment.timestamp() * 1000))


def write_name(name: x509.Name) -> str:
    """Return the common name, or the organisation, or the whole name; certificates may hold anything."""
    native = name.native
    for part in ("common_name", "organization_name"):
        value = native.get(part)
        if value:
            return str(value[0] if isinstance(value, list) else value)
    return str(name.human_friendly)


def describe_certificate(certificate: x509.Certificate) -> SignerCertificate:
    return {
        "subject": certificate.subject.human_friendly,
        "issuer": certificate.issuer.human_friendly,
        "serialNumber": format(certificate.serial_number, "x"),
        "notBefore": write_moment(certificate.not_valid_before),
        "notAfter": write_moment(certificate.not_valid_after),
        "sha256": certificate.sha256.hex(),
    }
