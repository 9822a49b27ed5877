"""Levels and reasons say what is so: what counts as proof, what was taken off, and what the program cannot judge."""

import hashlib
import io
from dataclasses import replace
from typing import Any

import pytest
from asn1crypto import cms, tsp
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

from esign.core.instant import DAY
from esign.pdf.seal_order import BegunSeal, Level
from esign.pdf.verdict_sentences import (
    PADDED,
    STRIPPED,
    TOO_MANY,
    UNJUDGED,
    UNREADABLE,
    UNRECOGNISED,
    is_level_missed,
)
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.attacks import numbers
from tests.pdf.forging import append_revision
from tests.pdf.local_seal import begin_seal, finish_seal, seal_document
from tests.pdf.others import a_stamper, signed_in_loop, stamped_in_loop
from tests.pdf.proofs import a_list, an_answer, declaring, gap, with_junk, with_proofs
from tests.pdf.sealing import a_pdf, an_order
from tests.pki import NOW, Issued, a_seal, an_authority
from tests.tsa import Tsa, a_stamping_certificate, granting

ROOT, OTHER, TSA = an_authority(), an_authority("Other Root"), an_authority("Test Time Stamps Root")
STAMPING = Tsa(a_stamping_certificate(), lambda: NOW, granting())
ROOTS = (ROOT.der, TSA.der, STAMPING.root)
SEAL = a_seal(ROOT)
DECLARED = a_seal(ROOT, extensions=declaring())


def judge_file(file: bytes, now: int = NOW) -> tuple[str, dict[str, Any]]:
    verdict = verify_signatures(file, ROOTS, now, own=[ROOT.der])
    return verdict["result"], dict(verdict["signatures"][0])


# ---------- levels ----------

STAMPED = {
    "undeclared": signed_in_loop(a_pdf(), SEAL, "One", a_stamper()),
    "declared": signed_in_loop(a_pdf(), DECLARED, "One", a_stamper()),
}
FORGED_LIST = a_list(Issued(OTHER.key, ROOT.certificate), NOW)
JUNK = (b"", b"This is text.", b"%PDF-1.7", b"\x30\x03\x02\x01\x01", ROOT.der[:-9], a_list(ROOT, NOW)[:-5])


@pytest.mark.parametrize("kind", STAMPED)
@pytest.mark.parametrize("junk", JUNK)
def test_a_store_with_something_else_than_proofs_raises_no_level(kind: str, junk: bytes) -> None:
    file = with_junk(STAMPED[kind], junk)
    assert judge_file(file)[1]["level"] == "B-T"
    assert judge_file(stamped_in_loop(file, a_stamper()))[1]["level"] == "B-T"


def test_proofs_about_others_and_forged_ones_raise_no_level() -> None:
    of_others = with_proofs(STAMPED["undeclared"], a_list(OTHER, NOW), certificates=(OTHER.der,))
    assert judge_file(of_others)[1]["level"] == "B-T"
    forged = with_proofs(STAMPED["declared"], FORGED_LIST)
    assert judge_file(forged)[1]["level"] == "B-T"
    answered = with_proofs(STAMPED["declared"], answers=(an_answer(OTHER, DECLARED, NOW),))
    assert judge_file(answered)[1]["level"] == "B-T"


def test_certificates_alone_are_proof_where_nobody_can_be_asked() -> None:
    certificates = (ROOT.der, SEAL.der)
    assert judge_file(with_proofs(STAMPED["undeclared"], certificates=certificates))[1]["level"] == "B-LT"
    assert judge_file(with_proofs(STAMPED["declared"], certificates=certificates))[1]["level"] == "B-T"


def test_a_stamp_over_nothing_but_text_archives_nothing() -> None:
    """The proofs came after it, and nothing covers them."""
    text = stamped_in_loop(with_junk(STAMPED["undeclared"], b"text"), a_stamper())
    late = with_junk(text, a_list(ROOT, NOW))
    assert judge_file(late)[1]["level"] == "B-LT"
    assert judge_file(stamped_in_loop(late, a_stamper(at=NOW + DAY)), NOW + 2 * DAY)[1]["level"] == "B-LTA"


