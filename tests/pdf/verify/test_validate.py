import io
from datetime import timedelta
from typing import Any

import pikepdf
import pytest
from pikepdf import Dictionary, Name
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.fields import SigFieldSpec, append_signature_field

from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.seal_credential import TEST_MARK
from esign.pdf.verify.validate import verify_signatures
from tests.conftest import CORPUS
from tests.pdf.local_seal import load_key, seal_document
from tests.pdf.sealing import a_field, a_pdf, an_order, save_pdf, sign_file
from tests.pki import MADE, NOW, a_seal, an_authority

ROOT = an_authority()
SEALED = seal_document(an_order(a_pdf(), a_field("name", "Jo Li")), a_seal(ROOT).credential).sealed


def the_signature(file: bytes, *roots: bytes, now: int = NOW) -> tuple[str, dict[str, Any]]:
    verdict = verify_signatures(file, roots or [ROOT.der], now)
    (signature,) = verdict["signatures"]
    return verdict["result"], dict(signature)


def append_update(change: Any, pdf: bytes = SEALED) -> bytes:
    """The file with one more revision behind it."""
    target = io.BytesIO(pdf)
    writer = IncrementalPdfFileWriter(target)
    change(writer)
    writer.write_in_place()  # type: ignore[no-untyped-call]
    return target.getvalue()


# ---------- valid ----------


def test_an_untouched_seal_is_valid_and_told_in_full() -> None:
    result, signature = the_signature(SEALED)
    certificate = signature.pop("certificate")
    assert result == "valid"
    assert signature == {
        "fieldName": "Seal",
        "signerName": "Acme Ltd Document Seal",
        "signedAt": "2026-11-21T00:00:00.000Z",
        "intact": True,
        "valid": True,
        "trusted": True,
        "issuedHere": False,
        "revocation": "not_checked",
        "coverage": "entire_file",
        "modification": "none",
        "additions": [],
        "timestamp": None,
        "level": "B-B",
        "levelAsked": "B-B",
        "reasons": [],
    }
    assert certificate["issuer"] == "Common Name: Test Root"
    assert certificate["notAfter"] == "2028-12-31T00:00:00.000Z"
    assert len(certificate["sha256"]) == 64


def test_a_file_without_signatures_is_unsigned() -> None:
    verdict = verify_signatures(a_pdf({}, {}), [ROOT.der], NOW)
    assert (verdict["result"], verdict["signatures"], verdict["pageCount"]) == ("unsigned", [], 2)
    assert verdict["documentId"] is None


def test_an_empty_signature_field_is_no_signature() -> None:
    with_field = append_update(lambda writer: append_signature_field(writer, SigFieldSpec("Later")), a_pdf())
    assert verify_signatures(with_field, [], NOW)["result"] == "unsigned"


def test_a_seal_of_this_installation_is_known_as_such() -> None:
    assert verify_signatures(SEALED, [], NOW, own=[ROOT.der])["issuedHere"] is True
    assert verify_signatures(SEALED, [], NOW, own=[ROOT.der])["result"] == "valid"
    assert verify_signatures(SEALED, [ROOT.der], NOW)["issuedHere"] is False
    assert (
        verify_signatures(SEALED, [ROOT.der], NOW, own=[an_authority("Another").der])["issuedHere"] is False
    )


def test_a_seal_by_a_certificate_of_the_same_issuer_is_not_one_of_this_installation() -> None:
    """Whoever issued our certificate issues to others, who may write into their files what they like."""
    ours = a_seal(ROOT)
    sealed = seal_document(an_order(a_pdf()), ours.credential).sealed
    assert verify_signatures(sealed, [ROOT.der], NOW, own=[ours.der])["issuedHere"] is True
    theirs = verify_signatures(SEALED, [ROOT.der], NOW, own=[ours.der])
    assert (theirs["result"], theirs["issuedHere"]) == ("valid", False)
    untrusted = verify_signatures(sealed, [], NOW, own=[ours.der])
    assert (untrusted["result"], untrusted["issuedHere"]) == ("indeterminate", False), "it may be revoked"


def test_a_test_certificate_is_named_as_one() -> None:
    seal_of_test = a_seal(ROOT, name=f"{TEST_MARK} – Acme")
    result, signature = the_signature(seal_document(an_order(a_pdf()), seal_of_test.credential).sealed)
    assert result == "valid"
    assert signature["reasons"] == ["Sealed with a test certificate: no legal effect."]


