"""Detects the fields that a file asks for: those of its form, and marks in its text for recipients or roles."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from esign.actions.document.documents import get
from esign.actions.document.page_cache import find_or_make
from esign.core.actor import Owner
from esign.core.document.document import ACTING, Document, File
from esign.core.document.state import Act, require
from esign.core.document.template import Template
from esign.core.sentence import say
from esign.pdf.inspection import DetectedField, DetectedFields, UnusableField
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.document import blobs

NOBODY = {
    "recipient": "It is for recipient {number}, and there is none.",
    "role": "It is for role {number}, and there is none.",
}


@dataclass(frozen=True, slots=True)
class OfferedField:
    """A field that could be placed. `holder_id` is None for a form field, which does not say who fills it in."""

    holder_id: str | None
    blank: DetectedField


@dataclass(frozen=True, slots=True)
class FieldOffer:
    """The fields that could be placed on a draft or template, and those that could not, with the reason."""

    fields: tuple[OfferedField, ...]
    unused: tuple[UnusableField, ...]


async def find_fields(runtime: Runtime, owner: Owner, document_id: str) -> FieldOffer:
    """Return the fields that could be placed on a draft. Nothing is placed: the caller chooses which of them to save.

    Raises what `require` raises for a document that is no draft.
    """
    document = await get(runtime, owner, document_id)
    require(document, Act.EDIT)
    return assign_fields([one.id for one in document.list_holders()], await find_blanks(runtime, document))


async def find_template_fields(runtime: Runtime, template: Template) -> FieldOffer:
    """Return the fields that could be placed on a template, for its roles."""
    holders = [role.id for role in template.roles if role.role in ACTING]
    found = await find_file_blanks(runtime, template.file, template.organisation_id)
    return assign_fields(holders, parse_blanks(found), "role")


def assign_fields(holders: Sequence[str], found: DetectedFields, noun: str = "recipient") -> FieldOffer:
    """Assign the detected fields to their holders.

    The number of a mark, from 1, counts those who may hold fields. A mark for a number that does not exist is
    reported as unused.
    """
    people = dict(enumerate(holders, 1))
    lost = tuple(
        UnusableField(one.page, f"{{{{{one.type}:{one.person}}}}}", say(NOBODY[noun], number=one.person))
        for one in found.fields
        if one.person is not None and one.person not in people
    )
    placed = tuple(
        OfferedField(people.get(one.person or 0), one)
        for one in found.fields
        if one.person is None or one.person in people
    )
    return FieldOffer(placed, found.unused + lost)


async def find_blanks(runtime: Runtime, document: Document) -> DetectedFields:
    """Return the fields detected in the file of a document. The file is read once, and the result is cached."""
    return parse_blanks(await find_file_blanks(runtime, document.file, document.organisation_id))


async def find_file_blanks(runtime: Runtime, file: File, organisation_id: str) -> bytes:
    """Return the fields detected in a file, as JSON; they are detected once."""
    name, turn = f"blanks.{file.uploaded}", QueueTurn(PdfJobKind.PREVIEW, organisation_id)
    return await find_or_make(runtime, turn, file.prepared, name, lambda: read_blanks(runtime, file, turn))


async def read_blanks(runtime: Runtime, file: File, turn: QueueTurn) -> bytes:
    """Return the fields detected in a file, as JSON that can be stored."""

    async def read_arguments() -> tuple[object, ...]:
        return await blobs.get(runtime.db, file.uploaded), await blobs.get(runtime.db, file.prepared)

    name = f"blanks {file.uploaded}"
    found = await runtime.pdf.run_task_when_free(
        "blanks", DetectedFields, read_arguments, turn=turn, name=name
    )
    return json.dumps(asdict(found), ensure_ascii=False).encode()


def parse_blanks(content: bytes) -> DetectedFields:
    """Return the detected fields from their JSON."""
    stored: Mapping[str, Any] = json.loads(content)
    return DetectedFields(
        tuple(DetectedField(**one) for one in stored["fields"]),
        tuple(UnusableField(**one) for one in stored["unused"]),
    )
