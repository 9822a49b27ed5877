"""Seals with a time stamp: made in two steps, and judged by others."""

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asn1crypto import cms as asn1
from asn1crypto import tsp

from esign.core.instant import DAY, Instant
from esign.pdf.seal import self_check
from esign.pdf.seal_order import BegunSeal, SealedFiles, SealFailed, SealOrder
from esign.pdf.verify.validate import verify_signatures
from esign.tsa.token import check_answer, write_request
from tests.pdf.contents import contents, pem, read_covered_bytes, run
from tests.pdf.local_seal import begin_seal, fill_file, finish_seal, load_key, seal_document
from tests.pdf.sealing import a_field, a_pdf, an_order, every_type, text_of
from tests.pki import NOW, Issued, a_seal, an_authority
from tests.tsa import Tsa, a_stamping_certificate, granting

ROOT = an_authority()
CREDENTIAL = a_seal(ROOT).credential
AUTHORITY = "tsa.example.com"


def an_authority_of_time(kind: str = "p256", now: Instant = NOW) -> Tsa:
    return Tsa(a_stamping_certificate(kind=kind), lambda: now, granting())


def token_for(signature: bytes, tsa: Tsa) -> bytes:
    digest = hashlib.sha256(signature).digest()
    asked = tsp.TimeStampReq.load(write_request(digest, 2**63))
    return check_answer(tsa.grant_token(asked), digest, 2**63, tsa.now()).token


def make_order(**changes: Any) -> SealOrder:
    order = an_order(a_pdf({}, {}), *every_type(), **changes)
    return replace(order, level="B-T", asked="B-T", authorities=(AUTHORITY,))


def tokens_for(begun: BegunSeal, tsa: Tsa) -> list[bytes]:
    return [token_for(file.signature, tsa) for file in (begun.document, begun.certificate)]


def sealed_with(tsa: Tsa, order: SealOrder | None = None, issued: Issued | None = None) -> SealedFiles:
    credential = issued.credential if issued else CREDENTIAL
    begun = begin_seal(order or make_order(), credential)
    return finish_seal(begun, tokens_for(begun, tsa), credential)


# ---------- by other programs ----------


@pytest.mark.parametrize("kind", ["p256", "rsa"])
def test_every_program_accepts_both_files(kind: str, tmp_path: Path) -> None:
    tsa = an_authority_of_time(kind)
    made = sealed_with(tsa, issued=a_seal(ROOT, kind))
    assert made.level == "B-T"
    for name, pdf in (("sealed", made.sealed), ("certificate", made.certificate)):
        (tmp_path / "file.pdf").write_bytes(pdf)
        status, said = run(tmp_path, "pdfsig", "-nocert", "file.pdf")
        assert "Signature is Valid." in said and "Total document signed" in said, name
        status, said = run(tmp_path, "qpdf", "--check", "file.pdf")
        assert status == 0, said
        status, said = run(tmp_path, "mutool", "sign", "-v", "file.pdf")
        assert "The document is unchanged since signing" in said, said
        openssl_accepts(pdf, tsa, tmp_path)


