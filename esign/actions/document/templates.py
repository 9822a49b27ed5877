"""Creates, reads, changes and uses templates (contract 3.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from esign.actions.base import audit_log, quota, settings_in_force
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.base.disk_room import require_room
from esign.actions.base.stored_codes import encode_access_code
from esign.actions.document import documents as acting
from esign.actions.document import page_cache, upload
from esign.actions.document.holder_entries import HolderEntry, check_recipients, place_fields
from esign.actions.document.holder_entries import make_roles as make_new_roles
from esign.actions.document.upload import Source, Upload
from esign.core.actor import Actor, Owner
from esign.core.document.document import Document, Field, File
from esign.core.document.placement import find_misplaced
from esign.core.document.recipient_rules import find_code_problems
from esign.core.document.state import lifecycle
from esign.core.document.state.edit import make_title
from esign.core.document.template import Taker, Template, make_recipients, make_roles
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.people.usage import Meter, Usage
from esign.core.sentence import say
from esign.core.webhook import webhook
from esign.runtime import Runtime
from esign.store.document import blobs, documents, outcomes, templates
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart, cut_page
from esign.store.people import usage
from esign.system.entropy import make_id


@dataclass(frozen=True, slots=True)
class TemplateOrder:
    """What the caller wants created from a file; what is left out is as in a `DocumentOrder`."""

    file_name: str
    file: Source
    title: str | None = None
    roles: tuple[HolderEntry, ...] = ()
    subject: str | None = None
    message: str | None = None
    expires_in_days: int | None = None
    reminders: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TemplateChanges:
    """The members to replace, by their names in `core`, where None stands for the default.

    `roles` is the whole new list; `fields` replaces the fields of the roles whose ids it names. `upload` is the
    same file made anew from what was uploaded.
    """

    members: Mapping[str, object] = field(default_factory=dict)
    roles: tuple[HolderEntry, ...] | None = None
    fields: Mapping[str, Sequence[Field]] | None = None
    upload: Upload | None = None


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """What a use changes of the template. None keeps the value; an empty subject or message removes it.

    An access code of a taker is as it was agreed upon.
    """

    takers: tuple[Taker, ...]
    title: str | None = None
    subject: str | None = None
    message: str | None = None
    expires_in_days: int | None = None
    reminders: Mapping[str, Any] = field(default_factory=dict)
    redirect_url: str | None = None
    locale: str | None = None
    external_id: str | None = None
    metadata: Mapping[str, str] | None = None


async def create(runtime: Runtime, caller: Caller, order: TemplateOrder) -> Template:
    """Create a template from a file, which is inspected and normalised as that of a document.

    Raises `limit_reached`, and what `upload.inspect` and `check_placement` raise.
    """
    owner = caller.owner
    roles = make_new_roles(runtime, (), order.roles, runtime.clock.now())
    defaults = await settings_in_force.read(runtime, owner)
    check_limit(runtime, await templates.count(runtime.db, owner))
    uploaded = await upload.inspect(runtime, owner.organisation_id, order.file_name, order.file)
    now = runtime.clock.now()
    template = Template(
        id=make_id("tpl", now),
        organisation_id=owner.organisation_id,
        mode=owner.mode,
        title=order.title or make_title(order.file_name),
        file=uploaded.file,
        created_at=now,
        updated_at=now,
        subject=order.subject or None,
        message=order.message or None,
        expires_in_days=order.expires_in_days or defaults.expires_in_days,
        reminders=replace(defaults.reminders, **order.reminders),
        roles=roles,
    )
    check_placement(template)

    async def write(tx: Transaction) -> Template:
        await uploaded.store(tx, now)
        meter = Meter(owner.organisation_id, owner.mode, now // DAY)
        await usage.add(tx, meter, Usage(storage_bytes=uploaded.size))
        return await add(tx, runtime, caller, template)

    return await runtime.db.write(write)


async def create_from_document(
    runtime: Runtime, caller: Caller, document_id: str, title: str | None
) -> Template:
    """Create a template with the file and settings of a document, and a role for each of its recipients.

    Raises `limit_reached`.
    """
    owner = caller.owner
    await acting.get(runtime, owner, document_id)  # expires the document first if its time is over
    require_room(runtime)
    now = runtime.clock.now()

    async def write(tx: Transaction) -> Template:
        document = await documents.get_own(tx, owner, document_id)
        template = Template(
            id=make_id("tpl", now),
            organisation_id=owner.organisation_id,
            mode=owner.mode,
            title=title or document.title,
            file=document.file,
            created_at=now,
            updated_at=now,
            subject=document.subject,
            message=document.message,
            expires_in_days=document.expires_in_days,
            reminders=document.reminders,
            roles=make_roles(document, lambda prefix: make_id(prefix, now)),
        )
        return await add(tx, runtime, caller, template)

    return await runtime.db.write(write)


async def add(tx: Transaction, runtime: Runtime, caller: Caller, template: Template) -> Template:
    """Add the template and announce it to webhooks. Raises `limit_reached`."""
    check_limit(runtime, await templates.count(tx, Owner(template.organisation_id, template.mode)))
    await templates.add(tx, template)
    await announce_event(tx, "template.created", template, template.created_at)
    await caller.keep(tx, template)
    return template


def check_limit(runtime: Runtime, there: int) -> None:
    """Raise `limit_reached` if the organisation has as many templates as are allowed."""
    limit = runtime.config.limits.templates
    if there >= limit:
        raise Problem(
            "limit_reached",
            say(
                "The organisation has {n} templates; delete one first.",
                one="The organisation has {n} template; delete it first.",
                n=limit,
            ),
        )


def check_placement(template: Template) -> None:
    """Raise `field_out_of_bounds` naming every field that lies outside its page."""
    if problems := find_misplaced([role.fields for role in template.roles], template.file.pages, "/roles"):
        raise Problem("field_out_of_bounds", details=problems[:100])


async def get(runtime: Runtime, owner: Owner, template_id: str) -> Template:
    """Return the template. Raises `not_found`."""
    return await templates.get_own(runtime.db, owner, template_id)


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: PageStart | None, q: str | None
) -> tuple[list[Template], PageStart | None]:
    """Return a page of templates, newest first, and the place where the next page begins, or None."""
    found = await templates.find_page(runtime.db, owner, limit + 1, after, q)
    return cut_page(found, limit)


async def change(runtime: Runtime, caller: Caller, template_id: str, changes: TemplateChanges) -> Template:
    """Change the template, and return it. If nothing changes, nothing is written.

    Raises what `make_roles` and `place_fields` raise, and `revision_mismatch` if the template has another
    revision than the caller has seen.
    """
    now = runtime.clock.now()
    given = await settings_in_force.fill_members(runtime, caller.owner, changes.members)
    replaced: File | None = None

    async def write(tx: Transaction) -> Template:
        nonlocal replaced
        before = await get_at_revision(tx, caller, template_id)
        members = dict(given)
        if members.get("title", "") is None:
            members["title"] = make_title(before.file.name)
        if changes.roles is not None:
            members["roles"] = make_new_roles(runtime, before.roles, changes.roles, now)
        if changes.fields is not None:
            members["roles"] = place_fields(runtime, before.roles, changes.fields, now, "/roles")
        if changes.upload is not None:
            members["file"], replaced = changes.upload.file, before.file
            await changes.upload.store(tx, now)
            await blobs.detach_from_template(tx, before.id)
            await blobs.attach_to_template(tx, before.id, *changes.upload.hashes)
        template = replace(before, **members)
        check_placement(template)
        if template != before:
            template = replace(template, revision=before.revision + 1, updated_at=now)
            await templates.save(tx, template, before)
            await announce_event(tx, "template.updated", template, now)
        await caller.keep(tx, template)
        return template

    saved = await runtime.db.write(write)
    if replaced is not None:
        await page_cache.forget(runtime, template_id, replaced)
    return saved


async def delete(runtime: Runtime, caller: Caller, template_id: str) -> Template:
    """Delete the template, and return it as it was. Documents made from it do not change.

    Raises `revision_mismatch` if it has another revision than the caller has seen.
    """
    now = runtime.clock.now()

    async def write(tx: Transaction) -> Template:
        template = await get_at_revision(tx, caller, template_id)
        await templates.delete(tx, template.id)
        await announce_event(tx, "template.deleted", template, now)
        act = AdminAct("template.deleted", now, {"templateId": template.id, "mode": template.mode.value})
        await audit_log.log_act(tx, runtime.vault, caller, act)
        await caller.keep(tx, template)
        return template

    gone = await runtime.db.write(write)
    await page_cache.forget(runtime, gone.id, gone.file)
    return gone


async def use(runtime: Runtime, caller: Caller, template_id: str, wanted: TemplateUse) -> Document:
    """Create a draft from the template (D1). Its file was inspected when the template was created.

    Raises `invalid_request` for takers that do not fit the roles.
    """
    owner, author = caller.owner, caller.author
    if wrong := [
        detail
        for n, one in enumerate(wanted.takers)
        for detail in find_code_problems(one, f"/recipients/{n}")
    ]:
        raise Problem("invalid_request", details=wrong[:100])
    await get(runtime, owner, template_id)
    require_room(runtime)
    await quota.check_quota(runtime, runtime.db.points, owner)
    now = runtime.clock.now()

    async def write(tx: Transaction) -> Document:
        template = await templates.get_own(tx, owner, template_id)
        document = make_draft(runtime, template, wanted, author.actor, now)
        created = await outcomes.add(tx, lifecycle.create(document, author.origin, now), runtime.vault, now)
        await caller.keep(tx, created)
        return created

    created = await runtime.db.write(write)
    return created


def make_draft(
    runtime: Runtime, template: Template, wanted: TemplateUse, actor: Actor, now: Instant
) -> Document:
    """Return a draft made from the template, with what `wanted` changes. Raises `invalid_request`."""
    takers = [
        taker
        if taker.access_code is None
        else replace(taker, access_code=encode_access_code(runtime.vault, taker.access_code))
        for taker in wanted.takers
    ]
    recipients = make_recipients(template, takers, lambda prefix: make_id(prefix, now))
    check_recipients(runtime, recipients)
    return Document(
        id=make_id("doc", now),
        organisation_id=template.organisation_id,
        mode=template.mode,
        title=wanted.title or template.title,
        file=template.file,
        created_by=actor,
        created_at=now,
        updated_at=now,
        recipients=recipients,
        subject=(template.subject if wanted.subject is None else wanted.subject) or None,
        message=(template.message if wanted.message is None else wanted.message) or None,
        locale=wanted.locale,
        expires_in_days=wanted.expires_in_days or template.expires_in_days,
        reminders=replace(template.reminders, **wanted.reminders),
        redirect_url=wanted.redirect_url,
        external_id=wanted.external_id or None,
        metadata=wanted.metadata or {},
        template_id=template.id,
    )


async def get_at_revision(tx: Transaction, caller: Caller, template_id: str) -> Template:
    """Return the template. Raises `revision_mismatch` if it has another revision than the caller has seen."""
    owner = caller.owner
    template = await templates.get_own(tx, owner, template_id)
    if caller.revision not in (None, template.revision):
        raise Problem("revision_mismatch", "Someone changed the template in the meantime. Read it again.")
    return template


async def announce_event(tx: Transaction, event_type: str, template: Template, now: Instant) -> None:
    """Announce an event of the template to the organisation's webhooks."""
    body = webhook.make_template_payload(event_type, now, make_id("evt", now), template)
    await outcomes.announce(tx, body, template.organisation_id, template.mode, now)
