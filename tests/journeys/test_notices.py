"""Notices to those who look after an organisation, on their way to a mail server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from esign.actions.mail import notices
from esign.actions.mail.notices import News
from esign.core.actor import Mode, Owner
from esign.core.people.user import User
from esign.store.engine.database import Transaction
from esign.store.people import users
from esign.system.entropy import make_id
from tests.fakes import FakeClock
from tests.journeys.letters import part
from tests.journeys.site import JourneySite, a_site
from tests.mail.server import Server, serving

OFFICE = "office@fernhill.example"
FACTS: dict[str, str | int] = {"webhook": "https://hook.example/in", "host": "hook.example", "days": 30}


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


@pytest.fixture
async def site(tmp_path: Path, clock: FakeClock, server: Server) -> AsyncIterator[JourneySite]:
    mail = {"host": "127.0.0.1", "port": server.port, "security": "none", "from": "sign@fernhill.example"}
    organisation = {"name": "Fernhill Gardens", "reply_to": OFFICE}
    async with a_site(tmp_path / "data", clock, mail=mail, organisation=organisation) as site:
        yield site


async def notify(site: JourneySite, key: str = "wh_1", mode: Mode = Mode.LIVE) -> None:
    row = await site.runtime.db.one("SELECT id FROM organisation")
    assert row is not None

    async def write(tx: Transaction) -> None:
        news = News("webhook_gone", key, FACTS)
        await notices.queue_for_administrators(site.runtime, tx, Owner(row["id"], mode), news)

    await site.runtime.db.write(write)
    await site.work("mail")


async def test_without_members_whoever_gets_the_answers_is_told(site: JourneySite, server: Server) -> None:
    await notify(site)
    [message] = server.messages
    assert message["To"].addresses[0].addr_spec == OFFICE
    assert message["Subject"] == "Webhook turned off: hook.example"
    assert "https://hook.example/in" in part(message, "plain")
    assert (await site.api.ok("GET", "/account/usage"))["data"][-1]["emails"] == 1


async def test_owners_and_admins_are_told_and_nobody_else(site: JourneySite, server: Server) -> None:
    await site.invite_owner("owner@example.test", "owner")
    for role in ("admin", "member", "viewer"):
        await site.api.ok("POST", "/members", {"email": f"{role}@example.test", "name": role, "role": role})
    await site.work("mail")  # their invitations
    server.envelopes.clear()
    await notify(site)
    assert sorted(envelope.rcpt_tos[0] for envelope in server.envelopes) == [
        "admin@example.test",
        "owner@example.test",
    ]
    assert len({str(message["Message-ID"]) for message in server.messages}) == 2
    for envelope, message in zip(server.envelopes, server.messages, strict=True):
        assert f"Hello {str(envelope.rcpt_tos[0]).partition('@')[0]}," in part(message, "plain")


async def test_each_is_told_in_the_language_of_their_account(site: JourneySite, server: Server) -> None:
    await site.invite_owner("ada@example.test", "Ada")
    await site.invite_owner("bo@example.test", "Bo")
    await site.work("mail")  # their invitations
    server.envelopes.clear()
    ada = User(make_id("usr", site.runtime.clock.now()), "Ada@example.test", "Ada", 0, locale="de")
    await site.runtime.db.write(lambda tx: users.add(tx, ada))
    await notify(site)
    told = {
        str(envelope.rcpt_tos[0]): str(message["Subject"])
        for envelope, message in zip(server.envelopes, server.messages, strict=True)
    }
    assert told["bo@example.test"] == "Webhook turned off: hook.example"
    assert told["ada@example.test"] == "Ein Webhook wurde ausgeschaltet: hook.example"


async def test_the_same_notice_leaves_once(site: JourneySite, server: Server) -> None:
    await notify(site)
    await notify(site)
    assert len(server.messages) == 1
    await notify(site, "wh_2")
    assert len(server.messages) == 2


async def test_a_notice_of_test_mode_says_so(site: JourneySite, server: Server) -> None:
    await notify(site, mode=Mode.TEST)
    assert server.messages[0]["Subject"].startswith("[TEST] ")


async def test_a_notice_waits_for_a_mail_server_that_is_busy(
    site: JourneySite, server: Server, clock: FakeClock
) -> None:
    server.says["rcpt"] = "451 later"
    await notify(site)
    assert server.messages == []
    server.says.clear()
    clock.advance(minutes=1)
    await site.work("mail")
    assert [envelope.rcpt_tos for envelope in server.envelopes] == [[OFFICE]]


async def test_a_notice_that_is_refused_is_given_up(
    site: JourneySite, server: Server, clock: FakeClock
) -> None:
    server.says["rcpt"] = "550 nobody here"
    await notify(site)
    clock.advance(days=3)
    assert await site.work("mail") == 0
