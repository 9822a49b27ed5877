"""The manual over HTTP: open to everybody, in the reader's language around English texts, and under a strict policy."""

import re

import pytest

from esign.core.language import LANGUAGES
from esign.web.office.frame.words import load_words
from tests.web.office.visitor import Office, Visitor


@pytest.fixture
def visitor(office: Office) -> Visitor:
    return Visitor(office.site, office.browser)


async def test_the_manual_is_open_to_everybody_under_a_strict_policy(visitor: Visitor) -> None:
    for path in ("/docs", "/docs/mail", "/docs/search?q=mail"):
        page = await visitor.get(path)
        assert page.status == 200
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert re.search(r"<script(?![^>]* src=)|<style|\bstyle=", page.text) is None


async def test_the_contents_lead_to_every_page(visitor: Visitor) -> None:
    page = await visitor.get("/docs")
    led_to = set(re.findall(r'href="(/docs/[a-z.-]+)"', page.text))
    assert len(led_to) > 20
    for path in led_to:
        assert (await visitor.get(path)).status == 200, path


@pytest.mark.parametrize("tag", LANGUAGES)
async def test_the_frame_is_in_the_readers_language(visitor: Visitor, tag: str) -> None:
    t = load_words(tag)
    for path in ("/docs", "/docs/mail", "/docs/search?q=spf", "/docs/search?q=qqqq", "/docs/search"):
        page = await visitor.get(path, {"Accept-Language": tag})
        assert f'<html lang="{tag}"' in page.text
        assert str(t("manual.search").unescape()) in page.said
    text = (await visitor.get("/docs/mail", {"Accept-Language": tag})).text
    assert (str(t("manual.in_english")) in text) == (tag != "en")
    assert '<article class="prose" lang="en" dir="ltr">' in text


async def test_a_search_says_what_it_found_and_repeats_nothing_as_html(visitor: Visitor) -> None:
    found = await visitor.get("/docs/search?q=spf")
    assert 'href="/docs/mail#spf"' in found.text and "results for spf" in found.said
    hostile = await visitor.get("/docs/search?q=%3Cscript%3Ealert(1)%3C/script%3E%22qq")
    assert "<script>alert" not in hostile.text
    nothing = await visitor.get("/docs/search?q=qqqqzzzz")
    assert "No results for qqqqzzzz" in nothing.said


async def test_pictures_and_the_list_of_settings_are_sent(visitor: Visitor) -> None:
    picture = await visitor.get("/docs/images/fields-geometry.svg")
    assert (picture.status, picture.headers["Content-Type"]) == (200, "image/svg+xml")
    assert "script" not in picture.headers["Content-Security-Policy"]
    settings = await visitor.get("/docs/esign.toml.example")
    assert settings.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "# trusted_proxies" in settings.text


@pytest.mark.parametrize(
    "path",
    [
        "/docs/nothing",
        "/docs/dev",
        "/docs/dev/contract",
        "/docs/mail.md",
        "/docs/images/nothing.png",
        "/docs/images/mail.png",
    ],
)
async def test_what_is_not_a_page_is_not_found(visitor: Visitor, path: str) -> None:
    assert (await visitor.get(path)).status in (400, 404)


async def test_the_office_leads_to_the_manual_and_back(office: Office) -> None:
    member = await office.signed_in("Maren")
    assert 'href="/docs"' in (await member.get("/documents")).text
    for path, page in (
        ("/settings/webhooks", "webhooks"),
        ("/settings/seal", "trust"),
        ("/settings/outbox", "mail"),
    ):
        assert f'href="/docs/{page}"' in (await member.get(path)).text
    assert 'href="/documents"' in (await member.get("/docs/mail")).text
