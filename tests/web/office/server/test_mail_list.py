"""What was mailed, as those who look after the organisation see it, and what even they do not."""

import json
import re
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from esign.actions.mail import embedded_outbox
from esign.actions.mail.mail_archive import HIDDEN
from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from esign.jobs import worker
from esign.mail.failure import PermanentFailure, TemporaryFailure
from esign.mail.words import load_phrases
from esign.mail.write_letter import LETTERS
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.web.office.frame.words import load_words
from tests.fakes import FakeMailbox
from tests.journeys.letters import part
from tests.web.office.visitor import Office, Page, Visitor, an_office

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


def find_frame(page: Page) -> str:
    found = re.search(r'<iframe class="letter"[^>]* src="([^"]+)"', page.text)
    assert found, page.said
    return found[1]


def posting(office: Office, mailbox: FakeMailbox) -> Runtime:
    """The same installation with a mail server of its own."""
    return replace(office.runtime, mail=mailbox)


async def work(runtime: Runtime) -> None:
    await worker.drain_jobs(runtime, "mail")


async def test_a_mail_is_listed_from_the_moment_it_waits(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert "No emails yet" in (await ada.get(HERE)).said
    await office.site.api.send_document(title="Lease <b>")
    page = await ada.get(HERE)
    assert "Invitation To ada@example.test" in page.said and "It will be kept here." in page.said
    [mail] = await open_mails(ada)
    assert "This email is written when it’s sent" in mail.said
    await office.site.work("mail")
    page = await ada.get(HERE)
    assert "Lease <b>" in page.said and "No mail server is set up." in page.said and "Not sent" in page.said
    assert "<b>" not in page.text


async def test_what_the_mail_server_said_and_the_next_try_are_told(office: Office) -> None:
    ada, mailbox = await office.signed_in("Ada"), FakeMailbox()
    await office.site.api.send_document()
    mailbox.failure = TemporaryFailure("451 4.7.1 greylisted")
    await work(posting(office, mailbox))
    undelivered = f"{HERE}?show=undelivered"
    page = await ada.get(undelivered)
    assert "451 4.7.1 greylisted · Next try 21 Nov 2026, 00:01" in page.said
    [mail] = await open_mails(ada, undelivered)
    assert HIDDEN in text_on(mail) and "greylisted" in mail.said
    office.clock.advance(minutes=2)
    mailbox.failure = None
    await work(posting(office, mailbox))
    said = (await ada.get(HERE)).said
    assert "250 taken as number 1" in said and "Sent" in said and "Not sent" not in said
    assert "Nothing is waiting" in (await ada.get(undelivered)).said
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
        if "Open document" in mail.said:
            continue  # no mail server could bring it: see below
        frame = await ada.get(find_frame(mail))
        assert HIDDEN in text_on(mail) and HIDDEN in frame.text
        assert not any(secret in mail.text + frame.text for secret in secrets)
        assert "may use" in mail.said
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
    shown = [text_on(mail) for mail in mails] + [(await eve.get(find_frame(mails[0]))).text]
    assert HIDDEN in shown[0] and HIDDEN in shown[2]
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
    assert "Not needed" in page.said and "No longer needed by the time" in page.said
    mails = await open_mails(ada)
    assert any("This email was never written." in mail.said for mail in mails)


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
    assert (await bo.get(f"{HERE}/1")).status == (404 if role is MemberRole.MEMBER else 403)


# ---------- as the recipient sees it ----------


@pytest.fixture
async def mailed(tmp_path: Path) -> AsyncIterator[Office]:
    """An office with a mail server."""
    async with an_office(tmp_path / "data", mail=MAIL) as office:
        yield office


MAIL = {"host": "127.0.0.1", "port": 9, "from": "esign@example.test", "security": "none"}
LINK = re.compile(r"http://[^\s\"<]+/s/[\w-]{43}")


async def send_with(office: Office, mailbox: FakeMailbox) -> str:
    document = await office.site.api.send_document(title="Lease")
    await work(posting(office, mailbox))
    return document


async def test_a_mail_is_shown_as_its_recipient_sees_it_in_a_closed_frame(mailed: Office) -> None:
    ada, mailbox = await mailed.signed_in("Ada"), FakeMailbox()
    await send_with(mailed, mailbox)
    [mail] = await open_mails(ada)
    assert "frame-src 'self'" in mail.headers["Content-Security-Policy"] and 'sandbox=""' in mail.text
    frame = await ada.get(find_frame(mail))
    policy = frame.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox; default-src 'none'") and "frame-ancestors 'self'" in policy
    assert "script" not in policy and frame.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "Lease" in frame.text and HIDDEN in frame.text
    [sent] = mailbox.messages
    [link] = {*LINK.findall(part(sent, "html"))}
    assert link not in frame.text and link not in mail.text


async def test_members_open_no_mail_that_a_mail_server_delivers(mailed: Office) -> None:
    ada, bo = await mailed.signed_in("Ada"), await mailed.signed_in("Bo", MemberRole.MEMBER)
    await send_with(mailed, FakeMailbox())
    [path] = links(await ada.get(HERE))
    assert (await bo.get(path)).status == (await bo.get(f"{path}/letter")).status == 404


@pytest.mark.parametrize("role", MemberRole)
async def test_without_a_mail_server_whoever_sends_opens_the_links(office: Office, role: MemberRole) -> None:
    ada = await office.signed_in("Ada")
    document = await office.site.api.send_document(title="Lease")
    await office.site.work("mail")
    [path] = links(await ada.get(HERE))
    bo = await office.signed_in("Bo", role)
    page = await bo.get(f"/documents/{document}")
    if role is MemberRole.VIEWER:
        assert path not in page.text and (await bo.get(path)).status == 403
        return
    assert f'href="{path}"' in page.text
    mail = await bo.get(path)
    frame = await bo.get(find_frame(mail))
    assert frame.headers["Content-Security-Policy"].startswith("sandbox allow-popups")
    [link] = {*LINK.findall(frame.text)}
    assert HIDDEN not in frame.text and f'<a target="_blank" rel="noopener noreferrer" href="{link}"' in (
        frame.text
    )
    assert link in text_on(mail)


async def test_without_a_mail_server_members_open_neither_codes_nor_links_of_members(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.post("/members", email="cy@example.test", name="Cy", role="admin")
    await office.site.work("mail")
    bo = await office.signed_in("Bo", MemberRole.MEMBER)
    for path in links(await ada.get(HERE)):
        assert (await bo.get(path)).status == (await bo.get(f"{path}/letter")).status == 404


async def test_testers_read_mails_of_test_mode_as_they_look(office: Office) -> None:
    api = await office.site.key(mode=Mode.TEST)
    document = await api.send_document()
    await office.site.work("mail")
    bo = await office.signed_in("Bo", MemberRole.MEMBER)
    await bo.get("/documents")
    live = await bo.get("/test/messages")
    assert "<iframe" not in live.text
    await bo.post("/mode", mode="test")
    paths = [find_frame(await bo.get(one)) for one in ("/test/messages", f"/documents/{document}")]
    for path in paths:
        frame = await bo.get(path)
        assert frame.status == 200 and LINK.search(frame.text)
    await bo.post("/mode", mode="live")
    assert (await bo.get(paths[0])).status == 404
    assert (await bo.get("/test/messages/mail_x/letter")).status == 404


async def test_a_copy_of_an_earlier_version_shows_its_text(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.post("/members", email="cy@example.test", name="Cy", role="admin")
    await office.site.work("mail")
    vault = office.runtime.vault
    [row] = await office.runtime.db.all("SELECT id, key FROM outbox")
    old = json.dumps({"letter": "invited", "to": "cy@example.test", "subject": "Join", "text": "Hello"})

    async def write(tx: Transaction) -> None:
        words = vault.encrypt("posted", zlib.compress(old.encode()), row["key"].encode())
        await tx.run("UPDATE outbox SET words = :words WHERE id = :id", words=words, id=row["id"])

    await office.runtime.db.write(write)
    page = await ada.get(f"{HERE}/{row['id']}")
    assert text_on(page) == "Hello" and "<iframe" not in page.text
    assert (await ada.get(f"{HERE}/{row['id']}/letter")).status == 404


def test_every_mail_has_a_name_before_it_is_written() -> None:
    notices = {key.removesuffix("_subject") for key in load_phrases("en") if key.endswith("_subject")}
    named = load_words("en").catalogue
    assert {letter for letter in {*LETTERS, *notices} if f"server.letter.{letter}" not in named} == set()
