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

from esign.core.instant import to_datetime
from esign.core.seal_credential import TEST_MARK
from esign.pdf.audit import audit_attachment
from esign.pdf.audit import audit_head as head
from esign.pdf.report import AuditHead, Result, Signature, Timestamp, VerificationCase
from esign.pdf.verdict_sentences import (
    MOST_FIELDS,
    MOST_SIGNATURES,
    OF_A_TEST,
    PROOF_ADDED,
    STRIPPED,
    TOO_MANY,
    TRAIL,
    UNJUDGED,
    UNREADABLE,
    find_result,
)
from esign.pdf.verify import (
    additions,
    allowed_changes,
    certificate_evidence,
    levels,
    reasons,
    revocation,
    signature_gap,
    time_stamps,
)
from esign.pdf.verify.certificate_evidence import BROKEN, GAVE_UP, Evidence
from esign.pdf.verify.certificate_names import describe_certificate, write_moment, write_name
from esign.pdf.verify.reasons import SignatureFinding
from esign.pdf.verify.time_stamps import JudgedStamp

WITH_STAMP = ("B-T", "B-LT", "B-LTA")
USAGE = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"})


@dataclass(frozen=True, slots=True)
class SignatureVerdict:
    """The judgement on one signature, with the SHA-256 of the trusted root behind it and the audit head it
    vouches for.

    `trail` is the attached audit trail that leads to that head, as a JSON file.
    `paths` are the certificate chains to a trusted root, of the signature and of its time stamp.
    """

    result: Result
    told: Signature
    anchor: bytes | None = None
    head: AuditHead | None = None
    trail: bytes | None = None
    paths: tuple[ValidationPath, ...] = ()


def _describe_timestamp(stamp: TimestampSignatureStatus | None, trusted: bool) -> Timestamp | None:
    if stamp is None:
        return None
    return {
        "valid": bool(stamp.valid and stamp.intact),
        "trusted": trusted,
        "time": write_moment(stamp.timestamp),
        "authority": write_name(stamp.signing_cert.subject),
    }


def _read_claimed_time(embedded: EmbeddedPdfSignature) -> str | None:
    """Return the time that the signature claims, which nothing proves, or None."""
    try:
        claimed = embedded.self_reported_timestamp
        return write_moment(claimed) if claimed is not None else None
    except BROKEN:
        return None


def _validate_stamp(
    embedded: EmbeddedPdfSignature, proofs: Evidence, at: datetime
) -> tuple[TimestampSignatureStatus | None, bool]:
    """Return the time stamp on the signature, and whether it proves its time."""
    if not embedded.signer_info["unsigned_attrs"]:  # where it would be
        return None, False
    timing = collect_timing_info(embedded.signer_info, proofs.at(at), embedded.compute_digest)
    stamp: TimestampSignatureStatus | None = asyncio.run(timing).get("timestamp_validity")
    if stamp is None or not stamp.trusted:
        return stamp, False
    return stamp, revocation.find_status(stamp.validation_path, at, proofs).state != "revoked"


def _gather_findings(
    embedded: EmbeddedPdfSignature, proofs: Evidence, stamped: Sequence[JudgedStamp], now: datetime
) -> tuple[SignatureFinding, bool]:
    """Return the findings about one signature, and whether its own time stamp is trusted.

    Certificates are judged as of the earliest time that a trusted time stamp proves, or as of now.
    """
    archived = time_stamps.find_proven_time(stamped, embedded.signed_revision)
    stamp, trusted = _validate_stamp(embedded, proofs, archived or now)
    times = [time for time in (archived, stamp.timestamp if stamp and trusted else None) if time is not None]
    at = min(times, default=now)
    status = validate_pdf_signature(
        embedded, proofs.at(at), diff_policy=allowed_changes.POLICY, key_usage_settings=USAGE
    )
    fits = signature_gap.is_in_gap(embedded)
    return SignatureFinding(
        embedded,
        status,
        stamp,
        tuple(stamped),
        at,
        bool(times),
        fits,
        revocation.find_status(status.validation_path, at, proofs),
        proofs.asked,
        additions.judge_additions(embedded, status, fits),
        signature_gap.carries_more(embedded) or any(stamp.padded for stamp in stamped),
        signature_gap.is_burdened(embedded) or any(stamp.burdened for stamp in stamped),
    ), trusted


