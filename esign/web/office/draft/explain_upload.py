"""The result of an upload in words: why the file was refused, or what was repaired and removed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from esign.actions.document.own_fields import PLACED
from esign.core.document.document import File
from esign.core.errors import Problem
from esign.web.office.frame.words import OfficeWords

REFUSED: Mapping[str, str] = {
    "invalid_file": "This file can’t be read as a PDF.",
    "file_too_large": "The file is too large.",
    "too_many_pages": "The file has too many pages.",
    "file_encrypted": "The file is encrypted.",
    "file_signed": "The file already has a digital signature.",
    "file_unsupported": "This kind of PDF can’t be signed here.",
    "quota_exceeded": "Your organisation can’t create more documents right now.",
    "rate_limited": "Too many files are being uploaded at once.",
}
OTHERWISE = "The file couldn’t be uploaded."
FORM_FIELDS = "form fields"  # one of the words of `pdf.inspection.REMOVALS`
PLACED_FIELDS, COMING_FIELDS = "placed fields", "coming fields"  # said in its place


@dataclass(frozen=True, slots=True)
class FileRefusal:
    """Why a file was refused. `title` says what is wrong, `advice` what it means and what to do."""

    title: str
    advice: str


def explain_refusal(problem: Problem) -> FileRefusal:
    return FileRefusal(REFUSED.get(problem.code, OTHERWISE), problem.message)


def say_refusal(refusal: FileRefusal, words: OfficeWords) -> FileRefusal:
    """Return a refusal in the reader's language, for a page."""
    return FileRefusal(words.say(refusal.title), words.say(refusal.advice))


def describe_changes(file: File, t: OfficeWords, *, untouched: bool = False) -> list[Markup]:
    """Return how the stored file differs from the file that was uploaded, as sentences.

    `untouched`: nobody has placed a field yet, so that those of the file are about to be placed.
    """
    others = [word for word in file.removed if word != FORM_FIELDS]
    if file.own_fields == PLACED:
        return describe_repairs(file.repaired, [PLACED_FIELDS, *others], t)
    if untouched and not file.own_fields and FORM_FIELDS in file.removed:
        return describe_repairs(file.repaired, [COMING_FIELDS, *others], t)
    return describe_repairs(file.repaired, file.removed, t)


def describe_repairs(repaired: bool, removed: Iterable[str], t: OfficeWords) -> list[Markup]:
    """Return what was repaired and removed, as sentences."""
    sentences = [describe_removal(word, t) for word in removed]
    return [t("draft.file.repaired"), *sentences] if repaired else sentences


def describe_removal(word: str, t: OfficeWords) -> Markup:
    """Return the sentence for a word of `pdf.inspection.REMOVALS`.

    A recorded word that the program no longer uses stands as it is: the audit trail may be old.
    """
    key = f"draft.removed.{word.replace(' ', '_')}"
    return t(key) if key in t.catalogue else escape(word)
