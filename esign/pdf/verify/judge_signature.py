"""Judge each signature of a file: gather the findings about it and draw the conclusions."""

import asyncio
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from asn1crypto import x509
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.fields import enumerate_sig_fields
from pyhanko.sign.validation import EmbeddedPdfSignature, validate_pdf_signature
from pyhanko.sign.validation.generic_cms import collect_timing_info
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko.sign.validation.status import TimestampSignatureStatus
from pyhanko_certvalidator.path import ValidationPath

from esign.core.seal_credential import TEST_MARK
from esign.pdf.audit import audit_attachment
from esign.pdf.audit import audit_head as head
from esign.pdf.report import (
    MOST_FIELDS,
    MOST_SIGNATURES,
    OF_A_TEST,
    PROOF_ADDED,
    STRIPPED,
    TOO_MANY,
    TRAIL,
    UNJUDGED,
    UNREADABLE,
    AuditHead,
    Result,
    Signature,
    Timestamp,
)
from esign.pdf.verify import (
    additions,
    allowed_changes,
    evidence,
    levels,
    reasons,
    revocation,
    signature_gap,
    time_stamps,
)
from esign.pdf.verify.certificate_names import certificate_of, moment_of, name
from esign.pdf.verify.evidence import BROKEN, GAVE_UP, Evidence
from esign.pdf.verify.reasons import Finding
from esign.pdf.verify.time_stamps import Stamp

