"""What owners and administrators settle: tokens, the organisation, its defaults, its members."""

import re
from typing import Any

from playwright.sync_api import expect

from esign.web.office.frame.words import load_words
from tests.browser.parity.desk import ParityDesk
from tests.browser.test_office_settings import call

BO = ("Bo Berg", "bo@example.test")


def tokens(desk: ParityDesk) -> None:
    page = desk.page
    desk.go("/settings/tokens/new")
    page.get_by_label("Name", exact=True).fill("Portal")
    page.get_by_role("button", name="Create API key").click()
    token = page.locator("#token").inner_text()
    desk.use("listApiKeys").click()
    held = next(one for one in desk.ask("/api-keys")["data"] if one["name"] == "Portal")
    expect(desk.use("getApiKey")).to_contain_text(desk.ask(f"/api-keys/{held['id']}")["hint"])
    desk.menu("Rename", of="Actions for Portal")
    page.get_by_label("Name").fill("Practice portal")
    desk.use("renameApiKey").click()
    expect(page.get_by_label("Actions for Practice portal")).to_be_visible()
    assert call(desk.stage, token)[1]["key"]["name"] == "Practice portal"
    desk.menu("Revoke", of="Actions for Practice portal")
    desk.use("revokeApiKey").click()
    desk.sees(re.compile("API key revoked"))
    assert call(desk.stage, token)[0] == 401


def audit_log(desk: ParityDesk) -> None:
    page, entries = desk.page, desk.page.locator(".acts-log > li")
    desk.use("listAuditLog").click()
    desk.heading("Audit log")
    expect(entries).to_have_count(len(desk.ask("/audit?limit=50")["data"]))
    desk.use("listAuditLog.type").select_option("api_key.created")
    page.get_by_role("button", name="Apply").click()
    made = desk.ask("/audit?type=api_key.created&limit=50")["data"]
    expect(entries).to_have_count(len(made))
    page.get_by_role("link", name="Show all").click()
    [signed, *_] = desk.ask("/audit?type=member.signed_in")["data"]
    desk.use("listAuditLog.actor").select_option(signed["actor"]["id"])
    page.get_by_role("button", name="Apply").click()
    expect(entries).to_have_count(len(desk.ask(f"/audit?actor={signed['actor']['id']}")["data"]))
    desk.use("listAuditLog.from").fill("2099-01-01")
    page.get_by_role("button", name="Apply").click()
    desk.sees("No entries match")


def settings(desk: ParityDesk) -> None:
    desk.stage.do(desk.api.create())
    page, limits = desk.page, desk.ask("/account")["limits"]
    desk.use("getAccount").click()
    desk.sees(re.compile(f"Active keys, live and test: .* of {limits['apiKeys']}"))
    desk.use("getAccount.limits").click()
    for limit in (limits["fields"], limits["templates"], limits["requestsPerMinute"]):
        expect(
            page.get_by_role("definition")
            .filter(has_text=re.compile(f"^{load_words('en').group(limit)}$"))
            .first
        ).to_be_visible()
    desk.use("listEvents").click()
    happened = desk.ask("/events?limit=100")["data"]
    expect(page.locator(".log > li")).to_have_count(len(happened))
    desk.use("listEvents.type").select_option("document.completed")
    page.get_by_role("button", name="Apply").click()
    desk.sees("No events of this type")
    audit_log(desk)
    desk.use("getUsage").click()
    days = desk.ask("/account/usage")["data"]
    assert sum(day["documentsCreated"] for day in days) == 1, "today, or before midnight"
    row = page.get_by_role("table", name="Day").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").first).to_have_text(str(days[-1]["documentsCreated"]))
    desk.use("getSettings").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(desk.ask("/settings")["organisationName"])
    for line, label, text in (
        ("organisationName", "Name", "Alder and Finch"),
        ("brandColour", "Colour", "#123456"),
    ):
        page.get_by_label(label, exact=True).fill(text)
        change_setting(desk, line, text)
    desk.go("/settings/defaults")
    for line, label, days in (
        ("defaultExpiresInDays", "Time to sign", 14),
        ("retainCompletedDays", "Completed documents can’t be deleted for", 5),
        ("maxKeyLifetimeDays", "Longest lifetime of new API keys", 400),
    ):
        page.get_by_label(label).fill(str(days))
        change_setting(desk, line, days)
    with page.expect_navigation():
        desk.use("changeSettings.defaultReminders").click()
    assert desk.ask("/settings")["defaultExpiresInDays"] == desk.stage.site.runtime.config.expiry.days
    page.get_by_label("Sites that can embed signing pages").fill("https://portal.example.com")
    change_setting(desk, "embedOrigins", ["https://portal.example.com"])


def change_setting(desk: ParityDesk, line: str, value: Any) -> None:
    with desk.page.expect_navigation():
        desk.use(f"changeSettings.{line}").click()
    desk.sees("Settings saved.")
    assert desk.ask("/settings")[line] == value


def members(desk: ParityDesk) -> None:
    page = desk.page
    desk.use("listMembers").click()
    page.get_by_label("Invite by email").fill(BO[1])
    page.get_by_label("Name", exact=True).fill(BO[0])
    desk.use("addMember").click()
    desk.sees("Member invited, but not emailed.")
    named = {one["name"]: one["role"] for one in desk.ask("/members")["data"]}
    assert BO[0] in named
    for name in named:
        expect(page.get_by_role("row", name=name)).to_be_visible()
    page.get_by_label("Actions for Bo Berg").click()
    desk.use("changeMember").click()
    expect(page.get_by_role("row", name=BO[0])).to_contain_text("Administrator")
    assert {one["name"]: one["role"] for one in desk.ask("/members")["data"]}[BO[0]] == "admin"
    desk.menu("Remove", of="Actions for Bo Berg")
    desk.use("removeMember").click()
    desk.sees("Member removed and signed out.")
    assert BO[0] not in [one["name"] for one in desk.ask("/members")["data"]]
