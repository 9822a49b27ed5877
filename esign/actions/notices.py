"""Notices to those who look after an organisation: queued with their cause, written when they leave."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from esign.actions import logo
from esign.core.account import Organisation
from esign.core.document import Mode
from esign.core.instant import DAY
from esign.core.usage import Meter, Usage
from esign.mail import notices as letters
from esign.mail.message import Mailbox
from esign.mail.sheet import Inline, Letter, Letterhead
from esign.runtime import Runtime
from esign.store import accounts, members, outbox, usage
from esign.store.database import Reader, Transaction
from esign.store.outbox import Job


@dataclass(frozen=True, slots=True)
class Notice:
    """One mail on its way to one reader; its phrases speak of the `facts`, its button leads to the `link`."""

    organisation: Organisation
    mode: Mode
    to: Mailbox
    letter: str
    facts: Mapping[str, str | int]
    link: str | None = None
    logo: Inline | None = None


async def queue(
    runtime: Runtime,
    tx: Transaction,
    organisation_id: str,
    mode: Mode,
    letter: str,
    key: str,
    facts: Mapping[str, str | int],
) -> None:
    """One mail to each administrator; a second one of the same letter and `key` is none."""
    organisation = await accounts.get_organisation(tx, organisation_id)
    for reader_id, to in await administrators(tx, organisation):
        notice = Notice(organisation, mode, to, letter, facts)
        await queue_one(runtime, tx, notice, f"notice:{letter}:{key}:{reader_id}")


async def queue_one(runtime: Runtime, tx: Transaction, notice: Notice, name: str) -> None:
    """One mail to one reader, however often it is queued under this name."""
    body = {
        "organisation": notice.organisation.id,
        "mode": notice.mode.value,
        "to": [notice.to.address, notice.to.name],
        "letter": notice.letter,
        "facts": dict(notice.facts),
        "link": notice.link,
    }
    now = runtime.clock.now()
    sealed = runtime.vault.encrypt("outbox", json.dumps(body).encode(), name.encode())
    owner = (notice.organisation.id, notice.mode)
    count = await outbox.add(tx, "mail", name, now, body=sealed, owner=owner)
    await usage.add(tx, Meter(notice.organisation.id, notice.mode, now // DAY), Usage(emails=count))


async def administrators(reader: Reader, organisation: Organisation) -> list[tuple[str, Mailbox]]:
    """Owners and admins by id; where there are none, whoever gets the answers to mails, if anybody does."""
    found = await members.administrators(reader, organisation.id)
    if found:
        return [(member.id, Mailbox(member.email, member.name)) for member in found]
    return [(organisation.id, Mailbox(organisation.reply_to))] if organisation.reply_to else []


async def read(runtime: Runtime, job: Job) -> Notice:
    body = json.loads(runtime.vault.decrypt("outbox", job.body, job.key.encode()))
    organisation = await accounts.get_organisation(runtime.db, body["organisation"])
    mode, to = Mode(body["mode"]), Mailbox(*body["to"])
    own = await logo.mailed(runtime.db, organisation)
    return Notice(organisation, mode, to, body["letter"], body["facts"], body.get("link"), own)


def write_letter(notice: Notice) -> Letter:
    organisation = notice.organisation
    head = Letterhead(
        organisation=organisation.name,
        colour=organisation.colour,
        locale=organisation.locale,
        time_zone=organisation.time_zone,
        test=notice.mode is Mode.TEST,
        logo=notice.logo,
    )
    return letters.notice(letters.Notice(head, notice.to.name, notice.letter, notice.facts, notice.link))
