import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esign.core.errors import Problem
from esign.web.http import strict_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(JSON)
def test_every_ordinary_value_is_read_as_it_is(value: Any) -> None:
    body = json.dumps(value, ensure_ascii=False)
    try:
        raw = body.encode()
    except UnicodeEncodeError:
        raw = json.dumps(value).encode()
    if b"\\ud" not in raw and b"\\uD" not in raw:
        assert strict_json.load(raw) == value


@given(st.binary(max_size=60))
def test_no_bytes_end_in_anything_but_a_value_or_a_problem(body: bytes) -> None:
    try:
        strict_json.load(body)
    except Problem as problem:
        assert problem.code == "invalid_json"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{} {}",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf{}",
        b'"\x01"',
        b'"\\ud800"',
        b'"\\uDFFF"',
        b'{"\\ud800": 1}',
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e400",
        b"-1e400",
        b"9" * 310,
        b'{"expiresInDays": ' + b"9" * 5000 + b"}",
        b'{"a": 1, "a": 1}',
        b'{"a": [{"b": 1, "\\u0062": 2}]}',
        b"01",
        b"'a'",
        b"[1,]",
        b'{"a":' * 21 + b"1" + b"}" * 21,
        b"[" * 21 + b"]" * 21,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" + b"0," * 1_000_001 + b"0]",
    ],
)
def test_what_parsers_disagree_about_is_no_json(body: bytes) -> None:
    begun = process_time()
    with pytest.raises(Problem) as problem:
        strict_json.load(body)
    assert problem.value.code == "invalid_json"
    assert process_time() - begun < 0.05


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"30.0", 30),
        (b"-0", 0),
        (b"-0.0", 0),
        (b"1e2", 100),
        (b"0.5", 0.5),
        (b'"\\ud83d\\ude00"', "😀"),
        (b" [1] ", [1]),
    ],
)
def test_a_number_is_the_same_however_it_is_written(body: bytes, value: Any) -> None:
    read = strict_json.load(body)
    assert read == value and type(read) is type(value)


def test_twenty_levels_are_not_too_deep() -> None:
    assert strict_json.load(b"[" * 20 + b"]" * 20)
