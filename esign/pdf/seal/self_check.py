"""Check a sealed file before it leaves the worker: it verifies, no page is missing, and every value is visible."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import ceil, floor, sqrt

import pypdfium2
from PIL import Image, ImageChops

from esign.core.instant import Instant
from esign.core.sentence import say
from esign.pdf.page.render import compute_seal_scale
from esign.pdf.report import AuditHead
from esign.pdf.seal_order import DrawnField, Level, SealFailed
from esign.pdf.verify.validate import verify_signatures

# A second look at a box in whose place nothing was seen: pixels per point, and pixels of its shorter side, so that tiny
# ink counts.
CLOSE_SCALE, CLOSE_LEAST = 0.7, 16
MOST = 1000  # pixels of the root of the area that is painted at once, for pages as large as a wall
Cut = tuple[float, float, float, float]
PixelBox = tuple[int, int, int, int]
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols without ink


@dataclass(frozen=True, slots=True)
class ExpectedSeal:
    """What a sealed file has to show: its number of pages, the audit head, and the levels made and asked for."""

    pages: int
    head: AuditHead | None = None
    level: Level = "B-B"
    asked: Level = "B-B"


def check_sealed_file(sealed: bytes, root: bytes, now: Instant, expected: ExpectedSeal) -> None:
    """Raise `SealFailed` unless one valid signature covers the whole file, and it shows what is expected."""
    verdict = verify_signatures(sealed, [root], now)
    reasons = [reason for signature in verdict["signatures"] for reason in signature["reasons"]]
    if verdict["result"] != "valid" or [s["coverage"] for s in verdict["signatures"]] != ["entire_file"]:
        raise SealFailed(
            say(
                "The sealed file does not verify ({result}): {reasons}",
                result=verdict["result"],
                reasons=" ".join(reasons),
            )
        )
    if verdict["signatures"][0]["level"] != expected.level:
        raise SealFailed(
            say("The sealed file does not have the requested level {level}.", level=expected.level)
        )
    if verdict["signatures"][0]["levelAsked"] != expected.asked:
        raise SealFailed("The requested level cannot be read back from the sealed file.")
    stamp = verdict["signatures"][0]["timestamp"]
    if stamp is not None and not stamp["valid"]:
        raise SealFailed("The time stamp in the sealed file is not over its signature.")
    if verdict["pageCount"] != expected.pages:
        raise SealFailed(
            say(
                "The sealed file has {pages} pages where {expected} are expected.",
                pages=verdict["pageCount"],
                expected=expected.pages,
            )
        )
    if verdict["audit"] != expected.head:
        raise SealFailed("The head of the audit trail cannot be read back from the sealed file.")


def is_visible(field: DrawnField) -> bool:
    """Return whether the field leaves ink on its page."""
    if field.kind in ("drawn", "uploaded") or field.type == "radio":
        return True
    if field.type == "checkbox":
        return bool(field.value) or bool(field.options.get("frame", True))
    text = field.text if field.kind == "typed" else field.value
    return any(unicodedata.category(c)[0] not in "CZ" and c not in BLANKS for c in str(text or ""))


def check_ink(prepared: bytes, sealed: bytes, fields: Iterable[DrawnField]) -> None:
    """Raise `SealFailed` if the box of a filled field looks as it did before.

    This relies on PDFium drawing the same content in the same way.
    """
    stamped = sorted((field for field in fields if is_visible(field)), key=lambda field: field.page)
    before, after = pypdfium2.PdfDocument(prepared), pypdfium2.PdfDocument(sealed)
    try:
        for number, on_page in groupby(stamped, key=lambda field: field.page):
            was, now = before[number - 1], after[number - 1]
            missed = _find_unchanged(was, now, [*on_page])
            blank = [field.id for field in missed if not _is_seen_closely(was, now, field)]
            if blank:
                raise SealFailed(
                    say(
                        "{fields} can’t be seen on page {page} of the sealed file.",
                        fields=", ".join(blank),
                        page=number,
                    )
                )
    finally:
        before.close()
        after.close()


def _find_unchanged(
    was: pypdfium2.PdfPage, now: pypdfium2.PdfPage, fields: Sequence[DrawnField]
) -> list[DrawnField]:
    """Return the fields of a page in whose boxes no pixel has changed.

    The page is drawn once before and once after, however many fields it has: the upload has bounded what that costs.
    """
    scale = compute_seal_scale(*was.get_size())
    size = ceil(was.get_width() * scale), ceil(was.get_height() * scale)
    boxes = [_measure_box(field, *size) for field in fields]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    part = min(lefts), min(tops), max(rights), max(bottoms)
    changes = ImageChops.difference(*(_draw_part(page, scale, size, part) for page in (was, now)))
    left, top = part[:2]
    return [
        field
        for field, box in zip(fields, boxes, strict=True)
        if changes.crop((box[0] - left, box[1] - top, box[2] - left, box[3] - top)).getbbox() is None
    ]


def _measure_box(field: DrawnField, width: int, height: int) -> PixelBox:
    """Return left, top, right and bottom of the pixels that a field's box touches on a picture of so many."""
    left, right = (place / 100 * width for place in (field.x, field.x + field.width))
    top, bottom = (place / 100 * height for place in (field.y, field.y + field.height))
    first = min(floor(left), width - 1), min(floor(top), height - 1)
    return *first, min(max(ceil(right), first[0] + 1), width), min(max(ceil(bottom), first[1] + 1), height)


