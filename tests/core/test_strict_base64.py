import base64

import pytest

from esign.core.strict_base64 import require_canonical

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.mark.parametrize("content", [b"", b"a", b"ab", b"abc", b"abcd", bytes(range(256))])
def test_what_an_encoder_writes_is_taken(content: bytes) -> None:
    require_canonical(base64.b64encode(content).decode())


@pytest.mark.parametrize(("before", "after", "contents"), [("Q", "==", 4), ("QU", "=", 16)])
def test_of_all_texts_for_one_content_a_single_one_is_taken(before: str, after: str, contents: int) -> None:
    taken = {}
    for letter in LETTERS:
        text = f"QUJD{before}{letter}{after}"
        try:
            require_canonical(text)
        except ValueError:
            continue
        taken[base64.b64decode(text)] = text
    assert len(taken) == contents
    assert all(base64.b64encode(content).decode() == text for content, text in taken.items())


@pytest.mark.parametrize("text", ["QQ", "Q===", "====", "Q!==", "=QQ="])
def test_what_is_no_base64_is_refused_or_left_to_the_decoder(text: str) -> None:
    try:
        require_canonical(text)
    except ValueError:
        return
    with pytest.raises(ValueError, match=r".*"):
        base64.b64decode(text, validate=True)
