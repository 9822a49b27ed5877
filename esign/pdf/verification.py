"""The shape of a verification, as the contract gives it to clients (3.5): plain values, no PDF library."""

from dataclasses import dataclass
from typing import Literal, TypedDict

Result = Literal["valid", "invalid", "indeterminate", "unsigned"]
Coverage = Literal["entire_file", "entire_revision", "contiguous", "unclear"]
Modification = Literal["none", "lta_updates", "form_filling", "annotations", "other"]
Revocation = Literal["not_revoked", "revoked", "not_checked"]

LEVELS = ("B-B", "B-T", "B-LT", "B-LTA")  # each has what those before it have

# What speaks against a signature for good; every other reason leaves it undecided, but for the note on a test.
CHANGED = "The document was changed after it was signed."
MISMATCH = "The signature is damaged: it does not match the certificate it names."
OUTSIDE = "The signature does not cover the whole file: something stands outside of it."
ADDED = "Something was added to the file after it was signed that the signature does not allow."
TRAIL = "The audit trail in the file does not lead to the entry that the seal names."
TOO_EARLY = "A time stamp proves that it was signed before its certificate was valid."
UNREADABLE = "The signature is damaged and cannot be read."
AGAINST = (CHANGED, MISMATCH, OUTSIDE, ADDED, TRAIL, TOO_EARLY, UNREADABLE)
DAMAGED_STAMP = "Its time stamp is damaged, and proves no time."
DAMAGED_ARCHIVE = "A time stamp over the whole document is damaged."
EXPIRED = "The certificate expired on"  # how two of the doubts begin
REVOKED = "was revoked on"
OF_A_TEST = "Sealed with a test certificate: no legal effect."


@dataclass(frozen=True, slots=True)
class Source:
    """Where it is said whether a certificate was revoked: an answer to `question` (OCSP), or a list where it is None.

    One of the sources of a certificate (`of`, its SHA-256) is enough.
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
    """One over the whole document; `time` is None where it cannot be read."""

    fieldName: str
    valid: bool
    trusted: bool
    time: str | None
    authority: str


class Signature(TypedDict):
    """`levelAsked`: what a seal of esign says that it was asked to be; None where it says nothing."""

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
    timestamp: Timestamp | None
    level: str | None
    levelAsked: str | None
    certificate: SignerCertificate | None
    reasons: list[str]


def is_missed(signature: Signature) -> bool:
    """Whether a higher level was asked for than it has."""
    level, asked = signature["level"], signature["levelAsked"]
    return level is not None and asked is not None and LEVELS.index(level) < LEVELS.index(asked)


class AuditHead(TypedDict):
    """The last entry of the audit trail that the seal vouches for: which document, how many entries, its hash.

    `embedded`: the file holds the trail up to there, and it recomputes.
    """

    documentId: str
    entries: int
    hash: str
    embedded: bool


class Verification(TypedDict):
    result: Result
    sha256: str
    pageCount: int
    issuedHere: bool
    documentId: str | None
    audit: AuditHead | None
    signatures: list[Signature]
    documentTimestamps: list[DocumentTimestamp]
