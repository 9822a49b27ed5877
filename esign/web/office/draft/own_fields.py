"""Fields that a file asks for itself: they are placed without being asked for, once, and can be taken back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from starlette.responses import Response

from esign.actions.document import detect_fields, edit_document, own_fields, templates
from esign.actions.document.edit_document import DocumentChanges
from esign.actions.document.templates import TemplateChanges
from esign.actions.document.upload import Upload
from esign.core.document.document import ACTING, Document, Field, Role
from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.pdf.inspection import DetectedField
from esign.web.http.validation import check
from esign.web.office.draft.field_editor import describe_blank
from esign.web.office.draft.saving import find_draft
from esign.web.office.editor.editor import FieldHolder
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.values.document_values import Fields
from esign.web.values.schema import Schema

NEAR = 1.0  # percent of a side within which a field is the one that the file asks for

M = TypeVar("M", Document, Template)
PlacedFields = Mapping[str, Sequence[Field]]


class NewFields(Schema):
    """The fields to place, as requests write them."""

    fields: Fields = ()


@dataclass(frozen=True, slots=True)
class PlacementKind(Generic[M]):
    """Whose fields are placed: `noun` is who holds them, `save` stores fields and file, `path` is the address."""

    noun: str
    path: str
    list_holders: Callable[[M], Sequence[FieldHolder]]
    save: Callable[[OfficeCall, M, PlacedFields, Upload], Awaitable[object]]


async def save_draft(call: OfficeCall, document: Document, fields: PlacedFields, upload: Upload) -> Document:
    caller = replace(call.caller, revision=document.revision)
    changes = DocumentChanges(fields=fields, upload=upload)
    return await edit_document.edit(call.runtime, caller, document.id, changes)


async def save_template(
    call: OfficeCall, template: Template, fields: PlacedFields, upload: Upload
) -> Template:
    caller = replace(call.caller, revision=template.revision)
    changes = TemplateChanges(fields=fields, upload=upload)
    return await templates.change(call.runtime, caller, template.id, changes)


DRAFTS: PlacementKind[Document] = PlacementKind(
    "recipient", "/documents/{}", Document.list_holders, save_draft
)
TEMPLATES: PlacementKind[Template] = PlacementKind(
    "role", "/templates/{}", lambda made: [role for role in made.roles if role.role in ACTING], save_template
)


# ---------- placing ----------


def is_untouched(made: Document | Template, holders: Sequence[FieldHolder]) -> bool:
    """Return whether nobody has placed a field yet, nor taken back those of the file, and somebody can hold one."""
    return not made.file.own_fields and bool(holders) and not any(one.fields for one in holders)


async def place_at_once(call: OfficeCall, document: Document) -> int:
    """Place the fields of the file of a draft without being asked for, and return how many.

    A refusal is no error of the page that leads on: the editor offers the fields as well.
    """
    try:
        if is_untouched(document, document.list_holders()):
            return await place_fields(call, DRAFTS, document)
    except Problem:
        pass
    return 0


async def place_fields(call: OfficeCall, kind: PlacementKind[M], made: M, holder_id: str = "") -> int:
    """Place the fields of the file that are not there yet, and return how many.

    Fields of a form, which does not say who fills it in, are for the holder of this id, or else for the first signer.
    """
    holders = kind.list_holders(made)
    found = await own_fields.find_own_fields(call.runtime, made.organisation_id, made.file)
    offer = detect_fields.assign_fields([one.id for one in holders], found, kind.noun)
    there = [field for one in holders for field in one.fields]
    free = call.runtime.config.limits.fields - len(there)
    new = [one for one in offer.fields if not any(is_near(one.blank, field) for field in there)][:free]
    if not new or not holders:
        return 0
    signers = [one.id for one in holders if one.role is Role.SIGNER] or [one.id for one in holders]
    owner = next((one.id for one in holders if one.id == holder_id), signers[0])
    taken = {field.key for field in there if field.key}
    members = [describe_blank(one.blank) for one in new]
    checked = check(NewFields, {"fields": [drop_taken_key(one, taken) for one in members]}).fields
    placed = {one.id: list(one.fields) for one in holders}
    for one, field in zip(new, checked, strict=True):
        placed[one.holder_id or owner].append(field.to_field(""))
    upload = await own_fields.take_off_marks(call.runtime, made.organisation_id, made.file, len(holders))
    await kind.save(call, made, placed, upload)
    return len(new)


def drop_taken_key(members: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    """Return the members without a key that another field has: keys are unique."""
    return {name: value for name, value in members.items() if name != "key" or value not in taken}


def is_near(blank: DetectedField, field: Field) -> bool:
    """Return whether a field stands where the file asks for one of its type."""
    same = (blank.type, blank.page) == (field.type.value, field.page)
    return same and abs(blank.x - field.x) < NEAR and abs(blank.y - field.y) < NEAR


# ---------- taking back ----------


async def undo_fields(call: OfficeCall, kind: PlacementKind[M], made: M) -> Response:
    """Remove the fields that stand where the file asks for them, and show its marks again."""
    if made.file.own_fields == own_fields.PLACED:
        upload = await own_fields.put_back_marks(call.runtime, made.organisation_id, made.file)
        found = await own_fields.find_own_fields(call.runtime, made.organisation_id, upload.file)
        kept = {
            one.id: [
                field for field in one.fields if not any(is_near(blank, field) for blank in found.fields)
            ]
            for one in kind.list_holders(made)
        }
        await kind.save(call, made, kept, upload)
    return call.redirect_to(f"{kind.path.format(made.id)}/fields", "own-fields-undone")


# ---------- the routes ----------


async def place_draft_fields(call: OfficeCall) -> Response:
    """Place the fields of the file, and tell the script how many."""
    document = await find_draft(call)
    return answer_json({"placed": await place_fields(call, DRAFTS, document, call.form.get("holder", ""))})


async def undo_draft_fields(call: OfficeCall) -> Response:
    return await undo_fields(call, DRAFTS, await find_draft(call))


async def place_template_fields(call: OfficeCall) -> Response:
    """Place the fields of the file, and tell the script how many."""
    template = await templates.get(call.runtime, call.owner, call.path["id"])
    placed = await place_fields(call, TEMPLATES, template, call.form.get("holder", ""))
    return answer_json({"placed": placed})


async def undo_template_fields(call: OfficeCall) -> Response:
    return await undo_fields(call, TEMPLATES, await templates.get(call.runtime, call.owner, call.path["id"]))
