"""Actions on a whole document: remind, cancel, copy, delete, retry the seal, make a template of it."""

from collections.abc import Mapping

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import cancel_delete, duplicate_document, reminders, templates
from esign.core.document.document import Document, Recipient
from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.web.office.document import possible_actions
from esign.web.office.document.forms import (
    check_form,
    find_document,
    get_document_path,
    get_times,
    read_filled,
    show_refusals,
)
from esign.web.office.document.page import describe_document
from esign.web.office.frame import create_once
from esign.web.office.frame.forms import FormError
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.document_values import Note, Title
from esign.web.values.schema import Schema

CONFLICT = 409


class ReminderForm(Schema):
    message: Note | None = None


class CancelForm(Schema):
    reason: Note | None = None


class TemplateTitleForm(Schema):
    title: Title


async def ask_about_document(
    call: OfficeCall, template: str, document: Document, act: str | None, **more: object
) -> Response:
    """Show the question page of an action. If the rules refuse the action now, the page says why."""
    now, organisation = call.runtime.clock.now(), call.signed_in.organisation
    problem = possible_actions.find_refusal(act, document, organisation, now) if act else None
    return show_question(call, template, document, problem, **more)


def show_question(
    call: OfficeCall, template: str, document: Document, problem: Problem | None, **more: object
) -> Response:
    """Return the question page of an action.

    With a `problem` the page shows why the action is refused, and its status is 409.
    """
    organisation = call.signed_in.organisation
    sentence = (
        call.words.say(possible_actions.explain_refusal(problem, get_times(call), document, organisation))
        if problem
        else None
    )
    page = call.page(f"document_{template}", **describe_document(call, document), refused=sentence, **more)
    page.status_code = CONFLICT if problem else 200
    return page


# ---------- reminders ----------


async def ask_remind(call: OfficeCall) -> Response:
    """Ask which recipients to remind, and with which words."""
    document = await find_document(call)
    now = call.runtime.clock.now()
    waiting = [r for r in document.recipients if r.is_invited]
    rested = {
        r.id for r in waiting if possible_actions.find_recipient_refusal("remind", document, r, now) is None
    }
    return await ask_about_document(call, "remind", document, "remind", waiting=waiting, rested=rested)


async def remind(call: OfficeCall) -> Response:
    """Remind the ticked recipients, or all who may be reminded if the form has no boxes to tick."""
    document = await find_document(call)
    body = read_filled(call.form, "message")
    wanted = find_ticked(call.form, document)
    if "choice" in call.form and not wanted:
        raise FormError({"": "Select at least one recipient."})
    message = check_form(ReminderForm, body).message
    with show_refusals(call, document, body):
        await reminders.remind_by_hand(
            call.runtime, call.caller, document.id, tuple(one.id for one in wanted) or None, message or None
        )
    return call.redirect_to(get_document_path(document.id), "reminded")


def find_ticked(form: Mapping[str, str], document: Document) -> list[Recipient]:
    return [recipient for recipient in document.recipients if recipient.id in form]


# ---------- ends ----------


async def ask_cancel(call: OfficeCall) -> Response:
    document = await find_document(call)
    told = [r for r in document.recipients if r.sent_at is not None]
    finished = sum(r.completed_at is not None for r in document.recipients if r.acting)
    return await ask_about_document(call, "cancel", document, "cancel", told=told, finished=finished)


async def cancel(call: OfficeCall) -> Response:
    document = await find_document(call)
    body = read_filled(call.form, "reason")
    reason = check_form(CancelForm, body).reason
    with show_refusals(call, document, body):
        await cancel_delete.cancel(
            call.runtime, call.caller, document.id, reason or None, "notify" in call.form
        )
    return call.redirect_to(get_document_path(document.id), "cancelled")


async def ask_delete(call: OfficeCall) -> Response:
    return await ask_about_document(call, "delete", await find_document(call), "delete")


async def delete(call: OfficeCall) -> Response:
    document = await find_document(call)
    with show_refusals(call, document):
        await cancel_delete.delete(call.runtime, call.caller, document.id)
    return call.redirect_to("/documents", "document-deleted")


async def retry_seal(call: OfficeCall) -> Response:
    document = await find_document(call)
    with show_refusals(call, document):
        await cancel_delete.retry_seal(call.runtime, call.caller, document.id)
    return call.redirect_to(get_document_path(document.id), "seal-retried")


# ---------- beginnings ----------


async def duplicate(call: OfficeCall) -> Response:
    """Copy the document and lead to the copy."""
    document = await find_document(call)

    async def create(caller: Caller) -> Document:
        return await duplicate_document.duplicate(call.runtime, caller, document.id, None)

    with show_refusals(call, document):
        name = create_once.choose_form_name(call, document.id)
        copy = await create_once.create_once(
            call, name, f"{get_document_path(document.id)}/duplicate", {}, create
        )
    return call.redirect_to(get_document_path(copy), "duplicated")


async def ask_template(call: OfficeCall) -> Response:
    return await ask_about_document(call, "template", await find_document(call), None)


async def make_template(call: OfficeCall) -> Response:
    """Make a template from the document and lead to it."""
    document = await find_document(call)
    body = {"fromDocumentId": document.id, "title": call.form.get("title", "")}
    title = check_form(TemplateTitleForm, {"title": body["title"]}).title

    async def create(caller: Caller) -> Template:
        return await templates.create_from_document(call.runtime, caller, document.id, title)

    with show_refusals(call, document, body):
        made = await create_once.create_once(
            call,
            create_once.choose_form_name(call),
            f"{get_document_path(document.id)}/template",
            body,
            create,
        )
    return call.redirect_to(f"/templates/{made}", "template-made")
