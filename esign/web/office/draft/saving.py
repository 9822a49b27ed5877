"""Saving a form of a draft or template: what can be taken is taken, and the rest gets a sentence at its field."""

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
MADE_UP = re.compile(r"new\w{12,}")  # the name of a new row that no other page has
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
    """What a form changes: how it is read, how it stands in a form, and what the body of a PATCH does to it."""

    shape: Shape
    read: Callable[[Call], Awaitable[T]]
    sheet: Callable[[T], Sheet]
    edit: Callable[[Call, T, Body], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Saved(Generic[T]):
    """What is stored now, `sheet` as the form should show it, and a sentence for what was not saved.

    With conflicts nothing was saved. `ids` are those of rows that were new, by the names that the page gave them.
    """

    stored: T
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


async def save(call: Call, kind: Kind[T], mine: Sheet, seen: Sheet) -> Saved[T]:
    """`mine` put together with what others changed since `seen`."""
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
    """The ids of new rows that are there already, since the answer to them was lost on its way."""
    ids = {key: id for key in mine.rows if (id := id_for(shape, key, of, vault)) is not None}
    return {key: id for key, id in ids.items() if id in theirs.rows}


def id_for(shape: Shape, key: str, of: Kept, vault: Vault) -> str | None:
    """What a new row becomes however often it is sent; None where its name may be that of another page's."""
    if not MADE_UP.fullmatch(key):
        return None
    mac = vault.mac(PURPOSE, f"{of.id} {key}".encode())
    return id_of(shape.prefix, of.created_at, int.from_bytes(mac[:10]))


async def stored(call: Call, kind: Kind[T], before: T, found: Merge, there: Mapping[str, str]) -> Saved[T]:
    """Saved without whatever is refused; raises `revision_mismatch` where somebody was faster."""
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
            if orjson.dumps(body.json()) == tried:  # two that do not go together, one of which is as it was
                return Saved(before, found, wrong)
    new = [key for key, entry in (body.rows or {}).items() if "id" not in entry]
    made = [key for key in kind.sheet(after).rows if key not in old.rows]
    return Saved(after, found, wrong, {**there, **dict(zip(new, made, strict=True))})


async def edit(call: Call, document: Document, body: Body) -> Document:
    """What PATCH does (contract 3.2), with the same schema."""
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
    """Whoever is new with the id that follows from the name of their row."""
    rows = (body.rows or {}).items()
    ids = [None if "id" in entry else id_for(body.shape, key, of, vault) for key, entry in rows]
    return tuple(replace(one, id=id or one.id) for one, id in zip(holders, ids, strict=True))


def sentence(place: str, detail: Detail, texts: dict[str, str]) -> str:
    """What stands at the field."""
    if place.startswith("code-") and detail.rule == "required":
        return NO_CODE
    if place in texts and not texts[place]:
        return EMPTY
    return detail.message
