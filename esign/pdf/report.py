"""The values of a verification report, as contract 3.5 describes them. Plain values that need no PDF library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

Result = Literal["valid", "invalid", "indeterminate", "unsigned"]
Coverage = Literal["entire_file", "entire_revision", "contiguous", "unclear"]
Modification = Literal["none", "lta_updates", "form_filling", "annotations", "other"]
Addition = Literal["validation_data", "document_timestamp"]
Revocation = Literal["not_revoked", "revoked", "not_checked"]

LEVELS = ("B-B", "B-T", "B-LT", "B-LTA")  # each has what those before it have

# The sentences in `AGAINST` make a signature invalid. Any other sentence makes it indeterminate, except for the
# notes (`NOTES`).
CHANGED = "The document was changed after it was signed."
MISMATCH = "The signature is damaged: it does not match the certificate it names."
OUTSIDE = "The signature does not cover the whole file: something stands outside of it."
ADDED = "Something was added to the file after it was signed that the signature does not allow."
UNRECOGNISED = (
    "Something was added to the file after it was signed that is not known to be proof and nothing else."
)
NOT_COMPARED = (
    "Proof was added after it was signed, and its pages take too long to compare with those that were signed."
)
TRAIL = "The audit trail in the file does not lead to the entry that the seal names."
TOO_EARLY = "A time stamp proves that it was signed before its certificate was valid."
UNREADABLE = "The signature is damaged and cannot be read."
UNREADABLE_FILE = (
    "The file is damaged, or something was added to it, so that its signatures cannot be found and checked."
)
MOST_SIGNATURES = 50  # of one file that are judged; each can take a pass over the whole file
UNJUDGED = (
    "This program cannot check the signature, and says nothing about whether it is genuine; try another one."
)
MOST_FIELDS = 5_000  # that name signatures; they can name the same ones again and again
TOO_MANY = (
    f"The file has more than {MOST_SIGNATURES} signatures, or thousands of fields for them; from this one on they were"
    " not checked."
)
UNCHECKED = (UNJUDGED, TOO_MANY)
STRIPPED = "The time stamp that it was sealed with was removed from the file."
PADDED = "Something other than zeros stands in the space left behind a signature or time stamp, and nobody signed it."
BURDENED = (
    "Something stands in the bytes of a signature or time stamp that its signer did not sign and that proves"
    " nothing."
)
UNSIGNED = (PADDED, BURDENED)  # it cannot be found out whether these bytes were there from the start
AGAINST = (CHANGED, MISMATCH, OUTSIDE, ADDED, TRAIL, TOO_EARLY, UNREADABLE, UNREADABLE_FILE)
DAMAGED_STAMP = "Its time stamp is damaged, and proves no time."
DAMAGED_ARCHIVE = "A time stamp over the whole document is damaged."
UNJUDGED_ARCHIVE = "This program cannot check a time stamp over the whole document; it proves no time here."
EXPIRED = "The certificate expired on"  # the beginnings of two of the doubts
REVOKED = "was revoked on"
OF_A_TEST = "Sealed with a test certificate: no legal effect."
# Notes on added proof; they leave a signature valid.
PROOF_ADDED: Mapping[tuple[Addition, ...], str] = {
    ("validation_data",): "Only proof was added after it was signed: validation data.",
    ("document_timestamp",): "Only proof was added after it was signed: a document time stamp.",
    ("validation_data", "document_timestamp"): (
        "Only proof was added after it was signed: validation data and a document time stamp."
    ),
}
NOTES = frozenset((OF_A_TEST, *PROOF_ADDED.values()))


@dataclass(frozen=True, slots=True)
class RevocationSource:
    """A place to ask whether a certificate was revoked: an OCSP responder for `question`, or a list if
    `question` is None.

    `of` is the SHA-256 of the certificate. An answer from one of its sources is enough.
    """

    of: str
    url: str
    question: bytes | None


class SignerCertificate(TypedDict):
    subject: str
    issuer: str
    serialNumber: str
    notBefore: str
    notAfter: str
    sha256: str


class Timestamp(TypedDict):
    valid: bool
    trusted: bool
    time: str
    authority: str


class DocumentTimestamp(TypedDict):
    """A time stamp over the whole document; `time` is None if it cannot be read."""

    fieldName: str
    valid: bool
    trusted: bool
    time: str | None
    authority: str


class Signature(TypedDict):
    """The report on one signature.

    `additions` names the proof that was added behind the signed revision, and is empty if anything else was
    added. `levelAsked` is the level that a seal of esign records as asked for, or None.
    """

    fieldName: str
    signerName: str
    signedAt: str | None
    intact: bool
    valid: bool
    trusted: bool
    issuedHere: bool
    revocation: Revocation
    coverage: Coverage
    modification: Modification
    additions: list[Addition]
    timestamp: Timestamp | None
    level: str | None
    levelAsked: str | None
    certificate: SignerCertificate | None
    reasons: list[str]


def is_level_missed(signature: Signature) -> bool:
    """Return whether a higher level was asked for than the signature has, unless its time stamp was removed later."""
    if STRIPPED in signature["reasons"]:
        return False
    level, asked = signature["level"], signature["levelAsked"]
    return level is not None and asked is not None and LEVELS.index(level) < LEVELS.index(asked)


class AuditHead(TypedDict):
    """The last entry of the audit trail that the seal vouches for: the document, the number of entries and the
    hash.

    `embedded` is true if the file contains the trail up to that entry and the trail recomputes to it.
    """

    documentId: str
    entries: int
    hash: str
    embedded: bool


class Verification(TypedDict):
    """The report on a file.

    `unchanged` is true if the file ends where it was signed, every signed byte is as it was, and nothing in the
    file is known to be neither signed nor proof.
    """

    result: Result
    summary: str
    unchanged: bool
    sha256: str
    pageCount: int
    issuedHere: bool
    documentId: str | None
    audit: AuditHead | None
    signatures: list[Signature]
    documentTimestamps: list[DocumentTimestamp]


def is_unchanged(signatures: Sequence[Signature]) -> bool:
    """Return whether a valid signature covers the file to the last byte and no reason speaks of a change."""
    whole = any(one["coverage"] == "entire_file" and one["intact"] and one["valid"] for one in signatures)
    changed = (*AGAINST, *UNSIGNED, STRIPPED)
    return whole and not any(reason in changed for one in signatures for reason in one["reasons"])


def summarise_signatures(result: Result, signatures: Sequence[Signature]) -> str:
    """Return one or two sentences on the whole file: unchanged, or what was added, or why it is not valid."""
    reasons = [reason for one in signatures for reason in one["reasons"]]
    if result == "unsigned":
        return "There is no signature in this file."
    if result == "invalid":
        return f"Do not rely on this file. {next((one for one in reasons if one in AGAINST), UNREADABLE)}"
    if result == "indeterminate":
        return f"This file cannot be called valid. {next((one for one in reasons if one not in NOTES), '')}".strip()
    if is_unchanged(signatures):
        return "The file is unchanged since it was signed."
    added = next((one for one in reasons if one in PROOF_ADDED.values()), "")
    return f"What was signed is unchanged. {added}".strip()
