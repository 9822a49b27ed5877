"""A file is called valid and unchanged only where its signatures hold nothing that nobody signed."""

from collections.abc import Callable
from functools import cache

import pytest
from asn1crypto import cms, crl

from esign.pdf.verdict_sentences import BURDENED
from esign.pdf.verify import cms_envelope
from tests.pdf.burdens import (
    WORDS,
    burden_signature,
    change_signature,
    in_indefinite_lengths,
    place,
    with_revocation,
)
from tests.pdf.others import a_stamper, signed_in_loop, stamped_in_loop
from tests.pdf.proofs import a_list
from tests.pdf.sealing import a_pdf
from tests.pdf.verify.test_tails import ROOT, SEAL, base, verdict
from tests.pki import NOW

# By name: how to make the file, and which of its signatures is touched.
FILES: dict[str, tuple[Callable[[], bytes], int]] = {
    "B-B": (lambda: base("B-B"), 0),
    "B-T": (lambda: base("B-T"), 0),
    "time stamp over the document": (lambda: base("LTA by pyHanko"), 1),
    "signed by pyHanko": (lambda: signed_in_loop(a_pdf(), SEAL, "One", a_stamper()), 0),
}


@cache
def make_envelope(name: str) -> bytes:
    return FILES[name][0]()


@pytest.mark.parametrize("name", FILES)
def test_what_nobody_signed_in_a_signature_is_a_doubt_and_the_file_is_not_called_unchanged(name: str) -> None:
    count = 0
    for what, file in burden_signature(make_envelope(name), FILES[name][1]):
        found = verdict(file)
        assert found is not None and len(file) == len(make_envelope(name))
        assert found["result"] == "indeterminate" and found["unchanged"] is False, what
        assert BURDENED in found["signatures"][0]["reasons"], what
        assert "unchanged" not in found["summary"], what
        count += 1
    assert count >= 7  # what fits into the place of the signature


@pytest.mark.parametrize("name", FILES)
def test_a_signature_as_it_was_made_holds_nothing_else(name: str) -> None:
    found = verdict(make_envelope(name))
    assert found is not None and found["result"] == "valid"


def test_a_signature_in_indefinite_lengths_is_as_good() -> None:
    for name in ("B-B", "signed by pyHanko"):
        found = verdict(change_signature(make_envelope(name), in_indefinite_lengths))
        assert found is not None and found["result"] == "valid"


def test_a_revocation_list_by_an_issuer_of_the_signature_is_proof_and_counts() -> None:
    def revoking(held: cms.ContentInfo) -> None:
        listed = crl.CertificateList.load(a_list(ROOT, NOW, {SEAL.certificate.serial_number: NOW - 1000}))
        with_revocation(held, cms.RevocationInfoChoice("crl", listed))

    found = verdict(change_signature(make_envelope("B-B"), revoking))
    assert found is not None and found["signatures"][0]["revocation"] == "revoked"
    assert BURDENED not in found["signatures"][0]["reasons"]


def test_a_signature_that_goes_on_for_ever_is_not_bare() -> None:
    for odd in (b"", b"\x30", b"\x30\x80" * 50_000, b"\x30\x03\x02\x01\x01", WORDS):
        assert cms_envelope.is_bare(odd) is False


def test_what_follows_a_signature_is_looked_at_elsewhere() -> None:
    start, end = place(make_envelope("B-B"))
    assert cms_envelope.is_bare(bytes.fromhex(make_envelope("B-B")[start:end].decode()) + b"\1\2\3") is True


def test_a_stamp_over_the_document_by_a_stranger_proves_nothing_and_harms_nothing() -> None:
    found = verdict(stamped_in_loop(make_envelope("B-B"), a_stamper("Stranger")))
    assert found is not None and found["result"] == "valid"
    assert [stamp["trusted"] for stamp in found["documentTimestamps"]] == [False]
