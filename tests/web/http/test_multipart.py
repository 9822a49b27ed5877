"""Forms with files as browsers write them, and as nobody should."""

import pytest

from esign.core.errors import Problem
from esign.web.http import multipart
from esign.web.http.multipart import MultipartForm, SentFile

MEDIA = b"multipart/form-data; boundary=xYz"


def part(head: str, content: bytes) -> bytes:
    return f"--xYz\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n"


def body(*parts: bytes) -> bytearray:
    return bytearray(b"".join(parts) + b"--xYz--\r\n")


def test_fields_and_files_come_apart() -> None:
    sent = body(
        part('name="csrf"', "geheim ü".encode()),
        part('name="files"; filename="a.pdf"\r\nContent-Type: application/pdf', b"%PDF\r\n--xY\r\n\r\n"),
        part('name="files"; filename="Ver%22trag ü.pdf"', b""),
        part('name="other"; filename=""\r\nContent-Type: application/octet-stream', b""),
    )
    files = (SentFile("files", "a.pdf", b"%PDF\r\n--xY\r\n\r\n"), SentFile("files", 'Ver"trag ü.pdf', b""))
    assert multipart.parse_form(MEDIA, sent) == MultipartForm({"csrf": "geheim ü"}, files)
    quoted = b'Multipart/Form-Data; boundary="xYz"'
    assert multipart.parse_form(quoted, sent) == multipart.parse_form(MEDIA, sent)


def test_a_file_is_whole_wherever_its_pieces_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"\r\n--xY\r\n--x\r\r\n-" * 3
    sent = body(part('name="file"; filename="a; b=\\c.pdf"', content), part('name="csrf"', b"1"))
    whole = MultipartForm({"csrf": "1"}, (SentFile("file", "a; b=\\c.pdf", content),))
    for size in (1, 2, 3, 7, 64, 2**20):
        monkeypatch.setattr(multipart, "CHUNK", size)
        assert multipart.parse_form(MEDIA, sent) == whole


def test_a_form_without_anything_is_one() -> None:
    assert multipart.parse_form(MEDIA, body()) == MultipartForm({}, ())


BROKEN = {
    "cut": bytearray(part('name="a"', b"1")),
    "cut within": body(part('name="a"', b"1"))[:-8],
    "text before": bytearray(b"hello") + body(),
    "nothing": bytearray(),
    "no head": bytearray(b"--xYz\r\nhello\r\n--xYz--\r\n"),
    "no name": body(part('nome="a"', b"1")),
    "twice": body(part('name="a"', b"1"), part('name="a"', b"2")),
    "not text": body(part('name="a"', b"\xff")),
    "too many": body(*(part(f'name="a{n}"', b"") for n in range(101))),
    "many headers": body(part('name="a"' + "\r\nX: y" * 9, b"1")),
    "name not text": bytearray(
        b'--xYz\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n1\r\n--xYz--\r\n'
    ),
    "long head": body(part(f'name="{"a" * 9000}"', b"1")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_no_browser_sends_is_refused(name: str) -> None:
    with pytest.raises(Problem) as refused:
        multipart.parse_form(MEDIA, BROKEN[name])
    assert refused.value.code == "invalid_request"


@pytest.mark.parametrize(
    "media", [b"", b"text/plain", b"multipart/form-data", b"multipart/mixed; boundary=xYz"]
)
def test_another_media_type_is_refused(media: bytes) -> None:
    with pytest.raises(Problem) as refused:
        multipart.parse_form(media, body())
    assert refused.value.code == "unsupported_media_type"
