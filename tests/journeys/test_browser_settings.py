"""Address and mail server that are set while the program runs: in force at once, also for mails that wait."""

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from esign.actions.server import browser_settings
from esign.config import BrowserSettings
from esign.core.actor import Actor, Author, Origin
from esign.store.queue import mail_breaker
from esign.store.server import installation
from tests.fakes import FakeClock
from tests.journeys.api import Person, until
from tests.journeys.program import configuration, meanwhile
from tests.journeys.site import JourneySite, a_site
from tests.mail.server import PASSWORD, USER, Server, authenticate, serving

SMTP = {"host": "smtp.example.com", "from": "sign@example.com", "username": "u", "password": "hush-hush"}
ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}
OWNER = Author(Actor("member", "mem_1", "Maren", "maren@example.test"), Origin("192.0.2.7"))


def at(server: Server, **more: str | int) -> dict[str, str | int]:
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "from": "sign@fernhill.example",
        **more,
    }


@pytest.fixture
async def site(tmp_path: Path, clock: FakeClock) -> AsyncIterator[JourneySite]:
    async with a_site(tmp_path / "data", clock) as site:
        yield site


async def test_a_mail_server_takes_mails_from_the_moment_at_which_it_is_set(site: JourneySite) -> None:
    async with serving() as first, serving() as second:
        await browser_settings.save_mail(site.runtime, OWNER, at(first))
        await site.api.send_document(recipients=[ADA])
        await site.work("mail")
        await browser_settings.save_mail(site.runtime, OWNER, at(second))
        await site.api.send_document(recipients=[ADA])
        await site.work("mail")
        assert len(first.envelopes) == len(second.envelopes) == 1
        assert second.envelopes[0].mail_from == "sign@fernhill.example"
        assert first.open == 0, "its connection is closed"
        await browser_settings.save_mail(site.runtime, OWNER, {})
        await site.api.send_document(recipients=[ADA])
        await site.work("mail")
        assert len(second.envelopes) == 1 and (await site.person("ada@example.test")).link


async def test_a_mail_that_waited_for_another_server_leaves_by_the_new_one(
    site: JourneySite, clock: FakeClock
) -> None:
    async with serving(auth_require_tls=False, authenticator=authenticate) as server:
        await browser_settings.save_mail(
            site.runtime, OWNER, at(server, username=USER, password="wrong horse")
        )
        await site.api.send_document(recipients=[ADA])
        await site.work("mail")
        assert await mail_breaker.find_stop(site.runtime.db) is not None and not server.envelopes
        await browser_settings.save_mail(site.runtime, OWNER, at(server, username=USER, password=PASSWORD))
        assert await mail_breaker.find_stop(site.runtime.db) is None
        await site.work("mail")
        assert len(server.envelopes) == 1


async def test_a_mail_that_was_under_way_to_a_server_that_is_replaced_is_tried_again_at_once(
    site: JourneySite,
) -> None:
    async with serving() as server:
        async with serving() as hanging:
            hanging.of_domain["example.test"] = "hang"
            await browser_settings.save_mail(site.runtime, OWNER, at(hanging))
            await site.api.send_document(recipients=[ADA])
            working = asyncio.create_task(site.work("mail"))
            await until(lambda: find(hanging.asked), "mail under way")
            await browser_settings.save_mail(site.runtime, OWNER, at(server))
            assert hanging.open == 1, "the mail that is under way may still be taken"
        await working
        assert len(server.envelopes) == 1 and await mail_breaker.find_stop(site.runtime.db) is None


async def find(asked: list[str]) -> bool | None:
    return bool(asked) or None


