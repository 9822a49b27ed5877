"""Say whether a file is the document that was asked for, or one that was sealed here, without naming any person."""

from dataclasses import dataclass
from typing import Literal

from esign.actions.verification.verify_file import Match, VerifiedFile
from esign.core.actor import Mode
from esign.store.document.public_records import PublicRecord
from esign.web.office.verify.seals import CheckLine
from esign.web.office.verify.untrusted_text import format_time


@dataclass(frozen=True, slots=True)
class IdentityNote:
    """A note above the verdict: what is known about the document with the requested id."""

    tone: Literal["ok", "warnbox", "badbox"]
    title: str
    text: str


def describe_record(record: PublicRecord | None) -> IdentityNote:
    """Return what is known about a document before there is a file to compare with it."""
    if record is None:
        return IdentityNote(
            "warnbox",
            "No document with this ID was sealed here",
            "The address may be mistyped, or belong to another installation. You can check your file all the same:"
            " its seal says where it comes from.",
        )
    if record.deleted_at is not None:
        return IdentityNote(
            "warnbox",
            f"Sealed here on {format_time(record.completed_at)}, deleted since",
            "The document is no longer kept here. Choose the file that you were given: its seal can still be checked.",
        )
    test = " It was sealed in test mode: it has no legal effect." if record.mode is Mode.TEST else ""
    return IdentityNote(
        "ok",
        f"A document with this ID was sealed here on {format_time(record.completed_at)}",
        f"Choose the file that you were given, to see whether it is that very document.{test}",
    )


def compare_with_record(file: VerifiedFile) -> IdentityNote:
    """Return how a file relates to the document that was asked for."""
    record = file.record
    if record is None:
        return IdentityNote(
            "warnbox",
            "There is nothing to compare it with",
            "No document with this ID was sealed here. What the seal of the file itself says stands below.",
        )
    sealed = f"sealed here on {format_time(record.completed_at)}"
    if file.match is Match.SEALED:
        return IdentityNote(
            "ok", "This is the very document", f"It is the file that was {sealed}, byte for byte."
        )
    if file.match is Match.CERTIFICATE:
        return IdentityNote(
            "ok", "This is its audit certificate", f"It belongs to the document {sealed}, byte for byte."
        )
    if file.match is Match.OTHER_BYTES:
        return IdentityNote(
            "warnbox",
            "This carries the seal of that document, but is not the same file",
            f"Something was added to the file that was {sealed}. What became of it stands below.",
        )
    if file.match is Match.DELETED:
        return IdentityNote(
            "ok", "This carries the seal of that document", f"It was {sealed}, and has been deleted since."
        )
    return IdentityNote(
        "badbox",
        "This is not the document with that ID",
        f"The document {sealed} is another file, or this one was changed. Ask whoever gave it to you.",
    )


def find_known_file(file: VerifiedFile) -> CheckLine | None:
    """Return how a file without a requested id relates to the documents sealed here; None if it is not one of them."""
    record = file.record
    if record is None or file.match is Match.NOTHING:
        return None
    at = f"on {format_time(record.completed_at)}"
    if file.match is Match.SEALED:
        return CheckLine("good", "Known here:", f"this very file was sealed {at}.")
    if file.match is Match.CERTIFICATE:
        return CheckLine("good", "Known here:", f"this is the audit certificate of a document sealed {at}.")
    if file.match is Match.DELETED:
        return CheckLine("info", "Known here:", f"the document was sealed {at}, and has been deleted since.")
    return CheckLine(
        "info", "Known here:", f"its seal was made {at}; the file that was kept has other bytes."
    )
