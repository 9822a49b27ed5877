"""What was mailed, as those who look after the organisation see it, and what even they do not."""

import re
from dataclasses import replace

import pytest

from esign.actions.mail import embedded_outbox
from esign.actions.mail.mail_archive import HIDDEN
from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from esign.jobs import worker
from esign.mail.failure import PermanentFailure, TemporaryFailure
from esign.runtime import Runtime
from tests.fakes import FakeMailbox
from tests.journeys.letters import part
from tests.web.office.visitor import Office, Page, Visitor

HERE = "/settings/outbox"
TOKEN = re.compile(r"[\w-]{43}")


def links(page: Page) -> list[str]:
    return re.findall(rf'href="({HERE}/\d+)"', page.text)


async def open_mails(visitor: Visitor, path: str = HERE) -> list[Page]:
    """Every mail on a page of the list."""
    return [await visitor.get(link) for link in links(await visitor.get(path))]


def text_on(page: Page) -> str:
    found = re.search(r'<pre class="pre" dir="auto">(.*?)</pre>', page.text, re.DOTALL)
    assert found, page.said
    return found[1]


def posting(office: Office, mailbox: FakeMailbox) -> Runtime:
    """The same installation with a mail server of its own."""
    return replace(office.runtime, mail=mailbox)


async def work(runtime: Runtime) -> None:
    await worker.drain_jobs(runtime, "mail")


