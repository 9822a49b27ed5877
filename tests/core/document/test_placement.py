from math import inf, nan
from typing import Any

import pytest

from esign.core.document.document import FieldType
from esign.core.document.placement import complete_size, find_out_of_bounds
from tests.factories import A4, a_field

# The column "Default w × h %" of the contract.
DEFAULTS = {
    "signature": (25, 6),
    "initials": (10, 5),
    "date": (15, 3),
    "name": (25, 3),
    "email": (25, 3),
    "text": (25, 3),
    "number": (15, 3),
    "checkbox": (2.5, 2),
    "radio": (25, 8),
    "dropdown": (25, 3),
}


@pytest.mark.parametrize("kind", FieldType)
def test_a_field_without_a_size_gets_that_of_its_type(kind: FieldType) -> None:
    assert complete_size(kind, 10, 10, None, None) == DEFAULTS[kind]


@pytest.mark.parametrize("kind", FieldType)
def test_a_default_size_is_cut_to_what_fits_on_the_page(kind: FieldType) -> None:
    assert complete_size(kind, 98, 99, None, None) == (2, 1)
    cut = a_field(kind, x=98, y=99, width=2, height=1)
    assert not [*find_out_of_bounds(cut, [A4], "")]


@pytest.mark.parametrize("kind", FieldType)
def test_a_given_size_is_never_cut(kind: FieldType) -> None:
    assert complete_size(kind, 98, 99, 40, 30) == (40, 30)
    assert complete_size(kind, 0, 0, 1, None) == (1, DEFAULTS[kind][1])


@pytest.mark.parametrize(
    "place",
    [
        {"x": 0, "y": 0, "width": 100, "height": 100},
        {"x": 99.99, "y": 99.99, "width": 0.01, "height": 0.01},
        {"x": 50, "width": 50.01},
        {"y": 97, "height": 3.01},
        {"page": 2},
    ],
)
def test_a_field_may_lie_anywhere_on_its_page(place: dict[str, Any]) -> None:
    assert not [*find_out_of_bounds(a_field(**place), [A4, A4], "/fields/0")]


@pytest.mark.parametrize(
    ("place", "member"),
    [
        ({"page": 0}, "page"),
        ({"page": -1}, "page"),
        ({"page": 3}, "page"),
        ({"x": -0.001}, "x"),
        ({"x": 100}, "x"),
        ({"x": nan}, "x"),
        ({"y": 100}, "y"),
        ({"y": -5}, "y"),
        ({"y": -inf}, "y"),
        ({"width": 0}, "width"),
        ({"width": -1}, "width"),
        ({"width": nan}, "width"),
        ({"width": inf}, "width"),
        ({"x": 50, "width": 50.02}, "width"),
        ({"height": 0}, "height"),
        ({"height": inf}, "height"),
        ({"y": 97, "height": 3.02}, "height"),
    ],
)
def test_a_field_outside_its_page_is_told_which_member_is_wrong(place: dict[str, Any], member: str) -> None:
    (problem,) = find_out_of_bounds(a_field(**place), [A4, A4], "/recipients/1/fields/2")
    assert (problem.path, problem.rule) == (f"/recipients/1/fields/2/{member}", "range")
    assert problem.message.endswith(".")


def test_all_that_is_wrong_with_a_place_is_told_at_once() -> None:
    nowhere = a_field(page=9, x=200, y=-1, width=0, height=200)
    assert [problem.path for problem in find_out_of_bounds(nowhere, [A4], "")] == [
        *("/page", "/x", "/width", "/y", "/height")
    ]


@pytest.mark.parametrize("kind", FieldType)
def test_a_default_size_is_no_mistake_of_its_own(kind: FieldType) -> None:
    width, height = complete_size(kind, 150, 100, None, None)
    beyond = a_field(kind, x=150, y=100, width=width, height=height)
    assert [problem.path for problem in find_out_of_bounds(beyond, [A4], "")] == ["/x", "/y"]
