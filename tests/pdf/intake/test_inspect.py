"""What is taken at the door, what is refused, and what comes of it."""

import io
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, Pdf, String
from PIL import Image
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

from esign.core.document.document import PageGeometry
from esign.core.errors import Problem
from esign.pdf.inspection import UploadLimits
from esign.pdf.intake.inspect import inspect_upload
from esign.pdf.page.render import refuse_undrawable, render_page
from tests.pdf import made
from tests.pdf.made import blank, write_pdf


def find_refusal(upload: bytes, limits: UploadLimits) -> Problem:
    with pytest.raises(Problem) as refusal:
        inspect_upload(upload, limits)
    assert refusal.value.message.endswith(".")
    return refusal.value


OPEN_FILES = Path("/proc/self/fd")

TAKEN: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "scripts": (made.make_scripted, {"scripts"}),
    "launch": (made.launching, {"actions"}),
    "attachment": (made.attaching, {"attachments"}),
    "owner password": (made.make_restricted, {"restrictions"}),
    "wrong size and offsets": (made.make_disordered, set()),
}

REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "password": (made.make_locked, "file_encrypted"),
    "signed": (made.make_signed, "file_signed"),
    "signed, then cleared": (made.make_cleared, "file_signed"),
    "dynamic form": (made.dynamic_form, "file_unsupported"),
    "giant page": (made.giant, "file_unsupported"),
    "page tree loop": (made.looping, "invalid_file"),
}


@pytest.mark.parametrize("kind", [*TAKEN, *REFUSED])
def test_nothing_stays_open_of_a_file_that_was_looked_at(kind: str, limits: UploadLimits) -> None:
    """A worker may open 32 files, and looks at 500 uploads."""
    upload = {**TAKEN, **REFUSED}[kind][0]()
    before = len(list(OPEN_FILES.iterdir()))
    with suppress(Problem):
        inspect_upload(upload, limits)
    assert len(list(OPEN_FILES.iterdir())) == before


@pytest.mark.parametrize("kind", TAKEN)
def test_a_file_of_this_kind_is_taken_and_made_harmless(kind: str, limits: UploadLimits) -> None:
    make, removed = TAKEN[kind]
    upload = make()
    inspection = inspect_upload(upload, limits)
    assert inspection.pages == (PageGeometry(300, 200, 0),)
    assert set(inspection.removed) == removed
    with Pdf.open(io.BytesIO(inspection.prepared)) as pdf:
        assert not pdf.is_encrypted
        assert not pdf.get_warnings()
    shown = open_picture(inspection.prepared, inspection.pages[0])
    assert shown.getpixel((130, 400)) == (0, 0, 255)
    assert inspection.repaired is (make is made.make_disordered)


@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_of_this_kind_is_refused_with_its_code(kind: str, limits: UploadLimits) -> None:
    make, code = REFUSED[kind]
    assert find_refusal(make(), limits).code == code


@pytest.mark.parametrize("kind", TAKEN)
def test_what_was_prepared_is_taken_again_as_it_is(kind: str, limits: UploadLimits) -> None:
    first = inspect_upload(TAKEN[kind][0](), limits)
    second = inspect_upload(first.prepared, limits)
    assert second.removed == ()
    assert not second.repaired
    assert second.pages == first.pages
    seen = [open_picture(one.prepared, one.pages[0]).tobytes() for one in (first, second)]
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "upload", [b"", b"<html>404</html>", b"PK\x03\x04" + bytes(2000), b"x" * 1024 + made.plain()]
)
def test_what_does_not_begin_as_a_pdf_is_refused(upload: bytes, limits: UploadLimits) -> None:
    problem = find_refusal(upload, limits)
    assert problem.code == "invalid_file"
    assert "not a PDF" in problem.message


def test_a_pdf_may_begin_a_little_later(limits: UploadLimits) -> None:
    assert len(inspect_upload(b"x" * 1000 + b"\n" + made.plain(), limits).pages) == 1


@pytest.mark.parametrize(
    "upload", [b"%PDF-1.7\n", b"%PDF-1.7\n" + bytes(range(256)) * 40, made.plain()[:300]]
)
def test_a_torso_is_refused(upload: bytes, limits: UploadLimits) -> None:
    assert find_refusal(upload, limits).code == "invalid_file"


