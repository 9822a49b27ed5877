"""Every letter as it arrives at a real mail server, and what becomes of it when that server does not take it."""

import base64
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from email.message import EmailMessage
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from esign.core.people.member import Member, MemberRole, MemberStatus
from esign.jobs import expire, remind, worker
from esign.mail.failure import PermanentFailure
from esign.mail.smtp import SmtpServer
from esign.store.people import members
from tests.fakes import FakeClock
from tests.journeys.api import Person, a_request
from tests.journeys.letters import link_in, part, shown_name
from tests.journeys.site import JourneySite, a_site
from tests.mail.server import Server, octets, serving
from tests.ports import reserve_port

SENDER = "sign@fernhill.example"
OFFICE = "office@fernhill.example"
ADA, BOB = "ada@example.test", "bob@example.test"
BOTH = [
    {"name": "Ada Lovelace", "email": ADA, "order": 1},
    {"name": "Bob Noyce", "email": BOB, "order": 2},
]


@dataclass(frozen=True)
class Post:
    """A site whose mails leave, and the server that takes them."""

    site: JourneySite
    server: Server
    clock: FakeClock

    async def to(self, address: str) -> list[EmailMessage]:
        """What arrived at an address after the due mails have left, oldest first."""
        await self.site.work("mail")
        pairs = zip(self.server.envelopes, self.server.messages, strict=True)
        return [message for envelope, message in pairs if envelope.rcpt_tos == [address]]

    async def newest(self, address: str) -> EmailMessage:
        return (await self.to(address))[-1]

    async def person(self, address: str) -> Person:
        """Whoever opens the newest link that arrived there."""
        link = next(link for message in reversed(await self.to(address)) if (link := link_in(message)))
        return Person(self.site.session, link)

    async def delivery(self, document: str, number: int = 0) -> Any:
        return (await self.site.api.get(document))["recipients"][number]["delivery"]

    def without_server(self) -> JourneySite:
        """The same site while nothing listens where the mail server was."""
        gone = SmtpServer("127.0.0.1", reserve_port(), "none")
        return replace(self.site, runtime=replace(self.site.runtime, mail=gone))


@pytest.fixture
async def post(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Post]:
    async with serving() as server:
        mail = {"host": "127.0.0.1", "port": server.port, "security": "none", "from": f"Fernhill <{SENDER}>"}
        organisation = {"name": "Fernhill Gardens", "reply_to": OFFICE}
        async with a_site(tmp_path / "data", clock, mail=mail, organisation=organisation) as site:
            yield Post(site, server, clock)


def assert_well_formed(message: EmailMessage, to: str) -> None:
    """Text and HTML with the same words, one sender, one reader, an id."""
    assert message.get_content_type() in ("multipart/alternative", "multipart/mixed")
    assert message["To"].addresses[0].addr_spec == to and len(message["To"].addresses) == 1
    assert (message["From"].addresses[0].addr_spec, message["From"].addresses[0].display_name) == (
        SENDER,
        "Fernhill Gardens",
    )
    assert message["Reply-To"].addresses[0].addr_spec == OFFICE
    assert message["Message-ID"] and message["Date"]
    assert part(message, "plain").strip()
    assert part(message, "html").lstrip().lower().startswith("<!doctype html>")
    assert not message.defects


# ---------- each letter ----------


async def test_the_invitation_arrives_with_a_link_that_opens_the_page(post: Post) -> None:
    document = await post.site.api.send_document(title="Lease", message="Dear Ada,\nplease look at page 1.")
    message = await post.newest(ADA)
    assert_well_formed(message, ADA)
    assert message["Subject"] == "Please sign: Lease"
    assert "please look at page 1." in part(message, "plain")
    link = link_in(message)
    assert link is not None and link in part(message, "html")
    assert await (await post.person(ADA)).state() == "open"
    assert (await post.delivery(document))["status"] == "accepted"