# ---------- invalid ----------


@pytest.mark.parametrize("place", [b"Contents", b"MediaBox", b"/Parent", b"Acme", b"%%EOF"])
def test_a_byte_changed_anywhere_under_the_seal_makes_it_invalid(place: bytes) -> None:
    at = SEALED.index(place)
    tampered = SEALED[:at] + bytes([SEALED[at] ^ 1]) + SEALED[at + 1 :]
    verdict = verify_signatures(tampered, [ROOT.der], NOW)
    assert verdict["result"] in ("invalid", "unsigned")
    assert all(not signature["valid"] for signature in verdict["signatures"])


def test_a_changed_document_is_said_to_be_changed() -> None:
    result, signature = the_signature(SEALED.replace(b"/MediaBox [ 0 0 595", b"/MediaBox [ 0 0 594", 1))
    assert (result, signature["intact"], signature["valid"]) == ("invalid", False, False)
    assert signature["reasons"] == ["The document was changed after it was signed."]


@pytest.mark.parametrize("tail", [b"\n", b" ", b"%%EOF\n", b"\0" * 5000, b"startxref\n0\n%%EOF\n"])
def test_bytes_behind_the_seal_make_it_invalid(tail: bytes) -> None:
    assert verify_signatures(SEALED + tail, [ROOT.der], NOW)["result"] == "invalid"


def _new_content(writer: IncrementalPdfFileWriter) -> None:
    page, _ = writer.find_page_for_modification(0)  # type: ignore[no-untyped-call]
    page.get_object()["/Contents"] = writer.add_object(generic.StreamObject(stream_data=b"0 0 99 99 re f"))
    writer.mark_update(page)


def _new_title(writer: IncrementalPdfFileWriter) -> None:
    writer.root["/Lang"] = generic.pdf_string("xx")
    writer.update_root()  # type: ignore[no-untyped-call]


def _new_field(writer: IncrementalPdfFileWriter) -> None:
    append_signature_field(writer, SigFieldSpec("Extra"))


def _no_form(writer: IncrementalPdfFileWriter) -> None:
    del writer.root["/AcroForm"]
    writer.update_root()  # type: ignore[no-untyped-call]


def _hidden_form(writer: IncrementalPdfFileWriter) -> None:
    _no_form(writer)
    _new_content(writer)


@pytest.mark.parametrize("change", [_new_content, _new_title, _new_field, _no_form, _hidden_form])
def test_a_revision_behind_the_seal_is_never_valid(change: Any) -> None:
    verdict = verify_signatures(append_update(change), [ROOT.der], NOW)
    assert verdict["result"] == ("unsigned" if change in (_no_form, _hidden_form) else "invalid")


def test_a_signature_of_zeros_is_judged_and_not_an_error() -> None:
    start = SEALED.index(b"/Contents <") + len(b"/Contents <")
    end = SEALED.index(b">", start)
    result, signature = the_signature(SEALED[:start] + b"0" * (end - start) + SEALED[end:])
    assert result == "invalid"
    assert signature["reasons"] == ["The signature is damaged and cannot be read."]
    assert signature["certificate"] is None


@pytest.mark.parametrize(
    "broken",
    [
        {"ByteRange": [0, 1, 2]},
        {"ByteRange": [0, 10, 20, 10**9]},
        {"ByteRange": [-5, 10, 20, 30]},
        {"ByteRange": "text"},
        {"Contents": b""},
        {"Contents": b"\x30\x03\x02\x01\x01"},
        {"Contents": b"\x30\x80\x06"},
        {"Filter": 5, "SubFilter": Name("/Unknown.Kind")},
        {"Type": Name("/Catalog")},
    ],
)
def test_damaged_signature_dictionaries_are_invalid_and_not_an_error(broken: dict[str, Any]) -> None:
    with pikepdf.open(io.BytesIO(SEALED)) as pdf:
        signature = pdf.Root.AcroForm.Fields[0].V
        for name, value in broken.items():
            signature[Name("/" + name)] = pikepdf.Array(value) if isinstance(value, list) else value
        damaged = save_pdf(pdf)
    assert verify_signatures(damaged, [ROOT.der], NOW)["result"] in ("invalid", "unsigned")


