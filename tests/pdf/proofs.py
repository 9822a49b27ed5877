"""Revocation lists and OCSP answers of the authorities of the tests, and files that carry them."""

import io
from collections.abc import Mapping
from datetime import timedelta

from asn1crypto import cms, crl, ocsp
from asn1crypto import x509 as asn1
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.ocsp import OCSPCertStatus, OCSPResponderEncoding, OCSPResponseBuilder
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.validation.dss import DocumentSecurityStore

from esign.core.instant import Instant, to_datetime
from tests.pki import Issued

SOURCES = "http://status.example.test"
WEEK = timedelta(days=7)
LAST = 253_402_300_799_000  # the last second that certificates can name: the year 9999


def declaring(url: str = SOURCES) -> tuple[x509.ExtensionType, ...]:
    """What a certificate says about where to ask for it."""
    responder = x509.AccessDescription(
        x509.oid.AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(f"{url}/ocsp")
    )
    place = x509.DistributionPoint([x509.UniformResourceIdentifier(f"{url}/list.crl")], None, None, None)
    return x509.AuthorityInformationAccess([responder]), x509.CRLDistributionPoints([place])


def a_list(
    authority: Issued, at: Instant, revoked: Mapping[int, Instant] | None = None, lasts: timedelta = WEEK
) -> bytes:
    """A revocation list made `at`; `revoked` by serial number."""
    made = to_datetime(at)
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.certificate.subject)
        .last_update(made)
        .next_update(made + lasts)
    )
    for number, since in (revoked or {}).items():
        entry = x509.RevokedCertificateBuilder(number, to_datetime(since))
        builder = builder.add_revoked_certificate(entry.build())
    return builder.sign(authority.key, SHA256()).public_bytes(Encoding.DER)


def an_answer(authority: Issued, of: Issued, at: Instant, revoked: Instant | None = None) -> bytes:
    """An OCSP answer made `at`, by the authority itself."""
    made = to_datetime(at)
    builder = OCSPResponseBuilder().add_response(
        of.certificate,
        authority.certificate,
        SHA1(),
        OCSPCertStatus.GOOD if revoked is None else OCSPCertStatus.REVOKED,
        made,
        made + WEEK,
        None if revoked is None else to_datetime(revoked),
        None,
    )
    builder = builder.responder_id(OCSPResponderEncoding.NAME, authority.certificate)
    return builder.sign(authority.key, SHA256()).public_bytes(Encoding.DER)


def with_proofs(
    pdf: bytes, *proofs: bytes, certificates: tuple[bytes, ...] = (), answers: tuple[bytes, ...] = ()
) -> bytes:
    """The file with a store of validation data (DSS) behind it: lists, and OCSP answers."""
    target = io.BytesIO(pdf)
    DocumentSecurityStore.add_dss(
        target,
        None,
        certs=[asn1.Certificate.load(der) for der in certificates],
        crls=[crl.CertificateList.load(der) for der in proofs],
        ocsps=[ocsp.OCSPResponse.load(der) for der in answers],
    )
    return target.getvalue()


def with_junk(pdf: bytes, junk: bytes) -> bytes:
    """The same with what is no proof in its place."""
    target = io.BytesIO(pdf)
    writer = IncrementalPdfFileWriter(target)
    kept = writer.add_object(generic.StreamObject(stream_data=junk))
    entries = {name: generic.ArrayObject([kept]) for name in ("/CRLs", "/OCSPs", "/Certs")}
    writer.root["/DSS"] = writer.add_object(dictionary(entries))
    writer.update_root()  # type: ignore[no-untyped-call]
    writer.write_in_place()  # type: ignore[no-untyped-call]
    return target.getvalue()


def dictionary(entries: Mapping[str, generic.PdfObject]) -> generic.DictionaryObject:
    named = {generic.pdf_name(name): value for name, value in entries.items()}
    return generic.DictionaryObject(named)  # type: ignore[no-untyped-call]  # pyHanko leaves it without types


def number(value: int) -> generic.NumberObject:
    return generic.NumberObject(value)  # type: ignore[no-untyped-call]  # as above


def gap(file: bytes) -> tuple[int, int]:
    """Where the first signature stands: its hexadecimal digits."""
    start = file.index(b"/Contents <") + len(b"/Contents <")
    return start, file.index(b">", start)


def with_stamp_of(file: bytes, other: bytes) -> bytes:
    """The signature of a file with the time stamp that another one got."""
    start, end = gap(file)
    own, foreign = (cms.ContentInfo.load(bytes.fromhex(f[slice(*gap(f))].decode())) for f in (file, other))
    own["content"]["signer_infos"][0]["unsigned_attrs"] = foreign["content"]["signer_infos"][0][
        "unsigned_attrs"
    ]
    made: bytes = own.dump(force=True).hex().encode()
    assert len(made) <= end - start
    return file[:start] + made.ljust(end - start, b"0") + file[end:]
