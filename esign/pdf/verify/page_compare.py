"""Compare how the pages of two files look and read in PDFium, which shares no code with the other checks.

This is the second line of defence behind `proof_tail`: whatever a revision contains, a person sees the pages
that were signed. qpdf compares the objects of the pages (`qpdf_crosscheck`), PDFium what it draws of them.
"""

import ctypes

import pypdfium2
import pypdfium2.raw as pdfium

from esign.system.clock import read_processor_seconds

SCALE = 0.5  # 36 dpi: a letter that differs changes the grey of its pixels; a page of text takes 2 ms
MOST_PIXELS = 1_000_000  # of one page
FORM_TYPES = (pdfium.FORMTYPE_NONE, pdfium.FORMTYPE_ACRO_FORM)


def is_look_identical(signed: bytes, whole: bytes, until: float) -> bool | None:
    """Return whether all pages look and read the same, or None if comparing them takes longer than `until`.

    `until` is in seconds of processor time of this process. Raises `PdfiumError` for a file that PDFium cannot
    open.
    """
    was, now = _open_with_form(signed), _open_with_form(whole)
    try:
        if len(was) != len(now) or was.get_formtype() != now.get_formtype():
            return False
        for index in range(len(was)):
            if read_processor_seconds() > until:
                return None
            if not _is_page_identical(was, now, index):
                return False
        return True
    finally:
        was.close()
        now.close()


def _open_with_form(file: bytes) -> pypdfium2.PdfDocument:
    """Open a file with its form, which viewers draw over the pages."""
    document = pypdfium2.PdfDocument(file)
    if document.get_formtype() in FORM_TYPES:
        document.init_forms()
    return document


def _is_page_identical(was: pypdfium2.PdfDocument, now: pypdfium2.PdfDocument, index: int) -> bool:
    first, second = was[index], now[index]
    try:
        if first.get_size() != second.get_size():
            return False
        return _read_text(first) == _read_text(second) and _render_pixels(first) == _render_pixels(second)
    finally:
        first.close()
        second.close()


def _read_text(page: pypdfium2.PdfPage) -> bytes:
    """Return the text of a page as PDFium copies it, in UTF-16."""
    text = page.get_textpage()
    try:
        count = pdfium.FPDFText_CountChars(text)
        if count <= 0:
            return b""
        buffer = (ctypes.c_ushort * (count + 1))()
        pdfium.FPDFText_GetText(text, 0, count, buffer)
        return bytes(buffer)
    finally:
        text.close()


def _render_pixels(page: pypdfium2.PdfPage) -> bytes:
    width, height = page.get_size()
    scale = min(SCALE, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, rev_byteorder=False)
    try:
        return bytes(bitmap.buffer)
    finally:
        bitmap.close()
