"""What the organisation may do, and what happened to its documents: the same as programs are told."""

import json
import re
from html import unescape

from esign.core.people.member import MemberRole
from esign.web.api.account import LimitsReply
from esign.web.office.frame.words import load_words
from esign.web.office.settings.plan import GROUPS
from tests.web.office.sample_documents import HOSTILE
from tests.web.office.visitor import Office

HERE = "/settings/events"


async def test_every_limit_that_programs_are_told_has_its_words(office: Office) -> None:
    named = [name for names in GROUPS.values() for name in names]
    assert sorted(named) == sorted(LimitsReply.model_fields)
    ada = await office.signed_in("Ada")
    page = await ada.get("/settings/plan")
    account = await office.site.api.ok("GET", "/account")
    assert f"Plan {account['organisation']['plan'].capitalize()}" in page.said
    assert f"Fields per document {load_words('en').group(account['limits']['fields'])}" in page.said
    assert "Live documents sent per month No limit" in page.said and "Size of a PDF 25 MB" in page.said


async def test_events_of_all_documents_are_listed_narrowed_and_shown_as_they_are_sent(office: Office) -> None:
    ada = await office.signed_in("Ada")
    [key] = re.findall(rf'href="({HERE}/evt_\w+)"', (await ada.get(f"{HERE}?type=audit.recorded")).text)[-1:]
    assert "API key created" in (await ada.get(key)).said or "Signed in" in (await ada.get(key)).said
    before = (await ada.get(HERE)).text.count(f'href="{HERE}/evt_')
    for n in range(51):
        await office.site.api.create(title=f"{HOSTILE} {n}")
    gone = await office.site.api.create(title="gone")
    await office.site.api.ok("DELETE", f"/documents/{gone}")
    page = await ada.get(HERE)
    assert page.text.count(f'href="{HERE}/evt_') == 50 and "<script>alert" not in page.text
    older = re.search(r'href="([^"]+after=[^"]+)">Older', page.text)
    assert older
    second = await ada.get(unescape(older[1]))
    assert second.text.count(f'href="{HERE}/evt_') == before + 3 and "Newest" in second.said
    narrowed = await ada.get(f"{HERE}?type=document.deleted")
    [event] = re.findall(rf'href="({HERE}/evt_\w+)"', narrowed.text)
    shown = await ada.get(event)
    assert shown.title == "Document deleted" and "Open document" not in shown.said
    body = re.search(r"<pre[^>]*>(.*?)</pre>", shown.text, re.DOTALL)
    assert body and json.loads(unescape(body[1])) == await office.site.api.ok(
        "GET", event.replace("/settings", "")
    )
    narrowed = await ada.get(f"{HERE}?type=document.created")
    event = re.findall(rf'href="({HERE}/evt_\w+)"', narrowed.text)[0]
    assert re.search(r'href="/documents/doc_\w+">.*?Open document', (await ada.get(event)).text)
    assert "No events of this type" in (await ada.get(f"{HERE}?type=document.sent")).said
    vi = await office.signed_in("Vi", MemberRole.VIEWER)
    assert {(await vi.get(path)).status for path in (HERE, event, "/settings/plan")} == {403}


async def test_what_the_organisation_set_for_new_documents_goes_back_to_the_servers(office: Office) -> None:
    ada = await office.signed_in("Ada")
    usual = await office.site.api.ok("GET", "/settings")
    own = {"defaultExpiresInDays": 7, "defaultReminders": {"enabled": False}, "retainCompletedDays": 9}
    await office.site.api.ok("PATCH", "/settings", own)
    assert (await ada.post("/settings/defaults", reset="yes")).to.endswith("settings")
    assert await office.site.api.ok("GET", "/settings") == usual | {"retainCompletedDays": 9}
