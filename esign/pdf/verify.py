"""Judges the signatures of any PDF by the strict reading of ETSI EN 319 102-1, and says why in plain words.

A seal of level B-B carries no proof of the time it was made: once its certificate has expired, nothing shows that it
was made before, so the standard's answer is INDETERMINATE (OUT_OF_BOUNDS_NO_POE) whatever time the signature claims.
That holds for our own authority too; a time stamp (B-T) is what lifts it.
"""

import hashlib
import io
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Literal

import pikepdf
from asn1crypto import x509
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation import (
    EmbeddedPdfSignature,
    PdfSignatureStatus,
    validate_pdf_signature,
)
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko_certvalidator import ValidationContext

from esign.core.credential import TEST_MARK
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339, to_datetime
from esign.pdf import head, reasons, trail
from esign.pdf.verification import (
    OF_A_TEST,
    TRAIL,
    UNREADABLE,
    AuditHead,
    Result,
    Signature,
    SignerCertificate,
    Timestamp,
    Verification,
)

# What a damaged or hostile signature makes the parsers raise: a verdict on that signature, no failure of ours.
BROKEN = (
    PdfError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    RecursionError,
)
Judgement = tuple[Result, Signature]
Judged = tuple[
    Judgement, bytes | None, AuditHead | None
]  # with the trusted certificate behind it, and what it vouches for
WORST: tuple[Result, ...] = ("invalid", "indeterminate", "valid")
USAGE = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"})


def _when(moment: datetime) -> str:
    return rfc3339(int(moment.timestamp() * 1000))


def _certificate(certificate: x509.Certificate) -> SignerCertificate:
    return {
        "subject": certificate.subject.human_friendly,
        "issuer": certificate.issuer.human_friendly,
        "serialNumber": format(certificate.serial_number, "x"),
        "notBefore": _when(certificate.not_valid_before),
        "notAfter": _when(certificate.not_valid_after),
        "sha256": certificate.sha256.hex(),
    }


def _timestamp(status: PdfSignatureStatus) -> Timestamp | None:
    stamp = status.timestamp_validity
    if stamp is None:
        return None
    return {
        "valid": stamp.valid and stamp.intact,
        "trusted": stamp.trusted,
        "time": _when(stamp.timestamp),
        "authority": reasons.name(stamp.signing_cert.subject),
    }


def _level(embedded: EmbeddedPdfSignature, status: PdfSignatureStatus) -> str | None:
    """The PAdES level a signature has the parts of; None for the older kinds."""
    if embedded.sig_object.get("/SubFilter") != "/ETSI.CAdES.detached":
        return None
    if status.timestamp_validity is None:
        return "B-B"
    if "/DSS" not in embedded.reader.root:
        return "B-T"
    return "B-LTA" if embedded.reader.embedded_timestamp_signatures else "B-LT"


def _signed_at(embedded: EmbeddedPdfSignature) -> str | None:
    """The time the signature claims; nothing proves it."""
    try:
        claimed = embedded.self_reported_timestamp
        return _when(claimed) if claimed is not None else None
    except BROKEN:
        return None


def _judged(embedded: EmbeddedPdfSignature, roots: Sequence[x509.Certificate], now: Instant) -> Judged:
    """The verdict on one signature."""
    context = ValidationContext(
        trust_roots=list(roots), moment=to_datetime(now), allow_fetching=False, revocation_mode="soft-fail"
    )
    status = validate_pdf_signature(embedded, context, key_usage_settings=USAGE)
    certificate = embedded.signer_cert
    signer = reasons.name(certificate.subject)
    modification = reasons.MODIFICATION.get(status.modification_level, "other")
    against = reasons.against(embedded, status, modification)
    vouched = None if against else _vouched(embedded)
    if vouched is False:
        against.append(TRAIL)
    doubts = reasons.doubts(status, certificate, modification, now)
    notes = [OF_A_TEST] if TEST_MARK in signer else []
    result: Result = "invalid" if against else "indeterminate" if doubts else "valid"
    return (
        (
            result,
            {
                "fieldName": embedded.field_name,
                "signerName": signer,
                "signedAt": _signed_at(embedded),
                "intact": status.intact,
                "valid": status.intact and status.valid,
                "trusted": reasons.anchor(status) is not None,
                "coverage": reasons.COVERAGE[status.coverage],
                "modification": modification,
                "timestamp": _timestamp(status),
                "level": _level(embedded, status),
                "certificate": _certificate(certificate),
                "reasons": against + doubts + notes,
            },
        ),
        reasons.anchor(status),
        vouched or None,
    )