def _judge_signature(
    embedded: EmbeddedPdfSignature,
    proofs: Evidence,
    stamped: Sequence[JudgedStamp],
    now: datetime,
    ours: frozenset[bytes],
) -> SignatureVerdict:
    """Return the judgement on one signature."""
    finding, stamp_trusted = _gather_findings(embedded, proofs, stamped, now)
    status, anchor, certificate = finding.status, finding.anchor, finding.certificate
    signer = write_name(certificate.subject)
    against, doubts = reasons.list_objections(finding), reasons.list_doubts(finding)
    said = head.RecordedSeal(None, None, None) if against else head.read_head(embedded)
    if said.made in WITH_STAMP and finding.stamp is None:
        doubts.append(STRIPPED)
    trail = audit_attachment.read_trail(embedded) if said.head else None
    vouched = _find_vouched_head(said.head, trail)
    if vouched is False:
        against.append(TRAIL)
    notes = [OF_A_TEST] if TEST_MARK in signer else []
    added = finding.proof_added
    if added and not against:
        notes.append(PROOF_ADDED[added])
    told: Signature = {
        "fieldName": str(embedded.field_name),
        "signerName": signer,
        "signedAt": _read_claimed_time(embedded),
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
        "timestamp": _describe_timestamp(finding.stamp, stamp_trusted),
        "level": levels.find_level(finding, proofs),
        "levelAsked": said.asked,
        "certificate": describe_certificate(certificate),
        "reasons": against + doubts + notes,
    }
    paths = (status.validation_path, finding.stamp.validation_path if finding.stamp else None)
    return SignatureVerdict(
        find_result(told),
        told,
        anchor,
        vouched or None,
        trail if vouched else None,
        tuple(path for path in paths if path is not None),
    )


def _find_vouched_head(found: AuditHead | None, trail: bytes | None) -> AuditHead | Literal[False] | None:
    """Return the audit head under the signature, or False if the attached trail does not lead to that head."""
    if found is None or trail is None:
        return found
    return False if audit_attachment.find_fault(trail, found) else {**found, "embedded": True}


def build_unreadable_verdict(field_name: str, reason: str = UNREADABLE) -> SignatureVerdict:
    return SignatureVerdict("invalid", _describe_nothing(field_name, reason))


def build_unjudged_verdict(field_name: str, reason: str) -> SignatureVerdict:
    return SignatureVerdict("indeterminate", _describe_nothing(field_name, reason))


def _describe_nothing(field_name: str, reason: str) -> Signature:
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


@contextmanager
def _open_reader(file: bytes) -> Iterator[PdfFileReader]:
    """Open a file for reading, and close its stream in the end.

    pyHanko's objects refer to each other in circles and would keep the whole file in memory.
    """
    with io.BytesIO(file) as stream:
        reader = PdfFileReader(stream, strict=False)
        if reader.encrypted:
            reader.decrypt(b"")
        yield reader


def _find_signatures(reader: PdfFileReader) -> Iterator[tuple[str, EmbeddedPdfSignature | SignatureVerdict]]:
    """Yield each signature once, with the first field that names it, or the judgement if it cannot be examined.

    Any number of fields can name one signature, and each judgement can take a pass over the whole file.
    """
    seen: set[object] = set()
    for number, (path, _, reference) in enumerate(enumerate_sig_fields(reader, filled_status=True)):
        field, value = str(path), _identify_value(reference)
        if value in seen and number < MOST_FIELDS:
            continue
        if len(seen) == MOST_SIGNATURES or number == MOST_FIELDS:
            yield field, build_unjudged_verdict(field, TOO_MANY)
            return
        seen.add(value)
        yield field, _read_signature(reader, field, reference.get_object())


def _identify_value(field: generic.IndirectObject) -> object:
    """Return what identifies the value of a field: its object number, or that of the field that contains it."""
    value = field.get_object().raw_get("/V")  # type: ignore[no-untyped-call]  # pyHanko leaves it without types
    return value.reference if isinstance(value, generic.IndirectObject) else field.reference


def _read_signature(
    reader: PdfFileReader, name: str, field: generic.DictionaryObject
) -> EmbeddedPdfSignature | SignatureVerdict:
    if not isinstance(field["/V"], generic.DictionaryObject):
        return build_unreadable_verdict(name)
    try:
        return EmbeddedPdfSignature(reader, field, name)
    except GAVE_UP:
        return build_unjudged_verdict(name, UNJUDGED)
    except BROKEN:
        return build_unreadable_verdict(name)


def judge_signatures(file: bytes, case: VerificationCase) -> tuple[list[SignatureVerdict], list[JudgedStamp]]:
    """Return the judgement on each signature and, separately, the time stamps over the document."""
    with _open_reader(file) as reader:
        return _judge_reader(reader, case)


def _judge_reader(
    reader: PdfFileReader, case: VerificationCase
) -> tuple[list[SignatureVerdict], list[JudgedStamp]]:
    found = list(_find_signatures(reader))
    readable = [one for _, one in found if not isinstance(one, SignatureVerdict)]
    kept = [embedded for embedded in readable if embedded.sig_object_type == "/DocTimeStamp"]
    signed = [embedded.signed_data for embedded in readable]
    authorities = [one for one in case.own if x509.Certificate.load(one).ca]
    proofs = certificate_evidence.gather_evidence(reader, signed, (*case.roots, *authorities), case.fetched)
    now = to_datetime(case.now)
    stamped = time_stamps.judge_stamps(kept, proofs, now)
    ours = frozenset(hashlib.sha256(root).digest() for root in case.own)
    judged: list[SignatureVerdict] = []
    for field, one in found:
        if isinstance(one, SignatureVerdict):
            judged.append(one)
        elif one not in kept:
            try:
                judged.append(_judge_signature(one, proofs, stamped, now, ours))
            except GAVE_UP:
                judged.append(build_unjudged_verdict(field, UNJUDGED))
            except BROKEN:
                judged.append(build_unreadable_verdict(field))
    return judged, stamped
