"""What is done to several documents at once: asked first, done to each by itself, and told."""

import asyncio
import base64
import io
import os
import re
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from urllib.parse import urlencode

import aiohttp
import pikepdf
import pytest

from esign.actions.document import zip_files
from esign.core.actor import Author, Mode, Owner
from esign.core.people.member import MemberRole
from esign.store.document import blobs
from esign.store.engine.database import Transaction
from esign.store.people import organisations
from esign.web.office.documents import selection
from tests.factories import an_organisation, store_organisation
from tests.journeys.api import a_pdf
from tests.web.office.visitor import Office, Page, Visitor

BACK = "/documents?view=waiting"
EXTRACTED = re.compile(r"<li[^>]*>(.*?)</li>", re.DOTALL)


async def three(office: Office) -> tuple[str, str, str]:
    """A draft, one that is out, and one that is completed."""
    api = office.site.api
    done = await office.site.complete_document(title="the end", fileName="end.pdf")
    draft = await api.create(title="the draft", fileName="draft.pdf")
    return draft, await api.send_document(title="out", fileName="out.pdf"), done


async def ask_deed(visitor: Visitor, deed: str, *ids: str, back: str = BACK) -> Page:
    query = urlencode([*(("id", id) for id in ids), ("back", back)])
    return await visitor.get(f"/selection/{deed}?{query}")


def list_entries(page: Page) -> list[str]:
    """What stands in the lists of the page."""
    main = page.text.partition("<main")[2]
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", one)).split()) for one in EXTRACTED.findall(main)]


async def follow_page(visitor: Visitor, page: Page) -> Page:
    """The page that tells what was not done; it can be read again."""
    assert page.to.startswith("/selection/done?")
    again, told = await visitor.get(page.to), await visitor.get(page.to)
    assert (told.status, list_entries(told)) == (200, list_entries(again))
    return told


async def answer(visitor: Visitor, page: Page, deed: str, **more: str) -> Page:
    """The form of that page, as it stands there."""
    form = {"ids": page.value("ids"), "back": page.value("back"), **more}
    return await visitor.post(f"/selection/{deed}", form)


async def test_a_question_says_for_how_many_it_works_and_why_not_for_the_rest(office: Office) -> None:
    ada = await office.signed_in("Ada")
    draft, sent, done = await three(office)
    page = await ask_deed(ada, "remind", draft, sent, done, "doc_gone", sent)
    assert page.title == "Remind the recipients of 1 document?"
    assert "This works for 1 of the 4 documents you selected." in page.said
    assert list_entries(page) == [
        "out",
        "the draft This document isn’t out for signature, so you can’t do this now.",
        "the end This document isn’t out for signature, so you can’t do this now.",
        "A document This document no longer exists.",
    ]
    assert page.value("ids") == sent and page.value("back") == BACK
    page = await ask_deed(ada, "cancel", draft, sent, done)
    assert page.title == "Cancel 1 document?" and len(list_entries(page)) == 3
    page = await ask_deed(ada, "delete", draft, sent, done)
    assert page.title == "Permanently delete 2 documents?"
    assert (
        list_entries(page)[2]
        == "out This document is still in progress. Cancel it first, or wait until it is sealed."
    )
    page = await ask_deed(ada, "cancel", draft)
    assert (
        page.title == "Nothing here can be cancelled" and "<form class" not in page.text.partition("<main")[2]
    )


