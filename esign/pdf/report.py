"""The values of a verification report, as contract 3.5 describes them. Plain values that need no PDF library.

`verify` fills them in, and `verdict_sentences` beside this module holds the words.
"""

from dataclasses import dataclass
from typing import Literal, TypedDict

from esign.core.instant import Instant

Result = Literal["valid", "invalid", "indeterminate", "unsigned"]
Coverage = Literal["entire_file", "entire_revision", "contiguous", "unclear"]
Modification = Literal["none", "lta_updates", "form_filling", "annotations", "other"]
Addition = Literal["validation_data", "document_timestamp"]
Revocation = Literal["not_revoked", "revoked", "not_checked"]


@dataclass(frozen=True, slots=True)
class VerificationCase:
    """By what a file is verified: the DER certificates to trust, the time, and what the sources of revocation said.

    `validate.verify_signatures` describes each part.
    """

    roots: tuple[bytes, ...]
    now: Instant
    own: tuple[bytes, ...] = ()
    fetched: tuple[bytes, ...] | None = None


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


class AuditHead(TypedDict):
    """The last entry of the audit trail that the seal vouches for: the document, the number of entries and the
    hash.

    `embedded` is true if the file contains the trail up to that entry and the trail recomputes to it.
    """

    documentId: str
    entries: int
    hash: str
    embedded: bool


class SignerRecord(TypedDict):
    """A recipient who signed or approved, by the audit trail under the seal; `name` is None if it was erased."""

    name: str | None
    act: Literal["signed", "approved"]
    at: str


class Verification(TypedDict):
    """The report on a file.

    `signers` are read from the attached audit trail, if a valid and trusted signature covers it; else empty.

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
    signers: list[SignerRecord]
    signatures: list[Signature]
    documentTimestamps: list[DocumentTimestamp]
