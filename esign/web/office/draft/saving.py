"""Saving the form of a draft or template: what is valid is saved, and the rest gets a sentence at its field."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import orjson

from esign.actions.document import documents, edit_document
from esign.actions.document.edit_document import Asking, Changes
from esign.actions.people import settings
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.state import lifecycle
from esign.core.document.template import TemplateRole
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.system.entropy import id_of
from esign.system.vault import Vault
from esign.web.api.documents import edited
from esign.web.api.edit_requests import EditDocument, merged
from esign.web.http.validation import check
from esign.web.office.draft import draft_form as sheets
from esign.web.office.draft.draft_form import DRAFT, Body, Shape, Sheet
from esign.web.office.draft.merge_edits import Merge, chosen, merge
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import EMPTY

AGAIN = 3
CHOOSE = "choose-"
MADE_UP = re.compile(r"new\w{12,}")  # the name that a page made up for a new row; no other page has it
PURPOSE = "draft-row"
NO_CODE = "Agree on a code with them, and enter it here."


class Kept(Protocol):
    """A document or a template."""

    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> Instant: ...


T = TypeVar("T", bound=Kept)
H = TypeVar("H", Recipient, TemplateRole)


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What a form changes.

    `read` loads it, `sheet` gives the texts of its form, and `edit` does what a PATCH with the body would do.
    """

    shape: Shape
    read: Callable[[Call], Awaitable[T]]
    sheet: Callable[[T], Sheet]
    edit: Callable[[Call, T, Body], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Saved(Generic[T]):
    """The result of saving.

    `stored` is what is stored now, `sheet` the texts that the form should show, `wrong` a sentence for each
    field that was not saved. With conflicts nothing was saved. `ids` maps the made-up names of new rows to the
    ids that they got.
    """

    stored: T
    merge: Merge
    wrong: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def sheet(self) -> Sheet:
        return self.merge.sheet


async def draft(call: Call) -> Document:
    """Return the draft of the address.

    Raise `not_found`, and `document_not_draft` once it was sent.
    """
    found = await documents.get(call.runtime, call.owner, call.path["id"])
    lifecycle.require(found, Status.DRAFT)
    return found


async def save(call: Call, kind: Kind[T], mine: Sheet, seen: Sheet) -> Saved[T]:
    """Merge the form `mine` with what others changed since `seen`, and save the result.

    Raise `revision_mismatch` if others were faster three times in a row.
    """
    choices = {name.removeprefix(CHOOSE): text for name, text in call.form.items() if name.startswith(CHOOSE)}
    for _ in range(AGAIN):
        before = await kind.read(call)
        theirs = kind.sheet(before)
        there = stored_before(kind.shape, mine, theirs, before, call.runtime.vault)
        found = merge(seen, chosen(sheets.renamed(mine, there), theirs, choices), theirs)
        if found.conflicts:
            return Saved(before, found, ids=there)
        try:
            return await stored(call, kind, before, found, there)
        except Problem as problem:
            if problem.code != "revision_mismatch":
                raise
    raise Problem("revision_mismatch")


def stored_before(shape: Shape, mine: Sheet, theirs: Sheet, of: Kept, vault: Vault) -> dict[str, str]:
    """Return the ids of new rows that are stored already, because an earlier response was lost."""
    ids = {key: id for key in mine.rows if (id := id_for(shape, key, of, vault)) is not None}
    return {key: id for key, id in ids.items() if id in theirs.rows}


def id_for(shape: Shape, key: str, of: Kept, vault: Vault) -> str | None:
    """Return the id that a new row gets, the same each time it is sent.

    Return None if another page may have used the row's name.
    """
    if not MADE_UP.fullmatch(key):
        return None
    mac = vault.mac(PURPOSE, f"{of.id} {key}".encode())
    return id_of(shape.prefix, of.created_at, int.from_bytes(mac[:10]))


async def stored(call: Call, kind: Kind[T], before: T, found: Merge, there: Mapping[str, str]) -> Saved[T]:
    """Save the merged texts, without those that are refused.

    Raise `revision_mismatch` if another user was faster.
    """
    old = kind.sheet(before)
    body = sheets.body_of(found.sheet, old, kind.shape)
    wrong, texts = dict[str, str](), found.sheet.flat()
    after = None
    while after is None:
        wanted = body.json()
        try:
            after = await kind.edit(call, before, body) if wanted else before
        except Problem as problem:
            if problem.code != "invalid_request" or not problem.details:
                raise
            tried = orjson.dumps(wanted)
            for place, detail in [(body.place(one.path), one) for one in problem.details]:
                wrong.setdefault(place, sentence(place, detail, texts))
                body.drop(place)
            if (
                orjson.dumps(body.json()) == tried
            ):  # nothing was dropped: a change contradicts a value that stays
                return Saved(before, found, wrong)
    new = [key for key, entry in (body.rows or {}).items() if "id" not in entry]
    made = [key for key in kind.sheet(after).rows if key not in old.rows]
    return Saved(after, found, wrong, {**there, **dict(zip(new, made, strict=True))})


async def edit(call: Call, document: Document, body: Body) -> Document:
    """Change the draft as PATCH does (contract 3.2), with the same schema."""
    given, limits, vault = check(EditDocument, body.json()), call.runtime.config.limits, call.runtime.vault
    listed = merged(given.recipients, call.runtime.clock.now(), vault, limits.recipients, limits.fields)

    def recipients(document: Document) -> tuple[Recipient, ...]:
        return named(listed(document), body, document, vault)

    changes = Changes(
        members=edited(await settings.read(call.runtime, call.owner), given),
        recipients=None if body.rows is None else recipients,
    )
    asking = Asking(call.owner, document.id, call.actor, call.origin, document.revision)
    return await edit_document.edit(call.runtime, asking, changes)


DRAFTS = Kind(DRAFT, draft, sheets.of_document, edit)


def named(holders: Sequence[H], body: Body, of: Kept, vault: Vault) -> tuple[H, ...]:
    """Return the recipients or roles, the new ones with the ids derived from the names of their rows."""
    rows = (body.rows or {}).items()
    ids = [None if "id" in entry else id_for(body.shape, key, of, vault) for key, entry in rows]
    return tuple(replace(one, id=id or one.id) for one, id in zip(holders, ids, strict=True))


def sentence(place: str, detail: Detail, texts: dict[str, str]) -> str:
    """Return what stands at a field that was refused."""
    if place.startswith("code-") and detail.rule == "required":
        return NO_CODE
    if place in texts and not texts[place]:
        return EMPTY
    return detail.message