async def test_what_is_done_to_all_is_told_in_the_list(office: Office) -> None:
    ada = await office.signed_in("Ada")
    one, two = [await office.site.api.send_document() for _ in range(2)]
    page = await answer(ada, await ask_deed(ada, "remind", one, two), "remind", message="Please\r\nhurry")
    assert page.to == f"{BACK}&done=documents-remind&number=2"
    assert "The reminders wait here and aren’t emailed." in (await ada.get(page.to)).said
    assert "Please" in await office.letter("ada@example.test")
    page = await answer(ada, await ask_deed(ada, "cancel", one, two), "cancel", reason="sold", notify="yes")
    assert page.to.endswith("done=documents-cancel&number=2")
    for id in (one, two):
        document = await office.site.api.get(id)
        assert (document["status"], document["closeReason"]) == ("cancelled", "sold")
        trail = (await office.site.api.ok("GET", f"/documents/{id}/audit"))["data"]
        assert {"kind": "member", "name": "Ada", "email": "ada@example.test"}.items() <= trail[-1][
            "actor"
        ].items()
        assert trail[-1]["data"] == {"notified": True}
    page = await answer(ada, await ask_deed(ada, "delete", one), "delete")
    assert "Document deleted." in (await ada.get(page.to)).said
    assert (await office.site.api.call("GET", f"/documents/{one}")).status == 404


async def test_what_was_not_done_is_told_with_its_reason(office: Office) -> None:
    ada = await office.signed_in("Ada")
    one, two, three = [
        await office.site.api.send_document(title=title) for title in ("first", "second", "third")
    ]
    page = await ask_deed(ada, "cancel", one, two, three)
    await office.site.api.ok("POST", f"/documents/{one}/cancel", {})
    await office.site.api.ok("POST", f"/documents/{two}/cancel", {})
    await office.site.api.ok("DELETE", f"/documents/{two}")
    done = await follow_page(ada, await answer(ada, page, "cancel"))
    assert done.status == 200 and done.title == "1 of 3 documents cancelled"
    assert list_entries(done) == [
        "first This document isn’t out for signature, so you can’t do this now.",
        "A document This document no longer exists.",
        "third",
    ]
    assert f'href="{BACK.replace("&", "&amp;")}"' in done.text
    trail = (await office.site.api.ok("GET", f"/documents/{three}/audit"))["data"]
    assert trail[-1]["data"] == {"notified": False}, "without the tick nobody is told"
    again = await follow_page(ada, await ada.post("/selection/cancel", ids=three))
    assert again.title == "Nothing was cancelled"


