"""The address book: who gets into it, who finds whom, and how people leave it."""

import json

from esign.core.instant import DAY
from esign.core.people.contact import KEPT
from esign.core.people.member import MemberRole
from esign.jobs import erase, prune
from tests.web.office.visitor import Office, Page, Visitor

ADA, BO = ("Ada Lovelace", "ada@lovelace.test"), ("Bo Weber", "bo@weber.test")
EVIL = "</script><img src=x onerror=alert(1)>"


async def add(visitor: Visitor, name: str, email: str, company: str = "") -> Page:
    once = (await visitor.get("/contacts/new")).value("once")
    return await visitor.post("/contacts/new", name=name, email=email, company=company, once=once)


async def suggest(visitor: Visitor, q: str) -> list[str]:
    found = await visitor.get(f"/contacts/suggest?q={q}")
    return [one["name"] for one in json.loads(found.text)["people"]]


async def send(office: Office, visitor: Visitor, *people: tuple[str, str]) -> str:
    """Send a document as a member does, and return its id."""
    recipients = [{"name": name, "email": email} for name, email in people]
    document = await office.site.api.create(recipients=recipients)
    page = await visitor.get(f"/documents/{document}/review")
    sent = await visitor.post(f"/documents/{document}/send", revision=page.value("revision"))
    assert sent.to == f"/documents/{document}?done=sent"
    return document


