"""List where to ask whether the certificates of a file were revoked. Asking is left to callers that have a network."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from asn1crypto import x509
from cryptography import x509 as issued
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.ocsp import OCSPRequestBuilder
from pyhanko_certvalidator.path import ValidationPath

from esign.core.instant import Instant
from esign.pdf.report import RevocationSource, VerificationCase
from esign.pdf.verify.certificate_evidence import BROKEN
from esign.pdf.verify.judge_signature import judge_signatures

MOST = 30
WEB = ("http://", "https://")


def list_sources(file: bytes, roots: Sequence[bytes], now: Instant) -> list[RevocationSource]:
    """Return the revocation sources of the certificates that lead to a trusted root.

    Other certificates are left out, so that a file cannot make this server send requests.
    """
    try:
        judged, stamps = judge_signatures(file, VerificationCase(tuple(roots), now))
        paths = [path for one in judged for path in one.paths]
        paths += [stamp.path for stamp in stamps if stamp.path is not None]
        return list(dict.fromkeys(_list_path_sources(paths)))[:MOST]
    except BROKEN:
        return []


def _list_path_sources(paths: Iterable[ValidationPath]) -> Iterator[RevocationSource]:
    for path in paths:
        chain = list(path.iter_certs(include_root=True))
        for issuer, certificate in pairwise(chain):
            of = certificate.sha256.hex()
            for url in certificate.ocsp_urls:
                yield RevocationSource(of, url, _write_ocsp_request(certificate, issuer))
            for url in _list_crl_addresses(certificate):
                yield RevocationSource(of, url, None)


def _list_crl_addresses(certificate: x509.Certificate) -> Iterator[str]:
    """Yield the HTTP addresses of the revocation lists; a directory (LDAP) often stands before them in the same
    place.
    """
    for place in certificate.crl_distribution_points:
        for name in place["distribution_point"].chosen:
            if name.name == "uniform_resource_identifier" and name.native.lower().startswith(WEB):
                yield name.native


def _write_ocsp_request(certificate: x509.Certificate, issuer: x509.Certificate) -> bytes:
    """Return an OCSP request as RFC 5019 has it.

    SHA-1 only names the issuer here, and many responders accept nothing else.
    """
    of, by = (issued.load_der_x509_certificate(one.dump()) for one in (certificate, issuer))
    asked = OCSPRequestBuilder().add_certificate(of, by, SHA1())  # noqa: S303  # see above
    return asked.build().public_bytes(Encoding.DER)
