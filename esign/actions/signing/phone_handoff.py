"""Lets a recipient draw on a phone for the signing page on a desktop.

The desktop shows a code, the phone draws, and the desktop decides whether to use the drawing.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from esign.actions.base.contact import find_contact
from esign.actions.signing import signature_images, signing
from esign.actions.signing.visits import OpenVisit, Visit, Visitor
from esign.core.document import handoff as rules
from esign.core.document.document import Document, Recipient
from esign.core.document.handoff import Handoff, Progress
from esign.core.document.state import Act, is_allowed, lifecycle, require
from esign.core.errors import Detail, Problem, UnknownLink
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.runtime import Runtime
from esign.store.document import documents, phone_handoffs
from esign.store.engine.database import Reader, Transaction
from esign.store.people import organisations
from esign.system.entropy import make_id, make_token


@dataclass(frozen=True, slots=True)
class OfferedHandoff:
    """What the desktop shows. `address` is the link for the phone. It is stored nowhere."""

    id: str
    address: str
    expires_at: Instant


@dataclass(frozen=True, slots=True)
class OpenPhone:
    """A link for the phone that waits for a drawing of this kind. `contact` is the address for questions, or None."""

    state: ClassVar[str] = "open"
    document: Document
    recipient: Recipient
    organisation: Organisation
    contact: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class ClosedPhone:
    """A link for the phone that gives nothing of the document, because of its state."""

    state: Literal["sent", "expired", "unknown"]


Phone = OpenPhone | ClosedPhone


# ---------- at the desk ----------


async def offer(runtime: Runtime, visitor: Visitor, kind: object) -> OfferedHandoff:
    """Issue a new link for a phone, which replaces the earlier one. Raises `recipient_not_active` unless the
    page is open.

    Raises `invalid_request` for an unknown kind of drawing.
    """
    if kind not in rules.KINDS:
        raise Problem("invalid_request", details=[Detail("/kind", "signature or initials.", "enum")])
    person = require_signer(await signing.find_proven(runtime, visitor))
    now, token = runtime.clock.now(), make_token()

    async def write(tx: Transaction) -> Handoff:
        document = await signing.get_linked_document(tx, visitor.token, now)
        require(document, Act.FILL_IN, now)
        lifecycle.require_turn(document, document.recipient(person.id))
        made = Handoff(person.id, document.id, make_id("hnd", now), str(kind), now + rules.LIVES)
        await phone_handoffs.begin(tx, token, made)
        return made

    made = await runtime.db.write(write)
    return OfferedHandoff(made.id, f"{runtime.config.server.base_url}/h/{token}", made.expires_at)


async def find_progress(runtime: Runtime, visitor: Visitor, id: str) -> tuple[Progress, bytes | None]:
    """Return the progress, and the picture once it has come. It is only a proposal: nothing is signed yet."""
    person = require_signer(await signing.find_proven(runtime, visitor))
    found = await phone_handoffs.get(runtime.db, person.id)
    if found is None or found.id != id:
        return Progress.EXPIRED, None
    progress = found.progress(runtime.clock.now())
    if progress is not Progress.RECEIVED:
        return progress, None
    return progress, await phone_handoffs.get_picture(runtime.db, found, runtime.vault)


def require_signer(seen: Visit) -> Recipient:
    """Return the recipient if it is their turn to act. Raises `recipient_not_active`."""
    if not isinstance(seen, OpenVisit) or not seen.recipient.acting:
        raise Problem("recipient_not_active")
    return seen.recipient


# ---------- on the phone ----------


async def find_phone(runtime: Runtime, token: str) -> Phone:
    """Return what the link shows. Nothing changes, so that a link scanner does not use up the link."""
    found = await phone_handoffs.find(runtime.db, token)
    if found is None:
        return ClosedPhone("unknown")
    progress = found.progress(runtime.clock.now())
    if progress is Progress.EXPIRED:
        return ClosedPhone("expired")
    if progress is Progress.RECEIVED:
        return ClosedPhone("sent")
    document = await documents.get(runtime.db, found.document_id)
    person = document.recipient(found.recipient_id)
    if not is_allowed(document, Act.FILL_IN) or not person.is_active:
        return ClosedPhone("expired")
    organisation = await organisations.get(runtime.db, document.organisation_id)
    contact = await find_contact(runtime.db, document, organisation)
    return OpenPhone(document, person, organisation, contact.address if contact else None, found.kind)


async def arrive(runtime: Runtime, token: str) -> Phone:
    """Record that the page is open on the phone, so that the desktop can say so. A script of the page calls this."""

    async def write(tx: Transaction) -> None:
        now = runtime.clock.now()
        await phone_handoffs.open(tx, (await require_drawable(tx, token, now)).id, now)

    await runtime.db.write(write)
    return await find_phone(runtime, token)


async def receive(runtime: Runtime, token: str, picture: object) -> Phone:
    """Store the drawing once, for as long again as the link was valid. Raises `recipient_not_active`."""
    found = await require_drawable(runtime.db, token, runtime.clock.now())
    document = await documents.get(runtime.db, found.document_id)
    turn = QueueTurn(PdfJobKind.ACT, document.organisation_id, found.recipient_id)
    png = await signature_images.redraw_picture(runtime, picture, "/picture", turn)

    async def write(tx: Transaction) -> None:
        now = runtime.clock.now()
        found = await require_drawable(tx, token, now)
        await phone_handoffs.receive(tx, found, png, now + rules.LIVES, runtime.vault)

    await runtime.db.write(write)
    return await find_phone(runtime, token)


async def require_drawable(reader: Reader, token: str, now: Instant) -> Handoff:
    """Return the handoff that waits for a drawing. Raises `recipient_not_active` if it does not wait any more."""
    found = await phone_handoffs.find(reader, token)
    if found is None:
        raise UnknownLink()
    if found.progress(now) in (Progress.EXPIRED, Progress.RECEIVED):
        raise Problem("recipient_not_active")
    document = await documents.get(reader, found.document_id)
    require(document, Act.FILL_IN, now)
    lifecycle.require_turn(document, document.recipient(found.recipient_id))
    return found
