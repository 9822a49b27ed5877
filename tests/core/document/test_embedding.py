"""Which texts are origins that may stand in a header, and how they are spelt there."""

import pytest

from esign.core.document.embedding import is_plain, parse_origin


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("https://app.example.com", "https://app.example.com"),
        ("HTTPS://App.Example.COM:443/", "https://app.example.com"),
        ("https://app.example.com:8443", "https://app.example.com:8443"),
        ("https://app.example.com:08443", "https://app.example.com:8443"),
        ("https://xn--mller-kva.example", "https://xn--mller-kva.example"),
        ("https://10.0.0.5", "https://10.0.0.5"),
        ("https://intranet", "https://intranet"),
        ("http://localhost", "http://localhost"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://app.localhost:3000", "http://app.localhost:3000"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_an_origin_is_spelt_as_browsers_spell_it(text: str, spelt: str) -> None:
    assert parse_origin(text) == spelt
    assert is_plain(spelt) is text.startswith("http:")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "null",
        "https:",
        "https://",
        "https://*",
        "https://*.example.com",
        "https://a.example/path",
        "https://a.example?x",
        "https://a.example#x",
        "https://me@a.example",
        "https://a.example:0",
        "https://a.example:65536",
        "https://a.example:",
        "https://a..example",
        "https://-a.example",
        "https://a.example https://b.example",
        "https://a.example; script-src *",
        "https://a.example, https://b.example",
        "https://a.example\n",
        "https://[::1]",
        "https://müller.example",
        "https://\u212aelvin.example",
        "https://" + ".".join(["a" * 60] * 5),
        "http://a.example",
        "http://localhost.example",
        "http://127.0.0.1.example",
        "http://mylocalhost",
        "ftp://a.example",
        "javascript://a.example",
        "data:text/html,x",
    ],
)
def test_nothing_else_is_one(text: str) -> None:
    assert parse_origin(text) is None
