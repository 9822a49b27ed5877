"""Webhooks: told, failing, recovered, with another secret, and gone."""

import re

from playwright.sync_api import expect

from esign.jobs import deliver_webhooks
from tests.browser.parity.desk import ParityDesk
from tests.browser.test_office_settings import ListeningProgram, listening


def webhooks(desk: ParityDesk) -> None:
    with listening() as program:
        page = desk.page
        desk.go("/settings/webhooks/new")
        page.get_by_label("Endpoint URL", exact=True).fill(program.url)
        page.get_by_label("All events").check()
        desk.use("registerWebhook").click()
        page.get_by_role("link", name="I’ve stored it").click()
        [made] = desk.ask("/webhooks")["data"]
        assert (made["url"], made["events"]) == (program.url, ["*"])
        desk.use("testWebhook").click()
        desk.sees("204 · Accepted")
        assert program.events() == ["webhook.test"]
        desk.use("listWebhooks").click()
        desk.use("getWebhook").click()
        desk.heading(program.url)
        deliveries(desk, program, f"/webhooks/{made['id']}")
        secret_and_end(desk, program, f"/webhooks/{made['id']}")


def deliveries(desk: ParityDesk, program: ListeningProgram, path: str) -> None:
    """What was missed while it was off comes after all, and once more."""
    page, stage = desk.page, desk.stage
    for enabled in (False, True):
        if not enabled:
            page.get_by_label("More actions").click()
        desk.use("changeWebhook.enabled").click()
        expect(page.get_by_role("button", name="Send test event")).to_have_count(int(enabled))
        assert desk.ask(path)["enabled"] is enabled
        if not enabled:
            stage.do(desk.api.create())
    desk.menu("Resend missed events")
    desk.use("recoverDeliveries.until").fill(page.get_by_label("Since").input_value())
    desk.use("recoverDeliveries").click()
    desk.sees(re.compile("Nothing was missed"))
    desk.menu("Resend missed events")
    desk.use("recoverDeliveries").click()
    desk.sees(re.compile("being sent"))
    stage.do(deliver_webhooks.drain(stage.site.runtime))
    assert "document.created" in program.events()
    desk.use("listDeliveries").click()
    found = desk.ask(f"{path}/deliveries")["data"]
    expect(page.locator(".log > li")).to_have_count(len(found))
    desk.use("getDelivery").first.click()
    desk.heading("document.created")
    page.wait_for_load_state()  # all of it is there
    event = next(one for one in found if one["eventId"] in page.content())
    expect(desk.use("getEvent")).to_contain_text(f'"id": "{event["eventId"]}"')
    assert desk.ask(f"/events/{event['eventId']}")["type"] == "document.created"
    before = len(program.came)
    desk.use("redeliverEvent").click()
    expect(page.get_by_text("204 · Accepted")).to_have_count(2)
    assert len(program.came) == before + 1


def secret_and_end(desk: ParityDesk, program: ListeningProgram, path: str) -> None:
    page = desk.page
    desk.go(f"/settings{path}/edit")
    page.get_by_label("Description").fill("Portal")
    desk.use("changeWebhook").click()
    desk.heading(program.url)
    assert desk.ask(path)["description"] == "Portal"
    desk.menu("New secret")
    desk.use("rotateSecret").click()
    second = page.locator("#secret").inner_text()
    page.get_by_role("button", name="Send test event").click()
    desk.sees("204 · Accepted")
    assert program.genuine(second)[-1]
    desk.go(f"/settings{path}/delete")
    desk.use("deleteWebhook").click()
    desk.sees("No webhooks yet")
    assert desk.ask("/webhooks")["data"] == []
