"""A mail server that an owner sets in the browser while the program works: what waited or was kept leaves by itself."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from esign.system.clock import SystemClock
from tests.journeys.api import Person, until
from tests.journeys.letters import link_in
from tests.journeys.site import a_site
from tests.mail.server import PASSWORD, USER, Server, authenticate, serving
from tests.web.office.visitor import Office, Visitor

HERE = "/server/mail"
ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    clock = SystemClock()
    async with (
        a_site(tmp_path / "data", clock, working=True) as site,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as browser,
    ):
        yield Office(site, clock, browser)  # type: ignore[arg-type]  # it only tells the time


def typed(server: Server, password: str) -> dict[str, str]:
    login = {"username": USER, "secret-password": password}
    return {
        "host": "127.0.0.1",
        "port": str(server.port),
        "security": "none",
        "from": "a@example.com",
        **login,
    }


async def save(owner: Visitor, fields: dict[str, str]) -> None:
    await owner.get(HERE)
    page = await owner.post(HERE, fields)
    assert page.to == f"{HERE}?done=mail-server", page.said


async def test_an_invitation_that_was_kept_leaves_once_there_is_a_mail_server(office: Office) -> None:
    owner = await office.signed_in("Maren")
    document = await office.site.api.send_document(recipients=[ADA])

    async def kept() -> bool | None:
        return '"kept"' in json.dumps(await office.site.api.get(document)) or None

    await until(kept, "kept invitation")
    assert "weren’t emailed" not in (await owner.get("/settings/outbox")).said
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        await save(owner, typed(server, PASSWORD))
        page = await owner.get(HERE)
        assert "1 invitation wasn’t emailed" in page.said
        assert (await owner.post("/settings/outbox/mail-kept")).to == (
            "/settings/outbox?done=kept-mailed&number=1"
        )
        await until(lambda: find_first(server), "mailed invitation")
        link = link_in(server.messages[0])
        assert link is not None
        await Person(office.site.session, link).sign()
        assert "wasn’t emailed" not in (await owner.get("/settings/outbox")).said
    types = await office.site.api.trail(document)
    assert types.count("recipient.sent") == 2 and "recipient.completed" in types


async def test_an_invitation_that_waits_for_a_login_leaves_when_the_password_is_put_right(
    office: Office,
) -> None:
    owner = await office.signed_in("Maren")
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        await save(owner, typed(server, "wrong"))
        await office.site.api.send_document(recipients=[ADA])

        async def stopped() -> bool | None:
            said = (await owner.get("/documents")).said
            return "rejects the user name or password" in said or None

        await until(stopped, "banner about the login")
        page = await owner.post(f"{HERE}/test", typed(server, "wrong"))
        assert "It replied: 535 5.7.8 Authentication credentials invalid" in page.said
        async with office.site.session.get(f"{office.site.base}/readyz") as answer:
            assert "user name or password" in await answer.text()
        await save(owner, typed(server, PASSWORD))
        await until(lambda: find_first(server), "mailed invitation")
        assert "Emails aren’t going out." not in (await owner.get("/documents")).said
        async with office.site.session.get(f"{office.site.base}/readyz") as answer:
            assert answer.status == 200


async def find_first(server: Server) -> bool | None:
    return bool(server.messages) or None
