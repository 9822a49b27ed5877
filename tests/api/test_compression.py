"""Answers above 1 kB are compressed for those who take it; an ETag stays that of the revision."""

import gzip
import json

import pytest

from tests.api.site import Site
from tests.web.wire import Seen, ask

pytestmark = pytest.mark.asyncio(loop_scope="module")

PACKED = "Accept-Encoding: gzip, br"


async def read(site: Site, path: str, *headers: str, method: str = "GET") -> Seen:
    return await ask(site.port, method, path, None, f"Authorization: Bearer {site.key}", *headers)


async def test_a_list_is_compressed_for_those_who_take_it(site: Site) -> None:
    for _ in range(3):
        await site.create()
    path = "/api/v1/documents?limit=3"
    plain, packed = await read(site, path), await read(site, path, PACKED)
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert len(packed.body) < len(plain.body) / 2
    assert json.loads(gzip.decompress(packed.body)) == plain.json
    refused = await read(site, path, "Accept-Encoding: gzip;q=0")
    assert refused.body == plain.body


async def test_an_answer_with_an_etag_is_the_same_bytes_for_everybody(site: Site) -> None:
    path = f"/api/v1/documents/{await site.create()}"
    plain, other = await read(site, path), await read(site, path, PACKED)
    assert len(plain.body) > 1024
    assert (other.body, other.headers["etag"]) == (plain.body, plain.headers["etag"]) == (plain.body, '"1"')
    assert "content-encoding" not in other.headers


@pytest.mark.parametrize("path", ["/api/v1/openapi.json"])
async def test_the_description_is_compressed(site: Site, path: str) -> None:
    plain, packed = await read(site, path), await read(site, path, PACKED)
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 8
    assert packed.headers["vary"] == "Accept-Encoding" and packed.headers["cache-control"] == "no-store"


async def test_a_short_answer_is_not_compressed(site: Site) -> None:
    seen = await read(site, "/api/v1/webhooks", PACKED)
    assert seen.status == 200 and "content-encoding" not in seen.headers
