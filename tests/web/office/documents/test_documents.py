"""The list of documents: tabs, search, filters, turning pages, and what each role is shown."""

import csv
import io
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from esign.actions.document import document_list
from esign.core.actor import Actor, Mode
from esign.core.document.document import Document, MailDelivery, Recipient, RecipientStatus, Status
from esign.core.instant import DAY, HOUR, MINUTE, to_datetime
from esign.core.people.member import MemberRole
from esign.store.document import blobs, documents, templates
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.system.entropy import make_id
from tests.factories import (
    PREPARED,
    UPLOADED,
    a_document,
    a_file,
    a_recipient,
    a_template,
    an_organisation,
    store_organisation,
)
from tests.web.office.visitor import Office, Page, Visitor

SENT, VIEWED, DONE = RecipientStatus.SENT, RecipientStatus.VIEWED, RecipientStatus.COMPLETED
LINK = re.compile(r'<a class="title" href="/documents/(\w+)"[^>]*>(.*?)</a>')
HOSTILE = "<script>alert(1)</script>\"'&{{7777*7777}} \u202etxet"


async def put(office: Office, *made: Document) -> list[Document]:
    """Rows of the organisation, as they are."""
    first = await organisations.find_first(office.runtime.db)
    assert first
    owned = [
        replace(one, organisation_id=first.id) if one.organisation_id[-1] == "9" else one for one in made
    ]

    async def write(tx: Transaction) -> None:
        for one in owned:
            await documents.add(tx, one)

    await office.runtime.db.write(write)
    return owned


def a_row(office: Office, title: str, age: int = 0, *people: Recipient, **changes: Any) -> Document:
    at = office.clock.now() - age
    made = a_document(
        *people, **{"title": title, "created_at": at, "updated_at": at, "id": make_id("doc", at), **changes}
    )
    return made if made.expires_at is None else replace(made, expires_at=at + 30 * DAY)


def titles(page: Page) -> list[str]:
    assert page.status == 200, page.said
    return [title for _, title in LINK.findall(page.text)]


def row(page: Page, title: str) -> str:
    """What a person reads in the row of that document."""
    found = next(part for part in page.text.split("<tr>") if f">{title}</a>" in part)
    body = found.partition("</tr>")[0].partition("<details")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", body).replace("\u2068", "").replace("\u2069", "").split())


def links(page: Page, rel: str) -> list[str]:
    found = re.findall(rf'rel="{rel}" href="([^"]+)"', page.text)
    return [each.replace("&amp;", "&") for each in found]


async def everything(office: Office) -> dict[str, Document]:
    """One document for each state that has a word of its own."""
    asked, seen, done = (a_recipient("Jo Li", status=status) for status in (SENT, VIEWED, DONE))
    later = a_recipient("Bo Berg")
    refused = replace(a_recipient("Olga Lind", status=SENT), delivery=MailDelivery.FAILED)
    no = a_recipient("Jan Os", status=RecipientStatus.DECLINED)
    made = [
        a_row(office, "late seal", 1 * HOUR, done, status=Status.SEALING, seal_error="no answer"),
        a_row(office, "refused", 2 * HOUR, refused, status=Status.SENT),
        a_row(office, "one left", 3 * HOUR, replace(done, id="rcp_a"), seen, status=Status.SENT),
        a_row(office, "two left", 4 * HOUR, asked, replace(asked, id="rcp_b"), later, status=Status.SENT),
        a_row(office, "sealing", 5 * HOUR, replace(done, id="rcp_c"), status=Status.SEALING),
        a_row(office, "draft", 6 * HOUR, replace(later, id="rcp_d")),
        replace(a_row(office, "empty", 7 * HOUR), recipients=()),
        a_row(office, "done", 8 * HOUR, replace(done, id="rcp_e"), status=Status.COMPLETED),
        a_row(office, "declined", 9 * HOUR, no, status=Status.DECLINED),
        a_row(office, "expired", 10 * HOUR, replace(asked, id="rcp_f"), status=Status.EXPIRED),
        a_row(office, "cancelled", 11 * HOUR, replace(asked, id="rcp_g"), status=Status.CANCELLED),
    ]
    return {one.title: one for one in await put(office, *made)}


