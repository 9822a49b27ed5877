"""What a draft's file asks to be filled in by itself, for its recipients: fields of its form and marks in its text."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from esign.actions.documents import Owner, get
from esign.actions.reading import kept
from esign.core import lifecycle
from esign.core.document import Document, Status
from esign.pdf.inspection import Blank, Blanks, Unused
from esign.runtime import Runtime
from esign.store import blobs

NOBODY = "It is for recipient {}, and there is none."


@dataclass(frozen=True, slots=True)
class Offered:
    """One field that could be placed; a form does not say for whom: then `recipient_id` is None."""

    recipient_id: str | None
    blank: Blank


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be placed on a draft, and what could not, with the reason."""

    fields: tuple[Offered, ...]
    unused: tuple[Unused, ...]


async def find_fields(runtime: Runtime, owner: Owner, document_id: str) -> Offer:
    """Nothing is placed: who asks chooses what of it to save."""
    document = await get(runtime, owner, document_id)
    lifecycle.require(document, Status.DRAFT)
    return offer(document, await blanks(runtime, document))


def offer(document: Document, found: Blanks) -> Offer:
    """For whom each is: the number of a mark counts those who may hold fields, from 1."""
    people = dict(enumerate((recipient.id for recipient in document.holders()), 1))
    lost = tuple(
        Unused(one.page, f"{{{{{one.type}:{one.person}}}}}", NOBODY.format(one.person))
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

    async def make() -> bytes:
        uploaded = await blobs.get(runtime.db, document.file.uploaded)
        prepared = await blobs.get(runtime.db, document.file.prepared)
        return json.dumps(asdict(await runtime.pdf.blanks(uploaded, prepared)), ensure_ascii=False).encode()

    stored: Mapping[str, Any] = json.loads(
        await kept(runtime, document, f"{document.file.uploaded[:16]}.blanks", make)
    )
    return Blanks(
        tuple(Blank(**one) for one in stored["fields"]), tuple(Unused(**one) for one in stored["unused"])
    )