async def test_a_subject_of_the_callers_stands_over_the_invitation(post: Post) -> None:
    await post.site.api.send_document(subject="Für Sie: der Vertrag ✍")
    assert (await post.newest(ADA))["Subject"] == "Für Sie: der Vertrag ✍"


async def test_only_the_first_group_is_invited_and_the_next_when_it_is_done(post: Post) -> None:
    await post.site.api.send_document(recipients=BOTH)
    assert len(await post.to(ADA)) == 1
    assert await post.to(BOB) == []
    await (await post.person(ADA)).sign()
    assert [m["Subject"] for m in await post.to(BOB)] == ["Please sign: agreement"]


async def test_a_reminder_arrives_with_a_link_of_its_own(post: Post) -> None:
    await post.site.api.send_document(title="Lease")
    first = await post.person(ADA)
    post.clock.advance(days=3)
    await remind.tick(post.site.runtime)
    message = await post.newest(ADA)
    assert_well_formed(message, ADA)
    assert message["Subject"] == "Still waiting for your signature: Lease"
    second = await post.person(ADA)
    assert second.link != first.link
    assert [await person.state() for person in (first, second)] == ["open", "open"]


async def test_the_sealed_file_is_attached_for_everybody_and_linked_for_signers(post: Post) -> None:
    document = await post.site.api.send_document(
        recipients=BOTH, title="Lease", fileName="Mietvertrag Süd.pdf"
    )
    for address in (ADA, BOB):
        await (await post.person(address)).sign()
    await post.site.work("seal")
    sealed = await post.site.api.file(document)
    for address in (ADA, BOB, OFFICE):
        message = await post.newest(address)
        assert_well_formed(message, address)
        assert message["Subject"] == "Everyone has signed: Lease"
        [attached] = message.iter_attachments()
        assert attached.get_content_type() == "application/pdf"
        assert attached.get_filename() == "Mietvertrag Süd-sealed.pdf"
        assert attached.get_content() == sealed
    person = await post.person(BOB)
    assert await person.state() == "completed"
    async with post.site.session.get(f"{person.link}/sealed.pdf") as answer:
        assert await answer.read() == sealed


async def test_a_sealed_file_above_5_mib_comes_as_a_link(post: Post) -> None:
    document = await post.site.api.send_document(file=base64.b64encode(a_heavy_pdf()).decode())
    await (await post.person(ADA)).sign()
    await post.site.work("seal")
    message = await post.newest(ADA)
    assert message["Subject"] == "Signed by Ada Lovelace: agreement"
    assert list(message.iter_attachments()) == []
    async with post.site.session.get(f"{link_in(message)}/sealed.pdf") as answer:
        assert await answer.read() == await post.site.api.file(document)


def a_heavy_pdf() -> bytes:
    """A page with a picture of noise, 6 MiB that nothing can compress."""
    target = BytesIO()
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page(page_size=(595, 842))
        noise = pdf.make_stream(
            secrets.token_bytes(2048 * 1024 * 3),
            Type=pikepdf.Name.XObject,
            Subtype=pikepdf.Name.Image,
            Width=2048,
            Height=1024,
            ColorSpace=pikepdf.Name.DeviceRGB,
            BitsPerComponent=8,
        )
        page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Noise=noise))
        page.Contents = pdf.make_stream(b"q 500 0 0 250 40 500 cm /Noise Do Q")
        pdf.save(target)
    return target.getvalue()


async def test_a_refusal_reaches_the_sender_and_everybody_who_was_asked(post: Post) -> None:
    await post.site.api.send_document(recipients=BOTH, title="Lease")
    await (await post.person(ADA)).sign()
    await (await post.person(BOB)).decline("The rent is wrong.")
    for address in (ADA, BOB, OFFICE):
        message = await post.newest(address)
        assert_well_formed(message, address)
        assert message["Subject"] == "Declined: Lease"
    assert "The rent is wrong." in part(await post.newest(OFFICE), "plain")


