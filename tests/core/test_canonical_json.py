"""The canonical form of JSON is that of RFC 8785, whichever way it is written."""

from typing import Any

import pytest
import rfc8785

from esign.core.canonical_json import LARGEST, is_plain, write_canonical_json


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"b": 1, "a": None, "c": [True, {"z": '\u20ac\u0001\n"\\/\x7f', "y": -5}]}, True),
        ({"n": LARGEST, "m": -LARGEST}, True),
        ({"tip": "\U0001f600\u2028é"}, True),
        ({"b": 1.0, "a": 1e30}, False),
        ({"\ufb33": 1, "\U0001f600": 2}, False),
        ({"é": 1, "e": 2}, False),
    ],
)
def test_both_ways_write_the_same(value: dict[str, Any], plain: bool) -> None:
    assert is_plain(value) is plain
    assert write_canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [{"n": LARGEST + 1}, {"t": "\ud800"}, {"n": float("nan")}])
def test_what_has_no_canonical_form_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        write_canonical_json(value)
