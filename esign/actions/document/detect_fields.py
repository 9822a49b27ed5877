"""Detects the fields that a file asks for: those of its form, and marks in its text for recipients or roles."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from esign.actions.base.pdf_work import made
from esign.actions.document.documents import get
from esign.actions.document.page_views import kept
from esign.core.actor import Owner
from esign.core.document.document import ACTING, Document, File, Status
from esign.core.document.state import lifecycle
from esign.core.document.template import Template
from esign.pdf.inspection import Blank, Blanks, Unused
from esign.pdf.worker.queue_turn import Kind, Turn
from esign.runtime import Runtime
from esign.store.document import blobs

NOBODY = "It is for {} {}, and there is none."


@dataclass(frozen=True, slots=True)
class Offered:
    """A field that could be placed. `holder_id` is None for a form field, which does not say who fills it in."""

    holder_id: str | None
    blank: Blank


@dataclass(frozen=True, slots=True)
class Offer:
    """The fields that could be placed on a draft or template, and those that could not, with the reason."""

    fields: tuple[Offered, ...]
    unused: tuple[Unused, ...]


async def find_fields(runtime: Runtime, owner: Owner, document_id: str) -> Offer:
    """Return the fields that could be placed on a draft. Nothing is placed: the caller chooses which of them to save.

    Raises what `lifecycle.require` raises for a document that is no draft.
    """
    document = await get(runtime, owner, document_id)
    lifecycle.require(document, Status.DRAFT)
    return offer([one.id for one in document.holders()], await blanks(runtime, document))


async def find_template_fields(runtime: Runtime, template: Template) -> Offer:
    """Return the fields that could be placed on a template, for its roles.

    The file is read again on each call, since templates are seldom edited.
    """
    holders = [role.id for role in template.roles if role.role in ACTING]
    found = await made(read(runtime, template.file, template.organisation_id))
    return offer(holders, parsed(found), "role")


def offer(holders: Sequence[str], found: Blanks, noun: str = "recipient") -> Offer:
    """Assign the detected fields to their holders.

    The number of a mark, from 1, counts those who may hold fields. A mark for a number that does not exist is
    reported as unused.
    """
    people = dict(enumerate(holders, 1))
    lost = tuple(
        Unused(one.page, f"{{{{{one.type}:{one.person}}}}}", NOBODY.format(noun, one.person))
        for one in found.fields
        if one.person is not None and one.person not in people
    )
    placed = tuple(
        Offered(people.get(one.person or 0), one)
        for one in found.fields
        if one.person is None or one.person in people
    )
    return Offer(placed, found.unused + lost)


async def blanks(runtime: Runtime, document: Document) -> Blanks:
    """Return the fields detected in the file of a document. The file is read once, and the result is cached."""
    name = f"{document.file.uploaded[:16]}.blanks"
    return parsed(
        await kept(runtime, document, name, lambda: read(runtime, document.file, document.organisation_id))
    )


async def read(runtime: Runtime, file: File, organisation_id: str) -> bytes:
    """Return the fields detected in a file, as JSON that can be stored."""

    async def given() -> tuple[object, ...]:
        return await blobs.get(runtime.db, file.uploaded), await blobs.get(runtime.db, file.prepared)

    turn, name = Turn(Kind.PREVIEW, organisation_id), f"blanks {file.uploaded}"
    found = await runtime.pdf.ask_for("blanks", Blanks, given, turn=turn, name=name)
    return json.dumps(asdict(found), ensure_ascii=False).encode()


def parsed(content: bytes) -> Blanks:
    """Return the detected fields from their JSON."""
    stored: Mapping[str, Any] = json.loads(content)
    return Blanks(
        tuple(Blank(**one) for one in stored["fields"]), tuple(Unused(**one) for one in stored["unused"])
    )
