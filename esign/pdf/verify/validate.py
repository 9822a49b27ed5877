"""Judges the signatures of any PDF by the strict reading of ETSI EN 319 102-1, and says why in plain words.

A seal of level B-B carries no proof of the time it was made: once its certificate has expired, nothing shows that it
was made before, so the standard's answer is INDETERMINATE (OUT_OF_BOUNDS_NO_POE) whatever time the signature claims.
That holds for our own authority too; a time stamp is what lifts it: certificates are judged as of the earliest time
that a trusted one proves. One that nobody here trusts proves nothing and harms nothing, one that is damaged is a doubt.
Proofs of revocation inside the file always count; that there are none is no doubt unless their sources were asked.
"""

import hashlib
import io
from collections.abc import Sequence

import pikepdf

from esign.core.errors import Problem
from esign.core.instant import Instant, to_datetime
from esign.pdf.report import (
    UNJUDGED,
    UNREADABLE_FILE,
    AuditHead,
    Result,
    Verification,
    is_unchanged,
    summarise,
)
from esign.pdf.verify.evidence import BROKEN, GAVE_UP
from esign.pdf.verify.judge_signature import Case, Judged, judgements, unjudged, unreadable
from esign.pdf.verify.time_stamps import Stamp

LOCKED = "The file is encrypted and cannot be opened here; check its signatures in a PDF reader that has the password."
WORST: tuple[Result, ...] = ("invalid", "indeterminate", "valid")


def _all(file: bytes, case: Case) -> tuple[list[Judged], list[Stamp]]:
    """The judgements on all signatures; where nothing can be made of the file, one on what is left of them."""
    try:
        return judgements(file, case)
    except GAVE_UP:
        return ([unjudged("", UNJUDGED)] if b"/ByteRange" in file else []), []
    except BROKEN:
        return ([unreadable("", UNREADABLE_FILE)] if b"/ByteRange" in file else []), []


def _pages(file: bytes) -> int:
    """How many pages it has; `invalid_file` or `file_encrypted` when no reader would open it."""
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


def _head(judged: Sequence[Judged]) -> AuditHead | None:
    """What a trusted signature vouches for, one of ours before any other."""
    known = [one for one in judged if one.anchor is not None and one.head is not None]
    return min(known, key=lambda one: not one.told["issuedHere"]).head if known else None


def verify(
    file: bytes,
    roots: Sequence[bytes],
    now: Instant,
    own: Sequence[bytes] = (),
    fetched: Sequence[bytes] | None = None,
) -> Verification:
    """The verdict over all signatures, the worst deciding; valid needs every byte of the file under the signature.

    `roots` are DER certificates to trust. `own` are those by which a seal of this installation is known, its own
    certificates and authorities, and of these the authorities are trusted too: a trusted signature of or under one of
    them that is not invalid makes `issuedHere` true. `fetched` are OCSP answers and revocation lists (DER) from the
    sources of the certificates; where these were asked, what they leave open is a doubt. `documentId` is for the
    caller to fill in; `audit` is None in a file that is invalid. Raises `invalid_file` and `file_encrypted`; a damaged
    signature is a verdict, not an error.
    """
    pages = _pages(file)
    judged, stamped = _all(file, Case(roots, own, fetched, to_datetime(now)))
    results = {one.result for one in judged}
    worst: Result = next((result for result in WORST if result in results), "unsigned")
    told = [one.told for one in judged]
    return {
        "result": worst,
        "summary": summarise(worst, told),
        "unchanged": is_unchanged(told),
        "sha256": hashlib.sha256(file).hexdigest(),
        "pageCount": pages,
        "issuedHere": any(one.told["issuedHere"] for one in judged),
        "documentId": None,
        "audit": _head(judged) if worst != "invalid" else None,
        "signatures": told,
        "documentTimestamps": [stamp.told for stamp in stamped],
    }
