"""Notices to members and administrators. They are queued in the transaction of their cause and written when sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from esign.actions.base.browser_name import parse_user_agent
from esign.core.actor import Author, Mode, Origin, Owner
from esign.core.instant import DAY, Instant
from esign.core.mail_urgency import find_urgency
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey
from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.core.people.usage import Meter, Usage
from esign.core.people.user import User
from esign.mail.message import NamedMailbox
from esign.mail.outgoing_mail import Notice
from esign.runtime import Runtime
from esign.store.engine.database import Reader, Transaction
from esign.store.people import members, organisations, usage
from esign.store.queue import outbox
from esign.store.queue.outbox import NewJob
from esign.system.entropy import make_id
from esign.system.vault import Vault


@dataclass(frozen=True, slots=True)
class News:
    """What a notice to several readers says, and the key that tells it from others of the same letter."""

    letter: str
    key: str
    facts: Mapping[str, str | int] = field(default_factory=dict)


async def queue_for_administrators(runtime: Runtime, tx: Transaction, owner: Owner, news: News) -> None:
    """Queue a notice to each administrator, once for each key of its news."""
    organisation = await organisations.get(tx, owner.organisation_id)
    for reader_id, to in await list_administrators(tx, organisation):
        notice = Notice(
            letter=news.letter, organisation=organisation, mode=owner.mode, to=to, facts=news.facts
        )
        await add_notice(
            tx, runtime.vault, notice, f"notice:{news.letter}:{news.key}:{reader_id}", runtime.clock.now()
        )


async def add_notice(tx: Transaction, vault: Vault, notice: Notice, key: str, now: Instant) -> None:
    """Queue a notice, once under this key, and count it among the e-mails of the organisation."""
    count = await add_unmetered_notice(tx, vault, notice, key, now)
    await usage.add(tx, Meter(notice.organisation.id, notice.mode, now // DAY), Usage(emails=count))


async def add_unmetered_notice(tx: Transaction, vault: Vault, notice: Notice, key: str, now: Instant) -> int:
    """Queue a notice, once under this key. Return how many were queued.

    It is for notices that a stranger can cause: they do not use up the quota of the organisation.
    """
    body = {
        "organisation": notice.organisation.id,
        "mode": notice.mode.value,
        "to": [notice.to.address, notice.to.name],
        "letter": notice.letter,
        "facts": dict(notice.facts),
        "link": notice.link,
    }
    sealed = vault.encrypt("outbox", json.dumps(body).encode(), key.encode())
    job = NewJob("mail", key, body=sealed, owner=notice.owner, urgency=find_urgency(notice.letter))
    return await outbox.add(tx, job, now)


# ---------- about accounts ----------


@dataclass(frozen=True, slots=True)
class AccountChange:
    """What was done to an account, as the name of a letter, from where, and when."""

    letter: str
    origin: Origin
    at: Instant


async def tell_user(
    tx: Transaction, vault: Vault, user: User, organisation_id: str, change: AccountChange
) -> None:
    """Notify a user of a change of their account, in the name of an organisation."""
    organisation = await organisations.get(tx, organisation_id)
    facts: dict[str, str | int] = {
        "account": user.email,
        "organisation": organisation.name,
        **describe_origin(change.origin),
        "done_at": change.at,
    }
    notice = Notice(
        letter=change.letter,
        organisation=organisation,
        mode=Mode.LIVE,
        to=NamedMailbox(user.email, user.name),
        facts=facts,
    )
    await add_notice(tx, vault, notice, f"account:{change.letter}:{make_id('ntc', change.at)}", change.at)


def describe_origin(origin: Origin) -> dict[str, str | int]:
    """Return the browser and the address of a request, as far as they are known, in words that need no translation."""
    known = [part for part in parse_user_agent(origin.user_agent) if part] if origin.user_agent else []
    named = {"browser": ", ".join(known), "address": origin.ip}
    return {name: text for name, text in named.items() if text}


async def tell_user_by_first_organisation(
    tx: Transaction, vault: Vault, user: User, change: AccountChange
) -> None:
    """Notify a user in the name of the organisation that they joined first.

    A user without an organisation gets no notice.
    """
    own = await members.find_by_user(tx, user.id)
    if own:
        await tell_user(tx, vault, user, own[0].organisation_id, change)


async def tell_owners_of_owner(
    tx: Transaction, vault: Vault, member: Member, caller: Author, now: Instant
) -> None:
    """Notify the owners that a member becomes an owner.

    It is called before the change is stored, so that the new owner gets no notice.
    """
    facts = describe_act(caller, {"member": member.name, "email": member.email}, now)
    await tell_owners(tx, vault, member.organisation_id, News("owner_new", member.id, facts), now)


async def tell_owners_of_key(
    tx: Transaction, vault: Vault, key: ApiKey, caller: Author, now: Instant
) -> None:
    """Notify the owners of a new API key that may do what an administrator may."""
    facts = describe_act(caller, {"api_key": key.name, "hint": key.hint}, now)
    await tell_owners(tx, vault, key.organisation_id, News("admin_key", key.id, facts), now)


def describe_act(caller: Author, about: Mapping[str, str | int], now: Instant) -> Mapping[str, str | int]:
    """Return the facts of an act: who did what to whom, from where, and when."""
    actor = caller.actor.name or caller.actor.id or "esign"
    return {"actor": actor, **about, **describe_origin(caller.origin), "done_at": now}


async def tell_owners(tx: Transaction, vault: Vault, organisation_id: str, news: News, now: Instant) -> None:
    """Notify the active owners of an organisation, each time anew."""
    for key, notice in await write_owner_notices(tx, organisation_id, news):
        await add_notice(tx, vault, notice, f"{key}:{make_id('ntc', now)}", now)


async def queue_for_owners(
    tx: Transaction, vault: Vault, organisation_id: str, news: News, now: Instant
) -> int:
    """Notify the active owners of an organisation, once for each key of the news. Return how many there are."""
    found = await write_owner_notices(tx, organisation_id, news)
    for key, notice in found:
        await add_notice(tx, vault, notice, key, now)
    return len(found)


async def write_owner_notices(reader: Reader, organisation_id: str, news: News) -> list[tuple[str, Notice]]:
    """Return a notice to each active owner of an organisation, with the key of its job."""
    organisation = await organisations.get(reader, organisation_id)
    facts = {"organisation": organisation.name, **news.facts}
    return [
        (
            name_owners_job(news.letter, news.key, owner.id),
            Notice(
                letter=news.letter,
                organisation=organisation,
                mode=Mode.LIVE,
                to=NamedMailbox(owner.email, owner.name),
                facts=facts,
            ),
        )
        for owner in await list_owners(reader, organisation_id)
    ]


def name_owners_job(letter: str, key: str, owner_id: str) -> str:
    """Return the key of the job that brings a letter to an owner."""
    return f"owners:{letter}:{key}:{owner_id}"


async def list_owners(reader: Reader, organisation_id: str) -> list[Member]:
    """Return the active owners of an organisation."""
    found = await members.find_administrators(reader, organisation_id)
    return [one for one in found if one.role is MemberRole.OWNER and one.status is MemberStatus.ACTIVE]


async def list_administrators(reader: Reader, organisation: Organisation) -> list[tuple[str, NamedMailbox]]:
    """Return the ids and mailboxes of owners and admins.

    Without any, return the reply address of the organisation, if set.
    """
    found = await members.find_administrators(reader, organisation.id)
    if found:
        return [(member.id, NamedMailbox(member.email, member.name)) for member in found]
    return [(organisation.id, NamedMailbox(organisation.reply_to))] if organisation.reply_to else []
