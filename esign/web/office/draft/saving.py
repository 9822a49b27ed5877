"""Saving a draft as its form has it: what can be taken is taken, and the rest gets a sentence at its field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import orjson

from esign.actions import documents, editing, settings
from esign.actions.editing import Asking, Changes
from esign.core import lifecycle
from esign.core.document import Document, Recipient, Status
from esign.core.errors import Detail, Problem
from esign.entropy import id_of
from esign.vault import Vault
from esign.web.api.documents import edited
from esign.web.api.edit_requests import EditDocument, merged
from esign.web.office.call import Call
from esign.web.office.draft import sheet as sheets
from esign.web.office.draft.merging import Merge, chosen, merge
from esign.web.office.draft.sheet import Body, Sheet
from esign.web.office.forms import EMPTY
from esign.web.validation import check

AGAIN = 3
CHOOSE = "choose-"
MADE_UP = re.compile(r"new\w{12,}")  # the name of a new row that no other page has
PURPOSE = "draft-row"
NO_CODE = "Agree on a code with them, and enter it here."


@dataclass(frozen=True, slots=True)
class Saved:
    """The draft as it is stored now, `sheet` as the form should show it, and a sentence for what was not saved.

    With conflicts nothing was saved. `ids` are those of recipients who were new, by the names of their rows.
    """

    document: Document
    merge: Merge
    wrong: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def sheet(self) -> Sheet:
        return self.merge.sheet


async def draft(call: Call) -> Document:
    """The draft of the address; raises `not_found`, and `document_not_draft` once it was sent."""
    found = await documents.get(call.runtime, call.owner, call.path["id"])
    lifecycle.require(found, Status.DRAFT)
    return found


async def save(call: Call, mine: Sheet, seen: Sheet) -> Saved:
    """`mine` put together with what others changed since `seen`."""
    choices = {name.removeprefix(CHOOSE): text for name, text in call.form.items() if name.startswith(CHOOSE)}
    for _ in range(AGAIN):
        document = await draft(call)
        theirs = sheets.of_document(document)
        there = stored_before(mine, document, call.runtime.vault)
        found = merge(seen, chosen(sheets.renamed(mine, there), theirs, choices), theirs)
        if found.conflicts:
            return Saved(document, found, ids=there)
        try:
            return await stored(call, document, found, there)
        except Problem as problem:
            if problem.code != "revision_mismatch":
                raise
    raise Problem("revision_mismatch")


def stored_before(mine: Sheet, document: Document, vault: Vault) -> dict[str, str]:
    """The ids of new rows that are there already, since the answer to them was lost on its way."""
    known = {recipient.id for recipient in document.recipients}
    ids = {key: id for key in mine.rows if (id := id_for(key, document, vault)) is not None}
    return {key: id for key, id in ids.items() if id in known}


def id_for(key: str, document: Document, vault: Vault) -> str | None:
    """What a new row becomes however often it is sent; None where its name may be that of another page's."""
    if not MADE_UP.fullmatch(key):
        return None
    mac = vault.mac(PURPOSE, f"{document.id} {key}".encode())
    return id_of("rcp", document.created_at, int.from_bytes(mac[:10]))


async def stored(call: Call, document: Document, found: Merge, there: dict[str, str]) -> Saved:
    """Saved without whatever is refused; raises `revision_mismatch` where somebody was faster."""
    body, wrong, texts = sheets.body_of(found.sheet, document), dict[str, str](), found.sheet.flat()
    after = None
    while after is None:
        try:
            after = await edit(call, document, body)
        except Problem as problem:
            if problem.code != "invalid_request" or not problem.details:
                raise
            before = orjson.dumps(body.json())
            for place, detail in [(body.place(one.path), one) for one in problem.details]:
                wrong.setdefault(place, sentence(place, detail, texts))
                body.drop(place)
            if orjson.dumps(body.json()) == before:
                raise
    new = [key for key, entry in (body.rows or {}).items() if "id" not in entry]
    known = {recipient.id for recipient in document.recipients}
    made = [recipient.id for recipient in after.recipients if recipient.id not in known]
    return Saved(after, found, wrong, there | dict(zip(new, made, strict=True)))


async def edit(call: Call, document: Document, body: Body) -> Document:
    """What PATCH does (contract 3.2), with the same schema."""
    wanted = body.json()
    if not wanted:
        return document
    given, limits, vault = check(EditDocument, wanted), call.runtime.config.limits, call.runtime.vault
    listed = merged(given.recipients, call.runtime.clock.now(), vault, limits.recipients, limits.fields)

    def recipients(document: Document) -> tuple[Recipient, ...]:
        return named(listed(document), body, document, vault)

    changes = Changes(
        members=edited(await settings.read(call.runtime, call.owner), given),
        recipients=None if body.rows is None else recipients,
    )
    asking = Asking(call.owner, document.id, call.actor, call.origin, document.revision)
    return await editing.edit(call.runtime, asking, changes)


def named(people: Sequence[Recipient], body: Body, document: Document, vault: Vault) -> tuple[Recipient, ...]:
    """Whoever is new with the id that follows from the name of their row."""
    rows = (body.rows or {}).items()
    ids = [None if "id" in entry else id_for(key, document, vault) for key, entry in rows]
    return tuple(replace(one, id=id or one.id) for one, id in zip(people, ids, strict=True))


def sentence(place: str, detail: Detail, texts: dict[str, str]) -> str:
    """What stands at the field."""
    if place.startswith("code-") and detail.rule == "required":
        return NO_CODE
    if place in texts and not texts[place]:
        return EMPTY
    return detail.message
