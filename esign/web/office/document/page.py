"""The page of one document, and the short text by which an open page notices a change."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from esign.actions.document import documents as acting
from esign.actions.mail import sent_mail, test_mode_mail
from esign.actions.mail.sent_mail import SentMail
from esign.actions.signing import unblock_recipient
from esign.core.actor import Mode
from esign.core.document import retention
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document, Status
from esign.core.document.state import renew_link
from esign.core.errors import Problem
from esign.core.language import LANGUAGES
from esign.core.people.permission import Permission, has_permission
from esign.runtime import Runtime
from esign.store.document import documents
from esign.store.queue import audit_entries, outbox
from esign.store.queue.kept_mail import KeptMailFilter
from esign.web.office.document import awaiting, possible_actions
from esign.web.office.document.document_row import choose_badge, name_sender
from esign.web.office.document.forms import find_document, get_times
from esign.web.office.document.own_turn import find_own_recipient
from esign.web.office.document.recipient_list import group_recipients
from esign.web.office.document.timeline import group_by_day
from esign.web.office.draft.draft_summary import describe_reminders
from esign.web.office.draft.explain_upload import describe_changes
from esign.web.office.frame.mail_frame import allow_frames
from esign.web.office.frame.office_call import OfficeCall, answer_json
from esign.web.office.frame.words import OfficeWords
from esign.web.signing.page import measure_picture

ENTRIES = 60  # of the audit trail; the rest stands on the page of the trail
THUMBS = 12
MESSAGES = 5
STEPS: Mapping[str, str] = {  # what a recipient of test mode can be made to do, each with its icon
    "view": "eye",
    "complete": "signature",
    "decline": "stop",
    "bounce": "mail",
    "remind": "bell",
    "expire": "clock",
}


@dataclass(frozen=True, slots=True)
class PagePicture:
    """The picture of a page with its width and height.

    `filled` is the number of recipients whose values the picture shows, or 0 if none has values on that page.
    """

    number: int
    width: int
    height: int
    filled: int


async def show_document(call: OfficeCall) -> Response:
    document = await find_document(call)
    trail = await find_newest_entries(call, document.id)
    return allow_frames(call.page("document", **await build_context(call, document, trail)))


async def find_newest_entries(call: OfficeCall, document_id: str) -> list[AuditEntry]:
    """Return the last 60 entries of the audit trail, oldest first."""
    length, _ = await audit_entries.get_head(call.runtime.db, document_id)
    return await audit_entries.find_entries(call.runtime.db, document_id, max(0, length - ENTRIES))


async def build_context(call: OfficeCall, document: Document, trail: list[AuditEntry]) -> dict[str, object]:
    """Return the context of the page."""
    now, times, organisation = call.runtime.clock.now(), get_times(call), call.signed_in.organisation
    refused = {
        act: possible_actions.find_refusal(act, document, organisation, now) for act in possible_actions.ACTS
    }
    works = has_permission(call.signed_in.member.role, Permission.WORK)
    return {
        **describe_document(call, document),
        "next": awaiting.find_next_step(await load_situation(call, document, trail)),
        "groups": group_recipients(
            document, times, now, await find_blocked(call, document), mails=call.outage is None
        ),
        "acted": describe_finished(document, call.words),
        "days": group_by_day(trail, document, times),
        "earlier": bool(trail) and trail[0].seq > 1,
        "can": {act for act, problem in refused.items() if problem is None and works},
        "works": works,
        "why_kept": explain_retention(refused["delete"], call, document),
        "goes_at": retention.find_removal_time(
            document, organisation, call.runtime.config.test.purge_after_days
        ),
        "sheets": list_pictures(document, THUMBS),
        "changes": describe_changes(document.file, call.words, untouched=is_untouched(document)),
        "reminders": describe_reminders(document.reminders, call.words),
        "mark": make_change_mark(document.revision, trail[-1].seq if trail else 0),
        "steps": STEPS,
        "keys": [field.key for one in document.recipients for field in one.fields if field.key],
        "messages": await find_messages(call, document) if works else (),
        "unsent": await find_unsent(call, document) if works else (),
    }


async def find_blocked(call: OfficeCall, document: Document) -> frozenset[str]:
    """Return the ids of the recipients whose code was tried, or sent, too often."""
    now = call.runtime.clock.now()
    return await unblock_recipient.find_blocked(call.runtime.db, document.recipients, now)


def describe_document(call: OfficeCall, document: Document) -> dict[str, object]:
    """Return the context that all pages about a document share."""
    tone, status = choose_badge(document, call.words)
    return {
        "document": document,
        "status": status,
        "tone": tone,
        "sender": name_sender(document.created_by, call.words),
        "fields": sum(len(one.fields) for one in document.recipients),
        "language": LANGUAGES[document.locale].name if document.locale else None,
    }


async def load_situation(
    call: OfficeCall, document: Document, trail: list[AuditEntry]
) -> awaiting.DocumentSituation:
    """Load what the sentence about the next step is made of."""
    runtime = call.runtime
    names = {recipient.id: recipient.name for recipient in document.recipients}
    asked = {line.recipient_id for line in trail if line.type == renew_link.ASKED}
    return awaiting.DocumentSituation(
        document,
        get_times(call),
        runtime.clock.now(),
        await outbox.find_seal_time(runtime.db, document.id) if document.status is Status.SEALING else None,
        await find_missing(runtime, document, call.words) if document.status is Status.DRAFT else (),
        [name for id, name in names.items() if id in asked],
        call.outage,
        find_own_recipient(document, call.signed_in.user.email),
    )


async def find_missing(runtime: Runtime, draft: Document, words: OfficeWords) -> list[str]:
    """Return what keeps the draft from being sent, as sentences."""
    details = await acting.list_obstacles(runtime, draft)
    return awaiting.list_missing(draft, [words.say(detail.message) for detail in details], words)


def explain_retention(problem: Problem | None, call: OfficeCall, document: Document) -> str | None:
    """Return why the document cannot be deleted, if a retention period is the reason, else None."""
    if problem is None or problem.code != "retention_locked":
        return None
    organisation = call.signed_in.organisation
    return call.words.say(possible_actions.explain_refusal(problem, get_times(call), document, organisation))


def describe_finished(document: Document, t: OfficeWords) -> str:
    """Return how many recipients have finished, in words; "" for a draft."""
    acting = [r for r in document.recipients if r.acting]
    done = sum(r.completed_at is not None for r in acting)
    if document.status is Status.DRAFT or not acting:
        return ""
    if done == len(acting):
        return t("document.finished_all")
    return t.count("document.finished", done, total=len(acting))


def list_pictures(document: Document, most: int | None = None) -> list[PagePicture]:
    """Return the pictures of the first `most` pages, or of all pages."""
    people = document.list_finished()
    written = {field.page for who in people for field in who.fields if field.value is not None}
    return [
        PagePicture(number, *measure_picture(page), len(people) if number in written else 0)
        for number, page in enumerate(document.file.pages[:most], 1)
    ]


async def find_unsent(call: OfficeCall, document: Document) -> tuple[SentMail, ...]:
    """Return the newest mails about a live document that no mail server could take, since there is none."""
    if document.mode is Mode.TEST or call.runtime.config.mail.host is not None:
        return ()
    return tuple(await sent_mail.find_of_document(call.runtime, document.id, MESSAGES))


async def find_messages(call: OfficeCall, document: Document) -> tuple[test_mode_mail.CapturedMail, ...]:
    """Return the newest mails about a document of test mode; none for a live document."""
    if document.mode is not Mode.TEST:
        return ()
    wanted = KeptMailFilter(call.owner.organisation_id, document.id)
    found, _ = await test_mode_mail.find_kept(call.runtime, wanted, MESSAGES)
    return tuple(found)


# ---------- what an open page asks ----------


async def send_change_mark(call: OfficeCall) -> Response:
    """Send a text that changes as soon as anything happens to the document."""
    owner = call.owner
    revision, entries = await documents.get_change_mark(call.runtime.db, owner, call.path["id"])
    return answer_json({"mark": make_change_mark(revision, entries)})


def is_untouched(document: Document) -> bool:
    """Return whether a document is a draft on which nobody has placed a field."""
    return document.status is Status.DRAFT and not any(one.fields for one in document.recipients)


def make_change_mark(revision: int, entries: int) -> str:
    """Return the text: the document's revision and the length of its audit trail."""
    return f"{revision}.{entries}"