async def test_whoever_was_never_asked_is_not_told_of_a_refusal(post: Post) -> None:
    await post.site.api.send_document(recipients=BOTH)
    await (await post.person(ADA)).decline()
    assert await post.to(BOB) == []


async def test_an_expired_document_is_told_to_its_sender_alone(post: Post) -> None:
    await post.site.api.send_document(title="Lease", expiresInDays=1)
    await post.to(ADA)
    post.clock.advance(days=1)
    await expire.tick(post.site.runtime)
    message = await post.newest(OFFICE)
    assert_well_formed(message, OFFICE)
    assert message["Subject"] == "Expired: Lease"
    assert len(await post.to(ADA)) == 1


async def test_who_comes_too_late_may_ask_the_sender_for_a_new_link_once_an_hour(post: Post) -> None:
    document = await post.site.api.send_document(title="Lease", expiresInDays=1)
    ada = await post.person(ADA)
    assert (await ada.post("renewal", {})).status == 409, "it has not expired"
    post.clock.advance(days=1)
    await expire.tick(post.site.runtime)
    before = len(await post.to(OFFICE))
    for _ in range(3):
        answer = await ada.post("renewal", {})
        assert (answer.status, answer.body) == (200, {"state": "expired-asked"})
    *_, message = letters = (await post.to(OFFICE))[before:]
    assert len(letters) == 1
    assert_well_formed(message, OFFICE)
    assert message["Subject"] == "New link requested: Lease"
    for words in ("Ada Lovelace is asking for a new link", ADA, "An expired document stays closed."):
        assert words in part(message, "plain") and words in part(message, "html")
    assert link_in(message) is None
    post.clock.advance(hours=1)
    assert await ada.state() == "expired"
    assert (await ada.post("renewal", {})).status == 200
    assert len(await post.to(OFFICE)) == before + 2
    assert (await post.site.api.trail(document)).count("recipient.link_requested") == 2
    assert len(await post.to(ADA)) == 1


async def test_the_owner_is_asked_where_a_program_sent_the_document_and_nobody_else_can_be(
    clock: FakeClock, tmp_path: Path
) -> None:
    async with serving() as server:
        mail = {"host": "127.0.0.1", "port": server.port, "security": "none", "from": SENDER}
        async with a_site(tmp_path / "data", clock, mail=mail, organisation={"name": "Fernhill"}) as site:
            post, olga = Post(site, server, clock), "olga@fernhill.example"
            document = await site.api.send_document(title="Lease", expiresInDays=1)
            [invitation] = await post.to(ADA)
            assert invitation["Reply-To"] is None
            organisation = (await site.api.ok("GET", "/account"))["organisation"]["id"]
            for id, address, status, at in (
                ("mem_2", "late@fernhill.example", MemberStatus.ACTIVE, clock.now() + 1),
                ("mem_1", olga, MemberStatus.ACTIVE, clock.now()),
                ("mem_0", "asked@fernhill.example", MemberStatus.INVITED, clock.now() - 1),
            ):
                owner = Member(id, organisation, address, "Olga", MemberRole.OWNER, status, at)
                await site.runtime.db.write(partial(members.add, member=owner))
            clock.advance(days=1)
            await expire.tick(site.runtime)
            assert [found for found in await post.to(olga) if "Lease" in found["Subject"]] == []
            ada = await post.person(ADA)
            page = (await ada.open()).content.decode()
            assert f'href="mailto:{olga}"' in page and "Write to Fernhill" in page and "Olga" not in page
            assert (await ada.post("renewal", {})).status == 200
            letter = await post.newest(olga)
            assert letter["Subject"] == "New link requested: Lease"
            assert await site.api.status(document) == "expired"
            await site.api.send_document(title="Lease again")
            assert (await post.to(ADA))[-1]["Reply-To"].addresses[0].addr_spec == olga


