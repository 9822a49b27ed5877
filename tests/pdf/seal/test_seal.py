import gc
import hashlib
import io
import os
import re
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image, ImageChops
from pyhanko.pdf_utils.generic import TextStringObject, pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

from esign.core.seal_credential import Credential
from esign.pdf.seal import cms, self_check
from esign.pdf.seal.self_check import ExpectedSeal
from esign.pdf.seal_order import DrawnField, SealFailed, SealOrder
from esign.pdf.verify.validate import verify_signatures
from tests.conftest import CORPUS
from tests.pdf.local_seal import load_key, seal_document
from tests.pdf.sealing import a_field, a_pdf, an_order, every_type, image_of, save_pdf, sign_file, text_of
from tests.pki import MADE, NOW, YEAR, Issued, a_seal, an_authority

ROOT = an_authority()
CREDENTIAL = a_seal(ROOT).credential


def pdfsig(pdf: bytes, folder: Path) -> str:
    """What poppler says of the signatures in a file."""
    path = folder / "judged.pdf"
    path.write_bytes(pdf)
    run = subprocess.run(
        ["pdfsig", "-nocert", path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": str(folder)},
    )
    return run.stdout


def open_pdf(pdf: bytes) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(pdf))


# ---------- the head of the audit trail ----------


def head_in(pdf: bytes) -> Any:
    return verify_signatures(pdf, [ROOT.der], NOW)["audit"]


def test_the_sealed_files_carry_the_head_that_is_printed() -> None:
    order = an_order(a_pdf(title="Lease"), chain={"entries": 42, "head": "cd" * 32})
    made = seal_document(order, CREDENTIAL)
    for pdf in (made.sealed, made.certificate):
        assert head_in(pdf) == {
            "documentId": order.certificate["document"]["id"],
            "entries": 42,
            "hash": "cd" * 32,
            "embedded": False,
        }
        assert "cdcd" in re.sub(r"\s", "", text_of(pdf))
    with open_pdf(made.sealed) as file:
        assert file.docinfo["/Title"] == "Lease" and "/EsignAudit" in file.docinfo


