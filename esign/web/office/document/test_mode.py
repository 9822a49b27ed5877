"""Test mode: simulated recipients, and the mails that would have been sent."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from esign.actions.document import documents
from esign.actions.mail import test_mode_mail
from esign.actions.signing import simulated_recipients
from esign.actions.signing.simulated_recipients import SimulationStep
from esign.core.actor import Mode
from esign.core.document.document import Document, FieldType
from esign.core.errors import Problem
from esign.store.queue.kept_mail import KeptMailFilter
from esign.web.cursors import cursor_of, place_of
from esign.web.office.document.forms import (
    check_form,
    find_document,
    get_document_path,
    read_filled,
    show_refusals,
)
from esign.web.office.document.terms import parse_pairs
from esign.web.office.frame.mail_frame import allow_frames, make_letter_response
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.document_values import Note, ObjectId, SimulatedAct
from esign.web.values.schema import Schema

PER_PAGE = 25
TICKED = {"yes": True, "no": False}


class SimulationForm(Schema):
    """What is simulated; `values` by the key or the id of a field."""

    action: SimulatedAct
    recipient_id: ObjectId | None = None
    values: Annotated[Mapping[ObjectId, str | bool], Field(max_length=10_000)] = {}
    reason: Note | None = None


async def simulate(call: OfficeCall) -> Response:
    """Simulate one step of a recipient, or the end of the time to sign. Raise `not_found` for a live document."""
    document = await find_document(call)
    if document.mode is not Mode.TEST:
        raise Problem("not_found")
    body: dict[str, object] = {
        "action": call.form.get("action", ""),
        **read_filled(call.form, "recipientId", "reason"),
    }
    if values := parse_values(document, call.form.get("values", "")):
        body["values"] = values
    given = check_form(SimulationForm, body)
    step = SimulationStep(given.action, given.recipient_id, given.values, given.reason or None)
    with show_refusals(call, document, body):
        await simulated_recipients.simulate(call.runtime, call.caller, document.id, step)
    return call.redirect_to(get_document_path(document.id), "simulated")


def parse_values(document: Document, text: str) -> dict[str, str | bool]:
    """Parse the values that the recipient enters, by the key or the id of a field. A checkbox is ticked by `yes`."""
    fields = [field for recipient in document.recipients for field in recipient.fields]
    boxes = {field.key or field.id for field in fields if field.type is FieldType.CHECKBOX}
    return {
        name: TICKED.get(given.lower(), given) if name in boxes else given
        for name, given in parse_pairs(text, "values").items()
    }


async def show_messages(call: OfficeCall) -> Response:
    """Show the mails of test mode, newest first: all of them, or those about one document."""
    if call.owner.mode is not Mode.TEST:
        return call.page("test_messages", messages=(), document=None, cursor=None, live=True)
    query = call.request.query_params
    wanted = query.get("document")
    document = await documents.get(call.runtime, call.owner, wanted) if wanted else None
    vault, filters = call.runtime.vault, f"messages:{wanted or None}:None"
    after = place_of(vault, query.get("cursor"), filters)
    found, more = await test_mode_mail.find_kept(
        call.runtime, KeptMailFilter(call.owner.organisation_id, wanted or None), PER_PAGE, after
    )
    cursor = cursor_of(vault, more, filters)
    shown = call.page("test_messages", messages=found, document=document, cursor=cursor, live=False)
    return allow_frames(shown)


async def send_letter(call: OfficeCall) -> Response:
    """Send the HTML of a mail of test mode for the frame that shows it; raise `not_found` for any other mail."""
    if call.owner.mode is not Mode.TEST:
        raise Problem("not_found")
    html = await test_mode_mail.read_html(call.runtime, call.owner, call.path["id"])
    return await make_letter_response(call.runtime, call.signed_in.organisation, html, openable=True)
