"""Mails of test mode: kept whatever becomes of them, and sent to whom the settings allow."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from esign.actions.mail import test_mode_mail
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.people.member import MemberStatus
from esign.mail.failure import PermanentFailure, TemporaryFailure
from esign.mail.message import NamedMailbox
from esign.mail.outgoing_mail import DocumentMail
from esign.store.document import documents
from tests.factories import an_organisation
from tests.fakes import FakeClock, FakeMailbox
from tests.journeys.api import Api
from tests.journeys.site import JourneySite, a_site

OFFICE, ADA, BOB = "office@fernhill.example", "ada@example.test", "bob@example.test"
BOTH = [{"name": "Ada Lovelace", "email": "Ada@example.test"}, {"name": "Bob Noyce", "email": BOB}]


@dataclass(frozen=True)
class MailboxStage:
    """A site whose mails would reach `mailbox`, and the API with a test key."""

    site: JourneySite
    api: Api
    mailbox: FakeMailbox

    async def work(self) -> None:
        await self.site.work("mail")

    async def list_mails(self, document: str) -> list[Any]:
        """The mails about a document, by whom they are to."""
        await self.work()
        page = await self.api.ok("GET", f"/test/messages?limit=100&documentId={document}")
        return sorted(page["data"], key=lambda mail: str(mail["to"]))

    async def delivery(self, document: str) -> list[str]:
        return [r["delivery"]["status"] for r in (await self.api.get(document))["recipients"]]


@pytest.fixture
def rule() -> str:
    return "deliver"


@pytest.fixture
async def stage(tmp_path: Path, clock: FakeClock, rule: str) -> AsyncIterator[MailboxStage]:
    organisation = {"name": "Fernhill Gardens", "reply_to": OFFICE}
    async with a_site(tmp_path / "data", clock, test={"mails": rule}, organisation=organisation) as site:
        mailbox = FakeMailbox()
        site = replace(site, runtime=replace(site.runtime, mail=mailbox))
        yield MailboxStage(site, await site.key(mode=Mode.TEST), mailbox)


async def test_every_mail_is_sent_and_kept(stage: MailboxStage) -> None:
    document = await stage.api.send_document(recipients=BOTH)
    assert [mail["to"] for mail in await stage.list_mails(document)] == ["Ada@example.test", BOB]
    assert len(stage.mailbox.messages) == 2
    assert all(subject.startswith("[TEST] ") for subject in stage.mailbox.subjects())
    assert await stage.delivery(document) == ["accepted", "accepted"]


async def test_a_mail_that_could_not_be_sent_is_kept_once(stage: MailboxStage, clock: FakeClock) -> None:
    document = await stage.api.send_document(recipients=BOTH[:1])
    stage.mailbox.failure = TemporaryFailure("busy")
    assert len(await stage.list_mails(document)) == 1
    clock.advance(minutes=1)
    assert len(await stage.list_mails(document)) == 1 and len(stage.mailbox.refused) == 2
    assert await stage.delivery(document) == ["queued"]
    stage.mailbox.failure = PermanentFailure("no such user")
    clock.advance(minutes=2)
    assert len(await stage.list_mails(document)) == 1
    assert await stage.delivery(document) == ["failed"]


async def test_live_mails_are_sent_and_not_kept(stage: MailboxStage) -> None:
    document = await stage.site.api.send_document()
    await stage.work()
    assert len(stage.mailbox.messages) == 1 and await stage.list_mails(document) == []
    assert await stage.site.runtime.db.all("SELECT 1 FROM kept_mail") == []


@pytest.mark.parametrize("rule", ["capture"])
async def test_captured_mails_reach_nobody_and_count_as_delivered(stage: MailboxStage) -> None:
    document = await stage.api.send_document(recipients=BOTH)
    found = await stage.list_mails(document)
    assert [mail["to"] for mail in found] == ["Ada@example.test", BOB] and all(m["links"] for m in found)
    assert stage.mailbox.messages == [] and await stage.delivery(document) == ["none", "none"]
    await stage.site.api.send_document()
    await stage.work()
    assert len(stage.mailbox.messages) == 1, "live mails leave as ever"


@pytest.mark.parametrize("rule", ["members"])
async def test_mails_reach_members_who_have_shown_that_an_address_is_theirs(stage: MailboxStage) -> None:
    for name, email in (("Ada", ADA), ("Bob", BOB)):
        await stage.site.api.ok("POST", "/members", {"email": email, "name": name, "role": "member"})
    await stage.work()
    invitations = len(stage.mailbox.messages)
    first = await stage.api.send_document(recipients=BOTH)
    assert len(await stage.list_mails(first)) == 2
    assert len(stage.mailbox.messages) == invitations == 2, (
        "members that were only invited have no more than that"
    )
    await stage.site.runtime.db.write(
        lambda tx: tx.run(
            "UPDATE member SET status = :status WHERE address = :address",
            status=MemberStatus.ACTIVE.value,
            address=ADA,
        )
    )
    second = await stage.api.send_document(recipients=BOTH)
    assert len(await stage.list_mails(second)) == 2
    assert [message["To"].address for message in stage.mailbox.messages[2:]] == ["Ada@example.test"]


async def test_news_to_the_sender_are_kept_under_their_document(stage: MailboxStage) -> None:
    document = await stage.api.send_document(recipients=BOTH[:1])
    await stage.work()
    await stage.api.ok("POST", f"/test/documents/{document}/simulate", {"action": "decline"})
    found = await stage.list_mails(document)
    assert [mail["to"] for mail in found] == ["Ada@example.test", "Ada@example.test", OFFICE]
    ada = (await stage.api.get(document))["recipients"][0]["id"]
    page = await stage.api.ok("GET", f"/test/messages?recipientId={ada}")
    assert {mail["to"] for mail in page["data"]} == {"Ada@example.test"}


async def test_the_embedded_outbox_keeps_a_mail_of_test_mode_once(site: JourneySite) -> None:
    api = await site.key(mode=Mode.TEST)
    document = await api.send_document()
    await site.work("mail")
    page = await api.ok("GET", f"/test/messages?documentId={document}")
    assert [mail["to"] for mail in page["data"]] == [ADA]
    assert len(await site.runtime.db.all("SELECT 1 FROM kept_mail")) == 1
    assert await (await site.person(ADA)).state() == "open", "esign outbox reads it too"


async def test_of_a_document_that_is_erased_meanwhile_no_mail_is_kept_or_sent(stage: MailboxStage) -> None:
    document = await stage.api.send_document(recipients=BOTH[:1])
    await stage.work()
    stored = await documents.get(stage.site.runtime.db, document)
    await stage.api.ok("POST", f"/documents/{document}/cancel", {"notify": False})
    await stage.api.ok("DELETE", f"/documents/{document}")
    [message] = stage.mailbox.messages
    mail = DocumentMail(
        letter="invitation",
        organisation=an_organisation(id=stored.organisation_id),
        mode=Mode.TEST,
        to=NamedMailbox(ADA),
        document=stored,
        recipient=None,
        now=0,
        link_days=30,
    )
    with pytest.raises(Problem, match="not_found"):
        await test_mode_mail.send(stage.site.runtime, message, mail)
    assert await stage.list_mails(document) == [] and len(stage.mailbox.messages) == 1