@pytest.mark.parametrize(
    "place",
    [rb"(/Size )\d+", rb"(/Root )\d+", rb"(startxref\n)\d+", rb"(xref\n0 )\d+", rb"(\n)\d+(?= 0 obj)"],
)
def test_a_number_beyond_every_integer_is_damage(place: bytes, limits: UploadLimits) -> None:
    damaged = re.sub(place, lambda found: found[1] + b"9" * 400, made.plain(), count=1)
    try:
        assert inspect_upload(damaged, limits).repaired
    except Problem as problem:
        assert problem.code == "invalid_file" and "damaged" in problem.message


def test_a_file_over_the_limit_is_refused_unread(limits: UploadLimits) -> None:
    upload = made.plain()
    assert find_refusal(upload, replace(limits, file_bytes=len(upload) - 1)).code == "file_too_large"
    inspect_upload(upload, replace(limits, file_bytes=len(upload)))


def test_the_number_of_pages_is_limited(limits: UploadLimits) -> None:
    upload = write_pdf(blank(pages=3))
    assert len(inspect_upload(upload, replace(limits, pages=3)).pages) == 3
    problem = find_refusal(upload, replace(limits, pages=2))
    assert problem.code == "too_many_pages"
    assert "3 pages" in problem.message and "2 are allowed" in problem.message


def test_a_file_without_pages_is_refused(limits: UploadLimits) -> None:
    problem = find_refusal(write_pdf(pikepdf.new()), limits)
    assert (problem.code, problem.message) == ("invalid_file", "The file has no pages.")


@pytest.mark.parametrize("size", [(3, 3), (14_400, 14_400), (14_400, 288), (60, 3)])
def test_a_page_at_the_edge_of_what_can_be_shown_is_taken(
    size: tuple[float, float], limits: UploadLimits
) -> None:
    inspection = inspect_upload(write_pdf(blank(content=b"", size=size)), limits)
    assert inspection.pages == (PageGeometry(*size, 0),)


@pytest.mark.parametrize("size", [(2.9, 100), (100, 14_401), (3, 151), (20_000, 20_000), (0.01, 0.01)])
def test_a_page_beyond_what_can_be_shown_is_refused(size: tuple[float, float], limits: UploadLimits) -> None:
    pdf = blank(pages=2)
    pdf.pages[1].obj.MediaBox = Array([0, 0, *size])
    problem = find_refusal(write_pdf(pdf), limits)
    assert problem.code == "file_unsupported"
    assert "Page 2" in problem.message
    assert problem.details[0].path == "/file"


def test_pages_are_measured_as_they_are_seen(limits: UploadLimits) -> None:
    pdf = blank(pages=2)
    pdf.pages[1].obj.Rotate, pdf.pages[1].obj.UserUnit = 90, 2
    pdf.pages[1].obj.CropBox = Array([10, 20, 110, 70])
    assert inspect_upload(write_pdf(pdf), limits).pages == (
        PageGeometry(300, 200, 0),
        PageGeometry(50, 100, 90),
    )


def open_picture(pdf: bytes, page: PageGeometry, number: int = 1) -> Image.Image:
    return Image.open(io.BytesIO(render_page(pdf, number, page, 1)))


def test_a_page_that_cannot_be_drawn_is_refused_wherever_it_stands(limits: UploadLimits) -> None:
    upload = write_pdf(blank(pages=3))
    pages = inspect_upload(upload, limits).pages
    refuse_undrawable(upload, pages)
    for wrong in (pages[:2], (*pages[:2], replace(pages[2], width=299.0))):
        with pytest.raises(Problem) as refusal:
            refuse_undrawable(upload, wrong)
        assert refusal.value.code == "invalid_file"


def test_words_about_a_signature_are_none(limits: UploadLimits) -> None:
    spoken = b"BT /F1 9 Tf 20 150 Td (/ByteRange [0 1 2 3] /Type /Sig) Tj ET"
    upload = write_pdf(blank(content=spoken), compress_streams=False)
    assert b"/ByteRange [" in upload
    inspect_upload(upload, limits)


@pytest.mark.parametrize(
    "name", [b"/ByteRange [0 1 2 3]", b"/Byte#52ange[0 1 2 3]", b"/ByteRange %a\n [0 1]", b"/ByteRange 7 0 R"]
)
def test_a_byte_range_that_nothing_refers_to_is_a_signature(name: bytes, limits: UploadLimits) -> None:
    file = made.plain()
    at = file.rindex(b"startxref")
    assert (
        find_refusal(file[:at] + b"99 0 obj <<" + name + b">> endobj\n" + file[at:], limits).code
        == "file_signed"
    )


