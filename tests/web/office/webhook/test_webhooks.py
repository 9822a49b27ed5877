"""Those who have other programs told, and look at what came of it."""

import base64
import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from esign.core.instant import HOUR, rfc3339
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH
from esign.core.webhook.delivery import OFF_AFTER
from esign.jobs import deliver_webhooks
from tests.journeys.receiver import Delivered, Receiver, receiving
from tests.web.office.visitor import Office, Page, Visitor

HERE = "/settings/webhooks"
NEW = f"{HERE}/new"
HOSTILE = "<script>alert(1)</script> \u202eevil " + "w" * 60


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


def secret_on(page: Page) -> str:
    found = re.findall(r'<code id="secret">(whsec_[^<]+)</code>', page.text)
    assert len(found) == 1, page.said
    return str(found[0])


async def make(visitor: Visitor, url: str, **changes: str) -> Page:
    await visitor.get(NEW)
    return await visitor.post(NEW, {"url": url, "description": "", "events": "all"} | changes)


async def the_only(office: Office) -> dict[str, Any]:
    [found] = (await office.site.api.ok("GET", "/webhooks"))["data"]
    return dict(found)


def genuine(delivered: Delivered, secret: str) -> bool:
    """As the receiver's own library checks it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{delivered.id}.{delivered.headers['webhook-timestamp']}.".encode() + delivered.body
    mac = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return mac in delivered.headers["webhook-signature"].split()


async def deliver(office: Office) -> None:
    """Everything that is due now is attempted."""
    await deliver_webhooks.drain(office.runtime)


async def test_a_webhook_is_made_tested_changed_switched_and_deleted(
    office: Office, receiver: Receiver
) -> None:
    ada = await office.signed_in("Ada")
    made = await make(ada, receiver.url, description="Portal", events="completed")
    assert made.status == 200 and made.headers["Cache-Control"] == "no-store"
    secret, hook = secret_on(made), await the_only(office)
    assert (hook["url"], hook["events"], hook["description"]) == (
        receiver.url,
        ["document.completed"],
        "Portal",
    )
    at = f"{HERE}/{hook['id']}"
    assert secret not in (await ada.get(at)).text
    tested = await ada.post(f"{at}/test")
    assert tested.to.endswith("?done=delivered") and receiver.types() == ["webhook.test"]
    assert genuine(receiver.came[0], secret)
    seen = await ada.get(tested.to)
    assert "204 · Accepted" in seen.said and receiver.came[0].id in seen.said
    assert "Working" in (await ada.get(HERE)).said
    form = await ada.get(f"{at}/edit")
    assert form.value("url") == receiver.url and re.search(r'value="completed" checked', form.text)
    some = {
        "url": receiver.url,
        "description": " ",
        "events": "some",
        "event-recipient.viewed": "on",
        "event-document.sent": "on",
    }
    assert (await ada.post(f"{at}/edit", some)).to == f"{at}?done=webhook-saved"
    hook = await the_only(office)
    assert (hook["events"], hook["description"]) == (["document.sent", "recipient.viewed"], None)
    assert (await ada.post(f"{at}/off")).to == f"{at}?done=webhook-off"
    off = await ada.get(at)
    assert "Turned off by hand on" in off.said and "Send test event" not in off.said[:800]
    assert (await ada.post(f"{at}/test")).status == 409
    assert (await ada.post(f"{at}/on")).to == f"{at}?done=webhook-on"
    assert (await the_only(office))["enabled"] is True
    assert (await ada.get(f"{at}/delete")).title == "Delete webhook?"
    assert (await ada.post(f"{at}/delete")).to == f"{HERE}?done=webhook-deleted"
    assert (await office.site.api.ok("GET", "/webhooks"))["data"] == []
    assert "No webhooks yet" in (await ada.get(HERE)).said


SEEN = ("seen-url", "seen-description", "seen-names")


async def test_two_people_who_edit_a_webhook_lose_nothing(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url, events="completed")
    at = f"{HERE}/{(await the_only(office))['id']}"
    page = await ada.get(f"{at}/edit")
    form = {name: page.value(name) for name in SEEN} | {
        "url": receiver.url,
        "description": "",
        "events": "all",
    }
    await office.site.api.ok("PATCH", at.replace("/settings", ""), {"description": "Theirs"})
    assert (await ada.post(f"{at}/edit", form)).to.endswith("webhook-saved")
    hook = await the_only(office)
    assert (hook["description"], hook["events"]) == ("Theirs", ["*"]), "each changed something else"

    page = await ada.get(f"{at}/edit")
    form = {name: page.value(name) for name in SEEN} | {
        "url": receiver.url,
        "description": "Mine",
        "events": "all",
    }
    change = {"description": "Theirs again", "events": ["document.sent"]}
    await office.site.api.ok("PATCH", at.replace("/settings", ""), change)
    asked = await ada.post(f"{at}/edit", form)
    assert asked.status == 422 and "It is now: Theirs again." in asked.wrong()["description"]
    assert asked.value("description") == "Mine" and asked.value("seen-description") == "Theirs again"
    assert re.search(r'value="some" checked', asked.text), "what only the other changed is shown as it is now"
    assert re.findall(r'name="event-([\w.]+)" value="on" checked', asked.text) == ["document.sent"]
    form |= {name: asked.value(name) for name in SEEN} | {"events": "some", "event-document.sent": "on"}
    assert (await ada.post(f"{at}/edit", form)).to.endswith("webhook-saved")
    hook = await the_only(office)
    assert (hook["description"], hook["events"]) == ("Mine", ["document.sent"])


async def test_what_failed_is_seen_with_its_answer_and_delivered_again(
    office: Office, receiver: Receiver
) -> None:
    ada = await office.signed_in("Ada")
    secret, hook = secret_on(await make(ada, receiver.url)), await the_only(office)
    receiver.always(503, b"<b>Maintenance</b> until noon")
    document = await office.site.api.create(title="Lease <b>")
    await deliver(office)
    at = f"{HERE}/{hook['id']}"
    page = await ada.get(at)
    assert "Attempt 1 of 10 failed. Next attempt" in page.said and "Failing since" in page.said
    assert "has accepted nothing since" in page.said
    [link] = re.findall(rf'href="({at}/deliveries/[^"]+)"', page.text)
    seen = await ada.get(link)
    assert "503 · Not accepted" in seen.said and "<b>Maintenance" not in seen.text
    assert "Maintenance</b> until noon" in seen.said and document in seen.said and "Lease <b>" in seen.said
    assert (await ada.post(f"{link}/again")).to == f"{link}?done=delivery-failed"
    receiver.always(200, b"thanks")
    assert (await ada.post(f"{link}/again")).to == f"{link}?done=delivered"
    assert receiver.came[-1].id == receiver.came[0].id and genuine(receiver.came[-1], secret)
    seen = await ada.get(link)
    assert "Delivered at attempt 3" in seen.said and "thanks" in seen.said


async def test_deliveries_are_narrowed_and_paged(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url)
    at = f"{HERE}/{(await the_only(office))['id']}"
    for n in range(30):
        office.clock.advance(seconds=1)
        receiver.always(500 if n % 10 == 0 else 200)
        assert (await ada.post(f"{at}/test")).status == 303
    first = await ada.get(at)
    assert first.text.count("/deliveries/dlv_") == 25
    more = re.search(rf'href="({at}\?after=[^"]+)"', first.text)
    assert more
    second = await ada.get(more[1])
    assert second.text.count("/deliveries/dlv_") == 5 and "Newest" in second.said
    failed = await ada.get(f"{at}?status=failed")
    assert failed.text.count("/deliveries/dlv_") == 3
    assert "No such deliveries" in (await ada.get(f"{at}?status=pending")).said
    assert (await ada.get(f"{more[1]}&status=failed")).status == 400, "a place in another list"


async def test_missed_events_are_made_up_for(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url, events="some", **{"event-document.created": "on"})
    at = f"{HERE}/{(await the_only(office))['id']}"
    before = office.clock.now()
    await ada.post(f"{at}/off")
    for _ in range(2):
        await office.site.api.create()
    await ada.post(f"{at}/recover", since="2026-11-20T00:00")
    refused = await ada.post(f"{at}/recover", since="2026-11-20T00:00")
    assert refused.status == 422 and "This webhook is off." in refused.said
    await ada.post(f"{at}/on")
    assert receiver.came == []
    for wrong in ("", "yesterday", "2199-01-01T00:00", "2026-11-20T00:00Z"):
        assert (await ada.post(f"{at}/recover", since=wrong)).wrong().keys() == {"since"}
    since = rfc3339(before - HOUR)[:16]
    assert (await ada.post(f"{at}/recover", since=since)).to == f"{at}?queued=2"
    assert "2 events are being sent." in (await ada.get(f"{at}?queued=2")).said
    await deliver(office)
    assert receiver.types() == ["document.created"] * 2
    assert (await ada.post(f"{at}/recover", since=since)).to == f"{at}?queued=0"
    assert "Nothing was missed" in (await ada.get(f"{at}?queued=0")).said
    assert "being sent" not in (await ada.get(f"{at}?queued=%3Cb%3E")).said


async def test_a_new_secret_overlaps_the_one_before(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    old, hook = secret_on(await make(ada, receiver.url)), await the_only(office)
    at = f"{HERE}/{hook['id']}"
    page = await ada.get(f"{at}/secret")
    assert "both secrets sign" in page.said
    rotated = await ada.post(f"{at}/secret", grace="24")
    new = secret_on(rotated)
    assert new != old and "Until 22 Nov 2026, 00:00" in rotated.said
    await ada.post(f"{at}/test")
    assert genuine(receiver.came[-1], old) and genuine(receiver.came[-1], new)
    again = await ada.post(f"{at}/secret", grace="24")
    assert again.status == 422 and "Two secrets are already in use" in again.wrong()["grace"]
    third = secret_on(await ada.post(f"{at}/secret", grace="0"))
    await ada.post(f"{at}/test")
    assert genuine(receiver.came[-1], third) and not genuine(receiver.came[-1], new)
    assert (await ada.post(f"{at}/secret", grace="999")).wrong().keys() == {"grace"}


async def test_why_a_webhook_is_off_is_told(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url)
    at = f"{HERE}/{(await the_only(office))['id']}"
    receiver.always(410)
    await office.site.api.create()
    await deliver(office)
    assert "gone for good (410)" in (await ada.get(at)).said
    assert "Off since" in (await ada.get(HERE)).said


async def test_when_a_failing_webhook_is_switched_off_is_said_beforehand(
    office: Office, receiver: Receiver
) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url)
    receiver.always(500)
    await office.site.api.create()
    await deliver(office)
    page = await ada.get(f"{HERE}/{(await the_only(office))['id']}")
    day = rfc3339(office.clock.now() + OFF_AFTER)[8:10].lstrip("0")
    assert f"turned off on {day} Nov 2026" in page.said


async def test_what_is_wrong_stands_at_its_field(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await make(ada, "", description="d" * 201, events="some")
    assert page.status == 422 and page.wrong().keys() == {"url", "description", "events"}
    page = await make(ada, "http://example.com/hook", description="mine")
    assert "cannot receive webhooks" in page.wrong()["url"] and page.value("description") == "mine"
    assert (await make(ada, "https://10.0.0.1/")).wrong().keys() == {"url"}
    page = await make(ada, "https://x", events="some", **{"event-document.sent": "on", "description": "\x07"})
    assert page.wrong().keys() == {"description"}
    assert re.search(r'name="event-document.sent" value="on" checked', page.text)
    limit = office.runtime.config.limits.webhooks
    for _ in range(limit):
        await office.site.api.ok("POST", "/webhooks", {"url": "https://example.com/", "events": ["*"]})
    page = await make(ada, "https://example.com/")
    assert page.status == 422 and f"{limit} webhooks" in page.said


async def test_hostile_text_is_only_text(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    url = f"{receiver.url}?<script>alert(1)</script>"
    made = await make(ada, url, description=HOSTILE)
    at = f"{HERE}/{(await the_only(office))['id']}"
    tested = await ada.post(f"{at}/test")
    for path in (HERE, at, f"{at}/edit", f"{at}/secret", f"{at}/recover", f"{at}/delete", tested.to):
        page = await ada.get(path)
        assert page.status == 200 and "<script>alert" not in page.text
    assert "<script>alert" not in made.text


async def test_webhooks_of_the_other_mode_do_not_exist(office: Office, receiver: Receiver) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url)
    at = f"{HERE}/{(await the_only(office))['id']}"
    await ada.post("/mode", mode="test")
    assert "No webhooks yet" in (await ada.get(HERE)).said
    for path in ("", "/edit", "/secret", "/recover", "/delete"):
        assert (await ada.get(f"{at}{path}")).status == 404
    for path in ("/edit", "/on", "/off", "/test", "/secret", "/recover", "/delete", "/deliveries/x/again"):
        assert (await ada.post(f"{at}{path}")).status == 404
    assert (await the_only(office))["enabled"] is True


async def test_secrets_and_addresses_change_only_with_the_password_at_hand(
    office: Office, receiver: Receiver
) -> None:
    ada = await office.signed_in("Ada")
    await make(ada, receiver.url)
    before = await the_only(office)
    at = f"{HERE}/{before['id']}"
    await ada.get(at)
    office.clock.advance(milliseconds=FRESH)
    for path in (NEW, f"{at}/secret"):
        assert (await ada.get(path)).to.startswith("/confirm?next=")
    await ada.get(at)
    for path in (NEW, f"{at}/edit", f"{at}/secret", f"{at}/delete"):
        asked = await ada.post(path, url="https://example.com/other", events="all", grace="0")
        assert asked.title == "Confirm it’s you"
    assert await the_only(office) == before


@pytest.mark.parametrize("role", [MemberRole.MEMBER, MemberRole.VIEWER])
async def test_webhooks_are_for_those_who_look_after_the_organisation(
    office: Office, role: MemberRole
) -> None:
    await office.user("Ada")
    bo = await office.signed_in("Bo", role)
    assert (await bo.get(HERE)).status == 403
    assert (await bo.post(NEW, url="https://example.com/", events="all")).status == 403
