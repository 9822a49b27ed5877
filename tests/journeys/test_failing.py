"""A webhook that takes nothing: who is told of it when, and when it is switched off (contract 5)."""

from email.message import EmailMessage
from typing import Any

import pytest

from esign.actions.mail import embedded_outbox
from esign.core.instant import DAY, HOUR, rfc3339
from esign.jobs import disable_webhooks, worker
from tests.fakes import FakeClock
from tests.journeys.letters import part
from tests.journeys.receiver import Receiver
from tests.journeys.site import JourneySite

OWNER = "owner@example.test"


@pytest.fixture
async def hook(site: JourneySite, receiver: Receiver) -> Any:
    """A webhook for every event whose receiver fails, and an owner who is told."""
    await site.invite_owner(OWNER, "Olga")
    await site.work("mail")
    receiver.always(500)
    return await site.api.webhook(receiver.url, "document.created")


async def list_notices(site: JourneySite) -> list[EmailMessage]:
    """What the owner was mailed beside the invitation, oldest first."""
    await site.work("mail")
    kept = await embedded_outbox.list_mails(site.runtime.db, 1_000)
    read = [await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id) for mail in kept]
    to_owner = [message for message in read if message and message["To"].addresses[0].addr_spec == OWNER]
    return [message for message in to_owner if "/invitation/" not in part(message, "plain")]


async def subjects(site: JourneySite) -> list[str]:
    return [str(message["Subject"]).rpartition(":")[0] for message in await list_notices(site)]


async def pass_time(site: JourneySite, clock: FakeClock, hours: float, step: float = 1) -> None:
    """Hour by hour, as the clock of the program does."""
    for _ in range(round(hours / step)):
        clock.advance(hours=step)
        await site.work("webhook")
        await disable_webhooks.tick(site.runtime)


async def show_webhook(site: JourneySite, hook: Any) -> Any:
    return await site.api.ok("GET", f"/webhooks/{hook['id']}")


async def test_after_the_tenth_failure_a_delivery_is_given_up_and_the_owner_told(
    site: JourneySite, hook: Any, clock: FakeClock
) -> None:
    began = clock.now()
    await site.api.create()
    await site.work("webhook")
    await pass_time(site, clock, 90)
    [delivery] = (await site.api.ok("GET", f"/webhooks/{hook['id']}/deliveries"))["data"]
    assert (delivery["status"], delivery["attemptCount"], delivery["lastStatusCode"]) == ("failed", 10, 500)
    whole = await site.api.ok("GET", f"/webhooks/{hook['id']}/deliveries/{delivery['id']}")
    assert len(whole["attempts"]) == 10
    [message] = await list_notices(site)
    assert message["Subject"] == "Not delivered after 10 attempts: document.created"
    text = part(message, "plain")
    for fact in ("Hello Olga,", hook["url"], "document.created", "status 500", "21 November 2026, 00:00 UTC"):
        assert fact in text, text
    assert (await show_webhook(site, hook))["failingSince"] == rfc3339(began)


async def test_one_such_mail_leaves_for_a_webhook_and_day(
    site: JourneySite, hook: Any, clock: FakeClock, receiver: Receiver
) -> None:
    for _ in range(3):
        await site.api.create()
    await site.work("webhook")
    await pass_time(site, clock, 90)
    listed = (await site.api.ok("GET", f"/webhooks/{hook['id']}/deliveries?status=failed"))["data"]
    assert len(listed) == 3 and len({each["finishedAt"][:10] for each in listed}) == 1
    assert await subjects(site) == ["Not delivered after 10 attempts"]


