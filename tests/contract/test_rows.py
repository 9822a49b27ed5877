"""Rows of the contract that no other test speaks of."""

import pytest

from tests.api.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")

BACK = "https://northlight.example/thanks?order=7"


async def test_whoever_has_signed_is_offered_the_way_back(site: Site) -> None:
    """`redirectUrl` (3.2): a link, followed by a press, after signing and not before."""
    signer = site.signer()
    document = await site.send_document(recipients=[signer], redirectUrl=BACK)
    person = await site.person(signer["email"])
    assert BACK not in (await person.open()).content.decode()
    await person.sign()
    await site.wait_until_sealed(document["id"])
    page = (await person.open()).content.decode()
    assert f'href="{BACK}"' in page and "http-equiv" not in page
