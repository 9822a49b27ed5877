"""The field editor of a draft: its page, what is stored, what is found in the file, and saving."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator, Field
from starlette.responses import Response

from esign.actions.document import detect_fields, documents, edit_document, page_views
from esign.actions.document.detect_fields import Offer
from esign.actions.document.edit_document import Asking, Changes
from esign.core.document import document as core
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.template import Template, TemplateRole
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.pdf.inspection import Blank
from esign.system.entropy import new_id
from esign.web.api.document_requests import MOST_RECIPIENTS, Fields, few_fields, problems_across
from esign.web.http import strict_json
from esign.web.http.security import EVERYWHERE, PAGE_HEADERS, PLAIN_POLICY
from esign.web.http.validation import MOST, check
from esign.web.office.draft.saving import draft
from esign.web.office.editor import editor
from esign.web.office.editor.editor import Holder
from esign.web.office.frame.call import Call, mac
from esign.web.office.frame.forms import revision
from esign.web.rest.schema import Schema

H = TypeVar("H", Recipient, TemplateRole)
SIZES = {"": 1, "1": 1, "2": 2, "3": 3}
KEPT = {"Cache-Control": "private, max-age=86400, immutable", "Vary": "Cookie"}


class FieldsOf(Schema):
    """All fields of one recipient, in the place of those that were there."""

    id: str
    fields: Fields = ()


class SaveFields(Schema):
    """Recipients that are not named keep their fields."""

    recipients: Annotated[tuple[FieldsOf, ...], Field(max_length=MOST_RECIPIENTS), AfterValidator(few_fields)]


async def show(call: Call) -> Response:
    document = await documents.get(call.runtime, call.owner, call.path["id"])
    here = f"/documents/{document.id}"
    if document.status is not Status.DRAFT:
        return call.go(here, "not-a-draft")
    return call.page("fields", document=document, **shown(call, document, document.recipients, here))


def shown(call: Call, made: Document | Template, holders: Sequence[Holder], at: str) -> dict[str, Any]:
    """The page of the editor, which lies below the address `at` of a draft or template."""
    return {
        "at": at,
        "state": stored(call, made, holders),
        "people": editor.people(holders),
        "palette": editor.PALETTE,
        "sheets": editor.sheets(made.file, at),
        "listed": editor.listed(holders),
    }


def stored(call: Call, made: Document | Template, holders: Sequence[Holder]) -> dict[str, Any]:
    return editor.state(holders, made.revision, call.runtime.config.limits.fields)


async def state(call: Call) -> Response:
    document = await draft(call)
    return afresh(call, document, document.recipients)


def afresh(call: Call, made: Document | Template, holders: Sequence[Holder]) -> Response:
    """What is stored now, and a new mac for the forms of a script whose session is another one than its page had."""
    assert call.session is not None
    return told(stored(call, made, holders) | {"csrf": mac(call.runtime, call.session)})


async def save(call: Call) -> Response:
    """The fields as they shall be, of the revision that the page showed."""
    await documents.get(call.runtime, call.owner, call.path["id"])  # whose it is comes before what is sent
    given = check(SaveFields, strict_json.load(call.form.get("fields", "").encode()))
    runtime = call.runtime
    asking = Asking(call.owner, call.path["id"], call.actor, call.origin, revision_of(call), steady=True)

    def recipients(document: Document) -> tuple[Recipient, ...]:
        return filled(
            document.recipients, given.recipients, runtime.config.limits.fields, runtime.clock.now()
        )

    saved = await edit_document.edit(runtime, asking, Changes({}, recipients=recipients))
    return told({"revision": saved.revision})


def revision_of(call: Call) -> int:
    """The one that the page showed."""
    found = revision(call.form)
    if found is None:
        raise Problem("invalid_request", "The form does not say which revision it changes.")
    return found


def filled(
    holders: Sequence[H], entries: Sequence[FieldsOf], most: int, now: Instant, place: str = "/recipients"
) -> tuple[H, ...]:
    """The recipients, or roles, with the fields that were given; a field that is as it was keeps its id."""
    given = {entry.id: entry.fields for entry in entries}
    known = {holder.id for holder in holders}
    made: list[H] = []
    for holder in holders:
        own = [one.to_field("") for one in given[holder.id]] if holder.id in given else holder.fields
        made.append(replace(holder, fields=identified(holder.fields, own, now)))
    details = [
        Detail(f"{place}/{n}/id", "There is nobody of this id.", "reference")
        for n, entry in enumerate(entries)
        if entry.id not in known
    ]
    details += problems_across(made, len(made), most, place)
    if details:
        raise Problem("invalid_request", details=details[:MOST])
    return tuple(made)


def identified(
    before: Sequence[core.Field], after: Sequence[core.Field], now: Instant
) -> tuple[core.Field, ...]:
    """The new fields with the ids of those that were the same before, and new ones."""
    ids: dict[str, list[str]] = {}
    for one in before:
        ids.setdefault(repr(replace(one, id="")), []).insert(0, one.id)
    return tuple(
        replace(one, id=same.pop() if (same := ids.get(repr(one))) else new_id("fld", now)) for one in after
    )


async def found(call: Call) -> Response:
    """What the file asks to be filled in by itself, as fields that could be placed."""
    return offered(await detect_fields.find_fields(call.runtime, call.owner, call.path["id"]))


def offered(offer: Offer) -> Response:
    return told(
        {
            "fields": [
                {"holder": one.holder_id, "marked": one.blank.marked, **suggested(one.blank)}
                for one in offer.fields
            ],
            "unused": [asdict(one) for one in offer.unused],
        }
    )


def suggested(blank: Blank) -> dict[str, Any]:
    """The members that a request for this field would have; what the file leaves open is left out."""
    members = {
        **{name: getattr(blank, name) for name in ("type", "page", "x", "y", "width", "height")},
        **{name: getattr(blank, name) for name in ("label", "key", "required", "align")},
        "fontSize": blank.font_size,
        **blank.options,
    }
    return {name: value for name, value in members.items() if value is not None}


async def sheet(call: Call) -> Response:
    """The picture of a page; what follows the question mark is its hash, and how fine it shall be."""
    document = await documents.get(call.runtime, call.owner, call.path["id"])
    number, size = asked(call, document.page_count)
    return picture(await page_views.picture_of(call.runtime, document, number, size))


def asked(call: Call, pages: int) -> tuple[int, int]:
    """(number, size) of the picture that the address names; `not_found` where there is none."""
    size = SIZES.get(call.request.url.query.partition("&size=")[2])
    number = call.path["number"]
    if size is None or not number.isdecimal() or len(number) > 4 or not 1 <= int(number) <= pages:
        raise Problem("not_found")
    return int(number), size


def picture(made: bytes) -> Response:
    headers = {**PAGE_HEADERS, "Content-Security-Policy": PLAIN_POLICY, **KEPT}
    return Response(made, media_type="image/webp", headers=headers)


def told(what: Any) -> Response:
    """For the script of the page."""
    return Response(
        orjson.dumps(what),
        media_type="application/json",
        headers={**EVERYWHERE, "Content-Security-Policy": PLAIN_POLICY},
    )
