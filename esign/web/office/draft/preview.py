"""Show a member what a recipient will see: the invitation, and the signing page as a preview of a draft or template.

The pages are those of the signing pages, templates and scripts alike. A preview has no link and no token, and its
addresses answer GET alone, so nothing can be sent from it, and nothing is recorded about it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from starlette.responses import Response

from esign.actions.base.contact import find_contact
from esign.actions.document import documents, page_cache, templates
from esign.actions.mail import mail_preview
from esign.core.document.document import INVITED, Document, Recipient, Status
from esign.core.document.signing_draft import SigningDraft
from esign.core.document.template import Template
from esign.core.errors import NO_RECIPIENT, Problem
from esign.core.instant import DAY
from esign.core.language import LANGUAGES
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.store.document import blobs
from esign.web import downloads
from esign.web.office.draft.saving import find_draft
from esign.web.office.frame.mail_frame import make_letter_response
from esign.web.office.frame.office_call import OfficeCall
from esign.web.signing.page import LinkFacts, build_reading_page, build_signing_page
from esign.web.signing.reading import answer_content, answer_picture, read_size
from esign.web.signing.words import WordLibrary

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class PreviewKind:
    """Whose pages are shown.

    `load` returns a document as its recipients will get it. `back` is the page that the banner leads back to, and
    `back_words` the key of the words for that.
    """

    load: Callable[[OfficeCall], Awaitable[Document]]
    back: str
    back_words: str


async def load_draft(call: OfficeCall) -> Document:
    """Return the draft of the address as if it were sent now. Raise `not_found`, `document_not_draft`."""
    draft = await find_draft(call)
    return replace(draft, expires_at=call.runtime.clock.now() + draft.expires_in_days * DAY)


async def load_template(call: OfficeCall) -> Document:
    """Return the document that would be made of the template now, with the names of its roles. Raise `not_found`."""
    template = await templates.get(call.runtime, call.owner, call.path["id"])
    now = call.runtime.clock.now()
    return Document(
        id=template.id,
        organisation_id=template.organisation_id,
        mode=template.mode,
        title=template.title,
        file=template.file,
        created_by=call.author.actor,
        created_at=now,
        updated_at=now,
        recipients=take_roles(template),
        subject=template.subject,
        message=template.message,
        expires_in_days=template.expires_in_days,
        expires_at=now + template.expires_in_days * DAY,
    )


def take_roles(template: Template) -> tuple[Recipient, ...]:
    """Return a recipient for each role, who has its name and no address."""
    return tuple(
        Recipient(role.id, "", role.name, role.role, role.order, fields=role.fields)
        for role in template.roles
    )


DRAFTS = PreviewKind(load_draft, "/documents/{}/review", "draft.preview.back")
TEMPLATES = PreviewKind(load_template, "/templates/{}", "template.preview_back")


def find_reader(call: OfficeCall, document: Document) -> Recipient:
    """Return the recipient of the address. Raise `not_found` for one who is not invited and sees no page."""
    reader = document.recipient(call.path["rid"])
    if reader.role not in INVITED:
        raise Problem("not_found", NO_RECIPIENT)
    return reader


async def show_preview(call: OfficeCall, kind: PreviewKind) -> Response:
    """Show the signing page that the recipient of the address will see.

    The page is in the recipient's language, as they will get it, and the banner above it in that of the member.
    """
    document = await kind.load(call)
    reader, organisation = find_reader(call, document), call.signed_in.organisation
    named = (reader.locale, document.locale, organisation.locale)
    words = WordLibrary.load().choose(call.request.query_params.get("lang"), *named)
    contact = await find_contact(call.runtime.db.points, document, organisation)
    facts = LinkFacts(
        document,
        reader,
        organisation,
        words if call.outage is None else words.without_mail(),
        call.request.url.path,
        contact.address if contact else None,
    )
    now = call.runtime.clock.now()
    shown = (
        build_signing_page(facts, now, SigningDraft()) if reader.acting else build_reading_page(facts, now)
    )
    context = {
        **shown,
        "state": "open",
        "ancestors": (),
        "page": "signing/sign.html" if reader.acting else "signing/read.html",
        "back": kind.back.format(document.id),
        "back_words": call.words(kind.back_words),
        "office": call.words,
    }
    return call.pages.page("office/preview.html", context)


async def send_picture(call: OfficeCall, kind: PreviewKind) -> Response:
    """Send the picture of a page. Unlike the signing page, no trail records that one cannot be drawn."""
    document = await kind.load(call)
    number, size = parse_page_number(call, document), read_size(call.request)
    turn = QueueTurn(PdfJobKind.PREVIEW, document.organisation_id)
    return answer_picture(await page_cache.read_file_picture(call.runtime, document.file, number, size, turn))


async def send_text(call: OfficeCall, kind: PreviewKind) -> Response:
    """Send the text of a page."""
    document = await kind.load(call)
    turn = QueueTurn(PdfJobKind.PREVIEW, document.organisation_id)
    number = parse_page_number(call, document)
    return answer_content(await page_cache.read_text(call.runtime, document, number, turn), JSON)


async def send_file(call: OfficeCall, kind: PreviewKind) -> Response:
    """Send the file as recipients can download it before they sign."""
    document = await kind.load(call)
    content = await blobs.open_content(call.runtime.db, document.file.prepared)
    return downloads.make_content_response(document.file.name, content)


def parse_page_number(call: OfficeCall, document: Document) -> int:
    """Return the page of the address. Raise `not_found` unless the document has it."""
    text = call.path["number"]
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= document.page_count):
        raise Problem("not_found")
    return int(text)


# ---------- the invitation ----------


@dataclass(frozen=True, slots=True)
class InvitationChoice:
    """One recipient whose invitation can be looked at."""

    recipient: Recipient
    subject: str
    language: str


async def list_invitations(call: OfficeCall, draft: Document) -> list[InvitationChoice]:
    """Return whom a draft invites by mail, each with the subject of their invitation."""
    organisation, subjects = call.signed_in.organisation, dict[tuple[str, str], str]()
    found = list[InvitationChoice]()
    for one in draft.recipients:
        if one.role not in INVITED:
            continue
        locale = one.locale or draft.locale or organisation.locale
        if (kind := (locale, one.role.value)) not in subjects:
            letter = await mail_preview.preview_invitation(call.runtime, draft, one)
            subjects[kind] = letter.subject
        found.append(InvitationChoice(one, subjects[kind], LANGUAGES[locale].name))
    return found


async def send_letter(call: OfficeCall) -> Response:
    """Send the invitation of a recipient for the frame of the review. Its links lead nowhere yet."""
    draft = await find_draft(call)
    letter = await mail_preview.preview_invitation(call.runtime, draft, find_reader(call, draft))
    return await make_letter_response(call.runtime, call.signed_in.organisation, letter.html, openable=False)


# ---------- the routes ----------


async def show_draft(call: OfficeCall) -> Response:
    """Show a recipient's page of a draft; of a document that was sent meanwhile, show the document."""
    document = await documents.get(call.runtime, call.owner, call.path["id"])
    if document.status is not Status.DRAFT:
        return call.redirect_to(f"/documents/{document.id}")
    return await show_preview(call, DRAFTS)


async def send_draft_picture(call: OfficeCall) -> Response:
    return await send_picture(call, DRAFTS)


async def send_draft_text(call: OfficeCall) -> Response:
    return await send_text(call, DRAFTS)


async def send_draft_file(call: OfficeCall) -> Response:
    return await send_file(call, DRAFTS)


async def show_template(call: OfficeCall) -> Response:
    return await show_preview(call, TEMPLATES)


async def send_template_picture(call: OfficeCall) -> Response:
    return await send_picture(call, TEMPLATES)


async def send_template_text(call: OfficeCall) -> Response:
    return await send_text(call, TEMPLATES)


async def send_template_file(call: OfficeCall) -> Response:
    return await send_file(call, TEMPLATES)
