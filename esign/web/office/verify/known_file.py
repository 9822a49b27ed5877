"""Say whether a file is the document that was asked for, or one that was sealed here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from esign.actions.verification.verify_file import Match, VerifiedFile
from esign.core.actor import Mode
from esign.store.document.public_records import PublicRecord
from esign.web.office.verify.seals import CheckLine, Tone
from esign.web.office.verify.untrusted_text import format_time, make_printable

NoteTone = Literal["ok", "warnbox", "badbox"]
# What a file is to the document that was asked for: tone, title and text.
COMPARED: Mapping[Match, tuple[NoteTone, str, str]] = {
    Match.SEALED: (
        "ok",
        "This is the original document",
        "It is identical, byte for byte, to the file sealed here on {at}.",
    ),
    Match.CERTIFICATE: (
        "ok",
        "This is the document’s certificate",
        "It belongs to the document sealed here on {at}, and is identical byte for byte.",
    ),
    Match.OTHER_BYTES: (
        "warnbox",
        "This file has the document’s seal, but isn’t identical to it",
        "Something was added to the file sealed here on {at}. See below for what it was.",
    ),
    Match.DELETED: (
        "ok",
        "This file has the document’s seal",
        "The document was sealed here on {at} and has since been deleted.",
    ),
    Match.NOTHING: (
        "badbox",
        "This is not the document with that ID",
        "That document was sealed here on {at}. This file is a different one, or was changed. Ask the person who gave"
        " it to you.",
    ),
}
# What a file is to a document sealed here that nobody asked for: tone, words in bold and the rest.
KNOWN: Mapping[Match, tuple[Tone, str, str]] = {
    Match.SEALED: ("good", "Original file.", "This exact file was sealed here on {at}."),
    Match.CERTIFICATE: ("good", "Original certificate.", "It belongs to a document sealed here on {at}."),
    Match.OTHER_BYTES: (
        "info",
        "Not identical to the original.",
        "The document was sealed here on {at}. This file has other bytes.",
    ),
    Match.DELETED: (
        "info",
        "Sealed here.",
        "The document was sealed here on {at} and has since been deleted.",
    ),
}


@dataclass(frozen=True, slots=True)
class IdentityNote:
    """A note above the verdict: what is known about the document with the requested id."""

    tone: NoteTone
    title: str
    text: str


def describe_record(record: PublicRecord | None) -> IdentityNote:
    """Return what is known about a document before there is a file to compare with it: never whose it is."""
    if record is None:
        return IdentityNote(
            "warnbox",
            "No document with this ID was sealed here",
            "The address may be mistyped or belong to another installation. You can still check your file: its seal"
            " shows where it comes from.",
        )
    at = format_time(record.completed_at)
    if record.deleted_at is not None:
        return IdentityNote(
            "warnbox",
            f"Sealed here on {at}, since deleted",
            "The document is no longer stored here. You can still check your copy.",
        )
    compare = "Choose your file to see whether it’s the same document."
    if record.mode is Mode.TEST:
        compare = f"{compare} It was sealed in test mode and has no legal effect."
    return IdentityNote("ok", f"A document with this ID was sealed here on {at}", compare)


def compare_with_record(file: VerifiedFile) -> IdentityNote:
    """Return how a file relates to the document that was asked for."""
    if file.record is None:
        return IdentityNote(
            "warnbox",
            "There is nothing to compare it with",
            "No document with this ID was sealed here. The result below comes from the file’s own seal.",
        )
    tone, title, text = COMPARED[file.match]
    return IdentityNote(tone, title, text.format(at=format_time(file.record.completed_at)))


def find_known_file(file: VerifiedFile) -> CheckLine | None:
    """Return how a file without a requested id relates to the documents sealed here; None if it is not one of them."""
    if file.record is None or file.match not in KNOWN:
        return None
    tone, strong, rest = KNOWN[file.match]
    return CheckLine(tone, strong, rest.format(at=format_time(file.record.completed_at)))


def find_present_name(file: VerifiedFile, sealed_as: str) -> str | None:
    """Return the present name of the organisation whose file it is, if that differs from the name in the seal.

    None for a file that does not carry the seal of a document kept here.
    """
    if file.record is None or file.record.organisation is None or file.match is Match.NOTHING:
        return None
    present = make_printable(file.record.organisation)
    return present if present != sealed_as else None
