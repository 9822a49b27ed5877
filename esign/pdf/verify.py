"""Judges the signatures of any PDF by the strict reading of ETSI EN 319 102-1, and says why in plain words.

A seal of level B-B carries no proof of the time it was made: once its certificate has expired, nothing shows that it
was made before, so the standard's answer is INDETERMINATE (OUT_OF_BOUNDS_NO_POE) whatever time the signature claims.
That holds for our own authority too; a time stamp (B-T) is what lifts it.
"""

import hashlib
import io
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import pikepdf
from asn1crypto import x509
from pyhanko.pdf_utils.misc import PdfError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.diff_analysis import ModificationLevel
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation import (
    EmbeddedPdfSignature,
    PdfSignatureStatus,
    SignatureCoverageLevel,
    validate_pdf_signature,
)
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko_certvalidator import ValidationContext

from esign.core.credential import TEST_MARK
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339, to_datetime
from esign.pdf.verification import Result, Signature, SignerCertificate, Timestamp, Verification

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
Coverage = Literal["entire_file", "entire_revision", "contiguous", "unclear"]
Modification = Literal["none", "lta_updates", "form_filling", "annotations", "other"]

COVERAGE: dict[SignatureCoverageLevel | None, Coverage] = {
    SignatureCoverageLevel.ENTIRE_FILE: "entire_file",
    SignatureCoverageLevel.ENTIRE_REVISION: "entire_revision",
    SignatureCoverageLevel.CONTIGUOUS_BLOCK_FROM_START: "contiguous",
    SignatureCoverageLevel.UNCLEAR: "unclear",
}
MODIFICATION: dict[ModificationLevel | None, Modification] = {
    ModificationLevel.NONE: "none",
    ModificationLevel.LTA_UPDATES: "lta_updates",
    ModificationLevel.FORM_FILLING: "form_filling",
    ModificationLevel.ANNOTATIONS: "annotations",
}
Judgement = tuple[Result, Signature]
WORST: tuple[Result, ...] = ("invalid", "indeterminate", "valid")
END = re.compile(rb"startxref\s+\d+\s+%%EOF\s*\Z")
USAGE = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"})


def _when(moment: datetime) -> str:
    return rfc3339(int(moment.timestamp() * 1000))


def _name(name: x509.Name) -> str:
    """The common name or what comes closest; certificates of others may hold anything."""
    native = name.native
    for part in ("common_name", "organization_name"):
        value = native.get(part)
        if value:
            return str(value[0] if isinstance(value, list) else value)
    return str(name.human_friendly)


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
        "authority": _name(stamp.signing_cert.subject),
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


def _added(
    embedded: EmbeddedPdfSignature, status: PdfSignatureStatus, modification: Modification
) -> str | None:
    """What speaks against the bytes behind the signature; None if there are none, or only validation data."""
    if status.coverage is SignatureCoverageLevel.ENTIRE_FILE:
        return None
    if status.coverage is not SignatureCoverageLevel.ENTIRE_REVISION:
        return "The signature does not cover the whole file: something stands outside of it."
    if (
        modification in ("none", "annotations", "other")
        or not status.docmdp_ok
        or not _ends_cleanly(embedded)
    ):
        return "Something was added to the file after it was signed that the signature does not allow."
    return None


def _ends_cleanly(embedded: EmbeddedPdfSignature) -> bool:
    """Whether nothing follows the end mark of the last revision: what stands there belongs to no revision."""
    stream = embedded.reader.stream
    stream.seek(0, io.SEEK_END)
    stream.seek(max(0, stream.tell() - 64))
    return END.search(stream.read()) is not None


def _anchor(status: PdfSignatureStatus) -> bytes | None:
    """The SHA-256 of the trusted certificate the signer's leads to."""
    if status.trust_problem_indic is not None or status.validation_path is None:
        return None
    anchor: x509.Certificate = status.validation_path.first
    return bytes(anchor.sha256)


def _against(
    embedded: EmbeddedPdfSignature, status: PdfSignatureStatus, modification: Modification
) -> list[str]:
    """Why the signature fails for good."""
    reasons = []
    if not status.intact:
        reasons.append("The document was changed after it was signed.")
    if not status.valid:
        reasons.append("The signature is damaged: it does not match the certificate it names.")
    added = _added(embedded, status, modification)
    return [*reasons, added] if added else reasons


def _doubts(
    status: PdfSignatureStatus, certificate: x509.Certificate, modification: Modification, now: Instant
) -> list[str]:
    """What keeps an unharmed signature from being judged valid."""
    at = to_datetime(now)
    first, last = certificate.not_valid_before, certificate.not_valid_after
    reasons = []
    if modification == "form_filling":
        reasons.append(
            "Form values or a further signature were added after it was signed, and it does not vouch for them."
        )
    if at > last:
        reasons.append(
            f"The certificate expired on {last:%Y-%m-%d}, and no time stamp proves that it was used before."
        )
    elif at < first:
        reasons.append(f"The certificate is not valid before {first:%Y-%m-%d}.")
    elif status.valid and _anchor(status) is None:
        reasons.append(_distrust(status, certificate))
    return reasons