ROWS = {
    "late seal": "Seal delayed Everyone has finished. Retrying the seal. 1 h ago Retry sealing",
    "refused": "Email refused Email to Olga Lind refused 2 h ago Fix address",
    "one left": "Waiting 1 of 2 finished · Next: Jo Li 3 h ago Remind",
    "two left": "Waiting 0 of 3 finished · Waiting for 2 4 h ago Remind",
    "sealing": "Sealing Being sealed 5 h ago Open",
    "draft": "Draft 1 recipient 6 h ago Continue",
    "empty": "Draft No recipients yet 7 h ago Continue",
    "done": "Completed 1 of 1 finished 8 h ago Download",
    "declined": "Declined Declined by Jan Os 9 h ago See reason",
    "expired": "Expired 0 of 1 finished · Expired 21 Nov 2026 10 h ago Open",
    "cancelled": "Cancelled 0 of 1 finished · Cancelled 21 Nov 2026 11 h ago Open",
}


async def test_each_row_says_what_it_waits_for_and_what_to_do_next(office: Office) -> None:
    office.clock.advance(hours=12)
    ada = await office.signed_in("Ada")
    await everything(office)
    page = await ada.get("/documents")
    assert titles(page) == [*ROWS]
    for title, words in ROWS.items():
        assert row(page, title) == f"{title} 1 page · API key ci {words}", title


TABS = {
    "": [*ROWS],
    "attention": ["late seal", "refused"],
    "draft": ["draft", "empty"],
    "waiting": ["late seal", "refused", "one left", "two left", "sealing"],
    "completed": ["done"],
    "closed": ["declined", "expired", "cancelled"],
    "no such tab": [*ROWS],
}


async def test_tabs_have_the_numbers_that_they_show(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await everything(office)
    for view, expected in TABS.items():
        page = await ada.get(f"/documents?view={view}")
        assert titles(page) == expected, view
        assert "All 11 Needs attention 2 Draft 2 Waiting 5 Completed 1 Closed 3" in page.said
        assert "Documents 2 , 2 need attention" in page.said  # in the navigation
    assert (await ada.get("/documents?view=draft")).title == "Draft"


async def test_search_filters_and_order_narrow_together(office: Office) -> None:
    ada = await office.signed_in("Ada")
    day = DAY
    await put(
        office,
        a_row(office, "lease of May", 3 * day, a_recipient("Jo Li", email="jo@x.example")),
        a_row(office, "lease of June", 2 * day, a_recipient("Bo Berg"), external_id="order-7"),
        a_row(office, "offer", 1 * day, a_recipient("Jo Li", email="JO@x.example"), template_id="tpl_1"),
    )
    for query, expected in {
        "q=lease": ["lease of June", "lease of May"],
        "q=LEASE&sort=createdAt": ["lease of May", "lease of June"],
        "recipientEmail=Jo@X.example": ["offer", "lease of May"],
        "recipientEmail=jo@x.example&q=lease": ["lease of May"],
        "externalId=order-7": ["lease of June"],
        "templateId=tpl_1": ["offer"],
        "createdFrom=2026-11-19": ["offer", "lease of June"],
        "createdFrom=2026-11-19&createdTo=2026-11-19": ["lease of June"],
        "createdTo=2026-11-18": ["lease of May"],
        "completedFrom=2026-01-01": [],
        "q=lease&view=completed": [],
    }.items():
        assert titles(await ada.get(f"/documents?{query}")) == expected, query


async def test_days_are_those_of_the_organisation(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.ok("PATCH", "/settings", {"timeZone": "Pacific/Auckland"})
    await put(office, a_row(office, "early", 20 * HOUR))  # 20 Nov, 04:00 in Greenwich: 17:00 in Auckland
    assert titles(await ada.get("/documents?createdFrom=2026-11-20&createdTo=2026-11-20")) == ["early"]
    await put(office, a_row(office, "late", 10 * HOUR))  # 21 Nov, 03:00 in Auckland
    assert titles(await ada.get("/documents?createdFrom=2026-11-20&createdTo=2026-11-20")) == ["early"]
    assert titles(await ada.get("/documents?createdFrom=2026-11-21")) == ["late"]


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ("recipientEmail=jo", "recipientEmail", "An email address such as ana@example.com."),
        ("createdFrom=yesterday", "createdFrom", "Enter a date such as 2026-12-31."),
        ("completedTo=9999-12-31", "completedTo", "Enter a date such as 2026-12-31."),
        ("createdTo=2026-02-30", "createdTo", "Enter a date such as 2026-12-31."),
        (f"q={'x' * 101}", "q", "100 characters or fewer."),
        (f"externalId={'x' * 201}", "externalId", "200 characters or fewer."),
        ("q=%01", "q", "Control characters and line separators are not allowed here."),
    ],
)
async def test_a_filter_that_nobody_understands_is_told_and_shows_nothing(
    office: Office, query: str, name: str, sentence: str
) -> None:
    ada = await office.signed_in("Ada")
    await put(office, a_row(office, "lease"))
    page = await ada.get(f"/documents?{query}")
    assert page.wrong() == {name: sentence}
    assert titles(page) == [] and "Check your filter" in page.said


