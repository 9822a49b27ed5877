"""The result of an upload in words: why the file was refused, or what was repaired and removed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from esign.actions.document.own_fields import PLACED
from esign.core.document.document import File
from esign.core.errors import Problem
from esign.web.office.frame.words import OfficeWords

REFUSED: Mapping[str, str] = {
    "invalid_file": "This file can’t be read as a PDF.",
    "file_too_large": "The file is too large.",
    "too_many_pages": "The file has too many pages.",
    "file_encrypted": "The file is protected.",
    "file_signed": "The file already carries a digital signature.",
    "file_unsupported": "Files of this kind can’t be signed here.",
    "quota_exceeded": "Your organisation can’t create more documents right now.",
    "rate_limited": "Too many files are being uploaded at once.",
}
OTHERWISE = "This file couldn’t be used."

# The keys are the words of `pdf.inspection.REMOVALS`, in the same order.
REMOVED: Mapping[str, str] = {
    "restrictions": "A lock against printing or copying was lifted.",
    "scripts": "Scripts were removed. What they worked out stays as it was printed.",
    "actions": "Actions that run by themselves or open other files were removed.",
    "attachments": "Attached files were removed. Send them as documents of their own.",
    "multimedia": "Sound and video were removed.",
    "XFA form": "A second copy of the form, for one reader alone, was removed. The pages stay as they look.",
    "form fields": "Form fields are part of the pages now, with what was typed in them.",
    "annotations": "Comments and marks were drawn into the pages.",
    "layer states": "Layers that could be switched stay as they are shown now.",
    "alternate images": "Images that only printers or some readers choose were removed.",
    "metadata": "Hidden notes about the file, such as its author, were removed.",
    "conformance claims": "The file no longer calls itself PDF/A or the like: with what is filled in, it would not be.",
    "foreign data": "Data of another kind around the PDF was removed. Only the PDF is kept and handed out.",
}
OWN_FIELDS = "Form fields and marks in the file became fields to fill in."
COMING_FIELDS = "Its form fields become fields to fill in when you choose “Place fields”."
REPAIRED = "The file was damaged and was repaired. Please look through its pages."


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


def describe_changes(file: File, *, untouched: bool = False) -> list[str]:
    """Return how the stored file differs from the file that was uploaded, as sentences.

    `untouched`: nobody has placed a field yet, so that those of the file are about to be placed.
    """
    sentences = describe_repairs(file.repaired, file.removed)
    if untouched and not file.own_fields:
        return [COMING_FIELDS if one == REMOVED["form fields"] else one for one in sentences]
    if file.own_fields != PLACED:
        return sentences
    return [OWN_FIELDS, *(one for one in sentences if one != REMOVED["form fields"])]


def describe_repairs(repaired: bool, removed: Iterable[str]) -> list[str]:
    """Return what was repaired and removed, as sentences.

    A recorded word that the program no longer uses stands as it is: the audit trail may be old.
    """
    return [*([REPAIRED] if repaired else []), *(REMOVED.get(word, word) for word in removed)]
