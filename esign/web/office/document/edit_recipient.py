"""One recipient of a document: add, change or correct, remove, unblock, and issue a signing link."""

from dataclasses import replace

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import edit_document, links
from esign.actions.document.edit_document import RecipientChanges
from esign.actions.document.holder_entries import HolderEntry
from esign.actions.signing import unblock_recipient
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.state.edit import CORRECTED
from esign.core.language import LANGUAGES
from esign.web.office.document import possible_actions
from esign.web.office.document.document_actions import ask_about_document, show_question
from esign.web.office.document.forms import (
    check_form,
    find_document,
    find_recipient,
    get_document_path,
    read_filled,
    show_refusals,
)
from esign.web.office.frame import create_once
from esign.web.office.frame.forms import parse_number, parse_revision
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.document_values import (
    AccessCode,
    Authentication,
    LinkHours,
    Locale,
    Order,
    PersonName,
    RoleName,
)
from esign.web.values.schema import Email, Patch, Schema

HOURS = (1, 24, 72, 168, 720)


class RecipientForm(Patch):
    """A recipient; what the form leaves out has its default, or stays as it is."""

    email: Email
    name: PersonName
    role: RoleName = "signer"
    order: Order = 1
    authentication: Authentication = "link"
    access_code: AccessCode | None = None
    locale: Locale | None = None

    def list_given(self) -> dict[str, object]:
        """Return the members that were given, by their names in `core`."""
        return self.model_dump(exclude_unset=True)


class LinkForm(Schema):
    ttl_hours: LinkHours


def read_recipient_form(call: OfficeCall) -> dict[str, object]:
    """Return the members of a recipient from the form. An empty optional field is left out and takes its default."""
    form = call.form
    body: dict[str, object] = {"email": form.get("email", ""), "name": form.get("name", "")}
    body |= read_filled(form, "role", "authentication", "accessCode", "locale")
    if form.get("order", "").strip():
        body["order"] = parse_number(form["order"])
    return body


# ---------- of a draft ----------


async def ask_add(call: OfficeCall) -> Response:
    document = await find_document(call)
    turn = max((recipient.order for recipient in document.recipients), default=1)
    return await ask_about_document(
        call, "recipient", document, "recipients", one=None, turn=turn, languages=LANGUAGES
    )


async def add(call: OfficeCall) -> Response:
    document, body = await find_document(call), read_recipient_form(call)
    entry = HolderEntry(check_form(RecipientForm, body).list_given())

    async def create(caller: Caller) -> Recipient:
        return await edit_document.add_recipient(call.runtime, caller, document.id, entry)

    with show_refusals(call, document, {"accessCode": "", **body}):
        await create_once.create_once(
            call,
            create_once.choose_form_name(call),
            f"{get_document_path(document.id)}/recipients",
            body,
            create,
        )
    return call.redirect_to(get_document_path(document.id), "recipient-added")


async def ask_remove(call: OfficeCall) -> Response:
    document, one = await find_recipient(call)
    return await ask_about_document(call, "recipient_remove", document, "recipients", one=one)


async def remove(call: OfficeCall) -> Response:
    document, one = await find_recipient(call)
    with show_refusals(call, document):
        await edit_document.remove_recipient(call.runtime, call.caller, document.id, one.id)
    return call.redirect_to(get_document_path(document.id), "recipient-removed")


# ---------- of a draft, and of a document that is out ----------


async def ask_change(call: OfficeCall) -> Response:
    """Ask what to change.

    On a draft everything about the recipient can be changed, later only the name and the email address.
    """
    document, one = await find_recipient(call)
    if document.status is Status.DRAFT:
        more = {"one": one, "turn": one.order, "languages": LANGUAGES}
        return await ask_about_document(call, "recipient", document, "recipients", **more)
    return await ask_about_recipient(call, "correct", document, one, "correct")


async def ask_about_recipient(
    call: OfficeCall, template: str, document: Document, one: Recipient, act: str, **more: object
) -> Response:
    """Show a question page about one recipient. If the rules refuse the action now, the page says why."""
    problem = possible_actions.find_recipient_refusal(act, document, one, call.runtime.clock.now())
    return show_question(call, template, document, problem, one=one, **more)


async def change(call: OfficeCall) -> Response:
    document, one = await find_recipient(call)
    draft = document.status is Status.DRAFT
    body = {name: text for name, text in read_recipient_form(call).items() if draft or name in CORRECTED}
    if draft and not call.form.get("locale"):
        body["locale"] = None
    changes = RecipientChanges(check_form(RecipientForm, body).list_given(), require_send=may_send)
    caller = replace(call.caller, revision=parse_revision(call.form) if draft else None)
    with show_refusals(call, document, {"accessCode": "", **body}):
        await edit_document.change_recipient(call.runtime, caller, document.id, one.id, changes)
    return call.redirect_to(get_document_path(document.id), "recipient-changed" if draft else "corrected")


def may_send() -> None:
    """Allow the sending: each role that may open this form (`Act.WORK`) may send documents too."""


# ---------- codes ----------


async def unblock(call: OfficeCall) -> Response:
    """Unblock a recipient whose code was entered wrongly, or sent, too often."""
    document, one = await find_recipient(call)
    with show_refusals(call, document):
        done = await unblock_recipient.unblock(call.runtime, call.caller, document.id, one.id)
    return call.redirect_to(get_document_path(document.id), "unblocked" if done.unblocked else "not-blocked")


# ---------- signing links ----------


async def ask_link(call: OfficeCall) -> Response:
    document, one = await find_recipient(call)
    return await ask_about_recipient(call, "link", document, one, "link", hours=HOURS, issued=None)


async def issue_link(call: OfficeCall) -> Response:
    """Issue a signing link and show it once. The audit trail records that it was issued."""
    document, one = await find_recipient(call)
    body = {"ttlHours": parse_number(call.form.get("ttlHours", "24")) or ""}
    given = check_form(LinkForm, body)
    with show_refusals(call, document, body):
        issued = await links.issue_link(call.runtime, call.caller, document.id, one.id, given.ttl_hours)
    return show_question(call, "link", document, None, one=one, hours=HOURS, issued=issued)
