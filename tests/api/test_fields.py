from typing import Any

import pytest

from esign.core.document.document import FieldType
from esign.core.document.field_types import FIELD_TYPES
from tests.api.site import ONE_PAGE, Site, SiteAnswer, a_request, b64
from tests.journeys.api import a_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

PERSON = {"name": "Ada Lovelace", "email": "ada@example.test"}


def a_field(type: str = "text", **members: Any) -> dict[str, Any]:
    """A field on page 1; what its type needs is there."""
    options = {"options": ["red", "green"]} if type in ("radio", "dropdown") else {}
    return {"type": type, "page": 1, "x": 10, "y": 10, **options, **members}


async def ask(site: Site, *fields: Any, file: str = ONE_PAGE) -> SiteAnswer:
    return await site.ask(
        "POST", "/documents", a_request(file=file, recipients=[{**PERSON, "fields": list(fields)}])
    )


async def show_fields(site: Site, *fields: Any) -> list[Any]:
    """The fields as GET shows them."""
    answer = await ask(site, *fields)
    assert answer.status == 201, answer
    found: list[Any] = (await site.get(answer.body["id"]))["recipients"][0]["fields"]
    return found


OWN: list[tuple[str, dict[str, Any]]] = [
    ("signature", {"allowed": ["drawn", "typed", "uploaded"]}),
    ("initials", {"allowed": ["drawn", "typed", "uploaded"]}),
    ("date", {"autofill": True, "format": "YYYY-MM-DD", "min": None, "max": None}),
    ("name", {"autofill": True}),
    ("email", {"autofill": True}),
    ("text", {"multiline": False, "minLength": None, "maxLength": None, "pattern": "none"}),
    ("number", {"min": None, "max": None, "decimals": None}),
    ("checkbox", {"group": None, "minChecked": None, "maxChecked": None}),
    ("radio", {"options": ["red", "green"], "layout": "vertical"}),
    ("dropdown", {"options": ["red", "green"]}),
]


@pytest.mark.parametrize("type, own", OWN, ids=[row[0] for row in OWN])
async def test_a_field_of_each_type_has_the_defaults_of_the_contract(
    site: Site, type: str, own: dict[str, Any]
) -> None:
    [field] = await show_fields(site, a_field(type))
    kind = FIELD_TYPES[FieldType(type)]
    assert field == {
        "id": field["id"],
        "type": type,
        "page": 1,
        "x": 10,
        "y": 10,
        "width": kind.width,
        "height": kind.height,
        "key": None,
        "label": None,
        "placeholder": None,
        "required": type != "checkbox",
        "readOnly": False,
        "value": None,
        "fontSize": None,
        "align": None,
        "filledAt": None,
        **own,
    }


GIVEN: list[dict[str, Any]] = [
    a_field("signature", allowed=["drawn"], required=False, width=30.5, height=7),
    a_field("initials", allowed=["typed", "uploaded"], label="Here"),
    a_field(
        "date", autofill=False, format="D MMM YYYY", min="2026-01-01", max="2027-12-31", value="2026-02-28"
    ),
    a_field("name", autofill=False, value="Ada", align="right", fontSize=6),
    a_field("email", autofill=False, value="ada@example.test", align="center", fontSize=72),
    a_field(
        "text", multiline=True, minLength=2, maxLength=2_000, value="a\nb", readOnly=True, placeholder="p"
    ),
    a_field("text", pattern="digits", value="017", minLength=0, maxLength=3),
    a_field("text", pattern="phone", value="+49 151 234-567"),
    a_field("number", min=-1.5, max=10, decimals=2, value="9.75", key="Price.net_1-a"),
    a_field("number", min=0, max=0, decimals=0, value="0", readOnly=True, required=False),
    a_field("checkbox", value=True, readOnly=True, required=True),
    a_field("checkbox", value=False, group="g" * 40, minChecked=0, maxChecked=1),
    a_field("radio", options=[str(n) for n in range(50)], layout="horizontal", value="49"),
    a_field("dropdown", options=["only"], value="only", readOnly=True),
    a_field("dropdown", options=[f"o{n}" for n in range(200)]),
]


async def test_what_a_field_is_given_comes_back(site: Site) -> None:
    found = await show_fields(site, *GIVEN)
    assert len(found) == len(GIVEN)
    for given, field in zip(GIVEN, found, strict=True):
        assert {name: field[name] for name in given} == given


