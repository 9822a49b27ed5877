"""Makes a new draft from an existing document."""

from collections.abc import Callable
from dataclasses import replace

from esign.core.actor import Actor
from esign.core.document.document import Document, Field, Recipient
from esign.core.document.field_types import INK
from esign.core.instant import Instant

NewId = Callable[[str, Instant], str]


def duplicate(document: Document, title: str | None, actor: Actor, new_id: NewId, now: Instant) -> Document:
    """Return a draft with the file, recipients, fields and settings of `document`, and nothing filled in.

    `externalId` identifies one object of the caller and is not copied; labels in `metadata` are.
    """
    return Document(
        id=new_id("doc", now),
        organisation_id=document.organisation_id,
        mode=document.mode,
        title=title or document.title,
        file=document.file,
        created_by=actor,
        created_at=now,
        updated_at=now,
        recipients=tuple(copy_recipient(recipient, new_id, now) for recipient in document.recipients),
        subject=document.subject,
        message=document.message,
        locale=document.locale,
        expires_in_days=document.expires_in_days,
        reminders=document.reminders,
        redirect_url=document.redirect_url,
        metadata=document.metadata,
        template_id=document.template_id,
    )


def copy_recipient(recipient: Recipient, new_id: NewId, now: Instant) -> Recipient:
    """Return a recipient with the same person and settings, and nothing done yet."""
    return Recipient(
        id=new_id("rcp", now),
        email=recipient.email,
        name=recipient.name,
        role=recipient.role,
        order=recipient.order,
        authentication=recipient.authentication,
        locale=recipient.locale,
        fields=tuple(copy_field(field, new_id("fld", now)) for field in recipient.fields),
        access_code=recipient.access_code,
    )


def copy_field(field: Field, field_id: str) -> Field:
    """Return the field with what its sender put in, without anything that a recipient entered."""
    theirs = field.type in INK or (field.filled_at is not None and not field.read_only)
    return replace(field, id=field_id, value=None if theirs else field.value, filled_at=None)
