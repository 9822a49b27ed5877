"""The shape of a verification, as the contract gives it to clients (3.5): plain values, no PDF library."""

from typing import Literal, TypedDict

Result = Literal["valid", "invalid", "indeterminate", "unsigned"]


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


class Signature(TypedDict):
    fieldName: str
    signerName: str
    signedAt: str | None
    intact: bool
    valid: bool
    trusted: bool
    coverage: Literal["entire_file", "entire_revision", "contiguous", "unclear"]
    modification: Literal["none", "lta_updates", "form_filling", "annotations", "other"]
    timestamp: Timestamp | None
    level: str | None
    certificate: SignerCertificate | None
    reasons: list[str]


class AuditHead(TypedDict):
    """The last entry of the audit trail that the seal vouches for: which document, how many entries, its hash."""

    documentId: str
    entries: int
    hash: str


class Verification(TypedDict):
    result: Result
    sha256: str
    pageCount: int
    issuedHere: bool
    documentId: str | None
    audit: AuditHead | None
    signatures: list[Signature]