def test_a_field_tree_that_loops_comes_to_an_end() -> None:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        field = pdf.make_indirect(Dictionary(T=pikepdf.String("a"), FT=Name.Sig))
        field.Kids = pikepdf.Array([field])
        pdf.Root.AcroForm = Dictionary(Fields=pikepdf.Array([field]))
        looping = save_pdf(pdf)
    try:
        assert verify_signatures(looping, [], NOW)["result"] == "unsigned"
    except Problem as problem:
        assert problem.code == "invalid_file"


# ---------- indeterminate ----------


def test_an_unknown_authority_leaves_the_seal_undecided_and_is_named() -> None:
    result, signature = the_signature(SEALED, an_authority("Another").der)
    assert (result, signature["valid"], signature["trusted"]) == ("indeterminate", True, False)
    assert signature["reasons"] == ["The certificate was issued by “Test Root”, which is not trusted here."]


def test_a_certificate_that_has_expired_since_leaves_the_seal_undecided() -> None:
    """ETSI EN 319 102-1: without a time stamp nothing proves that the signature is older than the expiry."""
    result, signature = the_signature(SEALED, now=NOW + 1200 * DAY)
    assert (result, signature["valid"]) == ("indeterminate", True)
    assert signature["reasons"] == [
        "The certificate expired on 2028-12-31. No time stamp proves that the file was signed before then."
    ]


def test_a_certificate_from_the_future_leaves_the_seal_undecided() -> None:
    result, signature = the_signature(SEALED, now=NOW - 400 * DAY)
    assert result == "indeterminate"
    assert signature["reasons"] == ["The certificate is not valid before 2026-01-01."]


def test_the_worst_signature_decides() -> None:
    expired = a_seal(ROOT, last=MADE + timedelta(days=30), name="Old")
    once = sign_file(a_pdf(), load_key(expired.credential), NOW, "first")
    verdict = verify_signatures(once, [ROOT.der], NOW)
    assert verdict["result"] == "indeterminate"
    assert verify_signatures(once + b"x", [ROOT.der], NOW)["result"] == "invalid"


# ---------- no PDF to judge ----------


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"no pdf",
        b"%PDF-1.7\n",
        b"%PDF-1.7\nstartxref\n0\n%%EOF",
        b"PK\x03\x04" + b"\0" * 2000,
        SEALED[:2000],
    ],
    ids=["empty", "text", "header only", "no table", "zip", "cut off"],
)
def test_what_is_no_readable_pdf_is_an_invalid_file_or_not_valid(file: bytes) -> None:
    try:
        assert verify_signatures(file, [ROOT.der], NOW)["result"] != "valid"
    except Problem as problem:
        assert problem.code == "invalid_file"


def test_a_file_that_needs_a_password_is_said_to_be_encrypted() -> None:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        locked = save_pdf(pdf, encryption=pikepdf.Encryption(owner="o", user="u"))
        restricted = save_pdf(pdf, encryption=pikepdf.Encryption(owner="o", user=""))
    with pytest.raises(Problem) as problem:
        verify_signatures(locked, [], NOW)
    assert problem.value.code == "file_encrypted"
    assert verify_signatures(restricted, [], NOW)["result"] == "unsigned"


# ---------- files of others ----------


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("17-", "unsigned"),
        ("27-", "indeterminate"),
        ("28-", "indeterminate"),
        ("29-", "invalid"),
        ("30-", "invalid"),
        ("31-", "indeterminate"),
        ("32-", "indeterminate"),
    ],
)
def test_signed_files_of_other_makers_get_their_verdict_with_reasons(name: str, result: str) -> None:
    (path,) = CORPUS.glob(f"{name}*.pdf")
    verdict = verify_signatures(path.read_bytes(), [], NOW)
    assert verdict["result"] == result
    assert all(signature["reasons"] for signature in verdict["signatures"])


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["25-", "26-"])
def test_encrypted_files_of_other_makers_are_said_to_be_encrypted(name: str) -> None:
    (path,) = CORPUS.glob(f"{name}*.pdf")
    with pytest.raises(Problem) as problem:
        verify_signatures(path.read_bytes(), [], NOW)
    assert problem.value.code == "file_encrypted"
