"""A form that is sent twice, as by a double click, makes one thing, and both answers tell the same."""

import asyncio
import re

from tests.web.office.visitor import Office, Page, Visitor

TOKEN = {"name": "Portal", "mode": "live", "access": "all", "expires": "365"}
HOOK = {"url": "https://example.com/hook", "description": "", "events": "all"}


async def twice(visitor: Visitor, page: Page, path: str, **form: str) -> tuple[Page, Page]:
    sent = {"once": page.value("once"), "csrf": visitor.csrf, **form}
    one, other = await asyncio.gather(visitor.post(path, sent), visitor.post(path, sent))
    return one, other


async def count_listed(office: Office, path: str) -> int:
    return len((await office.site.api.ok("GET", path))["data"])


async def test_a_copy_a_template_a_recipient_and_a_member_are_made_once(office: Office) -> None:
    ada = await office.signed_in("Ada")
    at = f"/documents/{await office.site.api.create()}"
    one, other = await twice(ada, await ada.get(at), f"{at}/duplicate")
    assert one.to == other.to and await count_listed(office, "/documents") == 2
    assert (await ada.post(f"{at}/duplicate", once=(await ada.get(at)).value("once"))).to != one.to
    one, other = await twice(ada, await ada.get(f"{at}/template"), f"{at}/template", title="Lease")
    assert one.to == other.to and await count_listed(office, "/templates") == 1
    before = len((await office.site.api.get(at.split("/")[-1]))["recipients"])
    form = {"name": "Di", "email": "di@example.test"}
    await twice(ada, await ada.get(f"{at}/recipients/add"), f"{at}/recipients/add", **form)
    assert len((await office.site.api.get(at.split("/")[-1]))["recipients"]) == before + 1
    one, other = await twice(ada, await ada.get("/members"), "/members", role="viewer", **form)
    assert one.to == other.to == "/members?done=invited"
    again = await ada.post(
        "/members", form | {"role": "viewer", "once": (await ada.get("/members")).value("once")}
    )
    assert again.wrong().keys() == {"email"}


async def test_a_token_is_made_once_and_stands_on_both_answers_but_nowhere_else(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get("/settings/tokens/new")
    one, other = await twice(ada, page, "/settings/tokens/new", **TOKEN)
    [token] = {found for page in (one, other) for found in re.findall(r'<code id="token">(\w+)<', page.text)}
    assert (await ada.get("/settings/tokens")).text.count("/revoke") == 2, "and the one that was there"
    rows = await office.runtime.db.all("SELECT * FROM idempotency")
    assert rows and not any(page.value("once") in str(dict(row)) for row in rows), (
        "with it the token could be made"
    )
    assert not any(token.encode() in bytes(row["body"]) for row in rows)
    fresh = await ada.get("/settings/tokens/new")
    other = await ada.post("/settings/tokens/new", TOKEN | {"once": fresh.value("once"), "csrf": ada.csrf})
    assert token not in other.text, "another form makes another token"


async def test_a_webhook_and_its_next_secret_are_made_once(office: Office) -> None:
    ada = await office.signed_in("Ada")
    new = "/settings/webhooks/new"
    one, other = await twice(ada, await ada.get(new), new, **HOOK)
    pattern = r'<code id="secret">(whsec_[^<]+)<'
    [first] = {found for page in (one, other) for found in re.findall(pattern, page.text)}
    [hook] = (await office.site.api.ok("GET", "/webhooks"))["data"]
    at = f"/settings/webhooks/{hook['id']}/secret"
    one, other = await twice(ada, await ada.get(at), at, grace="24")
    assert one.status == other.status == 200
    [second] = {found for page in (one, other) for found in re.findall(pattern, page.text)}
    assert second != first