async def test_an_invitation_that_came_too_late_is_not_sent_any_more(post: Post) -> None:
    document = await post.site.api.send_document(recipients=[{**BOTH[0]}, {**BOTH[1], "order": 1}])
    await post.site.work("mail")
    ada = await post.person(ADA)
    await ada.decline()
    post.server.envelopes.clear()
    assert await post.to(BOB) != [], "Bob is told of the refusal"
    assert await post.site.api.status(document) == "declined"


# ---------- a server that fails ----------


async def test_nothing_is_lost_while_the_mail_server_is_down(post: Post) -> None:
    document = await post.site.api.send_document()
    down = post.without_server()
    for _ in range(8):
        assert await down.work("mail") == 1, "one attempt when it is due"
        assert await down.work("mail") == 0, "and none before"
        assert (await post.delivery(document))["status"] == "queued"
        post.clock.advance(minutes=1)
    assert len(await post.to(ADA)) == 1
    assert (await post.delivery(document))["status"] == "accepted"
    assert await (await post.person(ADA)).state() == "open"


async def test_an_answer_of_4xx_is_tried_again(post: Post) -> None:
    post.server.says["data"] = "451 4.3.0 try again later"
    document = await post.site.api.send_document()
    assert await post.to(ADA) == []
    assert (await post.delivery(document))["status"] == "queued"
    del post.server.says["data"]
    post.clock.advance(minutes=1)
    assert len(await post.to(ADA)) == 1
    assert "recipient.delivery_failed" not in await post.site.api.trail(document)


async def test_an_answer_of_5xx_is_told_to_the_caller_and_ends_the_attempts(post: Post) -> None:
    post.server.says["rcpt"] = "550 5.1.1 no such mailbox"
    document = await post.site.api.send_document()
    await post.site.work("mail")
    told = await post.delivery(document)
    assert told["status"] == "failed"
    assert "no such mailbox" in told["error"]
    assert await post.site.api.status(document) == "sent"
    assert (await post.site.api.trail(document)).count("recipient.delivery_failed") == 1
    row = await post.site.runtime.db.one("SELECT type FROM event WHERE type = 'recipient.delivery_failed'")
    assert row is not None
    post.clock.advance(hours=2)
    assert await post.site.work("mail") == 0


