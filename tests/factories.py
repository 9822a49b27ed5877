"""Builders of what the rules speak about: valid as they are, every member open to change by keyword."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from esign.core.actor import Actor, Author, Mode, Origin
from esign.core.document import audit
from esign.core.document.audit import AuditEntry
from esign.core.document.document import (
    Document,
    Field,
    FieldType,
    File,
    Ink,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Seal,
    Status,
)
from esign.core.document.field_types import FIELD_TYPES, INK
from esign.core.document.state import lifecycle
from esign.core.document.template import Template, TemplateRole
from esign.core.instant import DAY, Instant, parse
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey, Scope
from esign.core.webhook.webhook import Webhook
from esign.store.document import blobs, outcomes
from esign.store.engine.database import Database, Transaction
from esign.store.people import organisations
from esign.system.entropy import make_id
from esign.system.vault import Vault

NOW: Instant = parse("2026-11-21T00:00:00Z")
ORGANISATION = "org_01kzt0v8q3e5m7p9r1s3t5v7w9"
SENDER = Actor("api_key", "key_1", "ci")
ORIGIN = Origin("203.0.113.7", "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0")
AUTHOR = Author(SENDER, ORIGIN)
A4 = PageGeometry(595.0, 842.0, 0)
TYPED = Ink("typed", text="Jo Li", hand="a")
UPLOADED, PREPARED = b"the file as uploaded", b"the file as normalised"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def an_organisation(**changes: Any) -> Organisation:
    return replace(Organisation(ORGANISATION, "Northlight", "en", "UTC", NOW), **changes)


def a_file(pages: int = 1, **changes: Any) -> File:
    """A file of A4 pages whose content `store` keeps."""
    made = File("offer.pdf", sha256(UPLOADED), sha256(PREPARED), (A4,) * pages)
    return replace(made, **changes)


def a_field(type: FieldType = FieldType.TEXT, **changes: Any) -> Field:
    """A field of the default size on page 1; required unless it is a check box."""
    made = Field(
        id=make_id("fld", NOW),
        type=type,
        page=1,
        x=10.0,
        y=20.0,
        width=FIELD_TYPES[type].width,
        height=FIELD_TYPES[type].height,
        required=type is not FieldType.CHECKBOX,
        options={"options": ["red", "green"]} if type in (FieldType.RADIO, FieldType.DROPDOWN) else {},
    )
    return replace(made, **changes)


def a_recipient(name: str = "Jo Li", **changes: Any) -> Recipient:
    """A signer who has not been invited; with a later `status` the times that belong to it are set."""
    made = Recipient(make_id("rcp", NOW), f"{name.split()[0].lower()}@example.com", name)
    status = changes.get("status", made.status)
    if status is not RecipientStatus.CREATED:
        made = replace(made, sent_at=NOW)
    if status is RecipientStatus.VIEWED:
        made = replace(made, viewed_at=NOW)
    if status is RecipientStatus.COMPLETED:
        made = replace(made, viewed_at=NOW, completed_at=NOW, consent="agreed")
    if status is RecipientStatus.DECLINED:
        made = replace(made, declined_at=NOW)
    return replace(made, **changes)


def a_document(*recipients: Recipient, **changes: Any) -> Document:
    """A draft, or with a later `status` one sent at NOW for 30 days; without recipients it has one signer."""
    status = changes.get("status", Status.DRAFT)
    sent = status is not Status.DRAFT
    if not recipients:
        recipients = (a_recipient(status=RecipientStatus.SENT if sent else RecipientStatus.CREATED),)
    made = Document(
        id=make_id("doc", NOW),
        organisation_id=ORGANISATION,
        mode=Mode.LIVE,
        title="Offer",
        file=a_file(),
        created_by=SENDER,
        created_at=NOW,
        updated_at=NOW,
        recipients=recipients,
    )
    if sent:
        made = replace(made, sent_at=NOW, expires_at=NOW + 30 * DAY)
    if status is Status.COMPLETED:
        made = replace(made, completed_at=NOW, seal=a_seal())
    if status in (Status.DECLINED, Status.EXPIRED, Status.CANCELLED):
        made = replace(made, closed_at=NOW)
    return replace(made, **changes)


def a_sent_document(*recipients: Recipient, now: Instant = NOW, **changes: Any) -> Document:
    """A draft sent at `now` by the rules themselves: its first group is invited."""
    return lifecycle.send(a_document(*recipients, **changes), AUTHOR, now).document


def a_role(key: str = "customer", **changes: Any) -> TemplateRole:
    """A signer's role without fields."""
    return replace(TemplateRole(make_id("rol", NOW), key, key.capitalize()), **changes)


def a_template(*roles: TemplateRole, **changes: Any) -> Template:
    """One page for these roles, by default for a customer."""
    made = Template(
        id=make_id("tpl", NOW),
        organisation_id=ORGANISATION,
        mode=Mode.LIVE,
        title="Lease",
        file=a_file(),
        created_at=NOW,
        updated_at=NOW,
        roles=roles or (a_role(),),
    )
    return replace(made, **changes)


def a_seal(**changes: Any) -> Seal:
    made = Seal("B-B", NOW, "5e" * 32, 60_000, 2, "ce" * 32, False, "cf" * 32)
    return replace(made, **changes)


def a_webhook(**changes: Any) -> Webhook:
    """A subscription to everything; its secret is no real ciphertext."""
    made = Webhook(
        id=make_id("wh", NOW),
        organisation_id=ORGANISATION,
        mode=Mode.LIVE,
        url="https://hooks.example.com/esign",
        events=("*",),
        enabled=True,
        secret=b"ciphertext",
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(made, **changes)


def an_api_key(**changes: Any) -> ApiKey:
    made = ApiKey(
        id=make_id("key", NOW),
        organisation_id=ORGANISATION,
        mode=Mode.LIVE,
        name="ci",
        hint="esk_live_ab12…wxyz",
        scopes=frozenset({Scope.ALL}),
        created_at=NOW,
    )
    return replace(made, **changes)


def an_answer(field: Field) -> Any:
    """Something that fits a field of this type with its default options."""
    if field.type in INK:
        return TYPED
    return {
        FieldType.DATE: "2026-11-21",
        FieldType.NAME: "Jo Li",
        FieldType.EMAIL: "jo@example.com",
        FieldType.TEXT: "Ring twice",
        FieldType.NUMBER: "12.50",
        FieldType.CHECKBOX: True,
        FieldType.RADIO: "red",
        FieldType.DROPDOWN: "green",
    }[field.type]


async def store(db: Database, vault: Vault, document: Document, *files: bytes) -> Document:
    """The draft as `create` stores it, with its file content and `files`; the organisation must be there."""

    async def write(tx: Transaction) -> Document:
        for content in (UPLOADED, PREPARED, *files):
            await blobs.add(tx, content, document.created_at)
        outcome = lifecycle.create(document, ORIGIN, document.created_at)
        return await outcomes.add(tx, outcome, vault, document.created_at)

    return await db.write(write)


async def store_organisation(db: Database, organisation: Organisation) -> Organisation:
    async def write(tx: Transaction) -> None:
        await organisations.add(tx, organisation)

    await db.write(write)
    return organisation


def is_intact(trail: Iterable[AuditEntry]) -> bool:
    """Return whether every entry carries its own hash and the hash of the entry before it."""
    previous = audit.START
    for seq, line in enumerate(trail, 1):
        if audit.find_fault(line, seq, previous):
            return False
        previous = line.hash
    return True
