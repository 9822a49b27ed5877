"""Verify the signatures of any PDF by a strict reading of ETSI EN 319 102-1, and explain the result.

A seal of level B-B carries no proof of the time it was made. Once its certificate has expired, nothing shows
that it was made before, so the standard's answer is INDETERMINATE (OUT_OF_BOUNDS_NO_POE) whatever time the
signature claims. That holds for our own authority too. A time stamp changes this: certificates are judged as of
the earliest time that a trusted time stamp proves. An untrusted time stamp proves nothing and does no harm; a
damaged one is a doubt.

Revocation proofs inside the file always count. Their absence is a doubt only if their sources were asked.
"""

import hashlib
import io
from collections.abc import Sequence

import pikepdf

from esign.core.document import audit_file
from esign.core.document.audit import AuditEntry
from esign.core.errors import Problem
from esign.core.instant import Instant, rfc3339
from esign.pdf.report import Result, SignerRecord, Verification, VerificationCase
from esign.pdf.verdict_sentences import UNJUDGED, UNREADABLE_FILE, is_unchanged, summarise_signatures
from esign.pdf.verify.certificate_evidence import BROKEN, GAVE_UP
from esign.pdf.verify.judge_signature import (
    SignatureVerdict,
    build_unjudged_verdict,
    build_unreadable_verdict,
    judge_signatures,
)
from esign.pdf.verify.time_stamps import JudgedStamp

LOCKED = "The file is encrypted and cannot be opened here; check its signatures in a PDF reader that has the password."
WORST: tuple[Result, ...] = ("invalid", "indeterminate", "valid")


def _judge_all(file: bytes, case: VerificationCase) -> tuple[list[SignatureVerdict], list[JudgedStamp]]:
    """Judge all signatures. If the file cannot be processed, return one judgement on whatever signatures it has."""
    try:
        return judge_signatures(file, case)
    except GAVE_UP:
        return ([build_unjudged_verdict("", UNJUDGED)] if b"/ByteRange" in file else []), []
    except BROKEN:
        return ([build_unreadable_verdict("", UNREADABLE_FILE)] if b"/ByteRange" in file else []), []


def _count_pages(file: bytes) -> int:
    """Return the number of pages. Raises `invalid_file` or `file_encrypted` if no reader would open the file."""
    if b"%PDF-" not in file[:1024]:
        raise Problem("invalid_file", "This is not a PDF file.")
    try:
        with pikepdf.open(io.BytesIO(file)) as pdf:
            return len(pdf.pages)
    except pikepdf.PasswordError as error:
        raise Problem("file_encrypted", LOCKED) from error
    except (pikepdf.PdfError, *BROKEN) as error:
        if "encrypt" in str(error).lower():
            raise Problem("file_encrypted", LOCKED) from error
        raise Problem("invalid_file", "The file is damaged and cannot be read as a PDF.") from error


def _choose_vouching(judged: Sequence[SignatureVerdict]) -> SignatureVerdict | None:
    """Return the trusted signature that vouches for an audit head, preferring signatures of this installation."""
    known = [one for one in judged if one.anchor is not None and one.head is not None]
    return min(known, key=lambda one: not one.told["issuedHere"]) if known else None


def _list_signers(verdict: SignatureVerdict) -> list[SignerRecord]:
    """Return who signed and approved, by the trail that the signature vouches for.

    The list is empty if the file does not hold the trail, or the signature does not prove it: a certificate that
    was revoked vouches for no name.
    """
    if verdict.trail is None or not (verdict.told["valid"] and verdict.told["trusted"]):
        return []
    return [
        {"name": _read_name(entry), "act": entry.data["act"], "at": rfc3339(entry.at)}
        for entry in audit_file.list_completions(verdict.trail)
        if entry.data.get("act") in ("signed", "approved")
    ]


def _read_name(entry: AuditEntry) -> str | None:
    """Return the name of who acted, or None if it was erased or is not a text, as in a trail of somebody else."""
    name = entry.personal["actor"]["name"] if entry.personal else None
    return name if isinstance(name, str) else None


def verify_signatures(
    file: bytes,
    roots: Sequence[bytes],
    now: Instant,
    own: Sequence[bytes] = (),
    fetched: Sequence[bytes] | None = None,
) -> Verification:
    """Return the report on all signatures. The worst of them decides, and valid needs every byte to be signed
    or proof.

    `roots` are DER certificates to trust. `own` are the certificates and authorities of this installation; its
    authorities are trusted too. A trusted signature by one of them, or issued under one of them, that is not
    invalid makes `issuedHere` true. `fetched` are OCSP answers and revocation lists (DER) from the sources of
    the certificates; None means that the sources were not asked, otherwise a missing answer is a doubt.

    The caller fills in `documentId`. If the file is invalid, `audit` is None and `signers` is empty. Raises
    `invalid_file` and `file_encrypted`; a damaged signature is a verdict, not an error.
    """
    pages = _count_pages(file)
    given = tuple(fetched) if fetched is not None else None
    judged, stamped = _judge_all(file, VerificationCase(tuple(roots), now, tuple(own), given))
    results = {one.result for one in judged}
    worst: Result = next((result for result in WORST if result in results), "unsigned")
    told = [one.told for one in judged]
    vouching = _choose_vouching(judged) if worst != "invalid" else None
    return {
        "result": worst,
        "summary": summarise_signatures(worst, told),
        "unchanged": is_unchanged(told),
        "sha256": hashlib.sha256(file).hexdigest(),
        "pageCount": pages,
        "issuedHere": any(one.told["issuedHere"] for one in judged),
        "documentId": None,
        "audit": vouching.head if vouching else None,
        "signers": _list_signers(vouching) if vouching else [],
        "signatures": told,
        "documentTimestamps": [stamp.told for stamp in stamped],
    }