async def test_recipients_are_suggested_once_a_member_has_sent_them_something(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert "No one here yet" in (await ada.get("/contacts")).said
    await send(office, ada, ADA, BO)
    assert await suggest(ada, "lov") == ["Ada Lovelace"]
    assert await suggest(ada, "ADA%20love") == ["Ada Lovelace"]
    assert await suggest(ada, "bo%40web") == ["Bo Weber"]
    assert set(await suggest(ada, "test")) == {"Ada Lovelace", "Bo Weber"}
    assert await suggest(ada, "ovelace") == [] and await suggest(ada, "") == []
    await send(office, ada, ("Bo Weber-Lind", "BO@weber.test"))
    assert await suggest(ada, "bo") == ["Bo Weber-Lind"], "one entry for an address, with its newest name"


async def test_what_programs_send_stays_out(office: Office) -> None:
    ada = await office.signed_in("Ada")
    document = await office.site.api.create(recipients=[{"name": ADA[0], "email": ADA[1]}])
    await office.site.api.ok("POST", f"/documents/{document}/send")
    assert "No one here yet" in (await ada.get("/contacts")).said


async def test_people_are_entered_found_changed_and_removed(office: Office) -> None:
    ada = await office.signed_in("Ada", MemberRole.MEMBER)
    assert (await add(ada, *BO)).to == "/contacts?done=contact-saved"
    await add(ada, *ADA, "Analytical Engines & Co")
    page = await ada.get("/contacts")
    assert page.said.index("Ada Lovelace") < page.said.index("Bo Weber") and "Person saved" not in page.said
    assert await suggest(ada, "analyt") == ["Ada Lovelace"]
    assert "Bo Weber" not in (await ada.get("/contacts?q=engines")).said
    assert "No one matches “ zz ”" in (await ada.get("/contacts?q=zz")).said
    wrong = await add(ada, "Again", ADA[1].upper())
    assert wrong.status == 422 and "already in the address book" in wrong.said
    wrong = await add(ada, "", "no address")
    assert wrong.status == 422 and wrong.wrong().keys() == {"name", "email"}
    rows = await office.runtime.db.all("SELECT id, name FROM contact ORDER BY name")
    first, second = (f"/contacts/{row['id']}" for row in rows)
    await ada.get(first)
    taken = await ada.post(first, name="Ada", email=BO[1], company="")
    assert taken.status == 422 and "already in the address book" in taken.said
    assert (await ada.post(first, name="Ada King", email="ada@king.test", company="")).to.startswith(
        "/contacts"
    )
    assert await suggest(ada, "king") == ["Ada King"] and await suggest(ada, "analyt") == []
    assert (await ada.post(f"{first}/remove")).to == "/contacts?done=contact-removed"
    assert (await ada.get(first)).status == 404
    assert await suggest(ada, "king") == [] and await suggest(ada, "bo") == ["Bo Weber"]
    assert (await ada.get(second)).status == 200
    assert (await office.runtime.db.one("SELECT COUNT(*) AS n FROM contact_word"))["n"] == 4  # type: ignore[index]


async def test_a_viewer_sees_nothing_of_it(office: Office) -> None:
    ada, vi = await office.signed_in("Ada"), await office.signed_in("Vi", MemberRole.VIEWER)
    await add(ada, *BO)
    for path in ("/contacts", "/contacts/new", "/contacts/suggest?q=bo"):
        answer = await vi.get(path)
        assert answer.status in (403, 404) and "Bo Weber" not in answer.text, path
    assert 'href="/contacts"' not in (await vi.get("/documents")).text


async def test_test_mode_and_other_organisations_have_books_of_their_own(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await add(ada, *BO)
    [row] = await office.runtime.db.all("SELECT id FROM contact")
    await ada.get("/contacts")
    await ada.post("/mode", mode="test", next="/contacts")
    assert await suggest(ada, "bo") == []
    for path in ("/contacts", f"/contacts?after={row['id']}"):
        assert "Bo Weber" not in (await ada.get(path)).said
    assert (await ada.get(f"/contacts/{row['id']}")).status == 404
    await ada.get("/contacts")
    assert (await ada.post(f"/contacts/{row['id']}/remove")).status == 404
    await add(ada, "Bo of the test", BO[1])
    assert await suggest(ada, "bo") == ["Bo of the test"]


async def test_the_book_has_pages(office: Office) -> None:
    ada = await office.signed_in("Ada")
    people = [(f"Person {n:02}", f"p{n}@people.test") for n in range(51)]
    await send(office, ada, *people[:50])
    await send(office, ada, *people[50:])
    page = await ada.get("/contacts")
    assert "Person 49" in page.said and "Person 50" not in page.said
    link = page.text.partition('rel="next" href="')[2].partition('"')[0]
    assert "Person 50" in (await ada.get(link)).said
    assert (await ada.get("/contacts?after=con_gone")).to == "/contacts"


async def test_texts_are_escaped(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await add(ada, EVIL, "evil@example.test", EVIL)
    [row] = await office.runtime.db.all("SELECT id FROM contact")
    for path in ("/contacts", f"/contacts/{row['id']}", "/contacts?q=evil"):
        assert EVIL not in (await ada.get(path)).text


async def test_erasing_a_person_removes_them_in_both_modes(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await add(ada, *BO)
    await add(ada, *ADA)
    await ada.get("/contacts")
    await ada.post("/mode", mode="test", next="/contacts")
    await add(ada, *BO)
    await ada.get("/settings/erasure")
    page = await ada.post("/settings/erasure", email=BO[1].upper())
    assert "Their entry in the address book is erased too." in page.said
    assert (await ada.post("/settings/erasure/begin", email=page.value("email"))).to.endswith("erasure")
    await erase.tick(office.runtime)
    assert [row["email"] for row in await office.runtime.db.all("SELECT email FROM contact")] == [ADA[1]]
    assert await office.runtime.db.all("SELECT word FROM contact_word WHERE word LIKE 'bo%'") == []


async def test_people_whom_nobody_wrote_to_for_two_years_go(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await add(ada, *BO)
    await office.runtime.db.write(
        lambda tx: tx.run("UPDATE contact SET used_at = used_at - :by", by=KEPT - DAY)
    )
    await prune.tick(office.runtime)
    assert await suggest(ada, "bo") == ["Bo Weber"]
    await office.runtime.db.write(lambda tx: tx.run("UPDATE contact SET used_at = used_at - :by", by=2 * DAY))
    await prune.tick(office.runtime)
    assert await suggest(ada, "bo") == []