async def test_after_five_days_without_success_it_is_switched_off_a_day_after_the_warning(
    site: JourneySite, hook: Any, clock: FakeClock, receiver: Receiver
) -> None:
    began = clock.now()
    await site.api.create()
    await site.work("webhook")
    await pass_time(site, clock, 95)
    assert await subjects(site) == ["Not delivered after 10 attempts"]
    await pass_time(site, clock, 1)
    assert (await subjects(site))[1:] == ["Webhook about to be turned off"]
    warning = part((await list_notices(site))[-1], "plain")
    assert "25 November 2026, 00:00 UTC" not in warning and "26 November 2026, 00:00 UTC" in warning
    await site.api.create()
    await pass_time(site, clock, 23)
    assert (await show_webhook(site, hook))["enabled"]
    await pass_time(site, clock, 1)
    off = await show_webhook(site, hook)
    assert (off["enabled"], off["disabledReason"]) == (False, "failing")
    assert off["disabledAt"] == rfc3339(began + 5 * DAY) and off["failingSince"] == rfc3339(began)
    assert (await subjects(site))[2:] == ["Webhook turned off"]
    listed = (await site.api.ok("GET", f"/webhooks/{hook['id']}/deliveries"))["data"]
    assert {each["status"] for each in listed} == {"failed"}
    assert listed[0]["lastError"] == "the webhook was switched off"
    count = len(receiver.came)
    await site.api.create()
    await pass_time(site, clock, 48)
    assert len(receiver.came) == count and len(await list_notices(site)) == 3


async def test_one_success_and_it_stays(
    site: JourneySite, hook: Any, clock: FakeClock, receiver: Receiver
) -> None:
    await site.api.create()
    await site.work("webhook")
    await pass_time(site, clock, 100)
    receiver.always(200)
    await site.api.create()
    await pass_time(site, clock, 48)
    now = await show_webhook(site, hook)
    assert (now["enabled"], now["failingSince"]) == (True, None) and now["lastSuccessAt"] is not None


async def test_a_webhook_with_few_failures_is_left_alone_however_long_ago_they_were(
    site: JourneySite, hook: Any, clock: FakeClock
) -> None:
    await site.api.create()
    await site.work("webhook")
    clock.advance(days=30)
    rung = site.runtime.bell.rung
    assert await disable_webhooks.tick(site.runtime) == 0
    assert site.runtime.bell.rung == rung, "nobody is woken for it every minute"
    assert (await show_webhook(site, hook))["enabled"] and await list_notices(site) == []


async def test_after_a_long_stop_the_warning_still_comes_a_day_before(
    site: JourneySite, hook: Any, clock: FakeClock
) -> None:
    await site.api.create()
    await site.work("webhook")
    await pass_time(site, clock, 90)
    clock.advance(days=20)
    await pass_time(site, clock, 23)
    assert (await show_webhook(site, hook))["enabled"]
    await pass_time(site, clock, 2)
    assert not (await show_webhook(site, hook))["enabled"]


async def test_switching_it_on_again_begins_anew(site: JourneySite, hook: Any, clock: FakeClock) -> None:
    await site.api.create()
    await site.work("webhook")
    await pass_time(site, clock, 5 * 24)
    assert not (await show_webhook(site, hook))["enabled"]
    on = await site.api.ok("PATCH", f"/webhooks/{hook['id']}", {"enabled": True})
    assert (on["enabled"], on["disabledAt"], on["failingSince"]) == (True, None, None)
    await pass_time(site, clock, 5 * 24, 6)
    assert (await show_webhook(site, hook))["enabled"]


async def test_410_is_told_at_once(site: JourneySite, hook: Any, receiver: Receiver) -> None:
    receiver.always(410)
    await site.api.create()
    await site.work("webhook")
    assert await subjects(site) == ["Webhook turned off"]
    [delivery] = (await site.api.ok("GET", f"/webhooks/{hook['id']}/deliveries"))["data"]
    assert (delivery["status"], delivery["lastError"]) == ("failed", "status 410")


async def test_what_waits_for_a_webhook_that_fails_makes_no_server_unready(
    site: JourneySite, hook: Any, clock: FakeClock
) -> None:
    for late in (False, True):
        await site.api.create()
        clock.advance(milliseconds=HOUR)
        async with site.session.get(f"{site.base}/readyz") as answer:
            assert (await answer.json())["checks"]["queue"] == ("ok" if late else "work is late")
        await worker.drain_jobs(site.runtime, "webhook")
