"""Help for developers who build against the API: the mails of test mode, and simulated recipients (contract 3.5)."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from esign.actions.mail import test_mode_mail
from esign.actions.mail.test_mode_mail import CapturedMail
from esign.actions.signing import simulated_recipients
from esign.actions.signing.simulated_recipients import SimulationStep
from esign.core.document.document import Document
from esign.store.queue.kept_mail import KeptMailFilter
from esign.web.api import testing_examples as examples
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.document_values import Note, ObjectId, SimulatedAct
from esign.web.values.schema import BoundedText, Moment, Reply, Schema


class MessageList(Paging):
    document_id: Annotated[ObjectId | None, Field(description="Only mails about this document.")] = None
    recipient_id: Annotated[ObjectId | None, Field(description="Only mails to this recipient.")] = None


class MessageReply(Reply):
    """A mail of test mode: its plain text, and the signing links in it."""

    id: str
    to: str
    subject: str
    text: str
    links: list[str]
    created_at: Moment


class MessagePage(ListReply[MessageReply]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.MESSAGES]})


class TypedValue(Schema):
    """A signature: in letters by default those of the recipient's name; a picture is a data URL."""

    kind: Literal["typed", "drawn", "uploaded"]
    text: Annotated[str, BoundedText(1, 100)] | None = None
    hand: Literal["a", "b", "c"] | None = None
    picture: str | None = None


class Simulation(Schema):
    """`values` by field key or id; what is left out of them is made up."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.SIMULATION]})

    action: SimulatedAct
    recipient_id: Annotated[
        ObjectId | None, Field(description="Who does it; if left out, the first whose turn it is.")
    ] = None
    values: Annotated[Mapping[ObjectId, str | bool | TypedValue] | None, Field(max_length=10_000)] = None
    reason: Note | None = None


async def find_messages(call: ApiCall, query: MessageList) -> FoundPage[CapturedMail]:
    """List the mails of test mode, newest first, those too that were not sent."""
    filters = f"messages:{query.document_id}:{query.recipient_id}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    wanted = KeptMailFilter(call.owner.organisation_id, query.document_id, query.recipient_id)
    found, more = await test_mode_mail.find_page(call.runtime, wanted, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def simulate(call: ApiCall, body: Simulation) -> Document:
    """Let a recipient of a document act at once, or let its time pass; the audit trail says that it was simulated.

    An invitation that is still on its way when its recipient finishes is not written any more: to have it, list the
    mails of the document first.
    """
    given = {
        name: value.model_dump(exclude_none=True) if isinstance(value, TypedValue) else value
        for name, value in (body.values or {}).items()
    }
    step = SimulationStep(body.action, body.recipient_id, given, body.reason or None)
    return await simulated_recipients.simulate(call.runtime, call.caller, call.path["id"], step)


def present_messages(found: FoundPage[CapturedMail]) -> MessagePage:
    return MessagePage.from_page(found, present_message)


def present_message(mail: CapturedMail) -> MessageReply:
    return MessageReply(
        id=mail.id,
        to=mail.to,
        subject=mail.subject,
        text=mail.text,
        links=list(mail.links),
        created_at=mail.created_at,
    )
