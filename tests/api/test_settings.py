from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from esign.actions.base.caller import Caller
from esign.actions.mail import embedded_outbox
from esign.actions.people import settings
from esign.config.tables import ServerSettings
from esign.core.actor import PROGRAM, Mode, Owner
from esign.core.instant import DAY, rfc3339
from esign.core.people.api_key import Scope
from tests.api.site import Site, a_config, running
from tests.journeys.api import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEFAULTS = {
    "organisationName": "Northlight",
    "replyTo": "office@northlight.example",
    "defaultLocale": "en",
    "timeZone": "UTC",
    "defaultExpiresInDays": 30,
    "defaultReminders": {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 5},
    "brandColour": "#3d4657",
    "retainCompletedDays": None,
    "deleteClosedAfterDays": None,
    "maxKeyLifetimeDays": None,
    "embedOrigins": [],
}


@pytest_asyncio.fixture(loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """An installation of its own for each test: settings are everybody's."""
    async with running(a_config(tmp_path_factory.mktemp("site"))) as site:
        yield site


async def test_settings_begin_as_the_installation_has_them_and_change_one_by_one(site: Site) -> None:
    assert await site.ok("GET", "/settings") == DEFAULTS
    changed = {
        "organisationName": "Südlicht",
        "replyTo": "new@northlight.example",
        "timeZone": "Europe/Berlin",
        "defaultExpiresInDays": 14,
        "brandColour": "#AA00ff",
        "retainCompletedDays": 3650,
        "deleteClosedAfterDays": 90,
        "maxKeyLifetimeDays": 365,
        "embedOrigins": ["https://app.example.com", "http://localhost:3000"],
    }
    for name, value in changed.items():
        assert (await site.ok("PATCH", "/settings", {name: value}))[name] == value
    assert await site.ok("GET", "/settings") == {**DEFAULTS, **changed}
    cleared = dict.fromkeys(changed.keys() - {"organisationName"})
    back = {**DEFAULTS, "organisationName": "Südlicht", "replyTo": None}
    assert await site.ok("PATCH", "/settings", cleared) == back
    assert await site.ok("PATCH", "/settings", {}) == back


async def test_reminders_are_replaced_as_a_whole(site: Site) -> None:
    await site.ok("PATCH", "/settings", {"defaultReminders": {"everyDays": 9, "max": 1}})
    found = await site.ok("PATCH", "/settings", {"defaultReminders": {"firstAfterDays": 1}})
    assert found["defaultReminders"] == {"enabled": True, "firstAfterDays": 1, "everyDays": 4, "max": 5}
    cleared = await site.ok("PATCH", "/settings", {"defaultReminders": None})
    assert cleared["defaultReminders"] == DEFAULTS["defaultReminders"]


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"organisationName": None}, "/organisationName", "type"),
    ({"organisationName": ""}, "/organisationName", "length"),
    (
        {"organisationName": "Acme 𒀭"},
        "/organisationName",
        "format",
    ),  # no font draws it on the certificate page
    ({"replyTo": "nobody"}, "/replyTo", "format"),
    ({"defaultLocale": "tlh"}, "/defaultLocale", "enum"),
    ({"timeZone": "Mars/Base"}, "/timeZone", "format"),
    ({"timeZone": "../UTC"}, "/timeZone", "format"),
    ({"defaultExpiresInDays": 366}, "/defaultExpiresInDays", "range"),
    ({"defaultExpiresInDays": "30"}, "/defaultExpiresInDays", "type"),
    ({"defaultReminders": {"max": 11}}, "/defaultReminders/max", "range"),
    ({"brandColour": "red"}, "/brandColour", "format"),
    ({"brandColour": "#ffffff;"}, "/brandColour", "format"),
    ({"retainCompletedDays": 0}, "/retainCompletedDays", "range"),
    ({"embedOrigins": "https://app.example.com"}, "/embedOrigins", "type"),
    ({"embedOrigins": [f"https://{n}.example.com" for n in range(21)]}, "/embedOrigins", "length"),
    ({"embedOrigins": ["https://a.example", "HTTPS://A.example:443/"]}, "/embedOrigins", "duplicate"),
    ({"embedOrigins": ["https://a.example", "http://a.example"]}, "/embedOrigins/1", "format"),
    ({"embedOrigins": ["https://*.example.com"]}, "/embedOrigins/0", "format"),
    ({"plan": "enterprise"}, "/plan", "unknown_member"),
]


