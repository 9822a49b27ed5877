"""The answer of the list of documents, written as JSON without a model for each document.

A page of 100 documents takes 0.6 ms this way, and less where they are as before; models take 17 ms. Tests compare it
with the answer about one document, and with its description.
"""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from esign.core.document.document import Seal
from esign.core.document.summary import DocumentSummary, RecipientSummary
from esign.core.instant import Instant, rfc3339
from esign.core.people.account import Reminders
from esign.web.api.document_replies import DELIVERIES, MAILS, DocumentPage
from esign.web.api.paging import FoundPage
from esign.web.values.schema import WrittenReply

# Recipients of a page whose documents are written ahead, and of those that are written at once, in 0.5 ms.
MANY_RECIPIENTS, PIECE = 600, 100


async def write_ahead(documents: Sequence[DocumentSummary]) -> None:
    """Write the documents of a page with many recipients a few at a time, so that other requests come in between.

    `present_page` finds them written.
    """
    if sum(len(document.recipients) for document in documents) <= MANY_RECIPIENTS:
        return
    waiting = 0
    for document in documents:
        write_summary(document)
        waiting += len(document.recipients)
        if waiting >= PIECE:
            await asyncio.sleep(0)
            waiting = 0


def present_page(found: FoundPage[DocumentSummary]) -> WrittenReply[DocumentPage]:
    page = {
        "data": list(map(write_summary, found.items)),
        "hasMore": found.cursor is not None,
        "nextCursor": found.cursor,
    }
    return WrittenReply(orjson.dumps(page))


@lru_cache(500)  # lists are asked for again and again; equal documents are written alike
def write_summary(document: DocumentSummary) -> orjson.Fragment:
    """Return the JSON of a document in a list."""
    return orjson.Fragment(orjson.dumps(present_summary(document)))


def present_summary(document: DocumentSummary) -> dict[str, Any]:
    """Return a document in a list, in the order of the members of `document_replies.DocumentSummary`."""
    file, creator, seal = document.file, document.created_by, document.seal
    return {
        "id": document.id,
        "title": document.title,
        "status": document.status,
        "pageCount": file.page_count,
        "createdAt": rfc3339(document.created_at),
        "recipients": list(map(present_recipient, document.recipients)),
        "mode": document.mode,
        "revision": document.revision,
        "fileName": file.name,
        "fileSha256": file.uploaded,
        "file": {"repaired": file.repaired, "removed": file.removed},
        "subject": document.subject,
        "message": document.message,
        "locale": document.locale,
        "expiresInDays": document.expires_in_days,
        "expiresAt": present_moment(document.expires_at),
        "reminders": present_reminders(document.reminders),
        "redirectUrl": document.redirect_url,
        "externalId": document.external_id,
        "metadata": document.metadata,
        "templateId": document.template_id,
        "createdBy": {"kind": creator.kind, "id": creator.id, "name": creator.name},
        "updatedAt": rfc3339(document.updated_at),
        "sentAt": present_moment(document.sent_at),
        "completedAt": present_moment(document.completed_at),
        "closedAt": present_moment(document.closed_at),
        "closeReason": document.close_reason,
        "sealError": document.seal_error,
        "seal": None if seal is None else present_seal(seal),
    }


def present_recipient(recipient: RecipientSummary) -> dict[str, Any]:
    """Return a recipient in a list, in the order of the members of `document_replies.RecipientSummary`."""
    delivery = recipient.delivery
    return {
        "id": recipient.id,
        "email": recipient.email,
        "name": recipient.name,
        "role": recipient.role,
        "status": recipient.status,
        "order": recipient.order,
        "authentication": recipient.authentication,
        "locale": recipient.locale,
        "sentAt": present_moment(recipient.sent_at),
        "viewedAt": present_moment(recipient.viewed_at),
        "completedAt": present_moment(recipient.completed_at),
        "declinedAt": present_moment(recipient.declined_at),
        "declineReason": recipient.decline_reason,
        "remindersSent": recipient.reminders_sent,
        "lastRemindedAt": present_moment(recipient.last_reminded_at),
        "delivery": {
            "status": DELIVERIES.get(delivery, delivery),
            "at": present_moment(recipient.delivery_at),
            "error": recipient.delivery_error,
        },
        "mail": MAILS[delivery],
        "proof": present_proof(recipient),
    }


def present_proof(recipient: RecipientSummary) -> dict[str, Any] | None:
    """Return how the recipient has proved who they are, or None before they have opened a link."""
    if recipient.viewed_at is None and recipient.completed_at is None and recipient.declined_at is None:
        return None
    return {"method": recipient.authentication, "link": recipient.link, "code": recipient.code}


def present_reminders(plan: Reminders) -> dict[str, Any]:
    return {
        "enabled": plan.enabled,
        "firstAfterDays": plan.first_after_days,
        "everyDays": plan.every_days,
        "max": plan.max,
    }


def present_seal(seal: Seal) -> dict[str, Any]:
    stamp = {"time": present_moment(seal.stamped_at), "authority": seal.authority}
    return {
        "level": seal.level,
        "levelAsked": seal.asked,
        "sealedAt": rfc3339(seal.sealed_at),
        "sha256": seal.sha256,
        "size": seal.size,
        "pageCount": seal.page_count,
        "timestamped": seal.timestamped,
        "timestamp": stamp if seal.timestamped else None,
        "certificateSha256": seal.certificate_sha256,
    }


def present_moment(at: Instant | None) -> str | None:
    """Return an instant as an answer has it, or None."""
    return None if at is None else rfc3339(at)