async def test_a_mail_is_listed_from_the_moment_it_waits(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert "No mail so far" in (await ada.get(HERE)).said
    await office.site.api.send_document(title="Lease <b>")
    page = await ada.get(HERE)
    assert "Invitation to ada@example.test" in page.said and "It is kept here." in page.said
    [mail] = await open_mails(ada)
    assert "It is written when it leaves" in mail.said
    await office.site.work("mail")
    page = await ada.get(HERE)
    assert (
        "Lease <b>" in page.said and "kept in the embedded outbox" in page.said and "Kept here" in page.said
    )
    assert "<b>" not in page.text


async def test_what_the_mail_server_said_and_the_next_try_are_told(office: Office) -> None:
    ada, mailbox = await office.signed_in("Ada"), FakeMailbox()
    await office.site.api.send_document()
    mailbox.failure = TemporaryFailure("451 4.7.1 greylisted")
    await work(posting(office, mailbox))
    undelivered = f"{HERE}?show=undelivered"
    page = await ada.get(undelivered)
    assert "451 4.7.1 greylisted. Next try 21 Nov 2026, 00:01" in page.said
    [mail] = await open_mails(ada, undelivered)
    assert HIDDEN in text_on(mail) and "greylisted" in mail.said
    office.clock.advance(minutes=2)
    mailbox.failure = None
    await work(posting(office, mailbox))
    said = (await ada.get(HERE)).said
    assert "250 taken as number 1" in said and "Taken" in said and "Kept here" not in said
    assert "Every mail was taken" in (await ada.get(undelivered)).said
    mailbox.failure = PermanentFailure("550 5.1.1 no such user")
    await office.site.api.send_document()
    await work(posting(office, mailbox))
    page = await ada.get(undelivered)
    assert "Refused" in page.said and "550 5.1.1 no such user" in page.said


async def test_no_mail_shows_what_would_let_anybody_act_as_its_reader(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.post("/members", email="bo@example.test", name="Bo", role="admin")
    await office.visitor().post("/forgot", email="ada@example.test")
    document = await office.site.api.send_document()
    office.clock.advance(days=4)
    signer = (await office.site.api.get(document))["recipients"][0]
    await office.site.api.ok("POST", f"/documents/{document}/remind", {"recipientIds": [signer["id"]]})
    await office.site.work("mail")
    secrets = [
        token for mail in await office.mails() for token in TOKEN.findall(await letter_of(office, mail.id))
    ]
    assert len(secrets) == 4, "an invitation, a reminder, one to join and one for a password"
    ada = await office.signed_in("Eve")
    mails = await open_mails(ada)
    assert len(mails) == 4
    for mail in mails:
        assert HIDDEN in text_on(mail) and not any(secret in mail.text for secret in secrets)
        assert "could act in their name" in mail.said
    rows = await office.runtime.db.all("SELECT body FROM outbox WHERE body IS NOT NULL")
    assert rows == []


async def letter_of(office: Office, mail_id: str) -> str:
    message = await embedded_outbox.read_mail(office.runtime.db, office.runtime.vault, mail_id)
    assert message
    return part(message, "plain")


async def test_a_code_by_mail_is_hidden_however_it_is_spelt(office: Office) -> None:
    who = {"name": "Ada", "email": "ada@example.com", "authentication": "email_code"}
    await office.site.api.send_document(recipients=[who])
    await office.site.work("mail")
    person = await office.site.person("ada@example.com")
    office.clock.advance(seconds=1)
    await person.send_code()
    await office.site.work("mail")
    [code] = re.findall(r"\b\d{3}\s\d{3}\b", await office.letter("ada@example.com"))
    eve = await office.signed_in("Eve")
    mails = await open_mails(eve)
    assert len(mails) == 2
    shown = [text_on(mail) for mail in mails]
    assert all(HIDDEN in text for text in shown)
    digits = re.sub(r"\D", "", code)
    assert not any(digits in re.sub(r"\s", "", text) for text in shown)


async def test_links_of_test_mode_are_shown_to_whoever_tests(office: Office) -> None:
    api = await office.site.key(mode=Mode.TEST)
    document = await api.send_document()
    await office.site.work("mail")
    ada = await office.signed_in("Ada")
    assert links(await ada.get(HERE)) == []
    live = await ada.post("/mode", mode="test")
    assert live.status == 303
    [mail] = await open_mails(ada)
    [kept] = (await api.ok("GET", f"/test/messages?documentId={document}"))["data"]
    assert kept["links"][0] in text_on(mail)


async def test_mails_are_paged_and_go_with_their_document(office: Office) -> None:
    ada = await office.signed_in("Ada")
    documents = []
    for _ in range(52):
        office.clock.advance(seconds=1)
        documents.append(await office.site.api.send_document())
    page = await ada.get(HERE)
    assert len(links(page)) == 50
    more = re.search(rf'href="({HERE}\?after=[^"]+)"', page.text)
    assert more
    older = await ada.get(more[1])
    assert len(links(older)) == 2 and "Newest" in older.said
    assert (await ada.get(f"{more[1]}&show=undelivered")).status == 400
    gone = links(older)[-1]
    assert (await ada.get(gone)).status == 200
    await office.site.work("mail")
    await office.site.api.ok("POST", f"/documents/{documents[0]}/cancel", {"notify": False})
    await office.site.api.ok("DELETE", f"/documents/{documents[0]}")
    assert (await ada.get(gone)).status == 404


async def test_a_mail_that_was_not_needed_any_more_says_so(office: Office) -> None:
    ada = await office.signed_in("Ada")
    document = await office.site.api.send_document()
    await office.site.api.ok("POST", f"/documents/{document}/cancel", {"notify": False})
    await office.site.work("mail")
    page = await ada.get(HERE)
    assert "Not needed" in page.said and "had ended before it left" in page.said
    mails = await open_mails(ada)
    assert any("It was never written." in mail.said for mail in mails)


async def test_mails_of_others_do_not_exist(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.send_document()
    [own] = links(await ada.get(HERE))
    assert (await ada.get(own)).status == 200
    await ada.post("/mode", mode="test")
    for path in (own, f"{HERE}/0", f"{HERE}/x", f"{HERE}/-1", f"{HERE}/{'9' * 30}", f"{HERE}/1e3"):
        assert (await ada.get(path)).status == 404


@pytest.mark.parametrize("role", [MemberRole.MEMBER, MemberRole.VIEWER])
async def test_mails_are_for_those_who_look_after_the_organisation(office: Office, role: MemberRole) -> None:
    bo = await office.signed_in("Bo", role)
    assert HERE not in (await bo.get("/account")).text
    assert (await bo.get(HERE)).status == 403
    assert (await bo.get(f"{HERE}/1")).status == 403
