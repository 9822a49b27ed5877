"""Which answers are compressed: what the client says it takes, and what another site must not make us compress."""

import gzip

import pytest
from starlette.types import Scope

from esign.web.http.encoding import LEAST, KeptBody, accepts_gzip, can_take_gzip, encode

TEXT = b"The same words, again and again. " * 100


def a_scope(query: bytes = b"", **headers: str) -> Scope:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "query_string": query, "headers": named}


@pytest.mark.parametrize(
    "header, taken",
    [
        ("gzip", True),
        ("br, GZIP", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("gzip ; q = 0.001", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("br", False),
        ("identity", False),
        ("x-gzip-like", False),
        ("gzipped", False),
        ("", False),
    ],
)
def test_gzip_is_used_where_the_client_takes_it(header: str, taken: bool) -> None:
    assert accepts_gzip(header.encode()) is taken
    assert can_take_gzip(a_scope(accept_encoding=header)) is taken


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_query_that_another_site_has_chosen_is_never_compressed(site: str) -> None:
    chosen = a_scope(b"q=guess", accept_encoding="gzip", sec_fetch_site=site)
    assert not can_take_gzip(chosen)
    assert can_take_gzip(a_scope(b"", accept_encoding="gzip", sec_fetch_site=site))  # a link in a mail
    for own in ("same-origin", "none"):
        assert can_take_gzip(a_scope(b"q=mine", accept_encoding="gzip", sec_fetch_site=own))


async def test_a_short_answer_is_sent_as_it_is() -> None:
    scope = a_scope(accept_encoding="gzip")
    assert await encode(scope, TEXT[:LEAST]) == (TEXT[:LEAST], {})
    packed, headers = await encode(scope, TEXT)
    assert gzip.decompress(packed) == TEXT
    assert headers == {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    assert await encode(a_scope(), TEXT) == (TEXT, {"Vary": "Accept-Encoding"})


async def test_what_is_kept_is_compressed_once() -> None:
    kept, scope = KeptBody("text/plain", TEXT), a_scope(accept_encoding="gzip")
    first, second = await kept.respond(scope, {}), await kept.respond(scope, {})
    assert first.body is second.body and gzip.decompress(bytes(first.body)) == TEXT
    plain = await kept.respond(a_scope(), {"Cache-Control": "no-store"})
    assert (plain.body, plain.headers["vary"], plain.headers["cache-control"]) == (
        TEXT,
        "Accept-Encoding",
        "no-store",
    )
