import io
import zipfile

import pytest

from esign.core.polyglot import is_pure
from tests.pdf import made

HTML = b"<!doctype html><html><body><script>alert(1)</script></body></html>"
PDF = made.plain()


def archive(comment: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made_zip:
        made_zip.writestr("evil.exe", b"MZ" + bytes(100))
        made_zip.comment = comment
    return file.getvalue()


def embed_comment(content: bytes) -> bytes:
    """A PDF with this in a comment before its end, which no PDF reader looks at."""
    end = PDF.rindex(b"startxref")
    return PDF[:end] + b"%" + content + b"\n" + PDF[end:]


POLYGLOTS = {
    "a page before it": HTML + b"\n" + PDF,
    "a page behind it": PDF + HTML,
    "an archive before it": archive()[:900] + b"\n" + PDF,
    "an archive behind it": PDF + archive(),
    "an archive behind it that ends like a PDF": PDF + archive(b"\n%%EOF\n"),
    "an archive within it": embed_comment(archive()),
    "an empty archive behind it": PDF + b"\nPK\x05\x06" + bytes(18),
    "a script before it": b"#!/bin/sh\nexit\n" + PDF,
    "a letter before it": b"x" + PDF,
    "much behind it": PDF + bytes(100_000),
}


@pytest.mark.parametrize("kind", sorted(POLYGLOTS))
def test_a_file_that_is_also_something_else_is_told(kind: str) -> None:
    assert not is_pure(POLYGLOTS[kind])


@pytest.mark.parametrize(
    "content",
    [
        PDF, b"\n" + PDF, b"\xef\xbb\xbf" + PDF, PDF.rstrip(), PDF + b"\r\n\r\n", PDF + bytes(512),
        embed_comment(b"PK\x05\x06" + b"\xff" * 40), embed_comment(b"PK\x03\x04"),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_plain_file_is_kept_as_it_is(content: bytes) -> None:
    assert is_pure(content)
