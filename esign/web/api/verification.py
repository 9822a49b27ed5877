"""The verification of a PDF, also of one that was signed elsewhere (contract 3.5)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

from esign.actions.verification import verify_file
from esign.pdf.report import Verification
from esign.web.api import account_examples as examples
from esign.web.api.documents import decode_file
from esign.web.rest.endpoint import ApiCall
from esign.web.values.document_values import FileContent
from esign.web.values.schema import Reply, Schema

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


class VerifyFile(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.VERIFY]})

    file: FileContent


class VerdictReply(Reply):
    """Filled in from the worker's answer, which is in the words of the contract already."""

    model_config = ConfigDict(alias_generator=to_camel)


class CertificateReply(VerdictReply):
    subject: str
    issuer: str
    serial_number: str
    not_before: Time
    not_after: Time
    sha256: str


class TimestampReply(VerdictReply):
    valid: bool
    trusted: bool
    time: Time
    authority: str


class DocumentTimestampReply(VerdictReply):
    """A time stamp over the whole file, which may stand behind the signatures that it keeps checkable."""

    field_name: str
    valid: bool
    trusted: bool
    time: Time | None
    authority: str


class SignatureVerdictReply(VerdictReply):
    field_name: str
    signer_name: str
    signed_at: Time | None
    intact: bool
    valid: bool
    trusted: bool
    issued_here: bool
    revocation: Literal["not_revoked", "revoked", "not_checked"]
    coverage: Literal["entire_file", "entire_revision", "contiguous", "unclear"]
    modification: Literal["none", "lta_updates", "form_filling", "annotations", "other"]
    additions: list[Literal["validation_data", "document_timestamp"]]
    timestamp: TimestampReply | None
    level: str | None
    level_asked: str | None
    certificate: CertificateReply | None
    reasons: list[str]


class AuditHeadReply(VerdictReply):
    """The entry of the audit trail that the seal was made over, as the file itself says it."""

    document_id: str
    entries: int
    hash: str
    embedded: bool


class SignerReply(VerdictReply):
    """A recipient who signed or approved, by the audit trail in the file."""

    name: str | None
    act: Literal["signed", "approved"]
    at: Time


class VerificationReply(VerdictReply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.VERIFICATION]})

    result: Literal["valid", "invalid", "indeterminate", "unsigned"]
    summary: str
    unchanged: bool
    sha256: str
    page_count: int
    issued_here: bool
    document_id: str | None
    audit: AuditHeadReply | None
    signers: list[SignerReply]
    signatures: list[SignatureVerdictReply]
    document_timestamps: list[DocumentTimestampReply]


async def verify(call: ApiCall, body: VerifyFile) -> Verification:
    """Check every signature of a PDF; the file is not stored."""
    file = await decode_file(body.file, call.runtime.config.limits.file_mib)
    return await verify_file.verify(call.runtime, call.owner, file)


def present(found: Verification) -> VerificationReply:
    return VerificationReply.model_validate(found)
