"""What a file asks to be filled in by itself: fields of its form and marks in its text, for recipients or roles."""

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
    """One field that could be placed; a form does not say for whom: then `holder_id` is None."""

    holder_id: str | None
    blank: Blank


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be placed on a draft or template, and what could not, with the reason."""

    fields: tuple[Offered, ...]
    unused: tuple[Unused, ...]


async def find_fields(runtime: Runtime, owner: Owner, document_id: str) -> Offer:
    """Nothing is placed: who asks chooses what of it to save."""
    document = await get(runtime, owner, document_id)
    lifecycle.require(document, Status.DRAFT)
    return offer([one.id for one in document.holders()], await blanks(runtime, document))


async def find_template_fields(runtime: Runtime, template: Template) -> Offer:
    """The same for its roles; the file is read anew each time, as few edit a template."""
    holders = [role.id for role in template.roles if role.role in ACTING]
    found = await made(read(runtime, template.file, template.organisation_id))
    return offer(holders, parsed(found), "role")


def offer(holders: Sequence[str], found: Blanks, noun: str = "recipient") -> Offer:
    """For whom each is: the number of a mark counts those who may hold fields, from 1."""
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
    """Of its file, read once."""
    name = f"{document.file.uploaded[:16]}.blanks"
    return parsed(
        await kept(runtime, document, name, lambda: read(runtime, document.file, document.organisation_id))
    )


async def read(runtime: Runtime, file: File, organisation_id: str) -> bytes:
    """As JSON, to be kept."""

    async def given() -> tuple[object, ...]:
        return await blobs.get(runtime.db, file.uploaded), await blobs.get(runtime.db, file.prepared)

    turn, name = Turn(Kind.PREVIEW, organisation_id), f"blanks {file.uploaded}"
    found = await runtime.pdf.ask_for("blanks", Blanks, given, turn=turn, name=name)
    return json.dumps(asdict(found), ensure_ascii=False).encode()


def parsed(content: bytes) -> Blanks:
    stored: Mapping[str, Any] = json.loads(content)
    return Blanks(
        tuple(Blank(**one) for one in stored["fields"]), tuple(Unused(**one) for one in stored["unused"])
    )
