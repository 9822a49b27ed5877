"""Takes what a field replaces off the pages: marks such as `{{signature:1}}`, and the values of dropdowns.

A mark is taken out of the content of its page, and what stands behind it on its line stays where it is. A page of
which anything else would move or vanish is left as it was.
"""

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

import pikepdf
import pypdfium2
from pikepdf import Array, ContentStreamInstruction, Operator, Page, Pdf, PikepdfError, Stream, String

from esign.core.errors import Problem
from esign.pdf.fields import form_fields, text_marks
from esign.pdf.fields.show_operators import SHOWS, UNKNOWN, ShownGlyph, list_parts, read_glyphs
from esign.pdf.inspection import DetectedField, UploadLimits
from esign.pdf.intake.inspect import inspect_upload, open_upload
from esign.pdf.intake.normalise import write_pdf
from esign.pdf.page.page_properties import read_visible_area

SPACE = re.compile(r"\s+")
WRITTEN_VALUE = re.compile(rb"/Tx\s+BMC.*?EMC", re.DOTALL)
NEAR = 0.02  # percent of a side that a character may seem to move by rounding

Place = tuple[str, float, float]


def blank_fields(upload: bytes, prepared: bytes, limits: UploadLimits, people: int) -> bytes:
    """Return the normalised file without what its own fields replace, for so many people who hold fields.

    It is `prepared` itself where there is nothing to take off. Raises what `inspect_upload` raises.
    """
    if (emptied := empty_dropdowns(upload)) is not None:
        prepared = inspect_upload(emptied, limits).prepared
    hidden = hide_marks(prepared, people)
    return prepared if hidden is None else inspect_upload(hidden, limits).prepared


# ---------- dropdowns that have a value ----------


def empty_dropdowns(upload: bytes) -> bytes | None:
    """Return the upload with empty dropdowns where they become fields, or None if none of them has a value."""
    try:
        pdf, _ = open_upload(upload)
        chosen = list(find_chosen(pdf))
        for widget in chosen:
            empty_dropdown(widget)
        return write_pdf(pdf) if chosen else None
    except (PikepdfError, Problem):
        return None


def find_chosen(pdf: Pdf) -> Iterator[pikepdf.Object]:
    """Yield the widgets of dropdowns that become fields and show a value."""
    for number, page in enumerate(pdf.pages, 1):
        seen = read_visible_area(page)
        for widget in form_fields.list_widgets(page):
            found = form_fields.read_field(widget, number, seen)
            if isinstance(found, DetectedField) and "value" in found.options:
                yield widget


def empty_dropdown(widget: pikepdf.Object) -> None:
    """Take the value off the appearance of a widget. Its border and background stay."""
    look = widget.AP.get("/N") if "/AP" in widget else None
    if isinstance(look, Stream):
        content, found = WRITTEN_VALUE.subn(b"/Tx BMC EMC", look.read_bytes())
        look.write(content if found else b"")
    widget.V = String("")  # of its own: the value may be inherited


# ---------- marks ----------


def hide_marks(prepared: bytes, people: int) -> bytes | None:
    """Return the file without the marks that become fields of so many people, or None if no mark can be taken off."""
    marks = find_page_marks(prepared, people)
    if not marks:
        return None
    changed = rewrite_pages(prepared, marks)
    if changed is None:
        return None
    left = find_page_marks(changed, people)
    clean = {
        number: wanted
        for number, wanted in marks.items()
        if number not in left and is_rest_unmoved(prepared, changed, number, people)
    }
    return changed if clean == marks else rewrite_pages(prepared, clean)


def find_page_marks(prepared: bytes, people: int) -> dict[int, Counter[str]]:
    """Return the marks that become fields, without spaces, by the numbers of their pages."""
    document = pypdfium2.PdfDocument(prepared)
    try:
        found: dict[int, Counter[str]] = {}
        for index in range(len(document)):
            text = document[index].get_textpage()
            written = text_marks.read_written(text)
            text.close()
            inside = [one[0] for one in text_marks.MARK.finditer(written) if is_for(one[1], people)]
            if inside:
                found[index + 1] = Counter(SPACE.sub("", one) for one in inside)
        return found
    finally:
        document.close()


def is_for(inside: str, people: int) -> bool:
    """Return whether the inside of a mark names a field of one of so many people."""
    found = text_marks.parse_mark(inside, 1, (0, 0, 0, 0))
    return isinstance(found, DetectedField) and 1 <= (found.person or 0) <= people


def rewrite_pages(prepared: bytes, marks: dict[int, Counter[str]]) -> bytes | None:
    """Return the file without these marks, or None if its pages do not show them in their own content."""
    with Pdf.open(io.BytesIO(prepared)) as pdf:
        changed = [take_off(pdf, pdf.pages[number - 1], Counter(wanted)) for number, wanted in marks.items()]
        return write_pdf(pdf) if any(changed) else None