# ---------- the time stamp of a seal ----------


def token(file: bytes) -> bytes:
    imprint = {"hash_algorithm": {"algorithm": "sha256"}, "hashed_message": hashlib.sha256(file).digest()}
    question = tsp.TimeStampReq({"version": 1, "message_imprint": imprint, "nonce": 5, "cert_req": True})
    made: bytes = STAMPING.token(question).dump()
    return made


def begin_level(level: Level) -> BegunSeal:
    order = replace(an_order(a_pdf()), level=level, asked="B-T", authorities=("Test Time Stamps",))
    return begin_seal(order, SEAL.credential)


def sealed_with_stamp() -> bytes:
    half = begin_level("B-T")
    return finish_seal(
        half, [token(each.signature) for each in (half.document, half.certificate)], SEAL.credential
    ).sealed


def without_stamp(file: bytes) -> bytes:
    """The file without the time stamp, everything that is signed untouched."""
    start, end = gap(file)
    content = cms.ContentInfo.load(bytes.fromhex(file[start:end].decode()))
    del content["content"]["signer_infos"][0]["unsigned_attrs"]
    made: bytes = content.dump(force=True)
    return file[:start] + made.hex().encode().ljust(end - start, b"0") + file[end:]


def test_a_time_stamp_that_was_taken_off_is_named_as_such() -> None:
    whole = sealed_with_stamp()
    assert judge_file(whole)[0] == "valid" and judge_file(whole)[1]["level"] == "B-T"
    result, signature = judge_file(without_stamp(whole))
    assert (result, signature["reasons"]) == ("indeterminate", [STRIPPED])
    assert (signature["level"], signature["levelAsked"], signature["timestamp"]) == ("B-B", "B-T", None)
    assert not is_level_missed(signature)  # type: ignore[arg-type]  # a copy of it
    later = stamped_in_loop(without_stamp(whole), a_stamper())
    assert STRIPPED in judge_file(later)[1]["reasons"], "one over the document does not replace it"


def test_a_time_stamp_that_nobody_gave_was_not_taken_off() -> None:
    missed = finish_seal(begin_level("B-B"), (), SEAL.credential).sealed
    result, signature = judge_file(missed)
    assert (result, signature["reasons"], signature["levelAsked"]) == ("valid", [], "B-T")
    assert is_level_missed(signature)  # type: ignore[arg-type]  # a copy of it


# ---------- what stands behind a signature ----------


@pytest.mark.parametrize("padding", [b"01", b"20", b"ff" * 40, b"0d0a"])
@pytest.mark.parametrize("at_end", [True, False])
def test_other_padding_than_zeros_is_reported(padding: bytes, at_end: bool) -> None:
    for file in (seal_document(an_order(a_pdf()), SEAL.credential).sealed, STAMPED["undeclared"]):
        start, end = gap(file)
        length = 2 * len(cms.ContentInfo.load(bytes.fromhex(file[start:end].decode())).dump())
        place = end - len(padding) if at_end else start + length
        padded = file[:place] + padding + file[place + len(padding) :]
        assert len(padded) == len(file) and judge_file(file)[0] == "valid"
        result, signature = judge_file(padded)
        assert (result, signature["reasons"], signature["intact"]) == ("indeterminate", [PADDED], True)


def test_other_padding_behind_a_time_stamp_over_the_document_is_reported() -> None:
    file = stamped_in_loop(STAMPED["undeclared"], a_stamper())
    end = file.index(b">", file.rindex(b"/Contents <"))
    result, signature = judge_file(file[: end - 2] + b"01" + file[end:])
    assert (result, signature["reasons"]) == ("indeterminate", [UNRECOGNISED, PADDED])


# ---------- what the program does not understand ----------


