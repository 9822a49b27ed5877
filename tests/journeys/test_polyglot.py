"""A PDF that is a web page as well: what is signed and certified is the plain PDF, and nothing claims otherwise."""

import base64
import io

from pypdf import PdfReader

from tests.core.test_polyglot import POLYGLOTS
from tests.journeys.site import JourneySite


async def certificate(site: JourneySite, document: str) -> str:
    told = await site.api.ok("GET", f"/documents/{document}/files/certificate")
    async with site.session.get(told["url"]) as answer:
        reader = PdfReader(io.BytesIO(await answer.read()))
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


async def test_the_certificate_claims_no_hash_of_an_upload_that_was_not_kept(site: JourneySite) -> None:
    plain = await site.complete_document()
    assert "SHA-256 as uploaded" in await certificate(site, plain)
    mixed = await site.complete_document(file=base64.b64encode(POLYGLOTS["a page before it"]).decode())
    shown = await certificate(site, mixed)
    assert "SHA-256 as uploaded" not in shown and "unrelated data around the PDF" in shown