async def test_what_narrows_the_list_is_named_and_can_be_dropped(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await ada.get("/documents")
    assert "Send your first document" in page.said
    await put(office, a_row(office, "lease"))
    asked = "/documents?view=draft&q=lease&recipientEmail=jo@example.com&createdFrom=2026-11-01"
    page = await ada.get(asked)
    assert titles(page) == ["lease"]
    dropped = dict(re.findall(r'href="([^"]+)" aria-label="Remove filter: ([^"]+)"', page.text))
    assert {words: urlsplit(link.replace("&amp;", "&")).query for link, words in dropped.items()} == {
        "Recipient: jo@example.com": "view=draft&q=lease&createdFrom=2026-11-01",
        "Created from 1 November 2026": "view=draft&q=lease&recipientEmail=jo%40example.com",
    }
    page = await ada.get(asked.replace("lease", "nothing-like-it"))
    assert "No documents match “ nothing-like-it ”" in page.said
    assert "Active filters: Recipient: jo@example.com · Created from 1 November 2026" in page.said
    assert "No documents are waiting" in (await ada.get("/documents?view=waiting")).said


async def test_pages_are_turned_forwards_and_back_while_documents_come_and_go(office: Office) -> None:
    ada = await office.signed_in("Ada")
    made = [a_row(office, f"n{n:02}", n * MINUTE) for n in range(60)]
    await put(office, *made)
    first = await ada.get("/documents")
    assert titles(first) == [f"n{n:02}" for n in range(25)] and not links(first, "prev")
    [to_second] = links(first, "next")
    await put(office, a_row(office, "newer", -MINUTE))
    second = await ada.get(to_second)
    assert titles(second) == [f"n{n:02}" for n in range(25, 50)]
    third = await ada.get(links(second, "next")[0])
    assert titles(third) == [f"n{n:02}" for n in range(50, 60)] and not links(third, "next")
    back = await ada.get(links(third, "prev")[0])
    assert titles(back) == titles(second)
    beginning = await ada.get(links(back, "prev")[0])
    assert titles(beginning) == titles(first) and links(beginning, "prev")
    whole = await ada.get(links(beginning, "prev")[0])
    assert titles(whole) == ["newer", *(f"n{n:02}" for n in range(24))] and not links(whole, "prev")
    for address in (to_second + "x", to_second.replace("after=", "after=A"), "/documents?after=%F0"):
        assert (await ada.get(address)).to == "/documents"
    moved = await ada.get(to_second + "&view=draft")
    assert moved.to == "/documents?view=draft", "a place belongs to the list it was found in"

    async def empty(tx: Transaction) -> None:
        await tx.run("DELETE FROM document WHERE title <> 'n00'")

    await office.runtime.db.write(empty)
    gone = await ada.get(to_second)
    assert titles(gone) == [] and "No more documents" in gone.said


async def test_everybody_sees_only_what_is_of_their_organisation_and_mode(office: Office) -> None:
    ada = await office.signed_in("Ada")
    other = await store_organisation(office.runtime.db, an_organisation(id="org_other"))
    bo = await office.signed_in("Bo", MemberRole.OWNER, other.id)
    await put(
        office,
        a_row(office, "ours"),
        a_row(office, "test", mode=Mode.TEST),
        a_row(office, "theirs", organisation_id=other.id),
    )
    assert titles(await ada.get("/documents")) == ["ours"]
    assert titles(await bo.get("/documents")) == ["theirs"]
    assert "All 1 " in (await bo.get("/documents")).said
    await ada.post("/mode", mode="test", next="/documents")
    page = await ada.get("/documents")
    assert titles(page) == ["test"] and "Test mode. Nothing here has legal effect." in page.said


async def test_a_document_whose_time_is_over_expires_when_the_list_meets_it(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await office.site.api.send_document()
    assert "Waiting 1 " in (await ada.get("/documents")).said
    office.clock.advance(days=31)
    ada = await sign_in_again(office)
    page = await ada.get("/documents?view=waiting")
    assert titles(page) == []
    page = await ada.get("/documents?view=closed")
    assert "Expired" in row(page, "agreement") and "Waiting 0 Completed 0 Closed 1" in page.said


async def sign_in_again(office: Office) -> Visitor:
    visitor = office.visitor()
    assert (await visitor.sign_in("ada@example.test")).to == "/"
    assert (await visitor.get("/")).to == "/documents"
    return visitor


@pytest.mark.parametrize("role", MemberRole)
async def test_a_role_is_offered_what_it_may_do(office: Office, role: MemberRole) -> None:
    person = await office.signed_in("Ada", role)
    assert ("New document" in (await person.get("/documents")).said) is (role is not MemberRole.VIEWER)
    await everything(office)
    page = await person.get("/documents")
    works = role is not MemberRole.VIEWER
    for deed in ("remind", "cancel", "delete", "retry-seal"):
        assert (f"/selection/{deed}" in page.text) is works, deed
    assert "/selection/download" in page.text
    assert row(page, "one left").endswith("Remind" if works else "Open")
    assert row(page, "done").endswith("Download")
    assert ("New document" in page.said) is works


async def test_hostile_text_stays_text(office: Office) -> None:
    ada = await office.signed_in("Ada")
    person = replace(a_recipient("Jo", status=SENT), name=HOSTILE, email="jo@example.com")
    [made] = await put(
        office,
        a_row(office, HOSTILE, 0, person, status=Status.SENT, created_by=Actor("api_key", "k", HOSTILE)),
    )
    await add_template(office, HOSTILE)
    for query in ("", "q=%3Cscript%3E", "externalId=%22%3E%3Cscript%3E", "q=zz%22%3E%3Cscript%3E"):
        page = await ada.get(f"/documents?{query}")
        assert page.status == 200
        assert (
            "<script>alert" not in page.text and '"><script' not in page.text and "60481729" not in page.said
        )
    asked = await ada.get(
        "/selection/cancel?" + urlencode({"id": made.id, "back": f"//evil.example/{HOSTILE}"})
    )
    assert asked.title == "Cancel 1 document?" and "<script>alert" not in asked.text
    assert "evil.example" not in asked.text


async def add_template(office: Office, title: str) -> None:
    first = await organisations.find_first(office.runtime.db)
    assert first
    await put(office, a_row(office, "its files"))
    made = a_template(title=title, organisation_id=first.id, file=a_file())

    async def write(tx: Transaction) -> None:
        for content in (UPLOADED, PREPARED):
            await blobs.add(tx, content, made.created_at)
        await templates.add(tx, made)

    await office.runtime.db.write(write)


async def test_the_list_says_how_many_documents_it_has(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await put(office, *(a_row(office, f"lease {n}", n * MINUTE) for n in range(30)))
    await put(office, a_row(office, "rent"))
    for address, words in {
        "/documents": "31 documents",
        "/documents?view=draft": "31 documents",
        "/documents?q=lease": "30 documents",
        "/documents?q=rent": "1 document",
        "/documents?createdFrom=2020-01-01": "31 documents",
    }.items():
        assert f"{words} Go to date" in " ".join((await ada.get(address)).said.split()), address


async def test_a_list_begins_with_the_chosen_day(office: Office) -> None:
    office.clock.advance(days=10)
    ada = await office.signed_in("Ada")
    day = DAY
    await put(office, *(a_row(office, f"n{n}", n * day) for n in range(6)))
    there = to_datetime(office.clock.now() - 2 * day).date()
    page = await ada.get(f"/documents?day={there}")
    assert titles(page) == ["n2", "n3", "n4", "n5"]
    assert titles(await ada.get(links(page, "prev")[0])) == ["n0", "n1", "n2", "n3", "n4", "n5"]
    oldest = await ada.get(f"/documents?day={there}&sort=createdAt")
    assert titles(oldest) == ["n2", "n1", "n0"]
    assert "No more documents" in (await ada.get("/documents?day=2001-01-01")).said
    for wrong in ("soon", "9999-12-31", "2026-13-01"):
        assert len(titles(await ada.get(f"/documents?day={wrong}"))) == 6, wrong


async def test_documents_are_found_by_who_sent_them(office: Office) -> None:
    ada, _ = await office.signed_in("Ada"), await office.signed_in("Bo")
    member = (await office.site.api.ok("GET", "/members"))["data"]
    ids = {one["name"]: one["id"] for one in member}
    await put(
        office,
        a_row(office, "hers", 0, created_by=Actor("member", ids["Ada"], "Ada")),
        a_row(office, "his", 1, created_by=Actor("member", ids["Bo"], "Bo")),
        a_row(office, "the program’s", 2),
    )
    page = await ada.get(f"/documents?senderId={ids['Bo']}")
    assert titles(page) == ["his"] and "Sender: Bo" in page.said and "1 document Go" in page.said
    assert "Sender Anyone" in page.said and "Ada (you)" in page.said and "API keys" not in page.title
    both = await ada.get(f"/documents?senderId={ids['Ada']}&view=draft&q=hers&sort=-updatedAt")
    assert titles(both) == ["hers"]
    gone = await ada.get("/documents?senderId=mem_01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert titles(gone) == [] and "Sender: unknown" in gone.said


async def test_a_reminder_in_a_row_asks_before_it_leaves(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.send_document(title="lease")
    page = await ada.get("/documents?view=waiting")
    found = re.search(r'href="(/selection/remind[^"]+)"', page.text)
    assert found
    asked = await ada.get(found[1].replace("&amp;", "&"))
    assert asked.value("ids") == id and asked.value("back") == "/documents?view=waiting"
    assert (await office.site.api.get(id))["recipients"][0]["remindersSent"] == 0
    assert (await ada.post("/selection/remind", ids=id)).to.startswith("/documents?done=documents-remind")


# ---------- the list as a file ----------


async def export(visitor: Visitor, back: str) -> list[list[str]]:
    await visitor.get("/documents")
    page = await visitor.post("/documents/export", back=back)
    assert page.status == 200, page.said
    assert page.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="documents 2026-' in page.headers["Content-Disposition"]
    return [*csv.reader(io.StringIO(page.text.removeprefix("\ufeff")))]


async def test_the_list_is_exported_as_it_is_filtered(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await everything(office)
    head, *rows = await export(ada, "/documents?view=completed")
    assert [row[0] for row in rows] == ["done"]
    said = dict(zip(head, rows[0], strict=True))
    assert (
        said["Status"] == "Completed" and said["Sender"] == "API key ci" and said["Finished by"] == "1 of 1"
    )
    assert said["Recipients"].startswith("Jo Li <") and said["Recipients"].endswith("(finished)")
    assert re.fullmatch(r"2026-\d\d-\d\d \d\d:\d\d", said["Created"]) and said["Closed"] == ""
    assert [row[0] for row in (await export(ada, "/documents?sort=createdAt"))[1:]] == [*ROWS][::-1]
    assert len(await export(ada, "/documents?q=no+such+thing")) == 1
    await ada.get("/documents")
    refused = await ada.post("/documents/export", back="/documents?createdFrom=soon")
    assert refused.status == 400
    vi = await office.signed_in("Vi", MemberRole.VIEWER)
    assert len(await export(vi, "/documents")) == 1 + len(ROWS)


async def test_an_export_has_every_page_of_the_list(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_list, "AT_ONCE", 7)
    ada = await office.signed_in("Ada")
    await put(office, *(a_row(office, f"n{n:02}", n * MINUTE) for n in range(28)))
    assert [row[0] for row in (await export(ada, "/documents"))[1:]] == [f"n{n:02}" for n in range(28)]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1+1"])
async def test_no_cell_of_an_export_is_a_formula(office: Office, text: str) -> None:
    ada = await office.signed_in("Ada")
    person = replace(a_recipient("Jo"), name=text, email="jo@example.com")
    await put(office, a_row(office, text, 0, person, external_id=text))
    for cell in (await export(ada, "/documents"))[1]:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "＝")), cell