def take_off(pdf: Pdf, page: Page, wanted: Counter[str]) -> bool:
    """Take marks out of the content of a page, and return whether any was there."""
    try:
        instructions = list(pikepdf.parse_content_stream(page))
        resources = page.obj.get("/Resources")
        glyphs = read_glyphs(instructions, resources.get("/Font") if resources is not None else None)
    except (PikepdfError, ValueError):
        return False
    hidden = find_hidden(glyphs, wanted)
    if not hidden:
        return False
    rewritten: dict[int, list[Any]] = {}
    for n, shown in groupby(enumerate(glyphs), key=lambda one: one[1].instruction):
        own = list(shown)
        if any(at in hidden for at, _ in own):
            rewritten[n] = hide_glyphs(instructions[n], [(glyph, at in hidden) for at, glyph in own])
    made = [new for n, one in enumerate(instructions) for new in rewritten.get(n, [one])]
    page.obj.Contents = pdf.make_stream(pikepdf.unparse_content_stream(made))
    return True


def find_hidden(glyphs: Sequence[ShownGlyph], wanted: Counter[str]) -> set[int]:
    """Return the places of the glyphs that write these marks."""
    places = [at for at, glyph in enumerate(glyphs) for _ in glyph.text.strip()]
    written = "".join(glyph.text.strip() for glyph in glyphs)
    hidden: set[int] = set()
    for found in re.finditer(r"\{\{[^{}]+\}\}", written):
        mark = next((one for one, left in wanted.items() if left and is_alike(found[0], one)), None)
        if mark is not None:
            wanted[mark] -= 1
            hidden |= set(range(places[found.start()], places[found.end() - 1] + 1))
    return hidden


def is_alike(written: str, mark: str) -> bool:
    """Return whether two texts are the same, but for glyphs whose meaning the font does not say."""
    return len(written) == len(mark) and all(a in (b, UNKNOWN) for a, b in zip(written, mark, strict=True))


def hide_glyphs(instruction: Any, shown: Sequence[tuple[ShownGlyph, bool]]) -> list[ContentStreamInstruction]:
    """Return an instruction that shows the same glyphs without the hidden ones, which become gaps of their width."""
    operator, operands = str(instruction.operator), list(instruction.operands)
    parts = list_parts(operands[SHOWS[operator]])
    by_part = {part: list(of) for part, of in groupby(shown, key=lambda one: one[0].part)}
    made: list[Any] = []
    for place, part in enumerate(parts):
        for is_hidden, some in groupby(by_part.get(place, ()), key=lambda one: one[1]):
            glyphs = [glyph for glyph, _ in some]
            if is_hidden:
                made.append(Decimal(str(round(-sum(glyph.advance or 0.0 for glyph in glyphs), 3))))
            else:
                made.append(String(b"".join(glyph.code for glyph in glyphs)))
        if place not in by_part:
            made.append(part)
    before = []
    if operator == '"':
        before = [make_instruction([operands[0]], "Tw"), make_instruction([operands[1]], "Tc")]
    if operator in ("'", '"'):
        before.append(make_instruction([], "T*"))
    return [*before, make_instruction([Array(made)], "TJ")]


def make_instruction(operands: list[Any], operator: str) -> ContentStreamInstruction:
    return ContentStreamInstruction(operands, Operator(operator))


# ---------- proof that nothing else changed ----------


def is_rest_unmoved(before: bytes, after: bytes, number: int, people: int) -> bool:
    """Return whether a page shows the same characters in the same places as before, but for its marks."""
    old, new = (list_places(file, number, people) for file in (before, after))
    return len(old) == len(new) and all(map(is_same_place, old, new))


def is_same_place(one: Place, other: Place) -> bool:
    return one[0] == other[0] and abs(one[1] - other[1]) < NEAR and abs(one[2] - other[2]) < NEAR


def list_places(file: bytes, number: int, people: int) -> list[Place]:
    """Return the characters of a page with their places, without spaces and marks."""
    document = pypdfium2.PdfDocument(file)
    try:
        page = document[number - 1]
        text = page.get_textpage()
        written = text_marks.read_characters(text)
        marked = {
            at
            for one in text_marks.MARK.finditer(written)
            if is_for(one[1], people)
            for at in range(*one.span())
        }
        found = []
        for at, letter in enumerate(written):
            if at in marked or letter.isspace():
                continue
            for x, y in text_marks.locate_character(page, text, at)[:1]:
                found.append((letter, x, y))
        text.close()
        return found
    finally:
        document.close()
