from typing import Any

import pytest

from esign.actions.mail import embedded_outbox
from esign.config import LimitSettings
from esign.core.actor import Mode
from esign.core.people.api_key import Scope
from esign.jobs import prune
from esign.web.api.account import present_limits
from tests.api.site import Site, a_config, running
from tests.journeys.api import until
from tests.journeys.letters import part

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_any_key_sees_its_organisation_its_mode_itself_and_its_limits(site: Site) -> None:
    key = await site.new_key(Scope.TEMPLATES_READ, mode=Mode.TEST)
    account = await site.ok("GET", "/account", key=key)
    assert account["mode"] == account["key"]["mode"] == "test"
    assert account["organisation"]["name"] == "Northlight" and account["organisation"]["plan"] == "business"
    assert account["organisation"]["id"].startswith("org_")
    assert account["key"]["scopes"] == ["templates:read"] and "secret" not in account["key"]
    assert (account["limits"]["apiKeys"], account["limits"]["createsPerMinute"]) == (500, None)


async def test_the_limits_are_those_of_the_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    config = a_config(
        tmp_path_factory.mktemp("limits"),
        **{"file_mib": 1, "body_mib": 3, "creates_per_minute": 7},
        **{"event_days": 10, "link_days": 12, "attachment_mib": 0},
    )
    async with running(config) as site:
        limits = (await site.ok("GET", "/account"))["limits"]
    assert (limits["fileBytes"], limits["bodyBytes"], limits["createsPerMinute"]) == (2**20, 3 * 2**20, 7)
    assert (limits["eventDays"], limits["linkDays"], limits["attachmentBytes"]) == (10, 12, 0)


@pytest.mark.slow
async def test_what_is_kept_read_and_attached_follows_the_settings(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    config = a_config(tmp_path_factory.mktemp("kept"), event_days=10, link_days=12, attachment_mib=0)
    async with running(config) as site:
        signer = site.signer()
        document = await site.send_document(recipients=[signer])
        await (await site.person(signer["email"])).sign()
        await site.wait_until_sealed(document["id"])

        async def letter() -> Any:
            for mail in await embedded_outbox.list_mails(site.runtime.db, 9):
                if mail.subject.startswith("Signed by ") and signer["email"] in mail.recipient:
                    return await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
            return None

        mail = await until(letter, "letter")
        assert list(mail.iter_attachments()) == [] and "3 December 2026" in part(mail, "plain")
        person = await site.person(signer["email"])
        site.clock.advance(days=12, milliseconds=-1)
        assert await person.state() == "completed"
        await prune.tick(site.runtime)
        assert await site.runtime.db.all("SELECT 1 FROM event") == []
        site.clock.advance(milliseconds=1)
        assert await person.state() == "unknown"


async def test_every_limit_of_the_settings_is_shown() -> None:
    shown = {name.replace("_bytes", "_mib") for name in present_limits(LimitSettings()).model_dump()}
    assert LimitSettings.model_fields.keys() <= shown