async def test_a_prefilled_value_is_stored_as_its_type_writes_it(site: Site) -> None:
    found = await show_fields(
        site,
        a_field("text", value="  Copper Kettle "),
        a_field("text", value="   "),
        a_field("number", value="3,50"),
        a_field("radio", options=[" red ", "green"], value="red "),
        a_field(label="", placeholder=" ", key=None),
    )
    assert [field["value"] for field in found] == ["Copper Kettle", None, "3.50", "red", None]
    assert found[3]["options"] == ["red", "green"]
    assert found[4]["label"] is None and found[4]["placeholder"] is None


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"page": 1, "x": 1, "y": 1}, "type", "required"),
    (a_field("payment"), "type", "enum"),
    ({"type": "text", "x": 1, "y": 1}, "page", "required"),
    ({"type": "text", "page": 1, "y": 1}, "x", "required"),
    (a_field(page="1"), "page", "type"),
    (a_field(page=1.5), "page", "type"),
    (a_field(page=True), "page", "type"),
    (a_field(x="10"), "x", "type"),
    (a_field(y=False), "y", "type"),
    (a_field(width="5"), "width", "type"),
    (a_field(colour="red"), "colour", "unknown_member"),
    (a_field(options=["a", "b"]), "options", "unknown_member"),
    (a_field("signature", multiline=True), "multiline", "unknown_member"),
    (a_field(key=""), "key", "format"),
    (a_field(key="a b"), "key", "format"),
    (a_field(key="k" * 65), "key", "format"),
    (a_field(label="l" * 101), "label", "length"),
    (a_field(placeholder="a\nb"), "placeholder", "format"),
    (a_field(required="yes"), "required", "type"),
    (a_field(fontSize=5.9), "fontSize", "range"),
    (a_field(fontSize=73), "fontSize", "range"),
    (a_field(align="justify"), "align", "enum"),
    (a_field(readOnly=True), "value", "required"),
    (a_field(readOnly=True, value="  "), "value", "required"),
    (a_field("checkbox", readOnly=True), "value", "required"),
    (a_field("signature", value={"kind": "typed"}), "value", "type"),
    (a_field("initials", readOnly=True), "readOnly", "type"),
    (a_field("signature", allowed=[]), "allowed", "length"),
    (a_field("signature", allowed=["stamped"]), "allowed/0", "enum"),
    (a_field("signature", allowed=["drawn", "drawn"]), "allowed", "duplicate"),
    (a_field("date", format="YYYY/MM/DD"), "format", "enum"),
    (a_field("date", min="2026-1-1"), "min", "format"),
    (a_field("date", max="2026-02-30"), "max", "format"),
    (a_field("date", min="2026-02-02", max="2026-02-01"), "max", "range"),
    (a_field("date", value="21.11.2026"), "value", "format"),
    (a_field("date", value="2026-02-29"), "value", "format"),
    (a_field("date", value="2025-12-31", min="2026-01-01"), "value", "range"),
    (a_field("name", value="n" * 201), "value", "length"),
    (a_field("name", value="a\nb"), "value", "format"),
    (a_field("email", value="ada"), "value", "format"),
    (a_field(value=5), "value", "type"),
    (a_field(value={"a": 1}), "value", "type"),
    (a_field(value="a\nb"), "value", "format"),
    (a_field(value="a\u0000b", multiline=True), "value", "format"),
    (a_field(minLength=3, value="ab"), "value", "length"),
    (a_field(maxLength=1, value="ab"), "value", "length"),
    (a_field(minLength=5, maxLength=4), "maxLength", "range"),
    (a_field(maxLength=2_001), "maxLength", "range"),
    (a_field(minLength=-1), "minLength", "range"),
    (a_field(pattern="^a+$"), "pattern", "enum"),
    (a_field(pattern="digits", value="a1"), "value", "format"),
    (a_field(pattern="letters", value="a1"), "value", "format"),
    (a_field("number", value=5), "value", "type"),
    (a_field("number", value="1e5"), "value", "format"),
    (a_field("number", value="1.25", decimals=1), "value", "format"),
    (a_field("number", value="11", max=10), "value", "range"),
    (a_field("number", min=2, max=1), "max", "range"),
    (a_field("number", min="1"), "min", "type"),
    (a_field("number", decimals=7), "decimals", "range"),
    (a_field("checkbox", value="true"), "value", "type"),
    (a_field("checkbox", value=1), "value", "type"),
    (a_field("checkbox", minChecked=1), "group", "required"),
    (a_field("checkbox", group=""), "group", "length"),
    (a_field("checkbox", group="g" * 41), "group", "length"),
    (a_field("checkbox", group="g", maxChecked=0), "maxChecked", "range"),
    ({"type": "radio", "page": 1, "x": 1, "y": 1}, "options", "required"),
    (a_field("radio", options=["one"]), "options", "length"),
    (a_field("radio", options=[str(n) for n in range(51)]), "options", "length"),
    (a_field("radio", options=["a", " a "]), "options", "duplicate"),
    (a_field("radio", options=["a", ""]), "options/1", "length"),
    (a_field("radio", options=["a", "b" * 201]), "options/1", "length"),
    (a_field("radio", options=["a", 5]), "options/1", "type"),
    (a_field("radio", layout="grid"), "layout", "enum"),
    (a_field("radio", value="blue"), "value", "enum"),
    (a_field("dropdown", options=[]), "options", "length"),
    (a_field("dropdown", options=[str(n) for n in range(201)]), "options", "length"),
    (a_field("dropdown", options=["a", "a"]), "options", "duplicate"),
    (a_field("dropdown", value="blue"), "value", "enum"),
]


