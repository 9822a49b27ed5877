"""The review of a draft: everything on one page, what is missing, and the button that sends it."""

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from starlette.responses import Response

from esign.actions.document import documents
from esign.core.document import estimate
from esign.core.document.document import INVITED, Document, Recipient
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY
from esign.core.language import LANGUAGES
from esign.web.office.draft.draft_summary import describe_reminders, write_outline
from esign.web.office.draft.edit import find_unsent_draft, name_proofs, name_roles
from esign.web.office.draft.explain_upload import describe_changes
from esign.web.office.draft.field_editor import parse_count
from esign.web.office.draft.preview import list_invitations
from esign.web.office.draft.sample import is_sample
from esign.web.office.editor import editor
from esign.web.office.frame.forms import FormError, parse_revision
from esign.web.office.frame.mail_frame import allow_frames
from esign.web.office.frame.office_call import OfficeCall

CHANGED = "Someone changed this draft. Review it again before you send it."
SHOWN_PAGES = 24  # of a longer file only pages with fields are shown, and as many at most
TOLD = frozenset({"quota_exceeded", "unavailable", "rate_limited"})


@dataclass(frozen=True, slots=True)
class MissingItem:
    """Something that keeps the draft from being sent.

    `place` is the page that mends it, `verb` names the words of the link.
    """

    sentence: str
    place: str
    verb: Literal["field", "value", "title", "file", "signer", "own_name"]


async def show_review(call: OfficeCall) -> Response:
    document = await find_unsent_draft(call)
    if document is None:
        return call.redirect_to(f"/documents/{call.path['id']}")
    asked = call.request.query_params.get("email", "")
    now = call.runtime.clock.now()
    page = call.page(
        "draft_review",
        document=document,
        missing=await find_missing(call, document),
        groups=group_recipients(document),
        outline=write_outline(document, call.words),
        changes=describe_changes(document.file, call.words),
        sheets=list_sheets(document),
        sample=is_sample(document.file),
        total=sum(len(one.fields) for one in document.recipients),
        letters=(letters := await list_invitations(call, document)),
        reader=next((one for one in letters if one.recipient.id == asked), letters[0] if letters else None),
        reminders=describe_reminders(document.reminders, call.words),
        until=now + document.expires_in_days * DAY,
        placed=parse_count(call.request.query_params.get("found", "")),
        roles=name_roles(call.words),
        proofs=name_proofs(call.words),
        languages=LANGUAGES,
    )
    return allow_frames(page)


def list_sheets(document: Document) -> list[dict[str, Any]]:
    """Return the pages to show, each with its fields in the colours of their holders.

    Of a long file these are the pages with fields.
    """
    colours = editor.assign_colours(document.recipients)
    fields = [(field, colours[one.id]) for one in document.list_holders() for field in one.fields]
    found = [
        {"page": page, "fields": [pair for pair in fields if pair[0].page == page.number]}
        for page in editor.list_pages(document.file, f"/documents/{document.id}")
    ]
    if len(found) > SHOWN_PAGES:
        found = [one for one in found if one["fields"]][:SHOWN_PAGES]
    return found


async def find_missing(call: OfficeCall, document: Document) -> list[MissingItem]:
    """Return what keeps the draft from being sent, each item with the page that mends it.

    These are the details that `document_not_ready` would have.
    """
    found = await documents.list_obstacles(call.runtime, document)
    return [locate_missing(document, replace(one, message=call.words.say(one.message))) for one in found]


def locate_missing(document: Document, detail: Detail) -> MissingItem:
    """Return one detail with the page that mends it.

    `detail.path` is a JSON Pointer into the document (contract 6).
    """
    edit = f"/documents/{document.id}/edit"
    found = re.match(r"/recipients/(\d+)(?:/(\w+))?", detail.path)
    if found and found[2] == "fields":
        return MissingItem(detail.message, f"/documents/{document.id}/fields", "field")
    if found and found[2]:
        who = document.recipients[int(found[1])]
        return MissingItem(detail.message, f"{edit}#{found[2]}-{who.id}", "value")
    if detail.path == "/title":
        return MissingItem(detail.message, f"{edit}#title", "title")
    if detail.path == "/fileName":
        return MissingItem(detail.message, f"{edit}#file", "file")
    if detail.path == "/recipients":
        return MissingItem(detail.message, f"{edit}#people", "signer")
    return MissingItem(detail.message, "/account", "own_name")


def group_recipients(document: Document) -> list[dict[str, Any]]:
    """Return the recipients by step. Those who only get a copy come last, as their step does not count."""
    people = sorted(document.recipients, key=lambda one: (one.role not in INVITED, one.order))
    split = groupby(people, key=lambda one: one.order if one.role in INVITED else None)
    colours = editor.assign_colours(document.recipients)

    def describe(one: Recipient) -> dict[str, Any]:
        given = estimate.count_answers(one)
        return {"one": one, "colour": colours.get(one.id), "fields": len(one.fields), "given": given}

    return [{"step": step, "people": [describe(one) for one in found]} for step, found in split]


async def send(call: OfficeCall) -> Response:
    """Send the document if it is still as the review showed it.

    Pressing the button twice leads to the same page, as a document that was sent already is no error here.
    """
    document = await find_unsent_draft(call)
    if document is None:
        return call.redirect_to(f"/documents/{call.path['id']}")
    try:
        caller = replace(call.caller, revision=parse_revision(call.form))
        await documents.send(call.runtime, caller, document.id)
    except Problem as problem:
        if problem.code == "document_not_draft":
            return call.redirect_to(f"/documents/{document.id}")
        raise explain_problem(problem) from None
    return call.redirect_to(f"/documents/{document.id}", "sent")


def explain_problem(problem: Problem) -> Exception:
    """Return the error to raise: `FormError` for what the review page shows itself, else the problem as it is."""
    if problem.code == "revision_mismatch":
        return FormError({"": CHANGED})
    if problem.code == "document_not_ready":
        return FormError({"": "The document can’t be sent yet."})
    return FormError({"": problem.message}) if problem.code in TOLD else problem
