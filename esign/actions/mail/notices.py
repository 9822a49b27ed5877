"""Notices to members and administrators. They are queued in the transaction of their cause and written when sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from esign.actions.base import logo_pictures
from esign.actions.base.browser_name import parse_user_agent
from esign.core.actor import Author, Mode, Origin
from esign.core.instant import DAY, Instant
from esign.core.mail_urgency import find_urgency
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.usage import Meter, Usage
from esign.core.people.user import User
from esign.mail import notices as letters
from esign.mail.message import NamedMailbox
from esign.mail.sheet import InlinePicture, Letter, Letterhead
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.people import members, organisations, usage
from esign.store.queue import outbox
from esign.store.queue.outbox import Job
from esign.system.entropy import make_id
from esign.system.vault import Vault


@dataclass(frozen=True, slots=True)
class QueuedNotice:
    """One notice to one reader. Its phrases use the `facts`, and its button leads to the `link`."""

    organisation: Organisation
    mode: Mode
    to: NamedMailbox
    letter: str
    facts: Mapping[str, str | int]
    link: str | None = None
    logo: InlinePicture | None = None


async def queue_for_administrators(
    runtime: Runtime,
    tx: Transaction,
    organisation_id: str,
    mode: Mode,
    letter: str,
    key: str,
    facts: Mapping[str, str | int],
) -> None:
    """Queue a notice to each administrator. A second notice of the same letter and `key` is not queued."""
    organisation = await organisations.get(tx, organisation_id)
    for reader_id, to in await list_administrators(tx, organisation):
        notice = QueuedNotice(organisation, mode, to, letter, facts)
        await queue_notice(runtime, tx, notice, f"notice:{letter}:{key}:{reader_id}")


async def queue_notice(
    runtime: Runtime, tx: Transaction, notice: QueuedNotice, name: str, *, metered: bool = True
) -> None:
    """Queue a notice to one reader, once under this name.

    A notice that a stranger can cause is not `metered`, so that it does not use up the quota of the
    organisation.
    """
    await add_notice(tx, runtime.vault, notice, name, runtime.clock.now(), metered=metered)


async def add_notice(
    tx: Transaction, vault: Vault, notice: QueuedNotice, name: str, now: Instant, *, metered: bool = True
) -> None:
    """Queue a notice without a runtime, as the command line does. Otherwise like `queue_notice`."""
    body = {
        "organisation": notice.organisation.id,
        "mode": notice.mode.value,
        "to": [notice.to.address, notice.to.name],
        "letter": notice.letter,
        "facts": dict(notice.facts),
        "link": notice.link,
    }
    sealed = vault.encrypt("outbox", json.dumps(body).encode(), name.encode())
    owner = (notice.organisation.id, notice.mode)
    urgency = find_urgency(notice.letter)
    count = await outbox.add(tx, "mail", name, now, body=sealed, owner=owner, urgency=urgency)
    if metered:
        await usage.add(tx, Meter(notice.organisation.id, notice.mode, now // DAY), Usage(emails=count))


# ---------- about accounts ----------


async def tell_user(
    tx: Transaction, vault: Vault, user: User, organisation_id: str, letter: str, origin: Origin, now: Instant
) -> None:
    """Notify a user of what was done to their account, and from where."""
    organisation = await organisations.get(tx, organisation_id)
    facts: dict[str, str | int] = {
        "account": user.email,
        "organisation": organisation.name,
        **describe_origin(origin),
        "done_at": now,
    }
    notice = QueuedNotice(organisation, Mode.LIVE, NamedMailbox(user.email, user.name), letter, facts)
    await add_notice(tx, vault, notice, f"account:{letter}:{make_id('ntc', now)}", now)


def describe_origin(origin: Origin) -> dict[str, str | int]:
    """Return the browser and the address of a request, as far as they are known, in words that need no translation."""
    known = [part for part in parse_user_agent(origin.user_agent) if part] if origin.user_agent else []
    named = {"browser": ", ".join(known), "address": origin.ip}
    return {name: text for name, text in named.items() if text}


async def tell_user_by_first_organisation(
    tx: Transaction, vault: Vault, user: User, letter: str, origin: Origin, now: Instant
) -> None:
    """Notify a user in the name of the organisation that they joined first.

    A user without an organisation gets no notice.
    """
    own = await members.find_by_user(tx, user.id)
    if own:
        await tell_user(tx, vault, user, own[0].organisation_id, letter, origin, now)


async def tell_owners_of_owner(
    tx: Transaction, vault: Vault, member: Member, caller: Author, now: Instant
) -> None:
    """Notify the owners that a member becomes an owner.

    It is called before the change is stored, so that the new owner gets no notice.
    """
    facts: dict[str, str | int] = {"member": member.name, "email": member.email}
    await tell_owners(tx, vault, member.organisation_id, "owner_new", member.id, facts, caller, now)


async def tell_owners_of_key(
    tx: Transaction, vault: Vault, key: ApiKey, caller: Author, now: Instant
) -> None:
    """Notify the owners of a new API key that may do what an administrator may."""
    facts: dict[str, str | int] = {"api_key": key.name, "hint": key.hint}
    await tell_owners(tx, vault, key.organisation_id, "admin_key", key.id, facts, caller, now)


async def tell_owners(
    tx: Transaction,
    vault: Vault,
    organisation_id: str,
    letter: str,
    about: str,
    facts: Mapping[str, str | int],
    caller: Author,
    now: Instant,
) -> None:
    """Notify the active owners of an organisation, with the caller and the origin of the request."""
    organisation = await organisations.get(tx, organisation_id)
    actor = caller.actor.name or caller.actor.id or "esign"
    whole = {
        "organisation": organisation.name,
        "actor": actor,
        **facts,
        **describe_origin(caller.origin),
        "done_at": now,
    }
    for owner in await members.find_administrators(tx, organisation_id):
        if owner.role is MemberRole.OWNER and owner.status is MemberStatus.ACTIVE:
            notice = QueuedNotice(
                organisation, Mode.LIVE, NamedMailbox(owner.email, owner.name), letter, whole
            )
            await add_notice(
                tx, vault, notice, f"owners:{letter}:{about}:{owner.id}:{make_id('ntc', now)}", now
            )


async def list_administrators(reader: Reader, organisation: Organisation) -> list[tuple[str, NamedMailbox]]:
    """Return the ids and mailboxes of owners and admins.

    Without any, return the reply address of the organisation, if set.
    """
    found = await members.find_administrators(reader, organisation.id)
    if found:
        return [(member.id, NamedMailbox(member.email, member.name)) for member in found]
    return [(organisation.id, NamedMailbox(organisation.reply_to))] if organisation.reply_to else []


async def read_notice(runtime: Runtime, job: Job) -> QueuedNotice:
    """Return the notice of a job, with the organisation as it is now."""
    body = json.loads(runtime.vault.decrypt("outbox", job.body, job.key.encode()))
    organisation = await organisations.get(runtime.db, body["organisation"])
    mode, to = Mode(body["mode"]), NamedMailbox(*body["to"])
    own = await logo_pictures.make_inline_logo(runtime.db, organisation)
    return QueuedNotice(organisation, mode, to, body["letter"], body["facts"], body.get("link"), own)


def write_letter(notice: QueuedNotice) -> Letter:
    """Write the letter of a notice."""
    organisation = notice.organisation
    head = Letterhead(
        organisation=organisation.name,
        colour=organisation.colour,
        locale=organisation.locale,
        time_zone=organisation.time_zone,
        test=notice.mode is Mode.TEST,
        logo=notice.logo,
    )
    return letters.write_notice(
        letters.NoticeFacts(head, notice.to.name, notice.letter, notice.facts, notice.link)
    )
