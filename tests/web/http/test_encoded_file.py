"""A body is read the same whether its file is taken out before or not: values, problems, and the places in them."""

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esign.core.errors import Problem
from esign.web.api.documents import decode_file
from esign.web.http import encoded_file, strict_json
from esign.web.http.encoded_file import LARGE, EncodedFile
from esign.web.http.idempotency import compute_fingerprint

CONTENT = hashlib.shake_128(b"scan").digest(LARGE)
TEXT = base64.b64encode(CONTENT)
PREFIX = b"data:application/pdf;base64,"


def write(raw: bytes, *, slashes: bool = False, lines: bytes = b"", prefix: bytes = b"") -> bytes:
    """Return a text in base64 as an encoder writes it: with escaped slashes, or an escaped end after each line."""
    text = lines.join(raw[at : at + 76] for at in range(0, len(raw), 76)) if lines else raw
    text = prefix + text
    return text.replace(b"/", b"\\/") if slashes else text


GOOD = {
    "plain": TEXT,
    "with escaped slashes": write(TEXT, slashes=True),
    "in lines": write(TEXT, lines=b"\\n"),
    "in lines of MIME": write(TEXT, lines=b"\\r\\n") + b"\\r\\n",
    "as a data URL": write(TEXT, prefix=PREFIX),
    "as a data URL with escaped slashes": write(TEXT, prefix=PREFIX.upper(), slashes=True),
    "padded": base64.b64encode(CONTENT + b"a"),
    "with escaped plus signs": TEXT.replace(b"+", b"\\u002B"),
    "with blanks": TEXT[:1000] + b" " + TEXT[1000:] + b" ",
    "with an escaped slash first": b"\\/" + TEXT[1:],
    "padded twice": base64.b64encode(CONTENT + b"ab") + b"\\n",
}
FRAMED = {  # good texts that are read as they stand
    f"{name} behind {before[:8]!r}": before + write(TEXT, prefix=prefix)
    for before in (b" ", b"\\n", b"\\r\\n", b"\\n\\n ", b"\\t", b"\\u000a", b"\\n" * LARGE)
    for name, prefix in (("a data URL", PREFIX), ("a plain text", b""), ("another data URL", PREFIX + PREFIX))
}
BAD = {
    "cut": TEXT[:-1],
    "with a character that is none at its end": TEXT[:-1] + b"!",
    "with half an escape": TEXT + b"\\u00",
    "with a line end that is not escaped": TEXT + b"\n",
    "with padding in between": TEXT[:100_000] + b"A===" + TEXT[100_000:],
    "with padding and more": base64.b64encode(CONTENT + b"a") + b"AAAA",
    "with padding alone": TEXT + b"====",
    "with bits that belong to no byte": base64.b64encode(CONTENT + b"a")[:-3] + b"B==",
    "in the other alphabet": TEXT.replace(b"/", b"_"),
    "with another escape": TEXT + b"\\u0041\\u0041\\u0041\\u0041",
    "with a tab": TEXT + b"\\t",
    "with a backslash": TEXT + b"\\\\nr",
    "with a backslash before a slash": TEXT + b"\\\\/n",
    "beyond ASCII": TEXT + "é".encode(),
    "not in UTF-8": TEXT + b"\xff",
    "with a quote": TEXT + b'\\"',
    "as another data URL": b"data:text/plain;base64," + TEXT,
    "with an unknown escape": TEXT + b"\\x",
    "with a prefix of other letters": "data:application/pdf;ba\u017fe64,".encode() + TEXT,
}
AROUND = [
    b'{"file": "%b"}',
    b'{"file":"%b","fileName":"a.pdf","recipients":[{"name":"\\u00e9"}]}',
    '{"title": "é\U0001f600", "x": [1, 2.0, null], "file": "%b"}'.encode(),
    b'{"fil\\u0065": "%b"}',
    b'{"file": "%b", "file": 1}',
    b'{"file": 1, "fil\\u0065": "%b"}',
    b'{"file": ["%b"]}',
    b'{"file": {"file": "%b"}}',
    b'{"other": "%b"}',
    b'{"other": "%b", "file": "short"}',
    b'{"%b": 1}',
    b'["%b"]',
    b'"%b"',
    b'"a"%b"b"',
    b'{"file": "a"%b"b"}',
    b'{"file": "\\"%b"}',
    b'{"file": "\\\\%b"}',
    b'{"file": "a\\\\"%b"}',
    b'{"file": "%b',
    b'{"file": "%b"',
    b'{"file": "%b"} {}',
    b'{"file": "%b"}\n\n{',
    b'{"file": "%b",\n "a": tru}',
    b'{"file": "%b", "a": 01}',
    b'{"file": "%b", "a": NaN}',
    b'{"a": NaN, "file": "%b"}',
    b'{"file": "%b", "a": 1e400}',
    b'{"file": "%b", "a": "\\ud800"}',
    b'{"file": "%b", "a": "\xff"}',
    b'{"file": "%b", "a": "\t"}',
    b'{"file": "%b", "a": ' + b"[" * 25 + b"]" * 25 + b"}",
    b'{"file": "%b", "a": ' + b"[" * 100_000,
    b'{"file": "%b", "a": ' + b" " * LARGE + b"1}",
    b'{"a": ' + b" " * LARGE + b'"b", "file": "%b"}',
    b'{"a": "b"' + b" " * LARGE + b', "file": "%b"}',
    b'{"a": ' + b"1" * LARGE + b', "file": "%b"}',
]


