"""Decide whether an uploaded PDF can be signed and sealed here, and turn it into the file that recipients see."""

import io
import os
from functools import cache

import pikepdf
import pypdfium2
from pikepdf import AccessMode, Pdf

from esign.core.document.document import PageGeometry
from esign.core.errors import Detail, Problem
from esign.core.sentence import say
from esign.pdf.drawing import stamp_pages
from esign.pdf.inspection import (
    MISSHAPEN,
    REMOVALS,
    SIZE,
    TOO_COMPLEX,
    TOO_LARGE,
    TOO_MANY_PAGES,
    Inspection,
    UploadLimits,
)
from esign.pdf.intake import active_content, complexity, existing_signatures, normalise
from esign.pdf.page import page_properties as pages
from esign.pdf.page.render import refuse_undrawable

__all__ = ["Inspection", "UploadLimits", "inspect_upload"]

# The least and greatest visible side in points, and how many times longer one side may be than the other.
SIDE, RATIO = (3, 14_400), 50

UNREADABLE = (
    "The file is damaged and cannot be read; save it again in the program that made it and send that."
)
ENCRYPTED = (
    "The file is encrypted in a way that cannot be read here; save it without encryption and send that."
)
SIGNED = (
    "The file carries a digital signature or once did, which signing here would break; "
    "send the unsigned original, or print it to a new PDF."
)

# The most one stream may unfold to, in bytes; a page of a 600 dpi colour scan is 100 MB, but never read here.
UNFOLDED = 128 * 1024 * 1024


def inspect_upload(upload: bytes, limits: UploadLimits) -> Inspection:
    """Read, check and normalise an upload. Raises `Problem` with a code of contract 6 if it cannot be accepted."""
    pikepdf.settings.set_qpdf_limits(flate_max_memory=UNFOLDED, run_length_max_memory=UNFOLDED)
    _check_size_and_start(upload, limits)
    try:
        return _inspect_pdf(upload, limits)
    except pikepdf.PikepdfError as error:
        raise Problem("invalid_file", TOO_COMPLEX if "limit" in str(error) else UNREADABLE) from error
    except OverflowError as error:  # a number of the file is beyond the integers of qpdf
        raise Problem("invalid_file", UNREADABLE) from error


def _inspect_pdf(upload: bytes, limits: UploadLimits) -> Inspection:
    pdf, mended = open_upload(upload)
    written = active_content.write_objects(pdf)
    if existing_signatures.is_signed(upload, written):
        raise Problem("file_signed", SIGNED)
    normalise.refuse_dynamic(pdf)
    seen = _measure_pages(pdf, limits)
    complexity.refuse_endless(pdf)
    removed = {"restrictions"} if pdf.is_encrypted else set()
    removed |= normalise.normalise_pdf(pdf, written)
    prepared = normalise.write_pdf(pdf)
    mended = mended or bool(pdf.get_warnings())
    _rehearse_seal(prepared, len(seen))
    refuse_undrawable(prepared, seen)
    return Inspection(prepared, seen, mended, tuple(word for word in REMOVALS if word in removed))


def _check_size_and_start(upload: bytes, limits: UploadLimits) -> None:
    if len(upload) > limits.file_bytes:
        raise Problem("file_too_large", say(TOO_LARGE, bytes=len(upload), most=limits.file_bytes))
    if b"%PDF-" not in upload[:1024]:
        raise Problem("invalid_file", "The file is not a PDF; save it as one and send that.")


def open_upload(upload: bytes) -> tuple[Pdf, bool]:
    """Return the open file and whether it had to be mended.

    A file that qpdf cannot open is rewritten by PDFium first.
    """
    try:
        pdf = _open_with_qpdf(upload)
    except pikepdf.PikepdfError:
        pdf, mended = _open_with_qpdf(_rewrite_with_pdfium(upload)), True
    else:
        mended = bool(pdf.get_warnings())
    return pdf, mended


def _open_with_qpdf(file: bytes) -> Pdf:
    try:
        pdf = _map_file(file)
        len(pdf.pages)
        return pdf
    except pikepdf.PasswordError as error:
        raise Problem("file_encrypted") from error
    except pikepdf.PdfError as error:
        if "encrypt" in str(error) or "security handler" in str(error):
            raise Problem("file_encrypted", ENCRYPTED) from error
        raise
    except ValueError as error:  # a number of the file's own structure is beyond every integer of qpdf
        raise pikepdf.PdfError(str(error)) from error


def _map_file(file: bytes) -> Pdf:
    """Return the open file, mapped into memory: qpdf reads its objects three times as fast as from Python."""
    with os.fdopen(os.memfd_create("upload"), "w+b") as mapped:
        mapped.write(file)
        mapped.flush()
        return Pdf.open(mapped, suppress_warnings=True, access_mode=AccessMode.mmap)


def _rewrite_with_pdfium(upload: bytes) -> bytes:
    try:
        document = pypdfium2.PdfDocument(upload)
        try:
            file = io.BytesIO()
            document.save(file)
        finally:
            document.close()
    except pypdfium2.PdfiumError as error:
        raise Problem("invalid_file", UNREADABLE) from error
    return file.getvalue()


def _measure_pages(pdf: Pdf, limits: UploadLimits) -> tuple[PageGeometry, ...]:
    """Return the pages as displayed. Raises `Problem` for a count or size that cannot be shown and stamped."""
    count = len(pdf.pages)
    if not count:
        raise Problem("invalid_file", "The file has no pages.")
    if count > limits.pages:
        raise Problem("too_many_pages", say(TOO_MANY_PAGES, n=count, most=limits.pages))
    views = [pages.read_visible_area(page) for page in pdf.pages]
    seen = tuple(PageGeometry(round(v.width, 4), round(v.height, 4), v.turns * 90) for v in views)
    for number, page in enumerate(seen, 1):
        shorter, longer = sorted((page.width, page.height))
        if not (SIDE[0] <= shorter and longer <= SIDE[1] and longer <= shorter * RATIO):
            raise _build_misshapen_problem(number, page)
    return seen


def _build_misshapen_problem(number: int, page: PageGeometry) -> Problem:
    return Problem(
        "file_unsupported",
        say(
            MISSHAPEN,
            page=number,
            width=page.width,
            height=page.height,
            least=SIDE[0],
            most=SIDE[1],
            ratio=RATIO,
        ),
        details=[Detail("/file", say(SIZE, page=number, width=page.width, height=page.height), "range")],
    )


def _rehearse_seal(prepared: bytes, count: int) -> None:
    """Do what sealing will do: stamp every page, append one, write the file and read it again.

    Raises `invalid_file`.
    """
    with Pdf.open(io.BytesIO(prepared)) as pdf:
        if len(pdf.pages) != count:
            raise Problem("invalid_file", UNREADABLE)
        stamp_pages.stamp_overlays(pdf, {number: (_make_blank_page(), 0) for number in range(1, count + 1)})
        stamp_pages.append_pages(pdf, _make_blank_page())
        with Pdf.open(io.BytesIO(normalise.write_pdf(pdf, compressed=False))) as again:
            if len(again.pages) != count + 1:
                raise Problem(
                    "invalid_file", "The file cannot be sealed: pages get lost when something is added."
                )


@cache
def _make_blank_page() -> bytes:
    """Return a PDF of one transparent A4 page."""
    with pikepdf.new() as pdf:
        pdf.add_blank_page(page_size=(595.28, 841.89))
        return normalise.write_pdf(pdf)