async def test_everything_goes_by_the_address_that_was_set(site: JourneySite) -> None:
    before = site.runtime.config.server.base_url
    await site.api.send_document(recipients=[ADA])
    await site.work("mail")
    await browser_settings.save_address(site.runtime, OWNER, "https://sign.example.com")
    document = await site.api.send_document(recipients=[ADA])
    await site.work("mail")
    person = await site.person("ada@example.test")
    assert person.link.startswith("https://sign.example.com/s/")
    assert site.runtime.settings.chosen.earlier_url == before
    for host, status in (("sign.example.com", 200), ("127.0.0.1", 200), ("other.example.com", 400)):
        headers = {"Host": host}
        async with site.session.get(f"{site.base}/sign-in", headers=headers) as answer:
            assert answer.status == status, host
            assert "https" not in host and ("sign.example.com" in await answer.text()) is (status == 200)
    async with site.session.get(f"{site.base}/api") as answer:
        assert "https://sign.example.com/api/v1" in await answer.text()
    await Person(site.session, person.link.replace("https://sign.example.com", site.base)).sign()
    await site.work("seal")
    pages = PdfReader(BytesIO(await site.api.file(document))).pages
    assert "sign.example.com/verify" in pages[-1].extract_text()


async def test_webhooks_go_to_this_machine_only_while_the_address_is_of_it(site: JourneySite) -> None:
    hook = {"url": "https://127.0.0.1:8443/", "events": ["document.sent"]}
    await site.api.ok("POST", "/webhooks", hook)
    await browser_settings.save_address(site.runtime, OWNER, "https://sign.example.com")
    refused = await site.api.call("POST", "/webhooks", hook)
    assert refused.body["error"]["code"] == "invalid_webhook_url"


async def test_the_next_start_and_commands_beside_it_go_by_what_was_set(
    tmp_path: Path, clock: FakeClock
) -> None:
    file = configuration(tmp_path)
    async with a_site(tmp_path / "data", clock) as site:
        await browser_settings.save_address(site.runtime, OWNER, "https://sign.example.com")
        await browser_settings.save_mail(site.runtime, OWNER, SMTP)
        beside = await meanwhile("outbox", "--config", file)
        assert "emails are sent through smtp.example.com" in beside.err
        made = await meanwhile(
            *("users", "create", "--email", "ada@example.test", "--name", "Ada", "--config", file)
        )
        assert made.out.startswith("https://sign.example.com/invitation/")
    async with a_site(tmp_path / "data", clock) as site:
        config = site.runtime.config
        assert (config.server.base_url, config.mail.host) == ("https://sign.example.com", "smtp.example.com")
        assert config.mail.secret == "hush-hush"
    fixed = {"base_url": "https://fixed.example.com"}
    async with a_site(tmp_path / "data", clock, server=fixed) as site:
        assert site.runtime.config.server.base_url == "https://fixed.example.com"


async def test_what_no_longer_goes_together_is_left_out_at_the_start(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_site(tmp_path / "data", clock) as site:
        chosen = BrowserSettings(
            "http://sign.example.com", mail=SMTP
        )  # as a test environment may have stored it
        content = site.runtime.vault.encrypt(browser_settings.PURPOSE, chosen.encode())
        await site.runtime.db.write(lambda tx: installation.save(tx, installation.SETTINGS, content))
    async with a_site(tmp_path / "data", clock) as site:
        assert site.runtime.config.is_loopback and site.runtime.config.mail.host == "smtp.example.com"
    assert "not all that was set in the browser is used: the address must begin with https" in caplog.text


async def test_the_log_names_what_changed_and_the_password_is_nowhere(
    site: JourneySite, caplog: pytest.LogCaptureFixture
) -> None:
    await browser_settings.save_mail(site.runtime, OWNER, SMTP)
    await browser_settings.save_mail(site.runtime, OWNER, SMTP)
    [entry] = (await site.api.ok("GET", "/audit?type=server.changed"))["data"]
    assert entry["data"] == {
        "changes": {"mailServer": {"from": None, "to": "smtp.example.com"}},
        "passwordChanged": True,
    }
    assert entry["detail"] == {
        "changes": {
            "mailUsername": {"from": None, "to": "u"},
            "mailSender": {"from": None, "to": "sign@example.com"},
        }
    }
    assert entry["actor"]["email"] == "maren@example.test"
    stored = await installation.find(site.runtime.db, installation.SETTINGS)
    assert stored is not None and b"hush" not in stored and "hush" not in caplog.text
