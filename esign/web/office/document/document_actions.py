"""Actions on a whole document: remind, cancel, copy, delete, retry the seal, make a template of it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from esign.actions.document import cancel_delete, duplicate_document, reminders, templates
from esign.actions.document.edit_document import Asking
from esign.core.document.document import Document, Recipient
from esign.core.document.template import Template
from esign.core.errors import Problem
from esign.web.api.document_requests import CancelDocument, RemindRecipients
from esign.web.api.template_requests import TemplateFromDocument
from esign.web.office.document import possible_actions
from esign.web.office.document.forms import filled, find, home, taken, telling, times_of
from esign.web.office.document.page import about
from esign.web.office.frame import resubmit
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import Wrong

CONFLICT = 409


def asking(call: Call, document: Document, revision: int | None = None) -> Asking:
    """Return what an edit needs to know about its caller, for this document."""
    return Asking(call.owner, document.id, call.actor, call.origin, revision)


async def ask(call: Call, template: str, document: Document, act: str | None, **more: Any) -> Response:
    """Show the question page of an action. If the rules refuse the action now, the page says why."""
    now, organisation = call.runtime.clock.now(), call.signed.organisation
    problem = possible_actions.refused(act, document, organisation, now) if act else None
    return question(call, template, document, problem, **more)


def question(call: Call, template: str, document: Document, problem: Problem | None, **more: Any) -> Response:
    """Return the question page of an action.

    With a `problem` the page shows why the action is refused, and its status is 409.
    """
    organisation = call.signed.organisation
    sentence = possible_actions.said(problem, times_of(call), document, organisation) if problem else None
    page = call.page(f"document_{template}", **about(document), refused=sentence, **more)
    page.status_code = CONFLICT if problem else 200
    return page


# ---------- reminders ----------


async def ask_remind(call: Call) -> Response:
    """Ask which recipients to remind, and with which words."""
    document = await find(call)
    now = call.runtime.clock.now()
    waiting = [r for r in document.recipients if r.invited]
    rested = {r.id for r in waiting if possible_actions.refused_for("remind", document, r, now) is None}
    return await ask(call, "remind", document, "remind", waiting=waiting, rested=rested)


async def remind(call: Call) -> Response:
    """Remind the ticked recipients, or all who may be reminded if the form has no boxes to tick."""
    document = await find(call)
    body: dict[str, Any] = filled(call.form, "message")
    wanted = chosen(call.form, document)
    if "choice" in call.form and not wanted:
        raise Wrong({"": "Choose at least one recipient."})
    if wanted:
        body["recipientIds"] = [recipient.id for recipient in wanted]
    given = taken(RemindRecipients, body)
    with telling(call, document, body):
        await reminders.remind_by_hand(
            call.runtime, asking(call, document), given.recipient_ids, given.message or None
        )
    return call.go(home(document.id), "reminded")


def chosen(form: Mapping[str, str], document: Document) -> list[Recipient]:
    return [recipient for recipient in document.recipients if recipient.id in form]


# ---------- ends ----------


async def ask_cancel(call: Call) -> Response:
    document = await find(call)
    told = [r for r in document.recipients if r.sent_at is not None]
    finished = sum(r.completed_at is not None for r in document.recipients if r.acting)
    return await ask(call, "cancel", document, "cancel", told=told, finished=finished)


async def cancel(call: Call) -> Response:
    document = await find(call)
    body = {**filled(call.form, "reason"), "notify": "notify" in call.form}
    given = taken(CancelDocument, body)
    with telling(call, document, body):
        await cancel_delete.cancel(
            call.runtime, call.owner, document.id, given.reason or None, given.notify, call.actor, call.origin
        )
    return call.go(home(document.id), "cancelled")


async def ask_delete(call: Call) -> Response:
    return await ask(call, "delete", await find(call), "delete")


async def delete(call: Call) -> Response:
    document = await find(call)
    with telling(call, document):
        await cancel_delete.delete(call.runtime, call.owner, document.id, call.actor, call.origin)
    return call.go("/documents", "document-deleted")


async def retry_seal(call: Call) -> Response:
    document = await find(call)
    with telling(call, document):
        await cancel_delete.retry_seal(call.runtime, call.owner, document.id, call.actor, call.origin)
    return call.go(home(document.id), "seal-retried")


# ---------- beginnings ----------


async def duplicate(call: Call) -> Response:
    """Copy the document and lead to the copy."""
    document = await find(call)

    async def create(keep: resubmit.Keep) -> Document:
        return await duplicate_document.duplicate(
            call.runtime, call.owner, document.id, None, call.actor, call.origin, keep
        )

    with telling(call, document):
        name = resubmit.name_for(call, document.id)
        copy = await resubmit.make(call, name, f"{home(document.id)}/duplicate", {}, create)
    return call.go(home(copy), "duplicated")


async def ask_template(call: Call) -> Response:
    return await ask(call, "template", await find(call), None)


async def make_template(call: Call) -> Response:
    """Make a template from the document and lead to it."""
    document = await find(call)
    body = {"fromDocumentId": document.id, "title": call.form.get("title", "")}
    given = taken(TemplateFromDocument, body)

    async def create(keep: resubmit.Keep) -> Template:
        return await templates.create_from_document(call.runtime, call.owner, document.id, given.title, keep)

    with telling(call, document, body):
        made = await resubmit.make(
            call, resubmit.name_for(call), f"{home(document.id)}/template", body, create
        )
    return call.go(f"/templates/{made}", "template-made")
