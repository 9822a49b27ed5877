"""How large values are written, before they shrink to fit."""

import pytest

from esign.core.document import text_fit
from esign.core.document.document import Field, PageGeometry
from esign.core.document.document import FieldType as T
from tests.web.signing.site import a_field

PAGE, POSTER, LABEL = PageGeometry(600, 800, 0), PageGeometry(2400, 3600, 0), PageGeometry(200, 55, 0)
CHOICE = {"options": ["a", "b"]}


@pytest.mark.parametrize(
    ("field", "page", "points"),
    [
        (a_field("f", T.TEXT, 1, (0, 0, 20, 2)), PAGE, 10.56),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 10)), PAGE, 12),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 0.5)), PAGE, 6),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 10), font_size=30), PAGE, 30),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 10), font_size=4), PAGE, 6),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 10), options={"multiline": True}), PAGE, 10),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 10)), POSTER, 36),
        (a_field("f", T.TEXT, 1, (0, 0, 20, 1)), LABEL, 1.5),
        (a_field("f", T.RADIO, 1, (0, 0, 20, 4), options=CHOICE, font_size=30), PAGE, 10.56),
        (a_field("f", T.RADIO, 1, (0, 0, 20, 2), options={**CHOICE, "layout": "horizontal"}), PAGE, 10.56),
    ],
)
def test_letters_begin_at_the_size_of_the_seal(field: Field, page: PageGeometry, points: float) -> None:
    assert text_fit.find_font_size(field, page) == pytest.approx(points)


@pytest.mark.parametrize(
    ("field", "page", "points"),
    [
        (a_field("f", T.CHECKBOX, 1, (0, 0, 5, 2)), PAGE, 16),
        (a_field("f", T.CHECKBOX, 1, (0, 0, 1, 2)), PAGE, 6),
        (a_field("f", T.RADIO, 1, (0, 0, 20, 2), options=CHOICE), PAGE, 6.4),
        (a_field("f", T.RADIO, 1, (0, 0, 20, 10), options=CHOICE), PAGE, 10),
        (a_field("f", T.RADIO, 1, (0, 0, 20, 10), options=CHOICE), POSTER, 30),
    ],
)
def test_marks_are_as_large_as_their_boxes_and_lines_allow(
    field: Field, page: PageGeometry, points: float
) -> None:
    assert text_fit.find_mark_size(field, page) == pytest.approx(points)


def test_sizes_hold_from_a5_to_a3_and_go_with_smaller_and_larger_pages() -> None:
    assert text_fit.find_factors(420, 595) == text_fit.find_factors(842, 1191) == (1, 1)
    assert text_fit.find_factors(1680, 2400) == (1, 2)
    assert text_fit.find_factors(200, 55) == (0.25, 1)