def _vouched(embedded: EmbeddedPdfSignature) -> AuditHead | Literal[False] | None:
    """The head of an audit trail under the signature; False where the trail beside it is not the one it ends."""
    found = head.read(embedded)
    held = trail.read(embedded) if found else None
    if found is None or held is None:
        return found
    return False if trail.fault(held, found) else {**found, "embedded": True}


def _unreadable(field_name: str) -> Judgement:
    return "invalid", {
        "fieldName": field_name,
        "signerName": "",
        "signedAt": None,
        "intact": False,
        "valid": False,
        "trusted": False,
        "coverage": "unclear",
        "modification": "other",
        "timestamp": None,
        "level": None,
        "certificate": None,
        "reasons": [UNREADABLE],
    }


def _judgements(reader: PdfFileReader, roots: Sequence[x509.Certificate], now: Instant) -> list[Judged]:
    """One for each filled signature field; the document's own time stamps are no signatures of anybody."""
    judged: list[Judged] = []
    for name, _, reference in enumerate_sig_fields(reader, filled_status=True):
        try:
            embedded = EmbeddedPdfSignature(reader, reference.get_object(), name)
            if embedded.sig_object_type != "/DocTimeStamp":
                judged.append(_judged(embedded, roots, now))
        except BROKEN:
            judged.append((_unreadable(str(name)), None, None))
    return judged


def _all(file: bytes, roots: Sequence[x509.Certificate], now: Instant) -> list[Judged]:
    """The judgements on all signatures; where nothing can be made of the file, one on what is left of them."""
    try:
        reader = PdfFileReader(io.BytesIO(file), strict=False)
        if reader.encrypted:
            reader.decrypt(b"")
        return _judgements(reader, roots, now)
    except BROKEN:
        return [(_unreadable(""), None, None)] if b"/ByteRange" in file else []


def _pages(file: bytes) -> int:
    """How many pages it has; `invalid_file` or `file_encrypted` when no reader would open it."""
    if b"%PDF-" not in file[:1024]:
        raise Problem("invalid_file", "This is not a PDF file.")
    try:
        with pikepdf.open(io.BytesIO(file)) as pdf:
            return len(pdf.pages)
    except pikepdf.PasswordError as error:
        raise Problem("file_encrypted") from error
    except (pikepdf.PdfError, *BROKEN) as error:
        if "encrypt" in str(error).lower():
            raise Problem("file_encrypted") from error
        raise Problem("invalid_file", "The file is damaged and cannot be read as a PDF.") from error


def verify(file: bytes, roots: Sequence[bytes], now: Instant, own: Sequence[bytes] = ()) -> Verification:
    """The verdict over all signatures, the worst deciding; valid needs every byte of the file under the signature.

    `roots` are DER certificates to trust, `own` those of this installation, trusted too: a signature under one of
    them that is not invalid makes `issuedHere` true. `documentId` is for the caller to fill in; `audit` is what a
    trusted signature vouches for, one of ours before any other; None in a file that is invalid. Raises `invalid_file`
    and `file_encrypted`; a damaged signature is a verdict, not an error.
    """
    pages = _pages(file)
    judged = _all(file, [x509.Certificate.load(root) for root in dict.fromkeys((*roots, *own))], now)
    ours = {hashlib.sha256(root).digest() for root in own}
    results = {result for (result, _), _, _ in judged}
    worst: Result = next((result for result in WORST if result in results), "unsigned")
    heads = [(anchor not in ours, found) for _, anchor, found in judged if anchor and found]
    return {
        "result": worst,
        "sha256": hashlib.sha256(file).hexdigest(),
        "pageCount": pages,
        "issuedHere": any(result != "invalid" and anchor in ours for (result, _), anchor, _ in judged),
        "documentId": None,
        "audit": min(heads, key=itemgetter(0))[1] if heads and worst != "invalid" else None,
        "signatures": [signature for (_, signature), _, _ in judged],
    }