def _draw_part(page: pypdfium2.PdfPage, scale: float, size: tuple[int, int], part: PixelBox) -> Image.Image:
    """Return a part of the picture of a page, which has `size` pixels as a whole. PDFium paints only the part."""
    left, top, right, bottom = part
    cut = left, size[1] - bottom, size[0] - right, top
    # Half a pixel less, as what is cut off is given in points and rounded up to pixels.
    crop = tuple(max(0, side - 0.5) / scale for side in cut)
    picture: Image.Image = page.render(
        scale=scale, may_draw_forms=False, crop=crop, rev_byteorder=True
    ).to_pil()
    return picture


def _is_seen_closely(was: pypdfium2.PdfPage, now: pypdfium2.PdfPage, field: DrawnField) -> bool:
    """Return whether a pixel has changed in the box when it is drawn alone, with at least so many pixels as it needs.

    Hardly any field comes here: what is smaller than a hundredth of a pixel of the page, or on a page as large as a
    wall.
    """
    parts = _divide_box(field, *was.get_size())
    return any(_render_part(was, scale, cut) != _render_part(now, scale, cut) for scale, cut in parts)


def _divide_box(field: DrawnField, width: float, height: float) -> Iterator[tuple[float, Cut]]:
    """Yield the parts of the field's box with one pixel around them, each with the scale at which it is drawn.

    A large box is divided into so many parts that the picture of each stays small.
    """
    left, top = field.x / 100 * width, field.y / 100 * height
    across, down = field.width / 100 * width, field.height / 100 * height
    scale = max(CLOSE_SCALE, CLOSE_LEAST / min(across, down))
    pieces = ceil(sqrt(across * down) * scale / MOST)
    wide, high, rim = across / pieces, down / pieces, 1 / scale
    for row, column in product(range(pieces), repeat=2):
        x, y = left + column * wide, top + row * high
        yield scale, (x - rim, height - y - high - rim, width - x - wide - rim, y - rim)


def _render_part(page: pypdfium2.PdfPage, scale: float, cut: Cut) -> bytes:
    """Return the pixels of a page after cutting off `cut` at its left, bottom, right and top.

    PDFium paints only these.
    """
    picture = page.render(scale=scale, may_draw_forms=False, crop=tuple(max(0.0, side) for side in cut))
    return bytes(picture.buffer)