def with_algorithm(file: bytes, name: str) -> bytes:
    """The signature says that it was made with an algorithm that its certificate's key is not for."""
    start, end = gap(file)
    content = cms.ContentInfo.load(bytes.fromhex(file[start:end].decode()))
    content["content"]["signer_infos"][0]["signature_algorithm"] = {"algorithm": name}
    made: bytes = content.dump(force=True)
    return file[:start] + made.hex().encode().ljust(end - start, b"0") + file[end:]


@pytest.mark.parametrize("name", ["sha256_rsa", "sha256_dsa", "ed25519", "rsassa_pkcs1v15"])
def test_an_assertion_inside_a_library_is_not_called_damage(name: str) -> None:
    result, signature = judge_file(with_algorithm(STAMPED["undeclared"], name))
    assert result == "indeterminate" or UNREADABLE not in signature["reasons"]
    assert UNREADABLE not in signature["reasons"]
    assert result != "valid"


def test_what_a_library_gives_up_on_is_undecided_and_says_so() -> None:
    result, signature = judge_file(with_algorithm(STAMPED["undeclared"], "sha256_dsa"))
    assert (result, signature["reasons"], signature["valid"]) == ("indeterminate", [UNJUDGED], False)


# ---------- many signatures ----------


def signatures_of_one_value(count: int, *, copied: bool) -> bytes:
    """So many fields that name one signature, or each a copy of it."""
    file = STAMPED["undeclared"]
    known = numbers(file)
    start, end = gap(file)
    opening = file.rindex(b" obj", 0, start)
    value = file[file.index(b"<<", opening) : file.index(b"endobj", end)].strip()
    free = known["free"]
    places = range(free + 1, free + 1 + count)
    values = {free + 1 + count + n: value for n in range(count)} if copied else {}
    fields = {
        place: b"<</FT/Sig/T(F%d)/Type/Annot/Subtype/Widget/F 132/Rect[0 0 0 0]/V %d 0 R>>"
        % (place, place + count if copied else known["signature"])
        for place in places
    }
    listed = b" ".join(b"%d 0 R" % place for place in (known["field"], *places))
    root = b"<</Type/Catalog/Pages %d 0 R/AcroForm<</SigFlags 3/Fields[%s]>>>>" % (known["pages"], listed)
    return append_revision(file, {known["root"]: root, **fields, **values}, root=known["root"])


def test_a_value_is_judged_once_however_many_fields_name_it() -> None:
    file = signatures_of_one_value(1500, copied=False)
    assert len(file) < 300_000
    verdict = verify_signatures(file, ROOTS, NOW)
    assert verdict["result"] == "invalid" and len(verdict["signatures"]) == 1


def test_at_most_fifty_signatures_are_judged_and_the_rest_is_said_not_to_be() -> None:
    verdict = verify_signatures(signatures_of_one_value(60, copied=True), ROOTS, NOW)
    assert len(verdict["signatures"]) == 51
    assert verdict["signatures"][-1]["reasons"] == [TOO_MANY]
    assert all(TOO_MANY not in signature["reasons"] for signature in verdict["signatures"][:-1])


def test_more_signatures_than_are_judged_are_never_valid() -> None:
    """Also where nothing speaks against the first fifty, whose judgement is not that of the file."""
    file = a_pdf()
    for _ in range(51):
        file = stamped_in_loop(file, a_stamper())
    assert verify_signatures(file, ROOTS, NOW)["result"] == "indeterminate"


def test_a_value_that_is_no_dictionary_is_damaged() -> None:
    target = io.BytesIO(STAMPED["undeclared"])
    writer = IncrementalPdfFileWriter(target)
    field = writer.root["/AcroForm"]["/Fields"].raw_get(0)
    field.get_object()["/V"] = writer.add_object(generic.pdf_string("no signature"))
    writer.mark_update(field)
    writer.write_in_place()  # type: ignore[no-untyped-call]
    verdict = verify_signatures(target.getvalue(), ROOTS, NOW)
    assert verdict["result"] == "invalid" and verdict["signatures"][0]["reasons"] == [UNREADABLE]