async def test_who_was_reminded_within_the_hour_is_left_in_peace(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.send_document()
    assert (await ada.post("/selection/remind", ids=id)).to.startswith("/documents?done=documents-remind")
    page = await follow_page(ada, await ada.post("/selection/remind", ids=id))
    assert page.title == "No one was reminded"
    [told] = list_entries(page)
    assert (
        told
        == "agreement The last reminder is less than an hour old. You can send the next one in 60 minutes."
    )
    assert (await ask_deed(ada, "remind", id)).title == "No one can be reminded now"


async def test_what_is_kept_by_the_settings_says_until_when(office: Office) -> None:
    ada = await office.signed_in("Ada")
    done = await office.site.complete_document()
    await office.site.api.ok("PATCH", "/settings", {"retainCompletedDays": 10})
    assert list_entries(await ask_deed(ada, "delete", done)) == [
        "agreement Your organisation keeps completed documents. You can delete this one on 1 Dec 2026."
    ]
    page = await follow_page(ada, await ada.post("/selection/delete", ids=done))
    assert page.title == "Nothing was deleted"


async def test_a_failed_seal_is_tried_again_from_its_row(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.send_document()
    assert list_entries(await follow_page(ada, await ada.post("/selection/retry-seal", ids=id))) == [
        "agreement There is no failed seal to retry."
    ]
    site = office.site
    sound = site.runtime.credentials[Mode.LIVE]
    other = site.runtime.keyring.read_key(site.runtime.credentials[Mode.TEST].certificate_der)
    site.runtime.credentials[Mode.LIVE] = replace(sound, key_der=other)  # type: ignore[index]
    await site.all_sign(id)
    await site.work("seal")
    site.runtime.credentials[Mode.LIVE] = sound  # type: ignore[index]
    page = await ada.get("/documents?view=attention")
    assert "Seal delayed" in page.said
    assert (
        await ada.post("/selection/retry-seal", ids=id)
    ).to == "/documents?done=documents-retry-seal&number=1"
    await site.work("seal")
    assert await site.api.status(id) == "completed"
    assert "Nothing needs your attention" in (await ada.get("/documents?view=attention")).said


@pytest.mark.parametrize("deed", ["remind", "cancel", "delete", "download"])
async def test_without_a_tick_there_is_no_question(office: Office, deed: str) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.get(f"/selection/{deed}?back=/documents?q=x")).to == "/documents?q=x"
    assert (await ada.get(f"/selection/{deed}?back=https://evil.example/")).to == "/documents"
    page = await ada.post(f"/selection/{deed}", ids=" ")
    assert page.status in (400, 404)


async def test_what_was_written_too_long_is_said_at_its_field(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.send_document()
    page = await ada.post("/selection/cancel", ids=id, back=BACK, reason="x" * 1_001)
    assert page.status == 422 and page.wrong() == {"reason": "1000 characters or fewer."}
    assert page.title.startswith("Please check: Cancel 1 document?") or "Cancel 1 document?" in page.said
    assert page.value("ids") == id and page.value("back") == BACK
    assert await office.site.api.status(id) == "sent"


async def test_nobody_reaches_what_is_of_another_organisation_or_mode(office: Office) -> None:
    ids = await three(office)
    other = await store_organisation(office.runtime.db, an_organisation(id="org_other"))
    bo = await office.signed_in("Bo", MemberRole.OWNER, other.id)
    for deed in ("remind", "cancel", "delete", "retry-seal"):
        page = await follow_page(bo, await bo.post(f"/selection/{deed}", ids=" ".join(ids)))
        assert list_entries(page) == ["A document This document no longer exists."] * 3
    assert (await bo.post("/selection/download", ids=" ".join(ids))).status == 404
    ada = await office.signed_in("Ada")
    await ada.post("/mode", mode="test")
    assert (
        list_entries(await ask_deed(ada, "download", *ids))
        == ["A document This document no longer exists."] * 3
    )


async def test_a_viewer_downloads_and_does_nothing_else(office: Office) -> None:
    vi = await office.signed_in("Vi", MemberRole.VIEWER)
    draft, sent, done = await three(office)
    for deed in ("remind", "cancel", "delete"):
        assert (await ask_deed(vi, deed, draft, sent, done)).status == 403
        assert (await vi.post(f"/selection/{deed}", ids=f"{draft} {sent} {done}")).status == 403
    assert (await vi.post("/selection/retry-seal", ids=done)).status == 403
    assert (await ask_deed(vi, "download", draft, done)).title == "Download 2 documents?"
    assert await office.site.api.status(sent) == "sent"


async def test_what_was_not_done_is_told_of_an_address_that_anybody_may_write(office: Office) -> None:
    ada = await office.signed_in("Ada")
    id = await office.site.api.create(title="the draft")
    at = "/selection/done?deed=cancel&of=2"
    assert list_entries(await ada.get(f"{at}&not={id}.x&done={id}")) == [
        "the draft This document isn’t out for signature, so you can’t do this now.",
        "the draft",
    ]
    sent = await office.site.api.send_document(title="out")
    assert list_entries(await ada.get(f"{at}&not={sent}.document_in_progress")) == [
        "out This document is still in progress. Cancel it first, or wait until it is sealed."
    ]
    assert list_entries(await ada.get(f"{at}&not={sent}.<b>")) == ["out This didn’t work. Try again."]
    for wrong in (
        at,
        "/selection/done",
        f"{at[:-1]}0&not=x.y",
        f"{at[:-1]}999&not=x.y",
        f"{at}x&not=x.y&back=//evil",
    ):
        assert (await ada.get(wrong)).to == "/documents"


# ---------- files ----------


async def take_download(visitor: Visitor, *ids: str) -> tuple[int, str, str, bytes]:
    """Status, kind, name and bytes of what is downloaded."""
    sent = {"csrf": visitor.csrf, "ids": " ".join(ids)}
    headers = {"Cookie": f"esign={visitor.token}", "Origin": visitor.site.base}
    url = f"{visitor.site.base}/selection/download"
    async with visitor.session.post(url, data=sent, headers=headers, allow_redirects=False) as got:
        named = re.search(r'filename="([^"]+)"', got.headers.get("Content-Disposition", ""))
        return got.status, got.content_type, named[1] if named else "", await got.read()


async def test_several_files_come_as_one_archive(office: Office) -> None:
    ada = await office.signed_in("Ada")
    draft, sent, done = await three(office)
    twin = await office.site.api.create(fileName="DRAFT.pdf")
    odd = await office.site.api.create(fileName="a:b?\u202e*.pdf")
    page = await ask_deed(ada, "download", draft, sent, done, twin, odd)
    assert "1 document is sealed. 4 are as uploaded, because they aren’t completed." in page.said
    status, kind, name, content = await take_download(ada, draft, sent, done, twin, odd)
    assert (status, kind, name) == (200, "application/zip", "documents 2026-11-21.zip")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["draft.pdf", "out.pdf", "end-sealed.pdf", "DRAFT (2).pdf", "a_b__.pdf"]
        assert archive.read("end-sealed.pdf") == await office.site.api.file(done)
        assert archive.read("draft.pdf") == a_pdf()
        for one in archive.infolist():
            assert one.flag_bits & 8 == 0, "sizes stand before each file, for whoever unpacks a stream"
    for id in (draft, sent, done):
        last = (await office.site.api.ok("GET", f"/documents/{id}/audit"))["data"][-1 if id != done else -2]
        assert (last["type"], last["actor"]["name"]) == ("document.downloaded", "Ada")


async def test_one_file_comes_as_it_is(office: Office) -> None:
    ada = await office.signed_in("Ada")
    draft, _, done = await three(office)
    assert "Sealed PDF," in (await ask_deed(ada, "download", done)).said
    status, kind, name, content = await take_download(ada, done)
    assert (status, kind, name) == (200, "application/pdf", "end-sealed.pdf")
    with pikepdf.open(io.BytesIO(content)) as pdf:
        assert len(pdf.pages) > 1
    assert (await take_download(ada, draft))[2] == "draft.pdf"


async def test_too_much_at_once_is_refused_before_anything_is_sent(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await office.signed_in("Ada")
    one, two = [await office.site.api.create() for _ in range(2)]
    monkeypatch.setattr(zip_files, "MOST_BYTES", 2 * len(a_pdf()) - 1)
    page = await ask_deed(ada, "download", one, two)
    assert "Select fewer" in page.said and "Download ZIP" not in page.said
    assert (await take_download(ada, one, two))[0] == 400


async def test_an_archive_holds_a_piece_of_a_file_at_a_time(office: Office) -> None:
    runtime, [document] = office.runtime, [await office.site.api.create()]
    first = await organisations.find_first(runtime.db)
    assert first
    [found] = await zip_files.list_files(runtime, Owner(first.id, Mode.LIVE), [document])
    content = os.urandom(3 * 2**20 + 5)

    async def store(tx: Transaction) -> str:
        return await blobs.add(tx, content, 0)

    large = replace(found, sha256=await runtime.db.write(store), size=len(content), name="größer.pdf")
    author = Author(found.document.created_by)
    pieces = [one async for one in zip_files.pack(runtime, author, [large, found], "UTC")]
    assert max(map(len, pieces)) <= 2**20
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None and archive.namelist() == ["größer.pdf", "agreement.pdf"]
        assert archive.read("größer.pdf") == content


async def test_somebody_has_two_archives_under_way_and_no_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def slow(*_: object) -> AsyncIterator[bytes]:
        yield b"PK"
        await gate.wait()
        yield b"."

    monkeypatch.setattr(zip_files, "pack", slow)
    ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo")
    ids = [await office.site.api.create() for _ in range(2)]

    async def begin(visitor: Visitor) -> aiohttp.ClientResponse:
        sent = {"csrf": visitor.csrf, "ids": " ".join(ids)}
        headers = {"Cookie": f"esign={visitor.token}", "Origin": visitor.site.base}
        return await visitor.session.post(
            f"{visitor.site.base}/selection/download", data=sent, headers=headers
        )

    one, two = await begin(ada), await begin(ada)
    refused = await begin(ada)
    assert (one.status, two.status, refused.status) == (200, 200, 429)
    assert "Try again when one of them has finished." in await refused.text()
    assert (other := await begin(bo)).status == 200, "nobody else has to wait"
    one.close()  # whoever gives up makes room
    assert (again := await begin(ada)).status == 200
    gate.set()
    assert await two.read() == await again.read() == await other.read() == b"PK."
    assert (await begin(ada)).status == 200


async def test_what_is_deleted_while_the_archive_is_made_is_named_in_it(office: Office) -> None:
    ids = [await office.site.api.create(title=f"no {n}", fileName=f"{n}.pdf") for n in range(3)]
    runtime = office.runtime
    first = await organisations.find_first(runtime.db)
    assert first
    owner = Owner(first.id, Mode.LIVE)
    found = await zip_files.list_files(runtime, owner, [*ids, "doc_gone"])
    assert len(found) == 3
    await office.site.api.ok("DELETE", f"/documents/{ids[1]}")
    damaged = found[2].sha256

    async def damage(tx: Transaction) -> None:
        await tx.run("DELETE FROM blob_chunk WHERE sha256 = :sha256", sha256=damaged)

    other = await office.site.api.create(file=pdf_text(2), fileName="2b.pdf")
    found += await zip_files.list_files(runtime, owner, [other])
    await runtime.db.write(damage)
    author = Author(found[0].document.created_by)
    pieces = [piece async for piece in zip_files.pack(runtime, author, found, "UTC")]
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["2b.pdf", "Not included.txt"]
        text = archive.read("Not included.txt").decode()
    assert [line for line in text.splitlines() if line.endswith(("no 0", "no 1", "no 2"))] == [
        "0.pdf: no 0",
        "1.pdf: no 1",
        "2.pdf: no 2",
    ]


def pdf_text(pages: int) -> str:
    return base64.b64encode(a_pdf(pages)).decode()


async def test_everything_that_matches_is_chosen_on_all_pages(office: Office) -> None:
    ada = await office.signed_in("Ada")
    ids = [await office.site.api.create(title=f"lease {n}") for n in range(27)]
    await office.site.api.create(title="offer")
    back = "/documents?q=lease"
    assert "Select all 27 that match" in (await ada.get(back)).said
    query = urlencode({"all": "yes", "id": ids[0], "back": back})
    page = await ada.get(f"/selection/delete?{query}")
    assert page.title == "Permanently delete 27 documents?"
    assert {*page.value("ids").split()} == {*ids} and page.value("back") == back
    assert (await answer(ada, page, "delete")).to == f"{back}&done=documents-delete&number=27"
    assert [one["title"] for one in (await office.site.api.ok("GET", "/documents"))["data"]] == ["offer"]
    wrong = urlencode({"all": "yes", "back": "/documents?createdFrom=soon"})
    assert (await ada.get(f"/selection/delete?{wrong}")).to == "/documents?createdFrom=soon"


async def test_so_many_are_chosen_at_once_and_named_briefly(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "MOST", 70)
    ada = await office.signed_in("Ada")
    for n in range(71):
        await office.site.api.create(title=f"n{n}")
    assert "Select the first 70 that match" in (await ada.get("/documents")).said
    page = await ada.get("/selection/delete?all=yes&back=/documents")
    assert page.title == "Permanently delete 70 documents?" and "and 20 more" in page.said
    assert (
        await ada.get("/selection/cancel?all=yes&back=/documents")
    ).title == "Nothing here can be cancelled"
    done = await follow_page(ada, await ada.post("/selection/cancel", ids=page.value("ids")))
    assert done.title == "Nothing was cancelled" and "70 documents" not in done.title
