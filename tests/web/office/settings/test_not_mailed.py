"""What the pages say while no mail leaves: nothing is called sent or mailed that no mail server took."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from esign.core.language import LANGUAGES
from esign.core.people.member import MemberRole
from esign.store.queue import mail_breaker
from tests.mail.server import serving
from tests.ports import reserve_port
from tests.web.office.visitor import PASSWORD, Office, an_office

CLAIMS = re.compile(
    r"is on its way|are on their way|The document is sent|has been sent"
    r"|(?<!No link )was mailed|being e?mailed|keeps working"
    r"|comes by email|by email to everyone|we sent a code|we email|we send you an email",
    re.IGNORECASE,
)
ADA = {"name": "Ada Lovelace", "email": "lovelace@example.test"}


@asynccontextmanager
async def office_where(mail: str, folder: Path) -> AsyncIterator[Office]:
    """An office without a mail server (`unset`), with one that is away and was tried (`away`), or that works."""
    if mail == "unset":
        async with an_office(folder) as office:
            yield office
        return
    async with serving() as server:
        port = server.port if mail == "works" else reserve_port()
        table = {
            "host": "127.0.0.1",
            "port": port,
            "security": "none",
            "from": "Fernhill <sign@fernhill.example>",
        }
        async with an_office(folder, mail=table) as office:
            if mail == "away":
                await office.site.api.send_document()
                await office.site.work("mail")
                assert await mail_breaker.find_stop(office.site.runtime.db) is not None
            yield office


@pytest.mark.parametrize("mail", ["unset", "away"])
async def test_no_page_on_the_way_of_a_document_claims_a_mail(tmp_path: Path, mail: str) -> None:
    async with office_where(mail, tmp_path) as office:
        ada = await office.signed_in("Ada")
        draft = (await office.site.api.ok("POST", "/documents", a_draft()))["id"]
        at = f"/documents/{draft}"
        review = await ada.get(f"{at}/review")
        told = {"unset": "so nothing is emailed", "away": "Email isn’t being sent right now"}[mail]
        assert told in review.said and "Send without email" in review.said
        sent = await ada.post(f"{at}/send", revision=review.value("revision"))
        assert sent.to == f"{at}?done=sent"
        recipient = (await office.site.api.get(draft))["recipients"][0]["id"]
        for page in (
            await ada.get(f"{at}?done=sent"),
            await ada.get(f"{at}?done=reminded"),
            await ada.get(f"{at}?done=corrected"),
            await ada.get("/documents?done=documents-remind&number=2"),
            await ada.get(f"{at}/remind"),
            await ada.get(f"{at}/recipients/{recipient}/link"),
            await ada.get(f"{at}/recipients/{recipient}"),
            await ada.get("/members?done=invited"),
            await ada.get("/members?done=invited-again"),
            await ada.get("/settings/outbox"),
            await office.visitor().get("/forgot?sent=yes"),
        ):
            assert page.status == 200 and not CLAIMS.search(page.said), (page.title, page.said)
            if page.title in ("Outbox", "agreement"):
                assert page.said.count("No mail server is set") <= 1, (page.title, "said twice")
            if page.title == "Outbox":
                assert re.search("No mail server|Emails have been waiting", page.said)
            elif page.title.startswith("Send reminder"):  # its own note says it, once
                assert "This reminder won’t be emailed" in page.said
                assert "Emails aren’t going out." not in page.said
            elif "forgot" not in page.title and "mail" not in page.title.casefold():
                assert "Emails aren’t going out." in page.said, page.title
        shown = await ada.get(at)
        assert "Not emailed to Ada Lovelace" in shown.said
        first = re.search(r'class="btn primary" href="([^"]+)"', shown.text)
        assert first and first[1] == f"{at}/recipients/{recipient}/link", "the signing link comes first"


def a_draft() -> dict[str, Any]:
    from tests.journeys.api import a_request

    return a_request(recipients=[ADA])


async def test_where_mails_leave_sent_is_what_a_mail_server_took(tmp_path: Path) -> None:
    async with office_where("works", tmp_path) as office:
        ada = await office.signed_in("Ada")
        document = await office.site.api.send_document(recipients=[ADA])
        page = await ada.get(f"/documents/{document}?done=sent")
        assert "Sending" in page.said and "Not mailed" not in page.said
        await office.site.work("mail")
        page = await ada.get(f"/documents/{document}")
        assert re.search(r'<li class="on"><span class="m" aria-hidden="true"></span><span>Sent', page.text)
        assert "Waiting for Ada Lovelace" in page.said and "Not mailed" not in page.said


async def test_the_outbox_says_why_and_can_ask_the_mail_server_at_once(tmp_path: Path) -> None:
    async with office_where("away", tmp_path) as office:
        ada = await office.signed_in("Ada")
        page = await ada.get("/settings/outbox")
        assert (
            "Emails have been waiting since" in page.said
            and "The mail server accepts no emails:" in page.said
        )
        assert await office.site.work("mail") == 0
        assert (await ada.post("/settings/outbox/retry")).to == "/settings/outbox?done=mail-tried"
        assert await office.site.work("mail") == 1


@pytest.mark.parametrize("mail", ["unset", "away"])
async def test_an_invitation_that_is_not_mailed_is_given_by_its_link(tmp_path: Path, mail: str) -> None:
    async with office_where(mail, tmp_path) as office:
        ada = await office.signed_in("Ada")
        await ada.post(
            "/members", {"email": "bo@example.test", "name": "Bo", "role": "member", "csrf": ada.csrf}
        )
        await office.site.work("mail")
        bo = next(m for m in (await office.site.api.ok("GET", "/members"))["data"] if m["name"] == "Bo")
        page = await ada.get("/members")
        assert "Not emailed" in page.said and f"/members/{bo['id']}/link" in page.text
        shown = await ada.post(f"/members/{bo['id']}/link")
        found = re.search(r"http://[^\s\"<]+/invitation/[\w-]+", shown.text)
        assert shown.status == 200 and found
        visitor = office.visitor()
        path = found[0].partition(str(office.site.runtime.config.server.port))[2]
        assert (await visitor.get(path)).status == 200
        await visitor.post(path, {"name": "Bo", "password": PASSWORD, "again": PASSWORD})
        member = next(m for m in (await office.site.api.ok("GET", "/members"))["data"] if m["name"] == "Bo")
        assert member["status"] == "active"
        assert (await ada.post(f"/members/{bo['id']}/link")).status == 404, "whoever has joined needs none"


async def test_only_those_who_may_invite_get_the_link(tmp_path: Path) -> None:
    async with office_where("unset", tmp_path) as office:
        ada = await office.signed_in("Ada")
        for name, role in (("Bo", "member"), ("Olga", "owner")):
            given = {"email": f"{name}@example.test", "name": name, "role": role, "csrf": ada.csrf}
            await ada.post("/members", given)
        ids = {m["name"]: m["id"] for m in (await office.site.api.ok("GET", "/members"))["data"]}
        member = await office.signed_in("Mia", MemberRole.MEMBER)
        admin = await office.signed_in("Adam", MemberRole.ADMIN)
        assert (await member.post(f"/members/{ids['Bo']}/link")).status == 403
        assert (await admin.post(f"/members/{ids['Bo']}/link")).status == 200
        assert (await admin.post(f"/members/{ids['Olga']}/link")).status == 403


@pytest.mark.parametrize("mail", ["unset", "away"])
async def test_a_signing_page_promises_no_mail_in_any_language(tmp_path: Path, mail: str) -> None:
    async with office_where(mail, tmp_path) as office:
        api = office.site.api
        people = [
            ADA,
            {"name": "Bo", "email": "bo@example.test", "order": 2},
            {"name": "Cy", "email": "cy@example.test", "authentication": "email_code"},
        ]
        document = await api.send_document(recipients=people)
        links = {}
        for recipient in (await api.get(document))["recipients"]:
            if recipient["status"] == "sent":
                path = f"/documents/{document}/recipients/{recipient['id']}/link"
                links[recipient["name"]] = (await api.ok("POST", path, {}))["url"]
        from tests.journeys.api import Person

        ada, cy = (Person(office.site.session, links[name]) for name in ("Ada Lovelace", "Cy"))
        await ada.sign()
        assert (await cy.send_code()).status == 200
        for person in (ada, cy):
            text = (await person.open()).content.decode()
            assert not CLAIMS.search(re.sub(r"<[^>]+>", "", text)), text
            for tag in LANGUAGES:
                assert (await person.get(f"?lang={tag}")).status == 200


async def test_every_language_has_the_words_for_no_mail() -> None:
    from esign.web.signing.words import WordLibrary

    library = WordLibrary.load()
    english = library.choose("en").catalogue
    for tag in LANGUAGES:
        words = library.choose(tag)
        plain = words.without_mail()
        assert words.catalogue["nomail"].keys() == english["nomail"].keys()
        for key in english["nomail"]:
            assert plain.catalogue[key] != words.catalogue[key] or tag == "", (tag, key)
            wanted = set(re.findall(r"\{(\w+)\}", english["nomail"][key]))
            assert set(re.findall(r"\{(\w+)\}", plain.catalogue[key])) == wanted, (tag, key)
