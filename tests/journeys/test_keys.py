"""API keys near their end: what administrators hear by mail, and what becomes of keys that nobody uses."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from esign.actions.people import accounts
from esign.actions.people.accounts import KeyWish
from esign.core.actor import Mode
from esign.core.instant import DAY
from esign.core.people.api_key import ApiKey, Scope
from esign.jobs import key_expiry
from tests.fakes import FakeClock, FakeMailbox
from tests.journeys.api import Api
from tests.journeys.letters import part
from tests.journeys.site import JourneySite, a_site

OFFICE = "office@fernhill.example"
EXPIRING, UNUSED = "An API key is about to expire", "An unused API key is about to be revoked"


@pytest.fixture
def revoke_unused() -> bool:
    return False


@pytest.fixture
def mailbox() -> FakeMailbox:
    return FakeMailbox()


@pytest.fixture
async def site(
    tmp_path: Path, clock: FakeClock, mailbox: FakeMailbox, revoke_unused: bool
) -> AsyncIterator[JourneySite]:
    organisation, wish = {"name": "Fernhill Gardens", "reply_to": OFFICE}, {"revoke_unused": revoke_unused}
    async with a_site(tmp_path / "data", clock, organisation=organisation, keys=wish) as site:
        yield replace(site, runtime=replace(site.runtime, mail=mailbox))


async def a_key(
    site: JourneySite, name: str, days: int | None = None, mode: Mode = Mode.LIVE
) -> tuple[ApiKey, Api]:
    installation = site.runtime.installation
    expires_at = None if days is None else installation.now + days * DAY
    wish = KeyWish(name, mode, frozenset({Scope.ALL}), expires_at)
    key, text = await accounts.create_key(installation, wish)
    return key, Api(site.session, site.base, text)


async def days_of_mails(site: JourneySite, clock: FakeClock, mailbox: FakeMailbox, days: int) -> list[int]:
    """On which of the next days a mail leaves."""
    found = []
    for day in range(1, days + 1):
        clock.advance(days=1)
        before = len(mailbox.messages)
        await key_expiry.tick(site.runtime)
        assert await key_expiry.tick(site.runtime) == 0
        await site.work("mail")
        found += [day] * (len(mailbox.messages) - before)
    return found


async def test_administrators_are_told_fourteen_and_three_days_before_a_key_expires(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    await a_key(site, "CRM", 30)
    await a_key(site, "short", 3)
    await a_key(site, "for ever")
    assert await days_of_mails(site, clock, mailbox, 40) == [16, 27]
    assert mailbox.subjects() == [f"{EXPIRING}: CRM"] * 2
    assert {message["To"].address for message in mailbox.messages} == {OFFICE}
    assert "21 December 2026, 00:00" in " ".join(part(mailbox.messages[0], "plain").split())


async def test_a_key_of_test_mode_is_spoken_of_as_one(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    _, testing = await a_key(site, "CI", 10, Mode.TEST)
    assert await days_of_mails(site, clock, mailbox, 7) == [7]
    assert mailbox.subjects() == [f"[TEST] {EXPIRING}: CI"]
    [mail] = (await testing.ok("GET", "/test/messages"))["data"]
    assert (mail["to"], mail["links"]) == (OFFICE, [])


@pytest.mark.parametrize(("stop", "told"), [(20, 2), (28, 1), (31, 0)])
async def test_after_a_stop_only_the_notice_that_fits_is_given(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox, stop: int, told: int
) -> None:
    await a_key(site, "CRM", 30)
    clock.advance(days=stop)
    await days_of_mails(site, clock, mailbox, 20)
    assert len(mailbox.messages) == told


async def test_of_a_revoked_key_nothing_is_said(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    _, api = await a_key(site, "gone", 30)
    await api.ok("DELETE", "/api-keys/current")
    assert await days_of_mails(site, clock, mailbox, 31) == []


async def test_unused_keys_stay_where_nothing_else_is_wished(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    _, api = await a_key(site, "forgotten")
    clock.advance(days=800)
    assert await days_of_mails(site, clock, mailbox, 20) == []
    assert (await api.call("GET", "/account")).status == 200


@pytest.mark.parametrize("revoke_unused", [True])
async def test_where_it_is_wished_an_unused_key_is_revoked_after_two_notices(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    clock.advance(days=1)
    _, api = await a_key(site, "forgotten")
    used = [await a_key(site, name) for name in ("used once", "used at last")]
    clock.advance(days=340)
    await used[0][1].ok("GET", "/account")
    await site.api.ok("GET", "/account")
    assert await days_of_mails(site, clock, mailbox, 24) == [11, 11, 22, 22]
    assert sorted(mailbox.subjects()) == [f"{UNUSED}: forgotten"] * 2 + [f"{UNUSED}: used at last"] * 2
    await used[1][1].ok("GET", "/account")  # between the second notice and the end
    await site.api.ok("GET", "/account")
    assert await days_of_mails(site, clock, mailbox, 3) == []
    refused = await api.call("GET", "/account")
    assert (refused.status, refused.code) == (401, "api_key_revoked")
    for _, kept in used:
        assert (await kept.call("GET", "/account")).status == 200


@pytest.mark.parametrize("revoke_unused", [True])
async def test_a_key_unused_for_years_is_spoken_of_twice_before_it_goes(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    _, api = await a_key(site, "forgotten")
    clock.advance(days=1000)
    await site.api.ok("GET", "/account")
    assert await days_of_mails(site, clock, mailbox, 14) == [1, 12]
    row = await site.runtime.db.one("SELECT revoked_at FROM api_key WHERE name = 'forgotten'")
    assert row is not None and row["revoked_at"] is None
    await days_of_mails(site, clock, mailbox, 1)
    assert (await api.call("GET", "/account")).code == "api_key_revoked"


@pytest.mark.parametrize("revoke_unused", [True])
async def test_where_nobody_can_be_told_no_key_is_revoked(
    site: JourneySite, clock: FakeClock, mailbox: FakeMailbox
) -> None:
    await site.api.ok("PATCH", "/settings", {"replyTo": None})
    _, api = await a_key(site, "forgotten")
    clock.advance(days=1000)
    assert await days_of_mails(site, clock, mailbox, 30) == []
    assert (await api.call("GET", "/account")).status == 200