def _distrust(status: PdfSignatureStatus, certificate: x509.Certificate) -> str:
    problem = getattr(status.trust_problem_indic, "name", None)
    issuer = _name(certificate.issuer)
    if status.revoked:
        return "The certificate was revoked."
    if problem in ("CRYPTO_CONSTRAINTS_FAILURE", "CRYPTO_CONSTRAINTS_FAILURE_NO_POE"):
        return f"The signature uses an algorithm that is no longer safe ({status.md_algorithm})."
    if certificate.subject == certificate.issuer or problem in (None, "NO_CERTIFICATE_CHAIN_FOUND"):
        return f"The certificate was issued by “{issuer}”, which is not among the authorities trusted here."
    if problem == "CHAIN_CONSTRAINTS_FAILURE":
        return "The certificate, or one of its issuers, is not meant for signing documents."
    if problem in ("EXPIRED", "OUT_OF_BOUNDS_NO_POE"):
        return f"The certificate of the issuer “{issuer}” has expired."
    return f"The certificate issued by “{issuer}” could not be checked up to a trusted authority."


def _judged(
    embedded: EmbeddedPdfSignature, roots: Sequence[x509.Certificate], now: Instant
) -> tuple[Judgement, bytes | None]:
    """The verdict on one signature, and the trusted certificate behind it."""
    context = ValidationContext(
        trust_roots=list(roots), moment=to_datetime(now), allow_fetching=False, revocation_mode="soft-fail"
    )
    status = validate_pdf_signature(embedded, context, key_usage_settings=USAGE)
    certificate = embedded.signer_cert
    signer = _name(certificate.subject)
    modification = MODIFICATION.get(status.modification_level, "other")
    against = _against(embedded, status, modification)
    doubts = _doubts(status, certificate, modification, now)
    notes = ["Sealed with a test certificate: no legal effect."] if TEST_MARK in signer else []
    return (
        "invalid" if against else "indeterminate" if doubts else "valid",
        {
            "fieldName": embedded.field_name,
            "signerName": signer,
            "signedAt": _signed_at(embedded),
            "intact": status.intact,
            "valid": status.intact and status.valid,
            "trusted": _anchor(status) is not None,
            "coverage": COVERAGE[status.coverage],
            "modification": modification,
            "timestamp": _timestamp(status),
            "level": _level(embedded, status),
            "certificate": _certificate(certificate),
            "reasons": against + doubts + notes,
        },
    ), _anchor(status)


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
        "reasons": ["The signature is damaged and cannot be read."],
    }


def _judgements(
    reader: PdfFileReader, roots: Sequence[x509.Certificate], now: Instant
) -> list[tuple[Judgement, bytes | None]]:
    """One for each filled signature field; the document's own time stamps are no signatures of anybody."""
    judged = []
    for name, _, reference in enumerate_sig_fields(reader, filled_status=True):
        try:
            embedded = EmbeddedPdfSignature(reader, reference.get_object(), name)
            if embedded.sig_object_type != "/DocTimeStamp":
                judged.append(_judged(embedded, roots, now))
        except BROKEN:
            judged.append((_unreadable(str(name)), None))
    return judged


def _open(file: bytes) -> tuple[PdfFileReader, int]:
    """The file to judge and its number of pages; `invalid_file` or `file_encrypted` when there is none."""
    if b"%PDF-" not in file[:1024]:
        raise Problem("invalid_file", "This is not a PDF file.")
    try:
        with pikepdf.open(io.BytesIO(file)) as pdf:
            pages = len(pdf.pages)
        reader = PdfFileReader(io.BytesIO(file), strict=False)
        if reader.encrypted:
            reader.decrypt(b"")
        return reader, pages
    except pikepdf.PasswordError as error:
        raise Problem("file_encrypted") from error
    except (pikepdf.PdfError, *BROKEN) as error:
        code = "file_encrypted" if "encrypt" in str(error).lower() else "invalid_file"
        message = "The file is damaged and cannot be read as a PDF." if code == "invalid_file" else None
        raise Problem(code, message) from error


def verify(file: bytes, roots: Sequence[bytes], now: Instant, own: Sequence[bytes] = ()) -> Verification:
    """The verdict over all signatures, the worst deciding; valid needs every byte of the file under the signature.

    `roots` are DER certificates to trust, `own` those of this installation, trusted too: a signature under one of
    them that is not invalid makes `issuedHere` true. `documentId` is for the caller to fill in. Raises
    `invalid_file` and `file_encrypted`; a damaged signature is a verdict, not an error.
    """
    reader, pages = _open(file)
    anchors = [x509.Certificate.load(root) for root in dict.fromkeys((*roots, *own))]
    try:
        judged = _judgements(reader, anchors, now)
    except BROKEN as error:
        raise Problem("invalid_file", "The file's form is damaged and cannot be read.") from error
    ours = {hashlib.sha256(root).digest() for root in own}
    results = {result for (result, _), _ in judged}
    return {
        "result": next((result for result in WORST if result in results), "unsigned"),
        "sha256": hashlib.sha256(file).hexdigest(),
        "pageCount": pages,
        "issuedHere": any(result != "invalid" and anchor in ours for (result, _), anchor in judged),
        "documentId": None,
        "signatures": [signature for (_, signature), _ in judged],
    }
