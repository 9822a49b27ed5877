"""Draw the field values as transparent pages, one for each page that has values, to be laid over that page."""

from collections.abc import Mapping, Sequence
from typing import Any

from esign.core.document import text_fit
from esign.core.document.document import FieldType
from esign.core.document.field_types import FIELD_TYPES
from esign.core.instant import Instant
from esign.core.sentence import say
from esign.pdf.drawing import typst_template
from esign.pdf.seal_order import DrawnField, SealFailed, Typesetting

Size = tuple[float, float]  # of a page as displayed, in points

EXTRAS = ("format", "multiline", "options", "layout", "frame")


def draw_overlay(
    fields: Sequence[DrawnField],
    sizes: Sequence[Size],
    setting: Typesetting,
    watermark: str | None = None,
) -> tuple[bytes, list[int]]:
    """Return a PDF and, for each of its pages, the number of the document page that it covers.

    With a watermark all pages are covered, otherwise those with values. Raises `TextOverflow` for texts that do not
    fit.
    """
    pages = _build_pages(fields, sizes, all_pages=watermark is not None)
    if not pages:
        return b"", []
    facts = {
        "lang": setting.lang,
        "watermark": watermark,
        "numbers": text_fit.NUMBERS,
        "pictures": _share_pictures(pages),
        "pages": pages,
    }
    drawn = typst_template.draw_template(facts, "overlay", setting.now, setting.font_paths)
    return drawn, [page["number"] for page in pages]


def _share_pictures(pages: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """Move the pictures out of the fields and return each once; a field keeps its index in this list.

    The same picture may be drawn on every page.
    """
    places: dict[str, int] = {}
    pictures: list[Mapping[str, object]] = []
    for field in (field for page in pages for field in page["fields"] if "picture" in field):
        picture = field["picture"]
        place = field["picture"] = places.setdefault(picture["base64"], len(pictures))
        if place == len(pictures):
            pictures.append(picture)
    return pictures


def find_unfit_texts(
    fields: Sequence[DrawnField], sizes: Sequence[Size], now: Instant, font_paths: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the ids of the texts that are too long for their boxes, so that the recipient can shorten them."""
    try:
        draw_overlay(fields, sizes, Typesetting(now, font_paths=font_paths))
    except typst_template.TextOverflow as overflow:
        return overflow.fields
    return ()


def _build_pages(
    fields: Sequence[DrawnField], sizes: Sequence[Size], *, all_pages: bool
) -> list[dict[str, Any]]:
    by_page: dict[int, list[dict[str, object]]] = {n: [] for n in range(1, len(sizes) + 1) if all_pages}
    for field in fields:
        if not 1 <= field.page <= len(sizes):
            raise SealFailed(say(NO_PAGE, id=field.id, page=field.page))
        by_page.setdefault(field.page, []).append(_build_field(field, *sizes[field.page - 1]))
    return [_build_page(n, *sizes[n - 1], drawn) for n, drawn in sorted(by_page.items())]


NO_PAGE = "Field {id} lies on page {page}, which the document does not have."


def _build_page(
    number: int, width: float, height: float, fields: list[dict[str, object]]
) -> dict[str, object]:
    small, large = text_fit.find_factors(width, height)
    return {
        **{"number": number, "width": width, "height": height},
        **{"small": small, "large": large, "fields": fields},
    }


def _build_field(field: DrawnField, width: float, height: float) -> dict[str, object]:
    """Return a field as the template reads it: in points instead of percent, and without entries that are None."""
    place = {
        "x": field.x * width / 100,
        "y": field.y * height / 100,
        "width": field.width * width / 100,
        "height": field.height * height / 100,
    }
    known: Mapping[str, object] = {
        "value": bool(field.value) if field.type == "checkbox" else field.value,
        "kind": field.kind,
        "text": field.text,
        "picture": field.picture,
        "caption": field.caption,
        "font_size": field.font_size,
        "align": field.align,
        "lang": field.lang,
        **{extra: field.options.get(extra) for extra in EXTRAS},
    }
    hand = {"hand": field.hand} if field.kind == "typed" else {}
    return (
        {"id": field.id, "type": field.type, "shortenable": FIELD_TYPES[FieldType(field.type)].shortenable}
        | place
        | hand
        | {k: v for k, v in known.items() if v is not None}
    )
