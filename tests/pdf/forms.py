"""PDFs that ask to be filled in: with a form, or with marks in their text."""

from typing import Any

from pikepdf import Array, Dictionary, Name, Pdf, String

from tests.pdf.made import blank, write_pdf

A4 = (595.0, 842.0)


def mark_page(
    *marks: tuple[float, float, str], rotate: int = 0, crop: tuple[float, ...] | None = None
) -> bytes:
    """One page with texts in 12 points, each beginning there in the page's own coordinates."""
    content = b"".join(b"BT /F1 12 Tf %f %f Td (%s) Tj ET\n" % (x, y, text.encode()) for x, y, text in marks)
    return write_pdf(turn_pages(blank(content=content, size=A4), rotate, crop))


def turn_pages(pdf: Pdf, rotate: int, crop: tuple[float, ...] | None) -> Pdf:
    page = pdf.pages[0].obj
    page.Rotate = rotate
    if crop:
        page.CropBox = Array(list(crop))
    return pdf


def with_form(*fields: dict[str, Any], rotate: int = 0, crop: tuple[float, ...] | None = None) -> bytes:
    """One page with widgets of these entries, by their names without the slash."""
    pdf = turn_pages(blank(size=A4), rotate, crop)
    made = [pdf.make_indirect(widget(**entries)) for entries in fields]
    pdf.pages[0].obj.Annots = Array(made)
    pdf.Root.AcroForm = Dictionary(Fields=Array(made), DA=String("/Helv 0 Tf"))
    return write_pdf(pdf)


def widget(Rect: tuple[float, ...] = (100, 700, 300, 720), **entries: Any) -> Dictionary:
    plain = {name: value_of(value) for name, value in entries.items()}
    return Dictionary(Type=Name.Annot, Subtype=Name.Widget, Rect=Array(list(Rect)), **plain)


def value_of(value: Any) -> Any:
    if isinstance(value, str):
        return Name(value) if value.startswith("/") else String(value)
    return Array([value_of(one) for one in value]) if isinstance(value, list) else value
