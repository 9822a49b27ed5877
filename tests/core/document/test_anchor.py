"""The tree of an anchor, and files of anchors that are none."""

import pytest

from esign.core.document.anchor import (
    Anchor,
    Leaf,
    UnreadableAnchor,
    hash_tree,
    make_statement,
    read_file,
    write_file,
)
from tests.factories import NOW

# The roots over the first entries of this list are what the authors of Certificate Transparency publish for RFC 6962.
ENTRIES = [
    bytes.fromhex(entry)
    for entry in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


@pytest.mark.parametrize("count", ROOTS)
def test_the_tree_is_that_of_the_standard(count: int) -> None:
    assert hash_tree(ENTRIES[:count]).hex() == ROOTS[count]


def test_a_file_that_is_cut_or_none_at_all_is_refused() -> None:
    leaves = (Leaf("doc_1", 3, bytes(32)),)
    anchor = Anchor(make_statement("ins_1", None, leaves, NOW), leaves, b"seal", b"token")
    content = write_file(anchor)
    assert read_file(content) == anchor
    whole = content.decode()
    wrong = (
        *(content[:end] for end in range(0, len(content), 7)),
        b"[" * 100_000,
        b"[]",
        b"{}",
        b"null",
        b"\xff",
        whole.replace('"version":1', '"version":2').encode(),
        whole.replace('"number":1', '"number":true').encode(),
        whole.replace('"doc_1",3', '"doc_1","3"').encode(),
        whole.replace("0" * 64, "0" * 63).encode(),
        whole.replace('"number":1', f'"number":{2**60}').encode(),
        whole.replace('"doc_1",3', f'"doc_1",{2**60}').encode(),
        whole.replace('"doc_1"', r'"doc_\ud800"').encode(),
        whole.replace('"ins_1"', r'"ins_\ud800"').encode(),
    )
    for each in wrong:
        with pytest.raises(UnreadableAnchor):
            read_file(each)
