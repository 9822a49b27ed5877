import base64
import hashlib
import io
from typing import Any
from urllib.parse import quote

import pikepdf
import pytest
import pytest_asyncio

from esign.core.instant import SECOND, rfc3339
from esign.core.people.api_key import Scope
from tests.api.site import Site, SiteAnswer
from tests.journeys.api import a_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

PDF = {"Accept": "application/pdf"}
VARIANTS = {"original": "offer.pdf", "sealed": "offer-sealed.pdf", "certificate": "offer-certificate.pdf"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def completed(site: Site) -> Any:
    return await site.complete_document(fileName="offer.pdf")


async def describe(site: Site, document: Any, variant: str) -> Any:
    return await site.ok("GET", f"/documents/{document['id']}/files/{variant}")


async def fetch(site: Site, url: str, method: str = "GET", **headers: str) -> SiteAnswer:
    """As anybody would, without a key."""
    async with site.session.request(method, url, headers=headers, allow_redirects=False) as answer:
        return SiteAnswer(answer.status, answer.headers, await answer.read())


@pytest.mark.parametrize("variant, name", VARIANTS.items())
async def test_a_file_is_described_with_an_address_of_its_own(
    site: Site, completed: Any, variant: str, name: str
) -> None:
    found = await describe(site, completed, variant)
    content = (await fetch(site, found["url"])).content
    assert found == {
        "variant": variant,
        "fileName": name,
        "contentType": "application/pdf",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "url": found["url"],
        "expiresAt": rfc3339(site.clock.now() + 300 * SECOND),
    }
    assert found["url"].startswith(f"{site.base}/download/")
    with pikepdf.open(io.BytesIO(content)) as pdf:
        assert len(pdf.pages) >= 1


async def test_the_hashes_are_those_of_the_document(site: Site, completed: Any) -> None:
    assert (await describe(site, completed, "original"))["sha256"] == completed["fileSha256"]
    sealed = await describe(site, completed, "sealed")
    assert (sealed["sha256"], sealed["size"]) == (completed["seal"]["sha256"], completed["seal"]["size"])
    assert (await describe(site, completed, "certificate"))["sha256"] == completed["seal"][
        "certificateSha256"
    ]
    with pikepdf.open(io.BytesIO(await site.bytes_of(completed["id"], "sealed"))) as pdf:
        assert len(pdf.pages) == completed["seal"]["pageCount"] > completed["pageCount"]


async def test_the_original_is_the_upload_byte_for_byte_in_every_state(site: Site) -> None:
    assert await site.bytes_of(await site.create(), "original") == a_pdf()
    assert await site.bytes_of((await site.send_document())["id"], "original") == a_pdf()


@pytest.mark.parametrize("accept", ["application/pdf", "text/html, Application/PDF;q=0.9, */*;q=0.1"])
async def test_with_accept_pdf_the_bytes_come_as_an_attachment(
    site: Site, completed: Any, accept: str
) -> None:
    path = f"/documents/{completed['id']}/files/sealed"
    answer = await site.ask("GET", path, headers={"Accept": accept, "Range": "bytes=0-9"})
    assert answer.status == 200 and answer.headers["content-type"] == "application/pdf"
    assert len(answer.content) == completed["seal"]["size"]
    safe_and_whole(answer, "offer-sealed.pdf")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html", "application/pdfx"])
async def test_with_any_other_accept_the_file_is_described(site: Site, completed: Any, accept: str) -> None:
    path = f"/documents/{completed['id']}/files/sealed"
    answer = await site.ask("GET", path, headers={"Accept": accept})
    assert answer.headers["content-type"] == "application/json"


def safe_and_whole(answer: SiteAnswer, name: str) -> None:
    digest = base64.b64encode(hashlib.sha256(answer.content).digest()).decode()
    assert answer.headers["repr-digest"] == f"sha-256=:{digest}:"
    assert (
        answer.headers["content-disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
    )
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_address_needs_no_key_and_lives_for_its_time(site: Site, completed: Any) -> None:
    url = (await describe(site, completed, "certificate"))["url"]
    for _ in range(2):
        answer = await fetch(site, url)
        assert answer.status == 200
        safe_and_whole(answer, "offer-certificate.pdf")
    site.clock.advance(seconds=300, milliseconds=-1)
    assert (await fetch(site, url)).status == 200
    site.clock.advance(milliseconds=1)
    gone = await fetch(site, url)
    assert gone.status == 404 and gone.code == "not_found"


async def test_the_address_is_for_its_file_alone(site: Site, completed: Any) -> None:
    url = (await describe(site, completed, "original"))["url"]
    ticket = url.rpartition("/")[2]
    raw = bytearray(base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4)))
    raw[24] = 1  # what says which variant
    forged = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    for wrong in (forged, ticket[:-4], ticket + "AAAA", ticket + "!", "A" * len(ticket), "x", "%C3%BC"):
        answer = await fetch(site, f"{site.base}/download/{wrong}")
        assert answer.status == 404 and answer.code == "not_found", wrong


