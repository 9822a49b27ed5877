"""The public pages around the signing pages: nobody needs a key for them, and none leads anywhere else."""

import re

import pytest
from cryptography import x509

from tests.journeys.site import JourneySite


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/", "Not set up yet · esign"),
        ("/verify", "Verify a PDF · esign"),
        ("/verify/doc_01kzt0v8q3e5m7p9r1s3t5v7w9", "Verify a PDF · esign"),
    ],
)
async def test_a_public_page_has_one_heading_its_language_and_the_headers_of_pages(
    site: JourneySite, path: str, title: str
) -> None:
    async with site.session.get(f"{site.base}{path}") as answer:
        assert answer.status == 200
        assert "script-src 'nonce-" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] in ("no-referrer", "same-origin")
        page = await answer.text()
    assert f"<title>{title}</title>" in page and '<html lang="en" dir="ltr">' in page
    assert len(re.findall(r"<h1\b", page)) == len(re.findall(r"<main\b", page)) == 1
    assert not re.search(r'(?:href|src)="(?!/|#|data:)', page)


async def test_the_page_of_the_api_is_the_same_for_everybody(site: JourneySite) -> None:
    async with site.session.get(f"{site.base}/api") as answer:
        assert answer.status == 200
        policy = answer.headers["Content-Security-Policy"]
        page = await answer.text()
    assert "script-src 'self';" in policy and "unsafe" not in policy and "nonce" not in policy
    assert '<html lang="en">' in page and len(re.findall(r"<h1\b", page)) == 1
    assert "<style" not in page and " style=" not in page and not re.search(r"<script[^>]*>[^<]", page)
    assert not re.search(r'(?:href|src)="(?!/|#|data:)', page)
    async with site.session.get(f"{site.base}/api") as answer:
        assert await answer.text() == page


async def test_the_style_of_the_pages_is_where_they_say(site: JourneySite) -> None:
    async with site.session.get(f"{site.base}/") as answer:
        sheets = re.findall(r'href="(/static/[^"]+)"', await answer.text())
    assert sheets
    for sheet in sheets:
        async with site.session.get(f"{site.base}{sheet}") as answer:
            assert answer.status == 200
            assert "immutable" in answer.headers["Cache-Control"]


async def test_the_certificate_of_the_authority_is_handed_out_as_a_file(site: JourneySite) -> None:
    async with site.session.get(f"{site.base}/authority.cer") as answer:
        assert answer.headers["Content-Type"] == "application/pkix-cert"
        assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert 'filename="esign-authority.cer"' in answer.headers["Content-Disposition"]
        certificate = x509.load_der_x509_certificate(await answer.read())
    assert certificate.subject == certificate.issuer


async def test_a_page_that_is_not_there_is_said_so(site: JourneySite) -> None:
    async with site.session.get(f"{site.base}/nothing") as answer:
        assert (answer.status, (await answer.json())["error"]["code"]) == (404, "not_found")
