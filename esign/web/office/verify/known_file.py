"""Say whether a file is the document that was asked for, or one that was sealed here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from esign.actions.verification.verify_file import Match, VerifiedFile
from esign.core.actor import Mode
from esign.store.document.public_records import PublicRecord
from esign.web.office.frame.words import OfficeWords
from esign.web.office.verify.seals import CheckLine, Tone
from esign.web.office.verify.untrusted_text import format_time, make_printable

NoteTone = Literal["ok", "warnbox", "badbox"]
# How a file that is compared with a document looks, by what it is to that document.
COMPARED: Mapping[Match, NoteTone] = {
    Match.SEALED: "ok",
    Match.CERTIFICATE: "ok",
    Match.OTHER_BYTES: "warnbox",
    Match.DELETED: "ok",
    Match.NOTHING: "badbox",
}
# The same for a document sealed here that nobody asked for.
KNOWN: Mapping[Match, Tone] = {
    Match.SEALED: "good",
    Match.CERTIFICATE: "good",
    Match.OTHER_BYTES: "info",
    Match.DELETED: "info",
}


@dataclass(frozen=True, slots=True)
class IdentityNote:
    """A note above the verdict: what is known about the document with the requested id."""

    tone: NoteTone
    title: Markup
    text: Markup


def describe_record(record: PublicRecord | None, t: OfficeWords) -> IdentityNote:
    """Return what is known about a document before there is a file to compare with it: never whose it is."""
    if record is None:
        return IdentityNote("warnbox", t("verify.record.none"), t("verify.record.none_text"))
    at = format_time(record.completed_at, t)
    if record.deleted_at is not None:
        return IdentityNote("warnbox", t("verify.record.deleted", at=at), t("verify.record.deleted_text"))
    text = "verify.record.test_text" if record.mode is Mode.TEST else "verify.record.there_text"
    return IdentityNote("ok", t("verify.record.there", at=at), t(text))


def compare_with_record(file: VerifiedFile, t: OfficeWords) -> IdentityNote:
    """Return how a file relates to the document that was asked for."""
    if file.record is None:
        return IdentityNote("warnbox", t("verify.asked.unknown"), t("verify.asked.unknown_text"))
    at = format_time(file.record.completed_at, t)
    key = f"verify.asked.{file.match}"
    return IdentityNote(COMPARED[file.match], t(key), t(f"{key}_text", at=at))


def find_known_file(file: VerifiedFile, t: OfficeWords) -> CheckLine | None:
    """Return how a file without a requested id relates to the documents sealed here; None if it is not one of them."""
    if file.record is None or file.match not in KNOWN:
        return None
    at = format_time(file.record.completed_at, t)
    return CheckLine(KNOWN[file.match], t(f"verify.known.{file.match}", at=at))


def find_present_name(file: VerifiedFile, sealed_as: str) -> str | None:
    """Return the present name of the organisation whose file it is, if that differs from the name in the seal.

    None for a file that does not carry the seal of a document kept here.
    """
    if file.record is None or file.record.organisation is None or file.match is Match.NOTHING:
        return None
    present = make_printable(file.record.organisation)
    return present if present != sealed_as else None