async def test_every_time_bytes_are_served_the_trail_says_so(site: Site) -> None:
    document = await site.create()
    assert (await describe(site, {"id": document}, "original"))["url"]
    assert await site.list_events(document) == ["document.created"]
    await site.bytes_of(document, "original")
    await fetch(site, (await describe(site, {"id": document}, "original"))["url"], **{"User-Agent": "curl/8"})
    by_key, by_address = (await site.trail(document))[1:]
    assert by_key["type"] == by_address["type"] == "document.downloaded"
    assert by_key["data"] == by_address["data"] == {"variant": "original"}
    assert by_key["actor"]["kind"] == "api_key" and by_key["actor"]["name"] == "ci"
    assert by_address["actor"] == {"kind": "system", "id": None, "name": None, "email": None}
    assert by_address["userAgent"] == "curl/8" and by_address["ip"] == "127.0.0.1"


@pytest.mark.parametrize("variant", ["sealed", "certificate"])
async def test_before_the_seal_there_is_only_the_original(site: Site, variant: str) -> None:
    for document, status in ((await site.create_draft(), "draft"), (await site.send_document(), "sent")):
        path = f"/documents/{document['id']}/files/{variant}"
        for headers in ({}, PDF):
            answer = await site.ask("GET", path, headers=headers)
            assert answer.code == "document_not_completed"
            assert answer.body["error"]["currentStatus"] == status


@pytest.mark.parametrize("variant", ["unknown", "Original", "original.pdf", "sealed%20"])
async def test_an_unknown_variant_is_not_found(site: Site, completed: Any, variant: str) -> None:
    assert (await site.ask("GET", f"/documents/{completed['id']}/files/{variant}")).code == "not_found"


async def test_files_need_the_scope_to_read(site: Site, completed: Any) -> None:
    key = await site.new_key(Scope.DOCUMENTS_WRITE)
    path = f"/documents/{completed['id']}/files/original"
    assert (await site.ask("GET", path, key=key, headers=PDF)).code == "insufficient_scope"


@pytest.mark.parametrize(
    "name, plain",
    [
        ("x\".html; filename*=utf-8''y.html", "x_.html_ filename__utf-8__y.html"),
        ("Größe 日本.pdf", "Gr__e __.pdf"),
        ("a%0d%0aSet-Cookie: x.pdf", "a_0d_0aSet-Cookie_ x.pdf"),
    ],
)
async def test_a_file_name_is_safely_quoted(site: Site, name: str, plain: str) -> None:
    path = f"/documents/{await site.create(fileName=name)}/files/original"
    answer = await site.ask("GET", path, headers=PDF)
    assert answer.headers["content-disposition"] == (
        f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    )
    assert "set-cookie" not in answer.headers and answer.headers["content-type"] == "application/pdf"


async def test_asking_for_the_headers_alone_hands_nothing_out(site: Site, completed: Any) -> None:
    before = await site.list_events(completed["id"])
    described = await describe(site, completed, "sealed")
    by_address = await fetch(site, described["url"], "HEAD")
    by_key = await fetch(
        site,
        f"{site.base}/api/v1/documents/{completed['id']}/files/sealed",
        "HEAD",
        Authorization=f"Bearer {site.key}",
        **PDF,
    )
    for answer in (by_address, by_key):
        assert answer.status == 200
        assert int(answer.headers["content-length"]) == described["size"]
    assert await site.list_events(completed["id"]) == before