def openssl_accepts(pdf: bytes, tsa: Tsa, folder: Path) -> None:
    """The signature over the bytes of the file, and the time stamp over the signature."""
    (folder / "seal.der").write_bytes(contents(pdf))
    (folder / "covered").write_bytes(read_covered_bytes(pdf))
    (folder / "root.pem").write_bytes(pem(ROOT.der))
    (folder / "tsa.pem").write_bytes(pem(tsa.root))
    at = ("-attime", str(NOW // 1000))
    status, said = run(
        folder,
        *("openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", "seal.der", "-content", "covered"),
        *("-CAfile", "root.pem", "-purpose", "any", "-cades", "-out", "/dev/null", *at),
    )
    assert status == 0, said
    signer_info = asn1.ContentInfo.load(contents(pdf))["content"]["signer_infos"][0]
    (unsigned,) = signer_info["unsigned_attrs"]
    assert unsigned["type"].native == "signature_time_stamp_token"
    (folder / "token").write_bytes(unsigned["values"][0].dump())
    (folder / "signature").write_bytes(signer_info["signature"].native)
    status, said = run(
        folder,
        *("openssl", "ts", "-verify", "-token_in", "-in", "token", "-data", "signature"),
        *("-CAfile", "tsa.pem", *at),
    )
    assert status == 0, said


def test_all_these_programs_are_there() -> None:
    assert [name for name in ("openssl", "qpdf", "mutool", "pdfsig") if shutil.which(name) is None] == []


def test_the_signed_part_is_that_of_a_seal_without_time_stamp() -> None:
    """Only an unsigned attribute is added: same certificates, same signed attributes."""
    tsa = an_authority_of_time()
    stamped = asn1.ContentInfo.load(contents(sealed_with(tsa).sealed))["content"]
    plain = asn1.ContentInfo.load(contents(seal_document(an_order(a_pdf()), CREDENTIAL).sealed))["content"]
    assert stamped["certificates"].dump() == plain["certificates"].dump()
    (one,), (other,) = stamped["signer_infos"], plain["signer_infos"]
    assert [a["type"].native for a in one["signed_attrs"]] == [
        a["type"].native for a in other["signed_attrs"]
    ]
    assert other["unsigned_attrs"].native is None


# ---------- by us ----------


def the_signature(pdf: bytes, *roots: bytes, now: Instant = NOW) -> Any:
    (signature,) = verify_signatures(pdf, [ROOT.der, *roots], now)["signatures"]
    return signature


def test_verification_tells_level_time_and_authority() -> None:
    tsa = an_authority_of_time(now=NOW + 5000)
    pdf = sealed_with(tsa).sealed
    known, unknown = the_signature(pdf, tsa.root), the_signature(pdf)
    assert (known["level"], known["timestamp"]) == (
        "B-T",
        {
            "valid": True,
            "trusted": True,
            "time": "2026-11-21T00:00:05.000Z",
            "authority": "Test Time Stamps",
        },
    )
    assert (unknown["level"], unknown["timestamp"]["valid"], unknown["timestamp"]["trusted"]) == (
        "B-T",
        True,
        False,
    )
    assert verify_signatures(pdf, [ROOT.der], NOW)["result"] == "valid"


def test_the_certificate_page_says_where_the_time_comes_from() -> None:
    tsa = an_authority_of_time()
    page = text_of(sealed_with(tsa).certificate)
    assert "Time stamp in the seal, issued by a time-stamping authority" in page and AUTHORITY in page
    assert "B-T" in page and "signature with a time stamp" in page
    assert "Server clock" not in page


def test_the_certificate_page_says_what_was_asked_for_and_not_reached() -> None:
    order = replace(an_order(a_pdf()), asked="B-T")
    made = seal_document(order, CREDENTIAL)
    page = re.sub(r"\s+", " ", text_of(made.certificate))
    assert made.level == "B-B"
    assert "Server clock: a time stamp was requested, but no authority issued one" in page
    assert "signature without a time stamp" in page


# ---------- attacks: a time stamp stands beside what is signed, so that anybody may exchange it ----------


def test_an_exchanged_time_stamp_proves_nothing() -> None:
    tsa, key = an_authority_of_time(), load_key(CREDENTIAL)
    forged = fill_file(
        begin_seal(make_order(), CREDENTIAL).document, key, token_for(b"another signature", tsa)
    )
    found = verify_signatures(forged, [ROOT.der, tsa.root], NOW)
    assert found["result"] != "valid"
    assert found["signatures"][0]["level"] == "B-B"
    stamp = found["signatures"][0]["timestamp"]
    assert stamp is not None and not stamp["valid"] and not stamp["trusted"]


def test_a_time_stamp_that_was_taken_away_lifts_nothing() -> None:
    tsa = an_authority_of_time()
    bare = fill_file(begin_seal(make_order(), CREDENTIAL).document, load_key(CREDENTIAL))
    assert the_signature(bare, tsa.root)["level"] == "B-B"
    assert verify_signatures(bare, [ROOT.der, tsa.root], NOW + 4 * 365 * DAY)["result"] == "indeterminate"


# ---------- what is refused ----------


def other_token(begun: BegunSeal, tsa: Tsa) -> list[bytes]:
    return [token_for(b"another signature", tsa)] * 2


def swap_tokens(begun: BegunSeal, tsa: Tsa) -> list[bytes]:
    return tokens_for(begun, tsa)[::-1]


@pytest.mark.parametrize("tokens", [other_token, swap_tokens])
def test_a_token_for_something_else_does_not_pass(tokens: Callable[[BegunSeal, Tsa], list[bytes]]) -> None:
    begun = begin_seal(make_order(), CREDENTIAL)
    with pytest.raises(SealFailed, match="time stamp"):
        finish_seal(begun, tokens(begun, an_authority_of_time()), CREDENTIAL)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_as_many_tokens_as_files_and_none_without(count: int) -> None:
    begun = begin_seal(make_order(), CREDENTIAL)
    with pytest.raises(SealFailed, match=f"{count} time stamps"):
        finish_seal(begun, [b"token"] * count, CREDENTIAL)
    plain = begin_seal(an_order(a_pdf()), CREDENTIAL)
    if count:
        with pytest.raises(SealFailed, match=f"{count} time stamps"):
            finish_seal(plain, [b"token"] * count, CREDENTIAL)


def test_a_token_without_room_does_not_pass() -> None:
    begun = begin_seal(make_order(), CREDENTIAL)
    with pytest.raises(SealFailed, match="too large"):
        finish_seal(begun, [bytes(20_000)] * 2, CREDENTIAL)


def test_a_file_without_the_level_that_was_asked_for_does_not_pass() -> None:
    made = seal_document(an_order(a_pdf()), CREDENTIAL)
    head = verify_signatures(made.sealed, [ROOT.der], NOW)["audit"]
    with pytest.raises(SealFailed, match="level B-T"):
        self_check.check_sealed_file(
            made.sealed, ROOT.der, NOW, self_check.ExpectedSeal(made.page_count, head, "B-T")
        )


def test_a_value_without_ink_is_found_before_any_authority_is_asked() -> None:
    order = replace(make_order(), fields=(a_field("name", "Jo", page=9),))
    with pytest.raises(SealFailed, match="page 9"):
        begin_seal(order, CREDENTIAL)


def test_the_claimed_time_stays_that_of_the_order() -> None:
    """The dictionary's time is a claim, whatever the time stamp proves."""
    pdf = sealed_with(an_authority_of_time(now=NOW + 5000)).sealed
    assert the_signature(pdf)["signedAt"] == "2026-11-21T00:00:00.000Z"