def test_any_reader_of_pdf_files_shows_the_head(tmp_path: Path) -> None:
    path = tmp_path / "sealed.pdf"
    path.write_bytes(seal_document(an_order(a_pdf()), CREDENTIAL).sealed)
    told = subprocess.run(["pdfinfo", "-custom", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r"EsignAudit: +(doc_\S+) (\d+) ([0-9a-f]{64})", told)
    assert found is not None
    head = head_in(path.read_bytes())
    assert (head["documentId"], head["entries"], head["hash"]) == (found[1], int(found[2]), found[3])


def test_a_file_prepared_with_information_that_is_no_dictionary_is_sealed() -> None:
    with open_pdf(a_pdf()) as file:
        file.trailer.Info = 135
        order = an_order(save_pdf(file))
    assert head_in(seal_document(order, CREDENTIAL).sealed) is not None


def test_a_head_put_into_the_file_after_the_seal_is_not_believed() -> None:
    """Readers may take a new entry of the document information for no change of the document."""
    made = seal_document(an_order(a_pdf()), CREDENTIAL).sealed
    before = head_in(made)
    writer = IncrementalPdfFileWriter(io.BytesIO(made))
    held = writer.trailer.raw_get("/Info")
    writer.get_object(held.reference)[pdf_name("/EsignAudit")] = TextStringObject("doc_0 1 " + "00" * 32)
    writer.mark_update(held.reference)
    later = io.BytesIO()
    writer.write(later)  # type: ignore[no-untyped-call]  # pyHanko's writer has no types here
    with open_pdf(later.getvalue()) as pdf:
        assert str(pdf.docinfo["/EsignAudit"]).startswith("doc_0 1 ")
    assert head_in(later.getvalue()) in (before, None) and before is not None


def test_a_head_that_an_upload_brings_along_is_overwritten() -> None:
    with open_pdf(a_pdf()) as pdf:
        pdf.docinfo["/EsignAudit"] = "doc_0 1 " + "00" * 32
        order = an_order(save_pdf(pdf))
    assert (
        head_in(seal_document(order, CREDENTIAL).sealed)["documentId"] == order.certificate["document"]["id"]
    )


@pytest.mark.parametrize("text", ["", "doc_1", "doc_1 0 " + "0" * 64, "doc_1 1 " + "0" * 63, "x" * 10_000])
def test_an_entry_that_is_no_head_is_none(text: str) -> None:
    with open_pdf(a_pdf()) as pdf:
        pdf.docinfo["/EsignAudit"] = text
        signed = sign_file(save_pdf(pdf), load_key(CREDENTIAL), NOW, "")
    assert verify_signatures(signed, [ROOT.der], NOW)["result"] == "valid" and head_in(signed) is None


def test_a_file_without_the_head_does_not_pass() -> None:
    made = seal_document(an_order(a_pdf()), CREDENTIAL)
    with pytest.raises(SealFailed, match="head"):
        self_check.check_sealed_file(made.sealed, ROOT.der, NOW, ExpectedSeal(made.page_count))


def test_nobody_vouches_for_the_head_in_a_file_that_is_not_trusted() -> None:
    assert verify_signatures(seal_document(an_order(a_pdf()), CREDENTIAL).sealed, [], NOW)["audit"] is None


# ---------- the signature ----------


@pytest.mark.parametrize("kind", ["p256", "p384", "p521", "rsa"])
def test_poppler_accepts_the_seal_of_every_kind_of_key_and_refuses_a_tampered_copy(
    kind: str, tmp_path: Path
) -> None:
    issued = a_seal(ROOT, kind)
    sealed = seal_document(an_order(a_pdf(), *every_type()), issued.credential).sealed
    said = pdfsig(sealed, tmp_path)
    assert "Signature is Valid." in said
    assert "Total document signed" in said
    assert "ETSI.CAdES.detached" in said
    tampered = sealed.replace(b"/MediaBox", b"/MediaBoy", 1)
    assert tampered != sealed
    assert "Signature is Valid." not in pdfsig(tampered, tmp_path)


def test_the_seal_is_one_invisible_certification_that_forbids_every_change() -> None:
    with open_pdf(seal_document(an_order(a_pdf()), CREDENTIAL).sealed) as pdf:
        (field,) = pdf.Root.AcroForm.Fields
        signature = field.V
        assert [str(field.T), field.FT, [float(side) for side in field.Rect]] == [
            "Seal",
            Name.Sig,
            [0, 0, 0, 0],
        ]
        assert signature.Type == Name.Sig
        assert signature.SubFilter == Name("/ETSI.CAdES.detached")
        assert signature.Reference[0].TransformParams.P == 1
        assert pdf.Root.Perms.DocMDP.objgen == signature.objgen
        assert str(signature.M) == "D:20261121000000Z"
        assert str(signature.Name) == "Acme Ltd Document Seal"
        assert str(signature.Reason) == "All recipients have finished"


def test_the_certificate_is_a_sealed_file_of_its_own(tmp_path: Path) -> None:
    result = seal_document(an_order(a_pdf({}, {})), CREDENTIAL)
    said = pdfsig(result.certificate, tmp_path)
    assert "Signature is Valid." in said
    assert "Total document signed" in said
    assert verify_signatures(result.certificate, [ROOT.der], NOW)["pageCount"] == 1
    assert result.page_count == 3


def test_what_was_sealed_and_with_what_is_told() -> None:
    result = seal_document(an_order(a_pdf()), CREDENTIAL)
    assert result.level == "B-B"
    assert result.certificate_sha256 == hashlib.sha256(CREDENTIAL.certificate_der).hexdigest()
    text = text_of(result.certificate)
    assert "Acme Ltd Document Seal" in text
    assert result.certificate_sha256[:8] in text
    assert "Server clock, without a time-stamping authority" in text


def test_a_chain_of_several_issuers_travels_with_the_seal() -> None:
    between = an_authority("Issuing", "rsa", above=ROOT)
    sealed = seal_document(an_order(a_pdf()), a_seal(between).credential).sealed
    assert verify_signatures(sealed, [ROOT.der], NOW)["result"] == "valid"


def test_a_key_without_a_chain_is_its_own_root() -> None:
    alone = replace(CREDENTIAL, chain_der=())
    assert (
        verify_signatures(seal_document(an_order(a_pdf()), alone).sealed, [alone.certificate_der], NOW)[
            "result"
        ]
        == "valid"
    )


def test_the_certificate_is_read_once_for_equal_credentials() -> None:
    again = Credential(b"", bytes(bytearray(CREDENTIAL.certificate_der)), CREDENTIAL.chain_der)
    assert cms.load_key(CREDENTIAL.public) is cms.load_key(again.public)


def test_the_whole_file_stands_unchanged_before_the_signature() -> None:
    plain = a_pdf()
    signed = sign_file(plain, load_key(CREDENTIAL), NOW, "why")
    assert signed.startswith(plain)


def test_nothing_keeps_a_file_when_its_work_is_done() -> None:
    """The library's objects hold each other until they are collected: without this, files of earlier jobs pile up."""

    def count_held() -> int:
        return sum(isinstance(each, io.BytesIO) and not each.closed for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = count_held()
        pdf = sign_file(a_pdf(), load_key(CREDENTIAL), NOW, "why")
        assert verify_signatures(pdf, [ROOT.der], NOW)["result"] == "valid"
        assert count_held() == before
    finally:
        gc.enable()


def test_the_seal_lies_on_the_last_page_however_deep_that_is() -> None:
    with open_pdf(a_pdf({}, {}, {})) as pdf:
        root = pdf.Root.Pages
        branch = pdf.make_indirect(
            Dictionary(Type=Name.Pages, Kids=list(root.Kids)[1:], Count=2, Parent=root)
        )
        for page in branch.Kids:
            page.Parent = branch
        root.Kids = Array([root.Kids[0], branch])
        nested = save_pdf(pdf)
    with open_pdf(sign_file(nested, load_key(CREDENTIAL), NOW, "why")) as pdf:
        (field,) = pdf.Root.AcroForm.Fields
        assert [len(page.obj.get("/Annots", [])) for page in pdf.pages] == [0, 0, 1]
        assert field.P.objgen == pdf.pages[2].objgen


# ---------- what is refused ----------


@pytest.mark.parametrize(
    ("issued", "reason"),
    [
        (a_seal(ROOT, last=MADE + timedelta(days=30)), "expired on 2026-01-31.*install a new one"),
        (a_seal(ROOT, first=MADE + YEAR), "not valid before 2027-01-01.*clock"),
    ],
    ids=["expired", "not yet valid"],
)
def test_a_certificate_out_of_its_time_seals_nothing(issued: Issued, reason: str) -> None:
    with pytest.raises(SealFailed, match=reason):
        seal_document(an_order(a_pdf()), issued.credential)


def test_a_key_that_is_not_the_certificates_seals_nothing() -> None:
    wrong = replace(CREDENTIAL, key_der=a_seal(ROOT, "p384").credential.key_der)
    with pytest.raises(SealFailed, match="does not belong"):
        seal_document(an_order(a_pdf()), wrong)


def test_a_key_that_cannot_be_read_seals_nothing() -> None:
    with pytest.raises(SealFailed, match="cannot be read"):
        seal_document(an_order(a_pdf()), replace(CREDENTIAL, key_der=b"no key"))


def test_a_level_that_wants_a_time_stamp_is_never_replaced_by_a_lower_one() -> None:
    with pytest.raises(SealFailed, match="B-T cannot be made of 0 time stamps"):
        seal_document(replace(an_order(a_pdf()), level="B-T"), CREDENTIAL)


def test_a_field_on_a_page_that_is_not_there_is_named() -> None:
    with pytest.raises(SealFailed, match="fld_name lies on page 2"):
        seal_document(an_order(a_pdf(), a_field("name", "Jo", page=2)), CREDENTIAL)


def test_a_text_that_does_not_fit_is_named() -> None:
    field = a_field("text", "much too long " * 30, width=3, height=1)
    with pytest.raises(SealFailed, match="fld_text"):
        seal_document(an_order(a_pdf(), field), CREDENTIAL)


# ---------- the check before it leaves ----------


def test_a_file_without_the_values_does_not_pass() -> None:
    prepared = a_pdf()
    with pytest.raises(SealFailed, match="fld_name can’t be seen on page 1"):
        self_check.check_ink(prepared, prepared, [a_field("name", "Jo Li")])


@pytest.mark.parametrize("value", [" ", "\u2800", "\u200b", "\n"])
def test_values_without_ink_are_not_looked_for(value: str) -> None:
    prepared = a_pdf()
    self_check.check_ink(prepared, prepared, [a_field("text", value)])


def test_a_file_that_lost_a_page_does_not_pass() -> None:
    result = seal_document(an_order(a_pdf()), CREDENTIAL)
    with pytest.raises(SealFailed, match="2 pages where 3 are expected"):
        self_check.check_sealed_file(result.sealed, ROOT.der, NOW, ExpectedSeal(3))


def test_a_file_with_bytes_behind_the_seal_does_not_pass() -> None:
    result = seal_document(an_order(a_pdf()), CREDENTIAL)
    with pytest.raises(SealFailed, match="does not verify"):
        self_check.check_sealed_file(result.sealed + b"\n", ROOT.der, NOW, ExpectedSeal(2))


def test_ink_on_dark_paper_is_still_seen() -> None:
    with open_pdf(a_pdf()) as pdf:
        pdf.pages[0].obj.Contents = pdf.make_stream(b"0 g 0 0 595 842 re f")
        seal_document(an_order(save_pdf(pdf), a_field("name", "Jo Li")), CREDENTIAL)


@pytest.mark.parametrize("text", [".", "'", "Hello"])
def test_little_ink_in_a_box_as_large_as_a_wall_is_seen(text: str) -> None:
    wall = {"MediaBox": pikepdf.Array([0, 0, 14_400, 14_400])}
    field = a_field("text", text, x=0, y=0, width=100, height=100, font_size=6, options={"multiline": True})
    seal_document(an_order(a_pdf(wall), field), CREDENTIAL)


# ---------- the pages ----------


def test_the_values_and_the_certificate_stand_in_the_sealed_file() -> None:
    text = text_of(seal_document(an_order(a_pdf(), *every_type()), CREDENTIAL).sealed)
    for said in (
        "A line of the contract",
        "20 Nov 2026",
        "jo@example.com",
        "Certificate of completion",
        "Amélie",
    ):
        assert said in text


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize(
    "boxes",
    [
        {},
        {"MediaBox": [0, 0, 400, 700], "CropBox": [30, 40, 350, 600]},
        {"MediaBox": [-100, -50, 500, 800]},
        {"MediaBox": [500, 800, 0, 0], "CropBox": [100, 100, 9000, 9000]},
    ],
    ids=["plain", "cropped", "negative", "disordered"],
)
def test_a_value_lies_where_it_was_placed_on_the_page_as_displayed(
    rotate: int, boxes: dict[str, Any]
) -> None:
    prepared = a_pdf({"Rotate": rotate, **boxes})
    field = a_field("checkbox", True, x=60, y=15, width=20, height=10)
    sealed = seal_document(an_order(prepared, field), CREDENTIAL).sealed
    before, after = image_of(prepared), image_of(sealed)
    changed = (
        ImageChops.difference(before, after)
        .convert("L")
        .point(lambda level: 255 if level > 40 else 0)
        .getbbox()
    )
    assert changed
    side = min(0.20 * after.width, 0.10 * after.height)
    middle = 0.70 * after.width, 0.20 * after.height
    expected = [middle[0] - side / 2, middle[1] - side / 2, middle[0] + side / 2, middle[1] + side / 2]
    assert all(abs(was - should) <= 2 for was, should in zip(changed, expected, strict=True))


def test_certificate_pages_are_upright_whatever_the_document_would_hand_down() -> None:
    with open_pdf(a_pdf({})) as pdf:
        pdf.Root.Pages.Rotate = 90
        pdf.Root.Pages.CropBox = pikepdf.Array([0, 0, 100, 100])
        sealed = seal_document(an_order(save_pdf(pdf)), CREDENTIAL).sealed
    with open_pdf(sealed) as pdf:
        page = pdf.pages[1].obj
        assert page.Rotate == 0
        assert [round(float(side)) for side in page.CropBox] == [0, 0, 595, 842]
    assert image_of(sealed, 2).size == (596, 842)


def test_certificate_pages_keep_no_numbers_into_a_structure_that_stayed_behind() -> None:
    with open_pdf(seal_document(an_order(a_pdf()), CREDENTIAL).sealed) as pdf:
        page = pdf.pages[1].obj
        assert Name.StructParents not in page
        assert all(Name.StructParent not in note for note in page.get("/Annots", []))


def test_the_title_stays_and_claims_to_be_pdf_a_go() -> None:
    with open_pdf(a_pdf(title="Supply agreement")) as pdf:
        with pdf.open_metadata() as metadata:
            metadata["pdfaid:part"], metadata["pdfaid:conformance"] = "2", "B"
            metadata["dc:title"] = "Supply agreement"
        claiming = save_pdf(pdf)
    assert b"pdfaid" in claiming
    with open_pdf(seal_document(an_order(claiming), CREDENTIAL).sealed) as pdf:
        assert str(pdf.docinfo["/Title"]) == "Supply agreement"
        with pdf.open_metadata() as metadata:
            assert metadata["dc:title"] == "Supply agreement"
            assert metadata.pdfa_status == ""


def test_metadata_that_no_parser_understands_do_not_stop_the_seal() -> None:
    with open_pdf(a_pdf()) as pdf:
        pdf.Root.Metadata = pikepdf.Stream(
            pdf, b"<x:xmpmeta><not closed", Type=Name.Metadata, Subtype=Name.XML
        )
        sealed = seal_document(an_order(save_pdf(pdf)), CREDENTIAL).sealed
    assert verify_signatures(sealed, [ROOT.der], NOW)["result"] == "valid"


def test_a_document_of_test_mode_is_marked_on_every_page() -> None:
    sealed = seal_document(an_order(a_pdf({}, {}), mode="test"), CREDENTIAL).sealed
    plain = seal_document(an_order(a_pdf({}, {})), CREDENTIAL).sealed
    for page in (1, 2):
        assert image_of(sealed, page) != image_of(plain, page)
    assert "TEST – no legal effect" in text_of(sealed, 3)


def test_the_same_signature_may_stand_on_every_page() -> None:
    fields = [
        a_field("initials", kind="typed", text="JL", hand="b", page=n, id=f"fld_{n}") for n in range(1, 31)
    ]
    result = seal_document(an_order(a_pdf(*[{}] * 30), *fields), CREDENTIAL)
    assert result.page_count == 31


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["01-", "05-", "07-", "08-", "09-", "10-", "11-", "12-", "13-", "14-", "15-", "23-", "33-"]
)
def test_real_files_come_through_with_a_valid_seal(name: str, tmp_path: Path) -> None:
    (path,) = CORPUS.glob(f"{name}*.pdf")
    with pikepdf.open(path) as pdf:
        prepared, pages = save_pdf(pdf), len(pdf.pages)
    fields: list[DrawnField] = [
        a_field("name", "Jo Li", page=1, width=25, height=3),
        a_field("checkbox", True, page=pages, x=70, y=70, width=2.5, height=2),
    ]
    order = SealOrder(prepared, tuple(fields), an_order(b"").certificate, NOW)
    result = seal_document(order, CREDENTIAL)
    assert result.page_count == pages + 1
    said = pdfsig(result.sealed, tmp_path)
    assert "Signature is Valid." in said
    assert "Total document signed" in said


def test_pictures_of_equal_pages_compare_equal() -> None:
    """What `check_ink` rests on: pdfium draws the same page the same way twice."""
    one, two = image_of(a_pdf(), scale=0.7), image_of(a_pdf(), scale=0.7)
    assert isinstance(one, Image.Image)
    assert one == two
