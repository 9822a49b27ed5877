"""Saving the form of a draft or template: what is valid is saved, and the rest gets a sentence at its field."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import orjson

from esign.actions.document import documents, edit_document
from esign.actions.document.edit_document import DocumentChanges
from esign.actions.document.holder_entries import HolderEntry
from esign.core.document.document import Document
from esign.core.document.state import Act, require
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.system.entropy import build_id
from esign.system.vault import Vault
from esign.web.http.validation import check
from esign.web.office.draft import draft_form as sheets
from esign.web.office.draft.draft_form import DRAFT, FormChanges, FormShape, FormSheet, MessageForm
from esign.web.office.draft.merge_edits import MergedEdits, apply_choices, merge_edits
from esign.web.office.frame.forms import EMPTY
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.document_values import (
    AccessCode,
    Authentication,
    Locale,
    Order,
    PersonName,
    RedirectUrl,
    RoleName,
)
from esign.web.values.schema import Email, Patch

AGAIN = 3
CHOOSE = "choose-"
MADE_UP = re.compile(r"new\w{12,}")  # the name that a page made up for a new row; no other page has it
PURPOSE = "draft-row"
NO_CODE = "Enter a code that you share with the recipient."


class DocumentOrTemplate(Protocol):
    """A document or a template."""

    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> Instant: ...


T = TypeVar("T", bound=DocumentOrTemplate)


@dataclass(frozen=True, slots=True)
class FormKind(Generic[T]):
    """What a form changes.

    `read` loads it, `sheet` gives the texts of its form, and `edit` saves what it changes.
    """

    shape: FormShape
    read: Callable[[OfficeCall], Awaitable[T]]
    sheet: Callable[[T], FormSheet]
    edit: Callable[[OfficeCall, T, FormChanges], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class SaveResult(Generic[T]):
    """The result of saving.

    `stored` is what is stored now, `sheet` the texts that the form should show, `wrong` a sentence for each
    field that was not saved. With conflicts nothing was saved. `ids` maps the made-up names of new rows to the
    ids that they got.
    """

    stored: T
    merge: MergedEdits
    wrong: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def sheet(self) -> FormSheet:
        return self.merge.sheet


async def find_draft(call: OfficeCall) -> Document:
    """Return the draft of the address.

    Raise `not_found`, and `document_not_draft` once it was sent.
    """
    found = await documents.get(call.runtime, call.owner, call.path["id"])
    require(found, Act.EDIT)
    return found


async def save_form(call: OfficeCall, kind: FormKind[T], mine: FormSheet, seen: FormSheet) -> SaveResult[T]:
    """Merge the form `mine` with what others changed since `seen`, and save the result.

    Raise `revision_mismatch` if others were faster three times in a row.
    """
    choices = {name.removeprefix(CHOOSE): text for name, text in call.form.items() if name.startswith(CHOOSE)}
    for _ in range(AGAIN):
        before = await kind.read(call)
        theirs = kind.sheet(before)
        there = find_stored_rows(kind.shape, mine, theirs, before, call.runtime.vault)
        found = merge_edits(seen, apply_choices(sheets.rename_rows(mine, there), theirs, choices), theirs)
        if found.conflicts:
            return SaveResult(before, found, ids=there)
        try:
            return await store_merged(call, kind, before, found, there)
        except Problem as problem:
            if problem.code != "revision_mismatch":
                raise
    raise Problem("revision_mismatch")


def find_stored_rows(
    shape: FormShape, mine: FormSheet, theirs: FormSheet, of: DocumentOrTemplate, vault: Vault
) -> dict[str, str]:
    """Return the ids of new rows that are stored already, because an earlier response was lost."""
    return {key: id for key in mine.rows for id in derive_row_ids(shape, key, of, vault) if id in theirs.rows}


def derive_row_ids(shape: FormShape, key: str, of: DocumentOrTemplate, vault: Vault) -> list[str]:
    """Return the id that a new row gets, the same each time it is sent, then those by earlier application keys.

    Return none if another page may have used the row's name.
    """
    if not MADE_UP.fullmatch(key):
        return []
    macs = vault.compute_macs(PURPOSE, f"{of.id} {key}".encode())
    return [build_id(shape.prefix, of.created_at, int.from_bytes(mac[:10])) for mac in macs]


async def store_merged(
    call: OfficeCall, kind: FormKind[T], before: T, found: MergedEdits, there: Mapping[str, str]
) -> SaveResult[T]:
    """Save the merged texts, without those that are refused.

    Raise `revision_mismatch` if another user was faster.
    """
    old = kind.sheet(before)
    body = sheets.find_changes(found.sheet, old, kind.shape)
    wrong, texts = dict[str, str](), found.sheet.flatten()
    after = None
    while after is None:
        wanted = body.list_values()
        try:
            after = await kind.edit(call, before, body) if wanted else before
        except Problem as problem:
            if problem.code != "invalid_request" or not problem.details:
                raise
            tried = orjson.dumps(wanted)
            for place, detail in [(body.place(one.path), one) for one in problem.details]:
                wrong.setdefault(place, write_sentence(place, detail, texts))
                body.drop(place)
            if (
                orjson.dumps(body.list_values()) == tried
            ):  # nothing was dropped: a change contradicts a value that stays
                return SaveResult(before, found, wrong)
    new = [key for key, entry in (body.rows or {}).items() if "id" not in entry]
    made = [key for key in kind.sheet(after).rows if key not in old.rows]
    return SaveResult(after, found, wrong, {**there, **dict(zip(new, made, strict=True))})


class RecipientRow(Patch):
    """One recipient of the form: one who is there already by `id`, with what the user changed, or a new one."""

    id: str | None = None
    email: Email = ""
    name: PersonName = ""
    role: RoleName = "signer"
    order: Order = 1
    authentication: Authentication = "link"
    access_code: AccessCode | None = None
    locale: Locale | None = None


class DraftForm(MessageForm):
    recipients: tuple[RecipientRow, ...] = ()
    redirect_url: RedirectUrl | None = None
    locale: Locale | None = None


async def edit_draft(call: OfficeCall, document: Document, body: FormChanges) -> Document:
    """Change the draft."""
    given = check(DraftForm, body.list_values())
    listed = list_entries(given.recipients, body, document, call.runtime.vault)
    changes = DocumentChanges(given.list_members("recipients"), recipients=listed)
    caller = replace(call.caller, revision=document.revision)
    return await edit_document.edit(call.runtime, caller, document.id, changes)


DRAFTS = FormKind(DRAFT, find_draft, sheets.fill_from_document, edit_draft)


class FormRow(Protocol):
    """One checked row of the form."""

    @property
    def id(self) -> str | None: ...
    def model_dump(self, *, exclude: set[str], exclude_unset: bool) -> dict[str, Any]: ...


def list_entries(
    rows: Sequence[FormRow], body: FormChanges, of: DocumentOrTemplate, vault: Vault
) -> tuple[HolderEntry, ...] | None:
    """Return the recipients or roles, the new ones with the ids derived from the names of their rows.

    Return None if the rows stay as they are.
    """
    if body.rows is None:
        return None
    return tuple(
        HolderEntry(
            row.model_dump(exclude={"id"}, exclude_unset=True),
            row.id,
            next(iter(derive_row_ids(body.shape, key, of, vault)), None) if row.id is None else None,
        )
        for key, row in zip(body.rows, rows, strict=True)
    )


def write_sentence(place: str, detail: Detail, texts: dict[str, str]) -> str:
    """Return what stands at a field that was refused."""
    if place.startswith("code-") and detail.rule == "required":
        return NO_CODE
    if place in texts and not texts[place]:
        return EMPTY
    return detail.message