async def test_what_does_not_fit_is_refused_at_its_member_and_changes_nothing(site: Site) -> None:
    for body, path, rule in REFUSED:
        answer = await site.ask("PATCH", "/settings", body)
        assert answer.places == {(path, rule)}, body
    assert await site.ok("GET", "/settings") == DEFAULTS


async def test_new_documents_take_the_defaults_of_the_organisation(site: Site) -> None:
    before = await site.create_draft()
    reminders = {"enabled": True, "firstAfterDays": 2, "everyDays": 7, "max": 9}
    await site.ok("PATCH", "/settings", {"defaultExpiresInDays": 7, "defaultReminders": reminders})
    after = await site.create_draft()
    assert (after["expiresInDays"], after["reminders"]) == (7, reminders)
    own = await site.create_draft(expiresInDays=3, reminders={"max": 1})
    assert (own["expiresInDays"], own["reminders"]) == (3, {**reminders, "max": 1})
    assert (await site.get(before["id"]))["expiresInDays"] == 30


async def test_letters_and_pages_show_the_organisation_as_it_is_now(site: Site) -> None:
    changes = {"organisationName": "Südlicht", "replyTo": "new@south.example", "brandColour": "#00aa11"}
    await site.ok("PATCH", "/settings", changes)
    signer = site.signer()
    await site.send_document(recipients=[signer])
    person = await site.person(signer["email"])

    async def letter() -> Any:
        [mail] = await embedded_outbox.list_mails(site.runtime.db, 9)
        return await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)

    message = await until(letter, "letter")
    assert message["Reply-To"].addresses[0].addr_spec == "new@south.example"
    assert message["From"].addresses[0].display_name == "Südlicht"
    async with site.session.get(person.link) as answer:
        page = await answer.text()
    assert "#00aa11" in page and "Südlicht" in page


async def test_a_change_is_replayed_under_its_key_and_needs_its_scope(site: Site) -> None:
    headers = {"Idempotency-Key": "settings-1"}
    answers = [await site.ask("PATCH", "/settings", {"replyTo": None}, headers=headers) for _ in range(2)]
    assert answers[0].content == answers[1].content and answers[0].body["replyTo"] is None
    assert answers[1].headers["idempotent-replayed"] == "true"
    reader = await site.new_key(Scope.ACCOUNT_READ)
    assert (await site.ask("GET", "/settings", key=reader)).status == 200
    assert (await site.ask("PATCH", "/settings", {}, key=reader)).code == "insufficient_scope"


async def test_new_keys_live_no_longer_than_the_organisation_allows(site: Site) -> None:
    await site.ok("PATCH", "/settings", {"maxKeyLifetimeDays": 90})
    for days in (None, 30, 365):
        await site.new_key(days=days)
    page, at = await site.ok("GET", "/api-keys"), site.clock.now()
    expiries = sorted(key["expiresAt"] or "" for key in page["data"])
    assert expiries == ["", *(rfc3339(at + days * DAY) for days in (30, 90, 90))]


async def test_origins_are_kept_as_browsers_write_them(site: Site) -> None:
    given = ["HTTPS://App.Example.com:443/", "https://app.example.com:8443"]
    changed = await site.ok("PATCH", "/settings", {"embedOrigins": given})
    assert changed["embedOrigins"] == ["https://app.example.com", "https://app.example.com:8443"]
    assert (await site.ok("PATCH", "/settings", {"embedOrigins": None}))["embedOrigins"] == []


@pytest.mark.parametrize(("environment", "status"), [("production", 400), ("test", 401)])
async def test_plain_http_may_frame_only_where_nobody_signs_in_earnest_over_a_network(
    tmp_path: Path, environment: str, status: int
) -> None:
    config = a_config(tmp_path)
    server = {"base_url": "https://sign.example.com", "environment": environment, "port": config.server.port}
    async with running(config.model_copy(update={"server": ServerSettings.model_validate(server)})) as site:
        wanted = {"embedOrigins": ["https://app.example.com", "http://localhost:3000"]}
        if (
            environment == "test"
        ):  # no key of it changes settings, so they are changed as the web application does
            here = (await site.ok("GET", "/account"))["organisation"]["id"]
            changes = {"embed_origins": tuple(wanted["embedOrigins"])}
            caller = Caller(Owner(here, Mode.TEST), PROGRAM)
            changed = await settings.change(site.runtime, caller, changes)
            assert changed.organisation.embed_origins == changes["embed_origins"]
            assert (await site.ask("PATCH", "/settings", wanted)).code == "insufficient_scope"
            return
        answer = await site.ask("PATCH", "/settings", wanted)
    assert answer.status == status
    if status == 400:
        assert answer.places == {("/embedOrigins/1", "format")}