def test_a_byte_range_packed_away_in_an_earlier_revision_is_a_signature(limits: UploadLimits) -> None:
    pdf = blank()
    pdf.Root.Past = pdf.make_indirect(Dictionary(ByteRange=Array([0, 1, 2, 3])))
    file = write_pdf(pdf, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    assert b"/ByteRange" not in file
    writer = IncrementalPdfFileWriter(io.BytesIO(file))
    del writer.root["/Past"]
    writer.update_root()  # type: ignore[no-untyped-call]
    later = io.BytesIO()
    writer.write(later)  # type: ignore[no-untyped-call]
    assert find_refusal(later.getvalue(), limits).code == "file_signed"


def test_a_filled_signature_field_is_a_signature(limits: UploadLimits) -> None:
    pdf = blank()
    field = pdf.make_indirect(Dictionary(FT=Name.Sig, T=String("a"), V=Dictionary(Type=Name.Sig)))
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]))
    assert find_refusal(write_pdf(pdf), limits).code == "file_signed"


def test_an_empty_signature_field_is_none(limits: UploadLimits) -> None:
    pdf = blank()
    field = pdf.make_indirect(
        Dictionary(FT=Name.Sig, T=String("a"), Lock=Dictionary(Type=Name("/SigFieldLock")))
    )
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]), SigFlags=3)
    inspect_upload(write_pdf(pdf), limits)


def painting(pdf: Pdf, content: bytes, **inner: pikepdf.Stream) -> pikepdf.Stream:
    form = pdf.make_stream(content, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 300, 200]))
    form.Resources = Dictionary(XObject=Dictionary({f"/{name}": form for name, form in inner.items()}))
    return form


def test_a_form_that_paints_itself_is_too_complex(limits: UploadLimits) -> None:
    pdf = blank(content=b"/A Do")
    second = painting(pdf, b"/First Do /First Do")
    first = painting(pdf, b"q /Second Do Q", Second=second)
    second.Resources.XObject.First = first
    pdf.pages[0].obj.Resources.XObject = Dictionary(A=first)
    problem = find_refusal(write_pdf(pdf), limits)
    assert problem.code == "invalid_file"
    assert "too complex" in problem.message


def test_a_form_that_only_could_paint_itself_is_taken(limits: UploadLimits) -> None:
    pdf = blank(content=b"/A Do")
    form = painting(pdf, made.SQUARE)
    pdf.pages[0].obj.Resources.XObject = Dictionary(A=form)
    form.Resources = pdf.make_indirect(pdf.pages[0].obj.Resources)
    inspect_upload(write_pdf(pdf), limits)


@pytest.mark.parametrize(("step", "taken"), [(0.001, False), (0.05, False), (5, True)])
def test_a_pattern_of_countless_tiles_is_too_complex(step: float, taken: bool, limits: UploadLimits) -> None:
    pdf = blank(content=b"/Pattern cs /P scn 0 0 600 600 re f", size=(600, 600))
    pattern = pdf.make_stream(
        b"0 0 1 1 re f", PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary()
    )
    pattern.BBox, pattern.XStep, pattern.YStep = Array([0, 0, 1, 1]), step, step
    pdf.pages[0].obj.Resources.Pattern = Dictionary(P=pattern)
    if taken:
        inspect_upload(write_pdf(pdf), limits)
    else:
        assert "too complex" in find_refusal(write_pdf(pdf), limits).message


def test_a_page_that_unfolds_without_end_is_too_complex(limits: UploadLimits) -> None:
    pdf = blank(content=bytes(200 * 1024 * 1024))
    upload = write_pdf(pdf)
    assert len(upload) < 1_000_000
    assert "too complex" in find_refusal(upload, limits).message


def test_what_pdfium_draws_matches_the_measured_size(limits: UploadLimits) -> None:
    pdf = blank(pages=4)
    for turns, page in enumerate(pdf.pages):
        page.obj.Rotate, page.obj.MediaBox = 90 * turns, Array([-10, 5, 290.5, 205.25])
    inspection = inspect_upload(write_pdf(pdf), limits)
    document = pypdfium2.PdfDocument(inspection.prepared)
    assert [document.get_page_size(n) for n in range(4)] == [
        (page.width, page.height) for page in inspection.pages
    ]
    document.close()
