"""What a recipient does with a signing link: look, view, fill in and complete, or decline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import assert_never
from zoneinfo import ZoneInfo

from esign.actions.base import printable_text
from esign.actions.base.contact import find_contact
from esign.actions.base.transition import perform_transition
from esign.actions.document import documents as acting
from esign.actions.mail import mail_breaker
from esign.actions.signing import signature_images
from esign.actions.signing.visits import (
    CancelledVisit,
    CodeVisit,
    CompletedVisit,
    DeclinedVisit,
    ExpiredVisit,
    KnownVisit,
    OpenVisit,
    ProvenVisit,
    RenewalVisit,
    SealingVisit,
    UnknownVisit,
    Visit,
    Visitor,
    WaitingVisit,
)
from esign.core.actor import Origin
from esign.core.document import challenge
from esign.core.document import consent as wording
from esign.core.document import signing_link as own_link
from esign.core.document.challenge import Method
from esign.core.document.document import Document, Field, Ink, Recipient, RecipientStatus, Role, Status
from esign.core.document.field_values import fill_fields
from esign.core.document.filename import name_file
from esign.core.document.signing_link import LinkRoute
from esign.core.document.state import Act, is_past_expiry, lifecycle, renew_link, require
from esign.core.document.state.outcome import Event, Outcome
from esign.core.errors import Detail, Problem, UnknownLink
from esign.core.instant import Instant, to_datetime
from esign.core.language import LANGUAGES
from esign.core.people.account import Organisation
from esign.core.people.usage import Usage
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.document import blobs, challenges, documents, outcomes, signing_links
from esign.store.document.blobs import StoredContent
from esign.store.document.signing_links import SigningLink
from esign.store.engine.database import Transaction
from esign.store.people import organisations, usage
from esign.store.queue import audit_entries

Transition = Callable[[Document, Recipient, Instant], Outcome]


async def visit(runtime: Runtime, visitor: Visitor) -> Visit:
    """Return what the link shows. Nothing changes, except that a document whose time is over expires."""
    link = await signing_links.find(runtime.db.points, visitor.token, runtime.clock.now())
    if link is None:
        return UnknownVisit()
    document = await acting.expire_if_due(runtime, await documents.get(runtime.db.points, link.document_id))
    return await show_link(runtime, document, link.recipient_id, visitor)


async def show_link(runtime: Runtime, document: Document, recipient_id: str, visitor: Visitor) -> Visit:
    """Return what a link of the recipient shows."""
    now = runtime.clock.now()
    if own_link.has_ended(document, runtime.config.limits.link_days, now):
        return UnknownVisit()
    recipient = document.recipient(recipient_id)
    organisation = await organisations.get(runtime.db.points, document.organisation_id)
    mails = await mail_breaker.find_outage(runtime, document.mode, organisation.id) is None
    contact = await find_contact(runtime.db.points, document, organisation)
    link = (document, recipient, organisation, mails, contact.address if contact else None)
    method = recipient.authentication
    if method != Method.LINK and not await challenges.is_proven(
        runtime.db, visitor.session, recipient_id, now
    ):  # in every state of the document, also before the recipient's turn and after the end
        return CodeVisit(
            *link, challenge.find_standing(method, await challenges.get(runtime.db, recipient_id), now)
        )
    match document.status:
        case Status.DRAFT | Status.SENT:
            if not recipient.is_active:
                return WaitingVisit(*link)
            # Out past its expiry where it may not expire yet: after a restore, or while the time is not certain.
            return ExpiredVisit(*link, None) if is_past_expiry(document, now) else OpenVisit(*link)
        case Status.SEALING:
            return SealingVisit(*link)
        case Status.COMPLETED:
            return CompletedVisit(*link)
        case Status.DECLINED:
            return DeclinedVisit(*link)
        case Status.EXPIRED:
            asked_at = await audit_entries.find_last_time(
                runtime.db, document.id, renew_link.ASKED, recipient_id
            )
            return (
                RenewalVisit(*link) if renew_link.is_recent(asked_at, now) else ExpiredVisit(*link, asked_at)
            )
        case Status.CANCELLED:
            return CancelledVisit(*link)
        case never:
            assert_never(never)


async def find_visit(runtime: Runtime, visitor: Visitor) -> KnownVisit:
    """Return the visit of a link that exists. Raises UnknownLink."""
    seen = await visit(runtime, visitor)
    if isinstance(seen, UnknownVisit):
        raise UnknownLink()
    return seen


async def find_proven(runtime: Runtime, visitor: Visitor) -> ProvenVisit:
    """Return the visit of a link whose code, if any, was entered. Raises `recipient_not_active` before that."""
    seen = await find_visit(runtime, visitor)
    if isinstance(seen, CodeVisit):
        raise Problem("recipient_not_active", "Enter your code first.")
    return seen


async def get_linked_document(tx: Transaction, token: str, now: Instant) -> Document:
    """Return the document of a link, read in the transaction that changes it. Raises UnknownLink.

    The link may have ended since the visit, because the address of the recipient was corrected.
    """
    document, _ = await find_linked_document(tx, token, now)
    return document


async def find_linked_document(tx: Transaction, token: str, now: Instant) -> tuple[Document, SigningLink]:
    """Return the document of a link and the link itself. Otherwise like `get_linked_document`."""
    link = await signing_links.find(tx.points, token, now)
    if link is None:
        raise UnknownLink()
    return await documents.get(tx.points, link.document_id), link


async def view(runtime: Runtime, visitor: Visitor, origin: Origin) -> Visit:
    """Record that the recipient has looked at the page. A script of the page calls this; a link scanner does not."""
    return await act(
        runtime, visitor, lambda document, person, now: lifecycle.view(document, person, origin, now)
    )


async def decline(runtime: Runtime, visitor: Visitor, reason: str | None, origin: Origin) -> Visit:
    """Decline on behalf of the recipient, which ends the document for all."""
    return await act(
        runtime,
        visitor,
        lambda document, person, now: lifecycle.decline(document, person, reason, origin, now),
    )


async def act(runtime: Runtime, visitor: Visitor, decide: Transition) -> Visit:
    """Perform one transition on behalf of the recipient, and return the visit after it.

    `decide(document, recipient, now)` returns the outcome.
    """
    seen = await find_proven(runtime, visitor)
    recipient_id, now = seen.recipient.id, runtime.clock.now()

    route: list[LinkRoute | None] = []

    async def read(tx: Transaction) -> Document:
        document, link = await find_linked_document(tx, visitor.token, now)
        route.append(link.find_route(document.mode))
        return document

    def outcome(document: Document) -> Outcome:
        return decide(document, replace(document.recipient(recipient_id), link=route[-1]), now)

    document = await perform_transition(runtime, read, outcome, outcomes.save)
    return await show_link(runtime, document, recipient_id, visitor)


async def complete(
    runtime: Runtime, visitor: Visitor, answers: Mapping[str, object], consent: str, origin: Origin
) -> Visit:
    """Complete the recipient's part. All problems are reported at once, and nothing is stored unless every answer fits.

    `answers` maps field ids to JSON values; `consent` is the hash of the words that were shown.
    """
    seen = await find_proven(runtime, visitor)
    document, person = seen.document, seen.recipient
    now = runtime.clock.now()
    require(document, Act.COMPLETE, now)
    lifecycle.require_turn(document, person)
    check_consent(consent, person.role)
    given = await check_answers(runtime, document, person, seen.organisation, answers)
    agreed = f"{wording.VERSION} {consent}"

    route: list[LinkRoute | None] = []

    async def read(tx: Transaction) -> Document:
        current, link = await find_linked_document(tx, visitor.token, now)
        route.append(link.find_route(current.mode))
        await given.store(tx, current, now)
        return current

    def outcome(current: Document) -> Outcome:
        signer = replace(current.recipient(person.id), fields=given.fields, ink=given.ink, link=route[-1])
        return lifecycle.complete(current, signer, agreed, origin, now)

    finished = await perform_transition(runtime, read, outcome, outcomes.save)
    return await show_link(runtime, finished, person.id, visitor)


@dataclass(frozen=True, slots=True)
class CheckedAnswers:
    """The fields and signature of a recipient as they are stored, and their pictures by SHA-256."""

    fields: tuple[Field, ...]
    ink: Ink | None
    pictures: Mapping[str, bytes]

    async def store(self, tx: Transaction, document: Document, now: Instant) -> None:
        """Store the pictures for as long as the document exists."""
        for sha256, content in self.pictures.items():
            await blobs.add(tx, content, now, sha256)
        await blobs.attach(tx, document.id, *self.pictures)
        size = sum(map(len, self.pictures.values()))
        await usage.add(tx, outcomes.make_meter(document, now), Usage(storage_bytes=size))


async def check_answers(
    runtime: Runtime,
    document: Document,
    person: Recipient,
    organisation: Organisation,
    answers: Mapping[str, object],
) -> CheckedAnswers:
    """Check every answer, and report all problems at once. `answers` maps field ids to JSON values."""
    now = runtime.clock.now()
    given, pictures = await signature_images.exchange_signatures(
        runtime, person, answers, QueueTurn(PdfJobKind.ACT, document.organisation_id, person.id)
    )
    fields, ink = fill_fields(person, given, find_today(organisation, now), now)
    await printable_text.check_answers(runtime, document, replace(person, fields=fields, ink=ink))
    return CheckedAnswers(fields, ink, pictures)


def find_today(organisation: Organisation, now: Instant) -> date:
    """Return the present date in the time zone of the organisation."""
    return to_datetime(now).astimezone(ZoneInfo(organisation.time_zone)).date()


def check_consent(consent: str, role: Role) -> None:
    """Raise `invalid_request` unless `consent` is the hash of the present words in some language.

    Readers may switch.
    """
    if consent not in {wording.hash_wording(tag, role) for tag in LANGUAGES}:
        raise Problem(
            "invalid_request",
            "Please read the sentence you agree to once more.",
            details=[Detail("/consent", "The words have changed; load the page again.", "reference")],
        )


async def read_original(runtime: Runtime, visitor: Visitor) -> tuple[str, StoredContent]:
    """Return name and content of the file to read before signing: the pages as they will be sealed.

    Raises `not_found`.
    """
    seen = await find_visit(runtime, visitor)
    if not may_show_pages(seen):
        raise Problem("not_found")
    return seen.document.file.name, await blobs.open_content(runtime.db, seen.document.file.prepared)


def may_show_pages(seen: KnownVisit) -> bool:
    """Return whether the link shows pages. It does not after the document is closed, or before the recipient's turn."""
    match seen:
        case OpenVisit() | SealingVisit() | CompletedVisit():
            return True
        case WaitingVisit():
            return seen.recipient.status is RecipientStatus.COMPLETED
        case CodeVisit() | DeclinedVisit() | ExpiredVisit() | RenewalVisit() | CancelledVisit():
            return False
        case never:
            assert_never(never)


async def read_sealed(runtime: Runtime, visitor: Visitor, origin: Origin) -> tuple[str, StoredContent]:
    """Return name and content of the sealed file, and record the download.

    Raises `document_not_completed` before there is one.
    """
    seen = await find_proven(runtime, visitor)
    document, person = seen.document, seen.recipient
    if document.status is not Status.COMPLETED or document.seal is None:
        raise Problem("document_not_completed", current_status=document.status)
    content = await blobs.open_content(runtime.db, document.seal.sha256)
    now = runtime.clock.now()
    fact = Event(
        "document.downloaded",
        now,
        lifecycle.make_actor(person),
        person.id,
        origin,
        data={"variant": "sealed"},
    )

    async def write(tx: Transaction) -> None:
        await outcomes.record_fact(tx, document.id, fact, runtime.vault)

    await runtime.db.write(write)
    return name_file(document, "sealed"), content
