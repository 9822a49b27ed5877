"""One recipient of a document: add, change or correct, remove, unblock, and issue a signing link."""

from typing import Any

from starlette.responses import Response

from esign.actions.document import edit_document, links
from esign.actions.signing import unblock_recipient
from esign.core.document.document import Document, Recipient, Status
from esign.core.document.state.correct import CORRECTED
from esign.core.language import LANGUAGES
from esign.web.api.document_requests import IssueLink, RecipientInput
from esign.web.api.edit_requests import RecipientChange, checking
from esign.web.office.document import possible_actions
from esign.web.office.document.document_actions import ask, asking, question
from esign.web.office.document.forms import filled, find, find_one, home, taken, telling
from esign.web.office.frame import resubmit
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import number, revision

HOURS = {1: "1 hour", 24: "24 hours", 72: "3 days", 168: "7 days", 720: "30 days"}


def typed(call: Call) -> dict[str, Any]:
    """Return the members of a recipient from the form. An empty optional field is left out and takes its default."""
    form = call.form
    body: dict[str, Any] = {"email": form.get("email", ""), "name": form.get("name", "")}
    body |= filled(form, "role", "authentication", "accessCode", "locale")
    if form.get("order", "").strip():
        body["order"] = number(form["order"])
    return body


# ---------- of a draft ----------


async def ask_add(call: Call) -> Response:
    document = await find(call)
    turn = max((recipient.order for recipient in document.recipients), default=1)
    return await ask(call, "recipient", document, "recipients", one=None, turn=turn, languages=LANGUAGES)


async def add(call: Call) -> Response:
    document, body = await find(call), typed(call)
    given = taken(RecipientInput, body)
    recipient = given.to_recipient(call.runtime.clock.now(), call.runtime.vault)
    check = checking(call.runtime.config.limits.fields)

    async def create(keep: resubmit.Keep) -> Recipient:
        return await edit_document.add_recipient(call.runtime, asking(call, document), recipient, check, keep)

    with telling(call, document, {"accessCode": "", **body}):
        await resubmit.make(call, resubmit.name_for(call), f"{home(document.id)}/recipients", body, create)
    return call.go(home(document.id), "recipient-added")


async def ask_remove(call: Call) -> Response:
    document, one = await find_one(call)
    return await ask(call, "recipient_remove", document, "recipients", one=one)


async def remove(call: Call) -> Response:
    document, one = await find_one(call)
    with telling(call, document):
        await edit_document.remove_recipient(call.runtime, asking(call, document), one.id)
    return call.go(home(document.id), "recipient-removed")


# ---------- of a draft, and of a document that is out ----------


async def ask_change(call: Call) -> Response:
    """Ask what to change.

    On a draft everything about the recipient can be changed, later only the name and the email address.
    """
    document, one = await find_one(call)
    if document.status is Status.DRAFT:
        more = {"one": one, "turn": one.order, "languages": LANGUAGES}
        return await ask(call, "recipient", document, "recipients", **more)
    return await ask_of_one(call, "correct", document, one, "correct")


async def ask_of_one(
    call: Call, template: str, document: Document, one: Recipient, act: str, **more: Any
) -> Response:
    """Show a question page about one recipient. If the rules refuse the action now, the page says why."""
    problem = possible_actions.refused_for(act, document, one, call.runtime.clock.now())
    return question(call, template, document, problem, one=one, **more)


async def change(call: Call) -> Response:
    document, one = await find_one(call)
    draft = document.status is Status.DRAFT
    body = {name: text for name, text in typed(call).items() if draft or name in CORRECTED}
    if draft and not call.form.get("locale"):
        body["locale"] = None
    now, vault = call.runtime.clock.now(), call.runtime.vault
    members = taken(RecipientChange, body).members(now, vault)
    check, seen = checking(call.runtime.config.limits.fields), revision(call.form) if draft else None
    with telling(call, document, {"accessCode": "", **body}):
        await edit_document.change_recipient(
            call.runtime, asking(call, document, seen), one.id, members, check, require_send=may_send
        )
    return call.go(home(document.id), "recipient-changed" if draft else "corrected")


def may_send() -> None:
    """Allow the sending: each role that may open this form (`Act.WORK`) may send documents too."""


# ---------- codes ----------


async def unblock(call: Call) -> Response:
    """Unblock a recipient whose code was entered wrongly, or sent, too often."""
    document, one = await find_one(call)
    with telling(call, document):
        done = await unblock_recipient.unblock(call.runtime, asking(call, document), one.id)
    return call.go(home(document.id), "unblocked" if done.unblocked else "not-blocked")


# ---------- signing links ----------


async def ask_link(call: Call) -> Response:
    document, one = await find_one(call)
    return await ask_of_one(call, "link", document, one, "link", hours=HOURS, issued=None)


async def link(call: Call) -> Response:
    """Issue a signing link and show it once. The audit trail records that it was issued."""
    document, one = await find_one(call)
    body = {"ttlHours": number(call.form.get("ttlHours", "24")) or ""}
    given = taken(IssueLink, body)
    with telling(call, document, body):
        issued = await links.issue(call.runtime, asking(call, document), one.id, given.ttl_hours)
    return question(call, "link", document, None, one=one, hours=HOURS, issued=issued)
