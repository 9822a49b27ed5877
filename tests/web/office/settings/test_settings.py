"""What an organisation sets for itself, in the browser as over the API."""

import re
from typing import Any

import pytest

from esign.core.people.account import COLOUR
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH
from tests.web.office.visitor import Office, Visitor

ORGANISATION, DEFAULTS = "/settings/organisation", "/settings/defaults"
PAGES = (ORGANISATION, DEFAULTS, "/settings/usage", "/settings/seal")
WHO = {"organisationName": "Finch", "replyTo": "", "defaultLocale": "de", "timeZone": "Europe/Berlin"}


async def read_stored(office: Office) -> dict[str, Any]:
    found: dict[str, Any] = await office.site.api.ok("GET", "/settings")
    return found


async def put(visitor: Visitor, path: str, **form: str) -> None:
    await visitor.get(path)
    answer = await visitor.post(path, form)
    assert answer.status == 303 and answer.to == f"{path}?done=settings", answer.said


async def test_who_the_organisation_is_is_what_the_api_says(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await put(ada, ORGANISATION, **WHO | {"replyTo": "office@finch.example"})
    found = await read_stored(office)
    assert (found["organisationName"], found["replyTo"]) == ("Finch", "office@finch.example")
    assert (found["defaultLocale"], found["timeZone"]) == ("de", "Europe/Berlin")
    page = await ada.get(ORGANISATION)
    assert page.value("organisationName") == "Finch" and 'value="de" lang="de" selected' in page.text
    await put(ada, ORGANISATION, **WHO)
    assert (await read_stored(office))["replyTo"] is None


async def test_the_colour_is_tried_set_and_given_back(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await put(ada, ORGANISATION, brandColour="#ffee00")
    page = await ada.get(ORGANISATION)
    assert (await read_stored(office))["brandColour"] == "#ffee00"
    assert "--try: #ffee00" in page.text and "--try-ink: #1b2330" in page.text, "dark words on a light colour"
    assert "Reset to default" in page.said
    await put(ada, ORGANISATION, brandColour="")
    assert (await read_stored(office))["brandColour"] == COLOUR
    page = await ada.post(ORGANISATION, brandColour='red"><script>')
    assert (
        page.status == 422 and page.wrong().keys() == {"brandColour"} and "<script>" not in page.text[-3000:]
    )


async def test_a_card_changes_only_what_stands_on_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await put(ada, ORGANISATION, **WHO)
    await put(ada, DEFAULTS, maxKeyLifetimeDays="90")
    await put(ada, DEFAULTS, retainCompletedDays="30", deleteClosedAfterDays="")
    before = await read_stored(office)
    await put(ada, DEFAULTS, embedOrigins="https://a.example\nhttps://b.example ")
    assert await read_stored(office) == before | {"embedOrigins": ["https://a.example", "https://b.example"]}
    page = await ada.get(DEFAULTS)
    assert "https://a.example\nhttps://b.example</textarea>" in page.text
    assert page.value("maxKeyLifetimeDays") == "90" and page.value("retainCompletedDays") == "30"
    await put(ada, DEFAULTS, maxKeyLifetimeDays="")
    assert (await read_stored(office))["maxKeyLifetimeDays"] is None


async def test_new_documents_start_from_what_was_set(office: Office) -> None:
    ada = await office.signed_in("Ada")
    form = {
        "defaultExpiresInDays": "10",
        "reminders": "on",
        "firstAfterDays": "2",
        "everyDays": "3",
        "max": "1",
    }
    await put(ada, DEFAULTS, **form)
    found = await read_stored(office)
    assert found["defaultExpiresInDays"] == 10
    assert found["defaultReminders"] == {"enabled": True, "firstAfterDays": 2, "everyDays": 3, "max": 1}
    document = await office.site.api.send_document()
    told = await office.site.api.get(document)
    assert told["expiresAt"][:10] == "2026-12-01"
    await put(ada, DEFAULTS, **form | {"defaultExpiresInDays": "", "reminders": "off"})
    found = await read_stored(office)
    assert (found["defaultExpiresInDays"], found["defaultReminders"]["enabled"]) == (30, False)


async def test_documents_are_never_deleted_by_a_rule_without_a_question(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(DEFAULTS)
    form = {"retainCompletedDays": "400", "deleteClosedAfterDays": "60"}
    asked = await ada.post(DEFAULTS, form)
    assert asked.status == 200 and asked.title == "Delete older documents?"
    assert (
        "before 22 Sep 2026" in asked.said
        and "Completed documents stay for 400 days after they’re sealed." in asked.said
    )
    assert (await read_stored(office))["deleteClosedAfterDays"] is None
    assert asked.value("deleteClosedAfterDays") == "60"
    assert (await ada.post(DEFAULTS, form | {"sure": "yes"})).to == f"{DEFAULTS}?done=settings"
    found = await read_stored(office)
    assert (found["retainCompletedDays"], found["deleteClosedAfterDays"]) == (400, 60)
    await put(ada, DEFAULTS, **form | {"deleteClosedAfterDays": "90"})
    assert (
        await ada.post(DEFAULTS, form | {"deleteClosedAfterDays": "89"})
    ).title == "Delete older documents?"
    await put(ada, DEFAULTS, **form | {"deleteClosedAfterDays": ""})


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (ORGANISATION, {"organisationName": " "}),
        (ORGANISATION, {"organisationName": "n" * 201}),
        (ORGANISATION, {"organisationName": "Acme 𒀭"}),
        (ORGANISATION, {"replyTo": "nobody"}),
        (ORGANISATION, {"defaultLocale": "tlh"}),
        (ORGANISATION, {"timeZone": "Mars/Olympus"}),
        (DEFAULTS, {"defaultExpiresInDays": "366"}),
        (DEFAULTS, {"defaultExpiresInDays": "1e3"}),
        (DEFAULTS, {"retainCompletedDays": "0"}),
        (DEFAULTS, {"deleteClosedAfterDays": "-1"}),
        (DEFAULTS, {"maxKeyLifetimeDays": "99999999999999999999"}),
        (DEFAULTS, {"everyDays": "x", "reminders": "on"}),
        (DEFAULTS, {"max": "11", "reminders": "on"}),
        (DEFAULTS, {"embedOrigins": "https://a.example/path"}),
        (DEFAULTS, {"embedOrigins": "https://ok.example http://plain.example"}),
    ],
)
async def test_what_is_wrong_stands_at_its_field_and_nothing_is_saved(
    office: Office, path: str, form: dict[str, str]
) -> None:
    ada = await office.signed_in("Ada")
    before = await read_stored(office)
    page = await ada.post(path, form)
    assert page.status == 422 and page.wrong().keys() == {next(iter(form))}
    assert await read_stored(office) == before


async def test_hostile_text_is_only_text(office: Office) -> None:
    ada = await office.signed_in("Ada")
    name = "<script>alert(1)</script>\u202e " + "w" * 100
    await put(ada, ORGANISATION, **WHO | {"organisationName": name})
    for path in PAGES:
        assert "<script>alert" not in (await ada.get(path)).text


async def test_the_numbers_of_usage_are_those_of_the_api(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.send_document()
    page = await ada.get("/settings/usage")
    today = (await office.site.api.ok("GET", "/account/usage"))["data"][-1]
    row = re.search(r'<th scope="row">21 Nov 2026.*?</tr>', page.text, re.DOTALL)
    assert row
    cells = re.findall(r'<td data-l="([^"]+)">([^<]*)</td>', row[0])
    shown = dict(cells)
    assert (shown["Created"], shown["Sent"], shown["Emails"]) == ("1", "1", str(today["emails"]))
    assert "November 2026" in page.said and "October 2026" not in page.said
    assert f"{today['emails']} of 2000" in page.said and "No limit" in page.said
    await ada.post("/mode", mode="test")
    page = await ada.get("/settings/usage")
    assert "in test mode" in page.said and f"{today['emails']} of 2000" in page.said


async def test_the_charts_count_by_week_and_each_mode_by_itself(office: Office) -> None:
    ada, site = await office.signed_in("Ada"), office.site
    empty = await ada.get("/settings/usage")
    assert "<svg viewBox=" not in empty.text and 'id="h-weeks"' not in empty.text
    await site.complete_document()
    late = await site.api.send_document(recipients=[{"name": "Cy", "email": "cy@example.test"}])
    office.clock.advance(days=3)
    await site.api.ok("POST", f"/documents/{late}/remind")
    office.clock.advance(days=1)
    await site.all_sign(late)
    await site.work("seal")
    ada = await office.signed_in("Bo")
    page = await ada.get("/settings/usage")
    assert page.text.count("<svg viewBox=") == 3 and "Nothing yet" not in page.said
    for told in (
        "Week of 16 Nov 2026: Sent 2",
        "Week of 16 Nov 2026: Completed 1",
        "Week of 23 Nov 2026: Completed 1",
        "1 hour: Completed 1",
        "1 week: Completed 1",
        "Week of 23 Nov 2026: Reminders 1",
        "Week of 23 Nov 2026: Finished 1",
    ):
        assert f"<title>{told}</title>" in page.text, told
    assert '<th scope="row">Week of 23 Nov 2026</th><td>0</td><td>1</td>' in page.text
    await ada.post("/mode", mode="test")
    assert 'id="h-weeks"' not in (await ada.get("/settings/usage")).text


async def test_a_month_adds_up_its_days(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.create()
    office.clock.advance(days=5)
    await office.site.api.create()
    office.clock.advance(days=8)
    ada = await office.signed_in("Bo")
    page = await ada.get("/settings/usage")
    found = re.search(r'<th scope="row">November 2026</th><td data-l="Created">(\d+)', page.text)
    assert found and found[1] == "2"
    assert re.search(r'<th scope="row">December 2026 <span', page.text)


async def test_the_seal_is_told_and_tried(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get("/settings/seal")
    assert "Issued to" in page.said and re.search(r"(?:[0-9a-f]{2}:){31}[0-9a-f]{2}", page.said)
    assert "This server made the certificate itself." in page.said
    tried = await ada.post("/settings/seal")
    assert "The test page was sealed and verified." in tried.said


async def test_a_seal_near_its_end_is_told_before(office: Office) -> None:
    ada = await office.signed_in("Ada")
    said = (await ada.get("/settings/seal")).said
    left = int(re.sub(r"\D", "", re.findall(r"([\d,.]+) days left", said)[0]))
    office.clock.advance(days=left - 20)
    bo = await office.signed_in("Bo")
    assert "The certificate expires in 20 days." in (await bo.get("/settings/seal")).said
    office.clock.advance(days=21)
    cy = await office.signed_in("Cy")
    assert "The certificate has expired." in (await cy.get("/settings/seal")).said


async def test_a_shorter_retention_is_asked_about_where_documents_go_with_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    keeping = {"retainCompletedDays": "365", "deleteClosedAfterDays": "30"}
    await put(ada, DEFAULTS, **keeping, sure="yes")
    for days in ("", "100"):
        page = await ada.post(DEFAULTS, keeping | {"retainCompletedDays": days})
        assert (
            page.title == "Delete older documents?"
            and (await read_stored(office))["retainCompletedDays"] == 365
        )
    assert (await ada.post(DEFAULTS, keeping | {"retainCompletedDays": "400"})).status == 303
    alone = {"retainCompletedDays": "400", "deleteClosedAfterDays": ""}
    assert (await ada.post(DEFAULTS, alone)).status == 303


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ("30", "After this change, that ends after 30 days"),
        ("1", "After this change, that ends after 1 day"),
        ("", "After this change, members and programs can delete every completed document."),
    ],
)
async def test_a_shorter_protection_is_asked_about_with_what_it_costs(
    office: Office, days: str, said: str
) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.post(DEFAULTS, {"retainCompletedDays": "3650"})).status == 303
    page = await ada.post(DEFAULTS, {"retainCompletedDays": days})
    assert page.title == "Protect documents for less time?"
    assert "can’t be deleted for 3650 days" in page.said and said in page.said
    assert (await read_stored(office))["retainCompletedDays"] == 3650
    assert (await ada.post(DEFAULTS, {"retainCompletedDays": days, "sure": "yes"})).status == 303
    assert (await read_stored(office))["retainCompletedDays"] == (int(days) if days else None)


async def test_settings_change_only_with_the_password_at_hand(office: Office) -> None:
    ada = await office.signed_in("Ada")
    before = await read_stored(office)
    await ada.get(ORGANISATION)
    office.clock.advance(milliseconds=FRESH)
    await ada.get(ORGANISATION)
    for path, form in ((ORGANISATION, WHO), (DEFAULTS, {"retainCompletedDays": "5"})):
        assert (await ada.post(path, form)).title == "Confirm it’s you"
    assert await read_stored(office) == before


@pytest.mark.parametrize("role", [MemberRole.MEMBER, MemberRole.VIEWER])
async def test_settings_are_for_those_who_look_after_the_organisation(
    office: Office, role: MemberRole
) -> None:
    await office.user("Ada")
    bo = await office.signed_in("Bo", role)
    for path in PAGES:
        assert path not in (await bo.get("/account")).text
        assert (await bo.get(path)).status == 403
    assert (await bo.post(ORGANISATION, WHO)).status == 403