@pytest.mark.parametrize(
    "field, member, rule",
    REFUSED,
    ids=[f"{row[0].get('type')} {row[1]} {n}" for n, row in enumerate(REFUSED)],
)
async def test_a_field_that_does_not_fit_is_refused_at_its_member(
    site: Site, field: dict[str, Any], member: str, rule: str
) -> None:
    answer = await ask(site, a_field(), field)
    assert answer.code == "invalid_request"
    assert answer.places == {(f"/recipients/0/fields/1/{member}", rule)}


@pytest.mark.parametrize("wrong", [{"value": "Ada"}, {"value": {"kind": "typed"}}, {"readOnly": True}])
async def test_nobody_signs_beforehand(site: Site, wrong: dict[str, Any]) -> None:
    answer = await ask(site, a_field("signature", **wrong))
    assert answer.places == {(f"/recipients/0/fields/0/{next(iter(wrong))}", "type")}
    assert answer.body["error"]["details"][0]["message"] == "A signature can’t be prefilled."


async def test_a_defaulted_size_is_cut_to_what_fits_on_the_page(site: Site) -> None:
    [corner, given] = await show_fields(
        site, a_field("signature", x=90, y=97.5), a_field(x=99.5, y=0, width=0.505, height=100)
    )
    assert (corner["width"], corner["height"]) == (10, 2.5)
    assert (given["width"], given["height"]) == (0.505, 100)


OUTSIDE: list[tuple[dict[str, Any], str]] = [
    ({"page": 0}, "page"),
    ({"page": 3}, "page"),
    ({"page": -1}, "page"),
    ({"page": 10**30}, "page"),
    ({"x": -0.01}, "x"),
    ({"x": 100}, "x"),
    ({"y": 1e308}, "y"),
    ({"width": 0}, "width"),
    ({"height": -5}, "height"),
    ({"x": 80, "width": 20.02}, "width"),
    ({"y": 80, "height": 21}, "height"),
]


@pytest.mark.parametrize("place, member", OUTSIDE, ids=[str(row[0]) for row in OUTSIDE])
async def test_a_field_outside_the_document_is_refused_when_its_pages_are_known(
    site: Site, place: dict[str, Any], member: str
) -> None:
    answer = await ask(site, a_field(page=2), a_field(**place), file=b64(a_pdf(2)))
    assert answer.code == "field_out_of_bounds"
    assert answer.places == {(f"/recipients/0/fields/1/{member}", "range")}


async def test_every_field_outside_is_named(site: Site) -> None:
    answer = await ask(site, *(a_field(x=100 + n) for n in range(101)))
    assert answer.code == "field_out_of_bounds"
    assert len(answer.body["error"]["details"]) == 100


async def test_a_bad_file_speaks_before_a_bad_place(site: Site) -> None:
    answer = await ask(site, a_field(page=9), file=b64(b"no file"))
    assert answer.code == "invalid_file"


async def test_a_key_stands_once_in_a_document_not_only_in_a_recipient(site: Site) -> None:
    one, other = {**PERSON, "fields": [a_field(key="a")]}, {**PERSON, "fields": [a_field(), a_field(key="a")]}
    answer = await site.ask("POST", "/documents", a_request(recipients=[one, other]))
    assert answer.code == "invalid_request"
    assert answer.places == {("/recipients/1/fields/1/key", "duplicate")}


async def test_five_hundred_fields_are_taken_and_one_more_is_not(site: Site) -> None:
    assert len(await show_fields(site, *[a_field()] * 500)) == 500
    answer = await ask(site, *[a_field()] * 501)
    assert answer.places == {("/recipients", "length")}


def box(**members: Any) -> dict[str, Any]:
    return a_field("checkbox", group="g", **members)


GROUPS: list[tuple[str, list[dict[str, Any]], str]] = [
    ("more ticks than boxes", [box(minChecked=3), box()], "0/minChecked"),
    ("more ticks than free boxes", [box(minChecked=2), box(readOnly=True, value=False)], "0/minChecked"),
    ("a minimum over the maximum", [box(minChecked=2), box(maxChecked=1)], "1/maxChecked"),
    (
        "more required boxes than may be ticked",
        [box(required=True), box(required=True, maxChecked=1)],
        "1/maxChecked",
    ),
    (
        "more ticks given than allowed",
        [box(readOnly=True, value=True)] * 2 + [box(maxChecked=1)],
        "2/maxChecked",
    ),
]


@pytest.mark.parametrize("fields, at", [row[1:] for row in GROUPS], ids=[row[0] for row in GROUPS])
async def test_a_group_that_nobody_could_fill_in_is_refused(
    site: Site, fields: list[dict[str, Any]], at: str
) -> None:
    answer = await ask(site, *fields)
    assert answer.places == {(f"/recipients/0/fields/{at}", "range")}


async def test_placed_radio_buttons_are_a_group_of_one(site: Site) -> None:
    found = await show_fields(site, box(minChecked=1, maxChecked=1), box(maxChecked=1), box())
    assert [field["maxChecked"] for field in found] == [1, 1, None]