WITH_STAMP = ("B-T", "B-LT", "B-LTA")
USAGE = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"})


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement on one signature, with the SHA-256 of the trusted root behind it and the audit head it
    vouches for.

    `paths` are the certificate chains to a trusted root, of the signature and of its time stamp.
    """

    result: Result
    told: Signature
    anchor: bytes | None = None
    head: AuditHead | None = None
    paths: tuple[ValidationPath, ...] = ()


def _timestamp(stamp: TimestampSignatureStatus | None, trusted: bool) -> Timestamp | None:
    if stamp is None:
        return None
    return {
        "valid": bool(stamp.valid and stamp.intact),
        "trusted": trusted,
        "time": moment_of(stamp.timestamp),
        "authority": name(stamp.signing_cert.subject),
    }


def _signed_at(embedded: EmbeddedPdfSignature) -> str | None:
    """Return the time that the signature claims, which nothing proves, or None."""
    try:
        claimed = embedded.self_reported_timestamp
        return moment_of(claimed) if claimed is not None else None
    except BROKEN:
        return None


def _stamp(
    embedded: EmbeddedPdfSignature, proofs: Evidence, at: datetime
) -> tuple[TimestampSignatureStatus | None, bool]:
    """Return the time stamp on the signature, and whether it proves its time."""
    timing = collect_timing_info(embedded.signer_info, proofs.at(at), embedded.compute_digest)
    stamp: TimestampSignatureStatus | None = asyncio.run(timing).get("timestamp_validity")
    if stamp is None or not stamp.trusted:
        return stamp, False
    return stamp, revocation.standing(stamp.validation_path, at, proofs).state != "revoked"


def _found(
    embedded: EmbeddedPdfSignature, proofs: Evidence, stamped: Sequence[Stamp], now: datetime
) -> tuple[Finding, bool]:
    """Return the findings about one signature, and whether its own time stamp is trusted.

    Certificates are judged as of the earliest time that a trusted time stamp proves, or as of now.
    """
    archived = time_stamps.proof_of(stamped, embedded.signed_revision)
    stamp, trusted = _stamp(embedded, proofs, archived or now)
    times = [time for time in (archived, stamp.timestamp if stamp and trusted else None) if time is not None]
    at = min(times, default=now)
    status = validate_pdf_signature(
        embedded, proofs.at(at), diff_policy=allowed_changes.POLICY, key_usage_settings=USAGE
    )
    fits = signature_gap.fits(embedded)
    return Finding(
        embedded,
        status,
        stamp,
        tuple(stamped),
        at,
        bool(times),
        fits,
        revocation.standing(status.validation_path, at, proofs),
        proofs.asked,
        additions.judge_additions(embedded, status, fits),
        signature_gap.is_padded(embedded) or any(stamp.padded for stamp in stamped),
        signature_gap.is_burdened(embedded) or any(stamp.burdened for stamp in stamped),
    ), trusted


def _judged(
    embedded: EmbeddedPdfSignature,
    proofs: Evidence,
    stamped: Sequence[Stamp],
    now: datetime,
    ours: frozenset[bytes],
) -> Judged:
    """Return the judgement on one signature."""
    finding, stamp_trusted = _found(embedded, proofs, stamped, now)
    status, anchor, certificate = finding.status, finding.anchor, finding.certificate
    signer = name(certificate.subject)
    against, doubts = reasons.against(finding), reasons.doubts(finding)
    said = head.Said(None, None, None) if against else head.read(embedded)
    if said.made in WITH_STAMP and finding.stamp is None:
        doubts.append(STRIPPED)
    vouched = _vouched(embedded, said.head)
    if vouched is False:
        against.append(TRAIL)
    notes = [OF_A_TEST] if TEST_MARK in signer else []
    added = finding.proof_added
    if added and not against:
        notes.append(PROOF_ADDED[added])
    told: Signature = {
        "fieldName": str(embedded.field_name),
        "signerName": signer,
        "signedAt": _signed_at(embedded),
        "intact": bool(status.intact),
        "valid": bool(status.intact and status.valid),
        "trusted": anchor is not None and finding.standing.state != "revoked",
        "issuedHere": not against
        and anchor is not None
        and not ours.isdisjoint((anchor, certificate.sha256)),
        "revocation": finding.standing.state,
        "coverage": reasons.COVERAGE[status.coverage] if finding.fits else "unclear",
        "modification": finding.modification,
        "additions": list(added),
        "timestamp": _timestamp(finding.stamp, stamp_trusted),
        "level": levels.level(finding, proofs),
        "levelAsked": said.asked,
        "certificate": certificate_of(certificate),
        "reasons": against + doubts + notes,
    }
    result: Result = "invalid" if against else "indeterminate" if doubts else "valid"
    paths = (status.validation_path, finding.stamp.validation_path if finding.stamp else None)
    return Judged(result, told, anchor, vouched or None, tuple(path for path in paths if path is not None))


def _vouched(embedded: EmbeddedPdfSignature, found: AuditHead | None) -> AuditHead | Literal[False] | None:
    """Return the audit head under the signature, or False if the attached trail does not lead to that head."""
    held = audit_attachment.read(embedded) if found else None
    if found is None or held is None:
        return found
    return False if audit_attachment.fault(held, found) else {**found, "embedded": True}


def unreadable(field_name: str, reason: str = UNREADABLE) -> Judged:
    return Judged("invalid", _nothing_of(field_name, reason))


def unjudged(field_name: str, reason: str) -> Judged:
    return Judged("indeterminate", _nothing_of(field_name, reason))


def _nothing_of(field_name: str, reason: str) -> Signature:
    return {
        "fieldName": field_name,
        "signerName": "",
        "signedAt": None,
        "intact": False,
        "valid": False,
        "trusted": False,
        "issuedHere": False,
        "revocation": "not_checked",
        "coverage": "unclear",
        "modification": "other",
        "additions": [],
        "timestamp": None,
        "level": None,
        "levelAsked": None,
        "certificate": None,
        "reasons": [reason],
    }


@dataclass(frozen=True, slots=True)
class Case:
    """The input of a verification; `validate.verify` describes each part."""

    roots: Sequence[bytes]
    own: Sequence[bytes]
    fetched: Sequence[bytes] | None
    now: datetime


@contextmanager
def _opened(file: bytes) -> Iterator[PdfFileReader]:
    """Open a file for reading, and close its stream in the end.

    pyHanko's objects refer to each other in circles and would keep the whole file in memory.
    """
    with io.BytesIO(file) as stream:
        reader = PdfFileReader(stream, strict=False)
        if reader.encrypted:
            reader.decrypt(b"")
        yield reader


def _embedded(reader: PdfFileReader) -> Iterator[tuple[str, EmbeddedPdfSignature | Judged]]:
    """Yield each signature once, with the first field that names it, or the judgement if it cannot be examined.

    Any number of fields can name one signature, and each judgement can take a pass over the whole file.
    """
    seen: set[object] = set()
    for number, (path, _, reference) in enumerate(enumerate_sig_fields(reader, filled_status=True)):
        field, value = str(path), _value(reference)
        if value in seen and number < MOST_FIELDS:
            continue
        if len(seen) == MOST_SIGNATURES or number == MOST_FIELDS:
            yield field, unjudged(field, TOO_MANY)
            return
        seen.add(value)
        yield field, _read(reader, field, reference.get_object())


def _value(field: generic.IndirectObject) -> object:
    """Return what identifies the value of a field: its object number, or that of the field that contains it."""
    value = field.get_object().raw_get("/V")  # type: ignore[no-untyped-call]  # pyHanko leaves it without types
    return value.reference if isinstance(value, generic.IndirectObject) else field.reference


def _read(reader: PdfFileReader, name: str, field: generic.DictionaryObject) -> EmbeddedPdfSignature | Judged:
    if not isinstance(field["/V"], generic.DictionaryObject):
        return unreadable(name)
    try:
        return EmbeddedPdfSignature(reader, field, name)
    except GAVE_UP:
        return unjudged(name, UNJUDGED)
    except BROKEN:
        return unreadable(name)


def judgements(file: bytes, case: Case) -> tuple[list[Judged], list[Stamp]]:
    """Return the judgement on each signature and, separately, the time stamps over the document."""
    with _opened(file) as reader:
        return _judgements(reader, case)


def _judgements(reader: PdfFileReader, case: Case) -> tuple[list[Judged], list[Stamp]]:
    found = list(_embedded(reader))
    readable = [one for _, one in found if not isinstance(one, Judged)]
    kept = [embedded for embedded in readable if embedded.sig_object_type == "/DocTimeStamp"]
    signed = [embedded.signed_data for embedded in readable]
    authorities = [one for one in case.own if x509.Certificate.load(one).ca]
    proofs = evidence.gather(reader, signed, (*case.roots, *authorities), case.fetched)
    stamped = time_stamps.judged(kept, proofs, case.now)
    ours = frozenset(hashlib.sha256(root).digest() for root in case.own)
    judged: list[Judged] = []
    for field, one in found:
        if isinstance(one, Judged):
            judged.append(one)
        elif one not in kept:
            try:
                judged.append(_judged(one, proofs, stamped, case.now, ours))
            except GAVE_UP:
                judged.append(unjudged(field, UNJUDGED))
            except BROKEN:
                judged.append(unreadable(field))
    return judged, stamped