async def test_the_operator_reads_why_a_mail_did_not_leave_but_nobodys_address(
    post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    document = await post.site.api.send_document()
    person = (await post.site.api.get(document))["recipients"][0]["id"]
    post.server.says["rcpt"] = f"450 4.2.0 <{ADA}>: greylisted"
    await post.site.work("mail")
    post.server.says["rcpt"] = f"550 5.1.1 <{ADA}> no such mailbox"
    post.clock.advance(minutes=1)
    await post.site.work("mail")
    said = [record.getMessage() for record in caplog.records if record.name == "esign.mail"]
    assert len(said) == 2 and all(person in line and ADA not in line for line in said)
    assert "was not taken: 450 4.2.0 <address> greylisted" in said[0]
    assert "is given up: 550 5.1.1 <address> no such mailbox" in said[1]


async def test_a_reminder_may_reach_whom_the_invitation_did_not(post: Post) -> None:
    post.server.says["rcpt"] = "550 5.1.1 no such mailbox"
    document = await post.site.api.send_document()
    await post.site.work("mail")
    post.server.says.clear()
    post.clock.advance(days=3)
    await remind.tick(post.site.runtime)
    assert (await post.delivery(document))["status"] == "queued"
    await (await post.person(ADA)).sign()
    assert (await post.delivery(document))["status"] == "accepted"


async def test_wrong_credentials_for_the_mail_server_lose_nothing(post: Post) -> None:
    post.server.says["mail"] = "530 5.7.0 authentication required"
    document = await post.site.api.send_document()
    await post.site.work("mail")
    assert (await post.delivery(document))["status"] == "queued"
    post.server.says.clear()
    post.clock.advance(minutes=15)
    assert len(await post.to(ADA)) == 1


async def test_an_unforeseen_failure_is_tried_again(post: Post) -> None:
    document = await post.site.api.send_document()

    class Broken:
        async def send(self, message: EmailMessage, lane: str = "") -> Any:
            raise RuntimeError("nobody thought of this")

    await worker.drain_jobs(replace(post.site.runtime, mail=Broken()), "mail")
    assert (await post.delivery(document))["status"] == "queued"
    post.clock.advance(minutes=1)
    assert len(await post.to(ADA)) == 1


# ---------- header injection ----------


INJECTIONS = [
    "Bob\r\nBcc: evil@example.test",
    "Bob\nBcc: evil@example.test",
    "Bob\rBcc: evil@example.test",
    "Bob\u2028Bcc: evil@example.test",
    "Bob\u0085Bcc: evil@example.test",
    "Bob\x00",
]


@pytest.mark.parametrize("text", INJECTIONS)
async def test_a_line_break_in_what_goes_into_a_header_is_refused(post: Post, text: str) -> None:
    for changes in (
        {"recipients": [{"name": text, "email": BOB}]},
        {"title": text},
        {"subject": text},
        {"fileName": f"{text}.pdf"},
    ):
        answer = await post.site.api.call("POST", "/documents", a_request(**changes))
        assert (answer.status, answer.code) == (400, "invalid_request"), changes


@pytest.mark.parametrize(
    "text",
    [
        "=?utf-8?q?Bob=0D=0ABcc:_evil=40example.test?=",
        '"Bob" <evil@example.test>, x',
        "Bob, evil@example.test",
        "Bob (comment) <evil@example.test>",
        "Bob\\",
        "éßń" * 60,
        "Ελένη 🌻",
        "a" * 200,
        "; charset=x; filename=evil.exe",
    ],
)
async def test_whatever_a_name_or_title_holds_it_stays_one_value_of_one_header(post: Post, text: str) -> None:
    recipients = [{"name": text, "email": BOB}]
    answer = await post.site.api.call("POST", "/documents", a_request(recipients=recipients, subject=text))
    assert answer.status == 201, answer.content
    await post.site.api.send(answer.body["id"])
    [message] = await post.to(BOB)
    arrived = octets(post.server.envelopes[-1])
    [address] = message["To"].addresses
    assert (address.addr_spec, shown_name(arrived)) == (BOB, text)
    assert message["Subject"] == text
    assert "Bcc" not in message
    assert post.server.envelopes[-1].rcpt_tos == [BOB]
    assert max(map(len, arrived.split(b"\r\n"))) <= 998


async def test_an_address_is_never_more_than_one(post: Post) -> None:
    for address in (
        "a@b.test,c@d.test",
        "a@b.test>,<c@d.test",
        "a@b.test\r\nRCPT TO:<c@d.test>",
        "a b@c.test",
    ):
        recipients = [{"name": "Bob", "email": address}]
        answer = await post.site.api.call("POST", "/documents", a_request(recipients=recipients))
        assert answer.status == 400, address


async def test_who_was_asked_by_mistake_is_told_that_it_is_over_and_not_whom_it_is_for_now(
    post: Post,
) -> None:
    document = await post.site.api.send_document(title="Lease", recipients=[{**BOTH[0], "locale": "de"}])
    ada = await post.person(ADA)
    recipient = (await post.site.api.get(document))["recipients"][0]["id"]
    path = f"/documents/{document}/recipients/{recipient}"
    await post.site.api.ok("PATCH", path, {"email": "countess@example.test", "name": "Grace Hopper"})
    message = await post.newest(ADA)
    assert_well_formed(message, ADA)
    assert message["Subject"] == "An eine andere Adresse umgeleitet: Lease"
    for kind in ("plain", "html"):
        text = part(message, kind)
        assert "Ada Lovelace" in text and "Grace" not in text and "countess" not in text
    assert link_in(message) is None and await ada.state() == "unknown"
    assert len(await post.to("countess@example.test")) == 1
    await post.site.api.ok("PATCH", path, {"name": "Grace B. Hopper"})
    assert len(await post.to("countess@example.test")) == 2, "another name is no other address"
    assert (await post.delivery(document))["status"] == "accepted"


async def test_who_is_asked_again_after_all_hears_of_no_end(post: Post) -> None:
    document = await post.site.api.send_document(recipients=BOTH[:1])
    await post.to(ADA)
    recipient = (await post.site.api.get(document))["recipients"][0]["id"]
    for address in ("countess@example.test", ADA):
        path = f"/documents/{document}/recipients/{recipient}"
        await post.site.api.ok("PATCH", path, {"email": address})
    assert [link_in(message) is not None for message in await post.to(ADA)] == [True, True]


async def test_a_reminder_tells_how_much_is_filled_in_already(post: Post) -> None:
    field = {"type": "text", "page": 1, "x": 10, "y": 10, "required": True}
    fields = [{**field, "label": "Town"}, {**field, "y": 20, "label": "Street"}]
    document = await post.site.api.send_document(recipients=[{**BOTH[0], "fields": fields}])
    ada = await post.person(ADA)
    first = (await post.site.api.get(document))["recipients"][0]["fields"][0]["id"]
    kept = {"since": 0, "values": {first: {"at": post.clock.now(), "value": "Harrowgate"}}}
    assert (await ada.post("draft", kept)).status == 200
    post.clock.advance(days=3)
    await remind.tick(post.site.runtime)
    text = part(await post.newest(ADA), "plain")
    assert "1 of 2 fields" in text and "is saved" in " ".join(text.split())


async def test_an_invitation_that_has_not_left_when_its_recipient_is_corrected_never_leaves(
    post: Post,
) -> None:
    document = await post.site.api.send_document(recipients=BOTH[:1])
    recipient = (await post.site.api.get(document))["recipients"][0]["id"]
    path = f"/documents/{document}/recipients/{recipient}"
    await post.site.api.ok("PATCH", path, {"email": "countess@example.test"})
    assert await post.to(ADA) == []
    assert len(await post.to("countess@example.test")) == 1
    assert (await post.delivery(document))["status"] == "accepted"
    assert await (await post.person("countess@example.test")).state() == "open"


async def test_a_code_refused_at_the_address_before_a_correction_is_no_trouble_of_the_new_one(
    post: Post,
) -> None:
    api, ada = post.site.api, {**BOTH[0], "authentication": "email_code"}
    document = await api.send_document(recipients=[ada])
    await (await post.person(ADA)).send_code()
    path = f"/documents/{document}/recipients/{(await api.get(document))['recipients'][0]['id']}"

    class RefusingRelay:
        async def send(self, message: EmailMessage, lane: str = "") -> Any:
            """Refuses it after somebody has seen the mistake."""
            await api.ok("PATCH", path, {"email": "countess@example.test"})
            raise PermanentFailure("550 no such user")

    mail = next(kind for kind in worker.KINDS if kind.name == "mail")
    [job] = await worker.claim_due(post.site.runtime, mail, 1)
    await worker.attempt(replace(post.site.runtime, mail=RefusingRelay()), mail, job)
    assert (await post.delivery(document))["status"] == "queued"
    assert len(await post.to("countess@example.test")) == 1


async def test_a_mail_that_is_kept_while_its_document_is_deleted_does_not_stay(site: JourneySite) -> None:
    document = await site.api.send_document(recipients=BOTH[:1])
    await site.work("mail")
    await site.api.ok("POST", f"/documents/{document}/cancel", {"reason": "nobody is to read this"})

    class Late:
        async def send(self, message: EmailMessage, lane: str = "") -> Any:
            await site.api.ok("DELETE", f"/documents/{document}")
            return await site.runtime.mail.send(message)

    assert await worker.drain_jobs(replace(site.runtime, mail=Late()), "mail") == 1
    assert await site.runtime.db.all("SELECT message_id FROM kept_mail") == []
