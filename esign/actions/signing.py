"""What a recipient does with the link from the mail: look, view, fill in and finish, or decline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from esign.actions import documents as acting
from esign.actions import inks, printing
from esign.actions.files import name_of
from esign.actions.transition import transition
from esign.core import consent as wording
from esign.core import lifecycle
from esign.core import link as own_link
from esign.core.account import Organisation
from esign.core.document import Document, Origin, Recipient, RecipientStatus, Status
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant, to_datetime
from esign.core.outcome import Event, Outcome
from esign.core.value import fill
from esign.runtime import Runtime
from esign.store import accounts, blobs, documents, links, outcomes
from esign.store.database import Transaction

Act = Callable[[Document, Recipient, Instant], Outcome]

STATES = {
    Status.SEALING: "sealing",
    Status.COMPLETED: "completed",
    Status.DECLINED: "declined",
    Status.EXPIRED: "expired",
    Status.CANCELLED: "cancelled",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """What one link shows; `state` is one of open, waiting, sealing, completed, declined, expired, cancelled,
    unknown. An unknown link has no document, and never says whether there is one."""

    state: str
    document: Document | None = None
    recipient: Recipient | None = None
    organisation: Organisation | None = None


UNKNOWN = Visit("unknown")


async def visit(runtime: Runtime, token: str) -> Visit:
    """Look only: nothing changes but that a document whose time is over expires."""
    link = await links.find(runtime.db, token, runtime.clock.now())
    if link is None:
        return UNKNOWN
    document = await acting.up_to_date(runtime, await documents.get(runtime.db, link.document_id))
    return await shown(runtime, document, link.recipient_id)


async def shown(runtime: Runtime, document: Document, recipient_id: str) -> Visit:
    if own_link.has_ended(document, runtime.clock.now()):
        return UNKNOWN
    recipient = document.recipient(recipient_id)
    organisation = await accounts.get_organisation(runtime.db, document.organisation_id)
    return Visit(state_of(document, recipient), document, recipient, organisation)


def state_of(document: Document, recipient: Recipient) -> str:
    """`waiting` both before one's turn and after one's part while others have theirs to do."""
    return STATES.get(document.status) or ("open" if recipient.invited else "waiting")


async def find(runtime: Runtime, token: str) -> Visit:
    """The visit of a link that exists; `not_found` otherwise."""
    seen = await visit(runtime, token)
    if seen.document is None:
        raise Problem("not_found", "This link is not complete, or a newer one has replaced it.")
    return seen


async def view(runtime: Runtime, token: str, origin: Origin) -> Visit:
    """The page was really looked at: a script said so, not a link scanner."""
    return await act(
        runtime, token, lambda document, person, now: lifecycle.view(document, person, origin, now)
    )


async def decline(runtime: Runtime, token: str, reason: str | None, origin: Origin) -> Visit:
    """Refuse, which ends the document for everybody."""
    return await act(
        runtime, token, lambda document, person, now: lifecycle.decline(document, person, reason, origin, now)
    )


async def act(runtime: Runtime, token: str, decide: Act) -> Visit:
    """One transition by the recipient of a link: `decide(document, recipient, now)` gives the outcome."""
    seen = await find(runtime, token)
    assert seen.document is not None and seen.recipient is not None
    document_id, recipient_id = seen.document.id, seen.recipient.id
    now = runtime.clock.now()

    async def read(tx: Transaction) -> Document:
        return await documents.get(tx, document_id)

    def outcome(document: Document) -> Outcome:
        return decide(document, document.recipient(recipient_id), now)

    document = await transition(runtime, read, outcome)
    return await shown(runtime, document, recipient_id)


async def complete(
    runtime: Runtime, token: str, answers: Mapping[str, Any], consent: str, origin: Origin
) -> Visit:
    """Finish: every answer is checked, all problems are told at once, and nothing is stored unless all fit.

    `answers` maps field ids to JSON values; `consent` is the hash of the words that were shown.
    """
    seen = await find(runtime, token)
    document, person, organisation = seen.document, seen.recipient, seen.organisation
    assert document is not None and person is not None and organisation is not None
    now = runtime.clock.now()
    lifecycle.require_open(document, now)
    lifecycle.require_turn(document, person)
    check_consent(consent, person.locale or document.locale or organisation.locale)
    given, pictures = await inks.exchange(runtime, person, answers)
    today = to_datetime(now).astimezone(ZoneInfo(organisation.time_zone)).date()
    fields, ink = fill(person, given, today, now)
    await printing.check_answers(runtime, document, replace(person, fields=fields, ink=ink))
    agreed = f"{wording.VERSION} {consent}"
    document_id, recipient_id = document.id, person.id

    async def read(tx: Transaction) -> Document:
        for sha256, content in pictures.items():
            await blobs.add(tx, content, now, sha256)
        await blobs.attach(tx, document_id, *pictures)
        return await documents.get(tx, document_id)

    def outcome(current: Document) -> Outcome:
        signer = replace(current.recipient(recipient_id), ink=ink)
        return lifecycle.complete(current, signer, fields, agreed, origin, now)

    finished = await transition(runtime, read, outcome)
    return await shown(runtime, finished, recipient_id)


def check_consent(consent: str, locale: str) -> None:
    """Refuse unless it is the hash of the words that are shown today."""
    if consent != wording.sha256(locale):
        raise Problem(
            "invalid_request",
            "Please read the sentence you agree to once more.",
            details=[Detail("/consent", "The words have changed; load the page again.", "reference")],
        )


async def page_image(runtime: Runtime, token: str, number: int) -> bytes | None:
    """The picture of a page as it will be sealed (WebP); None where the link shows no pages."""
    seen = await visit(runtime, token)
    if seen.document is None or not shows_pages(seen) or not 1 <= number <= seen.document.page_count:
        return None
    return await blobs.get(runtime.db, seen.document.file.images[number - 1])


async def original(runtime: Runtime, token: str) -> tuple[str, bytes]:
    """The file to read before signing: the pages as they will be sealed."""
    seen = await find(runtime, token)
    assert seen.document is not None
    if not shows_pages(seen):
        raise Problem("not_found")
    return seen.document.file.name, await blobs.get(runtime.db, seen.document.file.prepared)


def shows_pages(seen: Visit) -> bool:
    """A closed document shows no pages, nor does one whose turn has not come."""
    assert seen.recipient is not None
    finished = seen.recipient.status is RecipientStatus.COMPLETED
    return seen.state in ("open", "sealing", "completed") or (seen.state == "waiting" and finished)


async def sealed(runtime: Runtime, token: str, origin: Origin) -> tuple[str, bytes]:
    """The sealed file; `document_not_completed` before there is one."""
    seen = await find(runtime, token)
    document, person = seen.document, seen.recipient
    assert document is not None and person is not None
    if document.status is not Status.COMPLETED or document.seal is None:
        raise Problem("document_not_completed", current_status=document.status)
    content = await blobs.get(runtime.db, document.seal.sha256)
    now = runtime.clock.now()
    fact = Event(
        "document.downloaded", now, lifecycle.actor_of(person), person.id, origin, data={"variant": "sealed"}
    )

    async def write(tx: Transaction) -> None:
        await outcomes.record(tx, document.id, (fact,))

    await runtime.db.write(write)
    return name_of(document, "sealed"), content
