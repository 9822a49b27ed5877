"""Pictures, PDFs and static files."""

import gzip
import re
from pathlib import Path

import pytest

import esign
from esign.store.queue import audit_entries
from esign.web.pages import Assets, format_disposition
from tests.web.signing.client import LINK, SigningClient
from tests.web.signing.site import PDF, STATES, SigningSite, picture


async def test_a_page_is_a_picture_that_only_the_reader_keeps() -> None:
    site = SigningSite()
    seen = await SigningClient(site).ask(path=f"{LINK}/pages/2.webp")
    assert (seen.status, seen.body) == (200, picture(2))
    assert seen.headers["content-type"] == "image/webp"
    assert seen.headers["cache-control"] == "private, max-age=86400, immutable"
    assert seen.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("number", ["0", "3", "x", "-1", "1e3"])
async def test_a_page_that_is_not_there_is_not_found(number: str) -> None:
    assert (await SigningClient(SigningSite()).ask(path=f"{LINK}/pages/{number}.webp")).status == 404


async def test_a_page_that_cannot_be_drawn_is_refused_and_recorded_once() -> None:
    site = SigningSite()
    site.undrawable = {2}
    for _ in range(3):
        seen = await SigningClient(site).ask(path=f"{LINK}/pages/2.webp")
        assert seen.status == 400 and b"cannot be shown" in seen.body
    assert (await SigningClient(site).ask(path=f"{LINK}/pages/1.webp")).status == 200
    trail = await audit_entries.find_entries(site.runtime.db, site.document.id)
    told = [one.data for one in trail if one.type == "document.page_not_shown"]
    assert told == [{"page": 2}]


@pytest.mark.parametrize("size", [2, 3])
async def test_a_page_comes_in_a_few_sizes(size: int) -> None:
    seen = await SigningClient(SigningSite()).ask(path=f"{LINK}/pages/2.webp?size={size}")
    assert (seen.status, seen.body) == (200, picture(2, size))


@pytest.mark.parametrize(
    "query", ["size=1", "size=4", "size=2.5", "size=02", "size=2&size=3", "size=", "x=1"]
)
async def test_no_other_size_is_drawn(query: str) -> None:
    for name in ("2.webp", "2/filled-1.webp"):
        assert (await SigningClient(SigningSite()).ask(path=f"{LINK}/pages/{name}?{query}")).status == 404


async def test_the_text_of_a_page_is_data() -> None:
    seen = await SigningClient(SigningSite()).ask(path=f"{LINK}/pages/1.json")
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert b"Words of page 1." in seen.body
    assert (await SigningClient(SigningSite()).ask(path=f"{LINK}/pages/3.json")).status == 404


@pytest.mark.parametrize("file", ["original.pdf", "sealed.pdf"])
async def test_a_pdf_is_saved_and_never_shown_inside_the_origin(file: str) -> None:
    state, document = STATES["completed"]
    seen = await SigningClient(SigningSite(document, state)).ask(path=f"{LINK}/{file}")
    assert (seen.status, seen.body) == (200, PDF)
    assert seen.headers["content-type"] == "application/pdf"
    assert seen.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert seen.headers["x-content-type-options"] == "nosniff"
    assert seen.headers["content-disposition"].startswith("attachment; filename=")


async def test_there_is_no_sealed_file_before_the_document_is_completed() -> None:
    seen = await SigningClient(SigningSite()).ask(path=f"{LINK}/sealed.pdf")
    assert (seen.status, seen.code) == (409, "document_not_completed")


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a b.pdf", "attachment; filename=\"a b.pdf\"; filename*=UTF-8''a%20b.pdf"),
        ("Straße.pdf", "attachment; filename=\"Stra_e.pdf\"; filename*=UTF-8''Stra%C3%9Fe.pdf"),
        (
            "x\".html; filename*=utf-8''y.html",
            'attachment; filename="x_.html_ filename__utf-8__y.html"; '
            "filename*=UTF-8''x%22.html%3B%20filename%2A%3Dutf-8%27%27y.html",
        ),
        ("../a\r\nX: y\u202e.pdf", "attachment; filename=\"..aX_ y.pdf\"; filename*=UTF-8''..aX%3A%20y.pdf"),
        ("\x00", "attachment; filename=\"document.pdf\"; filename*=UTF-8''document.pdf"),
    ],
)
def test_the_name_of_a_file_cannot_end_its_header(name: str, header: str) -> None:
    assert format_disposition(name) == header


async def test_static_files_are_kept_for_ever_under_a_name_that_changes_with_them() -> None:
    client = SigningClient(SigningSite())
    page = (await client.ask()).body.decode()
    addresses = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))
    assert {address.rpartition("/")[2] for address in addresses} == {"signing.css", "signing.js"}
    for address in addresses:
        seen = await client.ask(path=address)
        assert seen.status == 200
        assert seen.headers["cache-control"] == "public, max-age=31536000, immutable"
        packed = await client.ask(path=address, headers={"accept-encoding": "br, gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(packed.body) == seen.body
    assert (await client.ask(path="/static/0123456789abcdef/signing.js")).status == 404


async def test_the_page_itself_is_packed_for_whoever_takes_it() -> None:
    client = SigningClient(SigningSite())
    plain = await client.ask()
    packed = await client.ask(headers={"accept-encoding": "gzip, br"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["content-length"] == str(len(packed.body))
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert len(packed.body) < len(plain.body) / 4
    assert b"<!doctype html>" in gzip.decompress(packed.body)


@pytest.mark.parametrize("name", ["../pages.py", "..%2fpages.py", "/etc/passwd", "fonts", ""])
async def test_only_files_of_the_list_are_served(name: str) -> None:
    digest = Assets.load().digest
    assert (await SigningClient(SigningSite()).ask(path=f"/static/{digest}/{name}")).status == 404


async def test_what_is_typed_is_shown_with_the_very_fonts_of_the_seal() -> None:
    assets = Assets.load()
    folder = Path(esign.__file__).parent / "pdf" / "fonts"
    sheet = assets.files["signing.css"].plain.decode()
    named = set(re.findall(r'url\("(fonts/[^"]+)"\)', sheet))
    assert named | {"fonts/NotoSansMono-Regular.ttf"} == {
        name for name in assets.files if name.startswith("fonts/")
    }
    for name in named:
        assert assets.files[name].plain == (folder.parent / name).read_bytes()


@pytest.mark.parametrize("name", ["path.js", "signing.css"])
def test_what_is_written_for_people_who_read_the_source_is_not_sent(name: str) -> None:
    source = (Path(esign.__file__).parent / "web" / "static" / name).read_text("utf-8")
    sent = Assets.load(bundled=False).files[name].plain.decode()
    assert "/*" in source and "/*" not in sent
    assert not re.search(r"^\s*//|^[ \t]", sent, re.MULTILINE)
    assert len(re.sub(r"\s", "", sent)) > 0.7 * len(re.sub(r"\s", "", source))


def test_script_and_style_of_the_page_stay_below_forty_kilobytes_compressed() -> None:
    files = Assets.load().files
    assert sum(len(files[name].packed or b"") for name in ("signing.css", "signing.js")) < 40_000