def read_both_ways(body: bytes) -> tuple[Any, Any]:
    """Return what is read with the file taken out, as plain JSON, and what the parser reads of the whole body."""

    def attempt(load: Any) -> Any:
        try:
            value = load(bytearray(body))
        except Problem as problem:
            return problem.code, problem.message
        return value, compute_fingerprint("POST", "/", value)

    quick, plain = attempt(encoded_file.load), attempt(strict_json.load)
    value = quick[0]
    if isinstance(value, dict) and isinstance(value.get("file"), EncodedFile):
        file, text = value["file"], plain[0]["file"]
        assert (file.length, file.sha256) == (len(text), hashlib.sha256(text.encode()).hexdigest())
        quick = {**value, "file": text}, quick[1]
    return quick, plain


@pytest.mark.parametrize("name", [*GOOD, *FRAMED, *BAD])
def test_a_text_is_read_the_same_way_wherever_it_stands(name: str) -> None:
    for around in AROUND[:10]:
        quick, plain = read_both_ways(around.replace(b"%b", (GOOD | FRAMED | BAD)[name]))
        assert quick == plain


@pytest.mark.parametrize("around", AROUND, ids=range(len(AROUND)))
def test_a_body_is_read_the_same_way_with_its_file_taken_out(around: bytes) -> None:
    for name in ("as a data URL with escaped slashes", "with a character that is none at its end"):
        quick, plain = read_both_ways(around.replace(b"%b", (GOOD | FRAMED | BAD)[name]))
        assert quick == plain


@pytest.mark.parametrize("name", ["plain", "as a data URL"])
def test_values_are_counted_the_same_way(name: str) -> None:
    for count in (-4, -3, -2, -1):  # the comma of a data URL counts as well
        body = b'{"file": "' + GOOD[name] + b'", "a": [' + b"0," * (strict_json.VALUES + count) + b"0]}"
        refused = 0
        for load in (encoded_file.load, strict_json.load):
            try:
                load(body)
            except Problem:
                refused += 1
        assert refused in (0, 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    before=st.dictionaries(st.sampled_from(["a", "file", "é"]) | st.text(max_size=5), JSON, max_size=3),
    after=JSON,
    name=st.sampled_from(["file", "other", "fil\\u0065"]),
    text=st.sampled_from([*GOOD.values(), *BAD.values()]),
    edits=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=3), st.integers(0, 3)), max_size=2),
    ascii=st.booleans(),
)
def test_a_body_that_somebody_has_cut_and_mended_is_read_the_same_way(
    before: Any, after: Any, name: str, text: bytes, edits: Any, ascii: bool
) -> None:
    head = json.dumps(before, ensure_ascii=ascii).encode("utf-8", "surrogatepass")[:-1]
    tail = json.dumps(after, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    body = head + (b", " if before else b"") + f'"{name}": "'.encode() + text + b'", "z": ' + tail + b"}"
    ends = len(head) + 40, len(tail) + 20
    for place, given_bytes, lost in edits:  # near both ends of the body, where its structure is
        at = round(place * sum(ends))
        at = at if at < ends[0] else len(body) - (at - ends[0])
        body = body[:at] + given_bytes + body[at + lost :]
    quick, plain = read_both_ways(body)
    assert quick == plain


async def read_content(load: Any, body: bytes) -> bytes | str:
    """Return the content of the file in a body, or the code of the problem with it."""
    try:
        return await decode_file(load(body)["file"], 25)
    except Problem as problem:
        return problem.code


@pytest.mark.parametrize("name", [*GOOD, *FRAMED, *BAD])
async def test_a_file_is_decoded_or_refused_the_same_way(name: str) -> None:
    body = b'{"file": "' + (GOOD | FRAMED | BAD)[name] + b'"}'
    content = await read_content(encoded_file.load, body)
    assert content == await read_content(strict_json.load, body)
    assert isinstance(content, bytes) or name in BAD or "another" in name


@pytest.mark.parametrize("name", GOOD)
def test_what_encoders_write_is_taken_out(name: str) -> None:
    value = encoded_file.load(b'{"file": "' + GOOD[name] + b'"}')
    assert isinstance(value, dict) and isinstance(value["file"], EncodedFile)


def test_an_escape_is_read_wherever_a_slice_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    text = write(TEXT, slashes=True, lines=b"\\r\\n").replace(b"+", b"\\u002B")
    for size in (7, 64, 77, 1_000):
        monkeypatch.setattr(encoded_file, "SLICE", size)
        found = encoded_file.read_text(text, 0, len(text))
        assert (
            found is not None
            and found.content == CONTENT
            and found.length == len(json.loads(b'"' + text + b'"'))
        )
