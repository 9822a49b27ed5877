"""Webhooks: what each subscribes to, and the bodies of the events it receives (contract 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esign.core.actor import Mode
from esign.core.document.audit import AuditEntry
from esign.core.document.document import Document, Recipient
from esign.core.document.state.outcome import Event
from esign.core.document.template import Template
from esign.core.instant import Instant, rfc3339
from esign.core.people.admin_audit import RECORDED

API_VERSION = "v1"


# What the description of the API says of each event.
PUBLISHED: Mapping[str, str] = {
    "document.created": "A draft was made: by upload, from a template, or as a copy.",
    "document.sent": "A document went out; the first recipients were invited.",
    "document.completed": "Everybody has acted, and the sealed file can be fetched.",
    "document.declined": "A recipient declined, which ends the document.",
    "document.expired": "The time to sign ran out.",
    "document.cancelled": "The sender cancelled the document.",
    "document.deleted": "A document was deleted; nothing but its ids is left to say.",
    "document.seal_failed": "The seal has failed three times; it is tried again without end.",
    "recipient.sent": "An invitation was queued, also after a correction.",
    "recipient.viewed": "A recipient saw the document for the first time.",
    "recipient.completed": "A recipient signed or approved.",
    "recipient.declined": "A recipient declined.",
    "recipient.reminded": "A reminder was queued, by itself or by hand.",
    "recipient.delivery_failed": "The mail server refused a mail to this recipient for good.",
    "template.created": "A template was made.",
    "template.updated": "A template was changed.",
    "template.deleted": "A template was deleted.",
    RECORDED: "Something was entered in the administrative audit log.",
}

TEST = "webhook.test"

# Every name a webhook may ask for (contract 5).
ALL_EVENTS = (*PUBLISHED, TEST)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A subscription; `events` holds names or `*`.

    `secret` is encrypted at rest, because signing needs it. `failures` and `exhausted` count failed attempts
    and abandoned deliveries since the last success; the first failure was at `failing_since`. After a rotation,
    `previous_secret` signs too, until `previous_until`.
    """

    id: str
    organisation_id: str
    mode: Mode
    url: str
    events: tuple[str, ...]
    enabled: bool
    secret: bytes
    created_at: Instant
    updated_at: Instant
    description: str | None = None
    disabled_at: Instant | None = None
    disabled_reason: str | None = None
    failing_since: Instant | None = None
    last_success_at: Instant | None = None
    failures: int = 0
    exhausted: int = 0
    warned_at: Instant | None = None
    previous_secret: bytes | None = None
    previous_until: Instant | None = None

    def subscribes(self, event_type: str) -> bool:
        """Return whether the webhook gets events of this type; `*` is every event but those of the audit log.

        A `*` asks for documents and templates; administrative acts go only to webhooks that name them. A test
        event is sent to one webhook on request, never to subscribers.
        """
        if event_type == TEST:
            return False
        return event_type in self.events or ("*" in self.events and event_type != RECORDED)

    def wants(self, event_type: str) -> bool:
        """Return whether the webhook is enabled and subscribes to events of this type."""
        return self.enabled and self.subscribes(event_type)

    def rotating(self, now: Instant) -> bool:
        """Return whether two secrets are in use."""
        return self.previous_until is not None and now < self.previous_until

    def list_secrets(self, now: Instant) -> tuple[bytes, ...]:
        """Return the secrets that sign, newest first."""
        if self.previous_secret is None or not self.rotating(now):
            return (self.secret,)
        return (self.secret, self.previous_secret)


def make_payload(event: Event, event_id: str, sequence: int, document: Document) -> dict[str, object]:
    """Return the body of an event, with the document as it is after the event (contract 5)."""
    body: dict[str, object] = {"document": describe_document(document)}
    if event.type == "document.deleted":
        # The member stays, as the form of the event is promised; the text leaves with the document.
        body = {"document": {"id": document.id, "externalId": None}}
    if event.recipient_id is not None:
        body["recipient"] = describe_recipient(document.recipient(event.recipient_id), whole=True)
    return {
        "id": event_id,
        "type": event.type,
        "timestamp": rfc3339(event.at),
        "apiVersion": API_VERSION,
        "mode": document.mode.value,
        "sequence": sequence,
        "data": body,
    }


def make_template_payload(
    event_type: str, at: Instant, event_id: str, template: Template
) -> dict[str, object]:
    """Return the body of an event about a template, which has no `sequence`."""
    shown = {"id": template.id, "title": template.title, "revision": template.revision}
    return {
        "id": event_id,
        "type": event_type,
        "timestamp": rfc3339(at),
        "apiVersion": API_VERSION,
        "mode": template.mode.value,
        "sequence": None,
        "data": {"template": shown},
    }


def make_audit_payload(line: AuditEntry, event_id: str) -> dict[str, object]:
    """Return the body of an event about an entry of the administrative log: type, actor's id and hash.

    It contains no names and no details: webhooks and the list of events are read with lesser scopes than the
    log.
    """
    entry = {
        "seq": line.seq,
        "at": rfc3339(line.at),
        "type": line.type,
        "actor": {"kind": line.actor_kind, "id": line.actor_id},
        "hash": line.hash.hex(),
    }
    return {
        "id": event_id,
        "type": RECORDED,
        "timestamp": rfc3339(line.at),
        "apiVersion": API_VERSION,
        "mode": Mode.LIVE.value,
        "sequence": None,
        "data": {"entry": entry},
    }


def make_test_payload(webhook: Webhook, event_id: str, now: Instant) -> dict[str, Any]:
    """Return the body of a test event, which has no `sequence`."""
    return {
        "id": event_id,
        "type": TEST,
        "timestamp": rfc3339(now),
        "apiVersion": API_VERSION,
        "mode": webhook.mode.value,
        "sequence": None,
        "data": {"webhookId": webhook.id},
    }


def describe_document(document: Document) -> Mapping[str, object]:
    """Return the document as a member of an event's body."""
    return {
        "id": document.id,
        "title": document.title,
        "status": document.status.value,
        "pageCount": document.page_count,
        "createdAt": rfc3339(document.created_at),
        "sentAt": _format_time(document.sent_at),
        "expiresAt": _format_time(document.expires_at),
        "completedAt": _format_time(document.completed_at),
        "closedAt": _format_time(document.closed_at),
        "closeReason": document.close_reason,
        "templateId": document.template_id,
        "externalId": document.external_id,
        "metadata": dict(document.metadata),
        "recipients": [describe_recipient(r) for r in document.recipients],
    }


def describe_recipient(recipient: Recipient, whole: bool = False) -> Mapping[str, object]:
    """Return the recipient as a list entry; `whole` adds the timestamps and the reason for declining."""
    entry: dict[str, object] = {
        "id": recipient.id,
        "email": recipient.email,
        "name": recipient.name,
        "role": recipient.role.value,
        "status": recipient.status.value,
        "order": recipient.order,
    }
    if whole:
        entry |= {
            "sentAt": _format_time(recipient.sent_at),
            "viewedAt": _format_time(recipient.viewed_at),
            "completedAt": _format_time(recipient.completed_at),
            "declinedAt": _format_time(recipient.declined_at),
            "declineReason": recipient.decline_reason,
        }
    return entry


def _format_time(at: Instant | None) -> str | None:
    return None if at is None else rfc3339(at)
