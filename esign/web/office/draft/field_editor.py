"""The field editor of a draft: its page, the stored fields, fields found in the file, and saving."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field
from starlette.responses import Response

from esign.actions.document import detect_fields, documents, edit_document, page_cache
from esign.actions.document.detect_fields import FieldOffer
from esign.actions.document.edit_document import DocumentChanges
from esign.core.document import document as core
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.template import Template, TemplateRole
from esign.core.errors import Problem
from esign.pdf.inspection import DetectedField
from esign.web.http import strict_json
from esign.web.http.security import PAGE_HEADERS, PLAIN_POLICY
from esign.web.http.validation import check
from esign.web.office.draft.saving import find_draft
from esign.web.office.editor import editor
from esign.web.office.editor.editor import FieldHolder
from esign.web.office.frame.forms import parse_revision
from esign.web.office.frame.office_call import OfficeCall, answer_json, make_csrf_token
from esign.web.office.frame.words import OfficeWords
from esign.web.picture_type import find_picture_type
from esign.web.values.document_values import MOST_RECIPIENTS, Fields, check_field_count
from esign.web.values.schema import Schema

H = TypeVar("H", Recipient, TemplateRole)
SIZES = {"": 1, "1": 1, "2": 2, "3": 3}
KEPT = {"Cache-Control": "private, max-age=86400, immutable", "Vary": "Cookie"}


class FieldsOf(Schema):
    """All fields of one recipient. They replace those that the recipient has."""

    id: str
    fields: Fields = ()


class DraftFieldsRequest(Schema):
    """The body that saves fields. Recipients that it does not name keep theirs."""

    recipients: Annotated[
        tuple[FieldsOf, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(check_field_count)
    ]


async def show_editor(call: OfficeCall) -> Response:
    document = await documents.get(call.runtime, call.owner, call.path["id"])
    here = f"/documents/{document.id}"
    if document.status is not Status.DRAFT:
        return call.redirect_to(here, "not-a-draft")
    return call.page("fields", document=document, **build_context(call, document, document.recipients, here))


def build_context(
    call: OfficeCall, made: Document | Template, holders: Sequence[FieldHolder], at: str
) -> dict[str, Any]:
    """Return the context of the editor's page, which lies below the address `at` of a draft or template."""
    return {
        "at": at,
        "state": describe_stored(call, made, holders),
        "people": editor.list_holders(holders),
        "palette": editor.PALETTE,
        "sheets": editor.list_pages(made.file, at),
        "listed": editor.sort_fields(holders),
        "placed": parse_count(call.request.query_params.get("found", "")),
        "untouched": not made.file.own_fields and not any(one.fields for one in holders),
    }


def parse_count(text: str) -> int:
    """Return how many fields of the file were just placed, as the address of the page says; 0 for anything else."""
    return int(text) if text.isdecimal() and len(text) < 4 else 0


def describe_stored(
    call: OfficeCall, made: Document | Template, holders: Sequence[FieldHolder]
) -> dict[str, Any]:
    """Return the stored fields as the editor's script reads them."""
    return editor.describe_state(holders, made.revision, call.runtime.config.limits.fields)


async def send_state(call: OfficeCall) -> Response:
    document = await find_draft(call)
    return send_fresh_state(call, document, document.recipients)


def send_fresh_state(call: OfficeCall, made: Document | Template, holders: Sequence[FieldHolder]) -> Response:
    """Send what is stored now, with a new CSRF token.

    The script needs the token if it belongs to another session than its page did.
    """
    assert call.session is not None
    return answer_json(
        describe_stored(call, made, holders) | {"csrf": make_csrf_token(call.runtime, call.session)}
    )


async def save_fields(call: OfficeCall) -> Response:
    """Replace the fields of the named recipients. The form names the revision that the page showed.

    Raise `not_found` before anything that is wrong with the fields.
    """
    await documents.get(
        call.runtime, call.owner, call.path["id"]
    )  # `not_found` comes before any error in the form
    given = check(DraftFieldsRequest, strict_json.load(call.form.get("fields", "").encode()))
    caller = replace(call.caller, revision=require_revision(call))
    changes = DocumentChanges(fields=list_new_fields(given.recipients), steady=True)
    saved = await edit_document.edit(call.runtime, caller, call.path["id"], changes)
    return answer_json({"revision": saved.revision})


def require_revision(call: OfficeCall) -> int:
    """Return the revision that the page showed. Raise `invalid_request` if the form does not say it."""
    found = parse_revision(call.form)
    if found is None:
        raise Problem("invalid_request", "This page is out of date. Load it again.")
    return found


def list_new_fields(entries: Sequence[FieldsOf]) -> dict[str, list[core.Field]]:
    """Return the fields by the ids of their recipients or roles."""
    return {entry.id: [one.to_field("") for one in entry.fields] for entry in entries}


async def suggest_fields(call: OfficeCall) -> Response:
    """Send the fields that the file itself suggests. Nothing is placed."""
    offer = await detect_fields.find_fields(call.runtime, call.owner, call.path["id"])
    return answer_offer(offer, call.words)


def answer_offer(offer: FieldOffer, words: OfficeWords) -> Response:
    """Return suggested fields, and those that cannot be placed with the reason, as JSON."""
    return answer_json(
        {
            "fields": [
                {"holder": one.holder_id, "marked": one.blank.marked, **describe_blank(one.blank)}
                for one in offer.fields
            ],
            "unused": [
                {"page": one.page, "name": words.recall(one.name), "reason": words.tell(one.reason)}
                for one in offer.unused
            ],
        }
    )


def describe_blank(blank: DetectedField) -> dict[str, Any]:
    """Return the members that a request for this field would have. What the file does not say is left out."""
    members = {
        **{name: getattr(blank, name) for name in ("type", "page", "x", "y", "width", "height")},
        **{name: getattr(blank, name) for name in ("label", "key", "required", "align")},
        "fontSize": blank.font_size,
        **blank.options,
    }
    return {name: value for name, value in members.items() if value is not None}


async def send_page_picture(call: OfficeCall) -> Response:
    """Send the picture of a page.

    The query of the address holds a hash, so that browsers can keep the picture, and the size.
    """
    document = await documents.get(call.runtime, call.owner, call.path["id"])
    number, size = parse_picture_address(call, document.page_count)
    return make_picture_response(await page_cache.read_picture(call.runtime, document, number, size))


def parse_picture_address(call: OfficeCall, pages: int) -> tuple[int, int]:
    """Return the (page number, size) of the picture that the address names.

    Raise `not_found` for any other address.
    """
    size = SIZES.get(call.request.url.query.partition("&size=")[2])
    number = call.path["number"]
    if size is None or not number.isdecimal() or len(number) > 4 or not 1 <= int(number) <= pages:
        raise Problem("not_found")
    return int(number), size


def make_picture_response(made: bytes) -> Response:
    """Return the response for a picture. Browsers may keep it for a day."""
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(made, media_type=find_picture_type(made), headers=headers)
