import pytest

from esign.config import Limits
from esign.core.apikey import Scope
from esign.core.document import Mode
from esign.web.api.account import present_limits
from tests.api.site import Site, a_config, running

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
    config = a_config(tmp_path_factory.mktemp("limits"), file_mib=1, body_mib=3, creates_per_minute=7)
    async with running(config) as site:
        limits = (await site.ok("GET", "/account"))["limits"]
    assert (limits["fileBytes"], limits["bodyBytes"], limits["createsPerMinute"]) == (2**20, 3 * 2**20, 7)


async def test_every_limit_of_the_settings_is_shown() -> None:
    shown = {name.replace("_bytes", "_mib") for name in present_limits(Limits()).model_dump()}
    assert Limits.model_fields.keys() <= shown
