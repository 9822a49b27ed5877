import re
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from esign.core.errors import Problem
from esign.web.http.validation import check
from esign.web.values.rules import FILE_NAME, UniqueItems, check_file_name
from esign.web.values.schema import (
    LINE,
    LINES,
    BoundedText,
    Email,
    Moment,
    Multiline,
    Patch,
    QueryParameters,
    Reply,
    Schema,
    Timestamp,
    refusal,
)


class Square(Schema):
    type: Literal["square"]
    side: float


class Circle(Schema):
    type: Literal["circle"]
    radius: Annotated[int, Field(ge=1, le=9)] | None = None


class Drawing(Schema):
    title: Annotated[str, BoundedText(1, 5)] = "none"
    note: Annotated[str, Multiline(20)] | None = None
    owner: Email = "ana@example.com"
    due_at: Timestamp | None = None
    count: int = 1
    ratio: float = 1.0
    shown: bool = True
    shapes: tuple[Annotated[Square | Circle, Field(discriminator="type")], ...] = ()
    tags: dict[Annotated[str, Field(pattern="^[a-z]+$")], Annotated[str, BoundedText(0, 3)]] = Field(
        default_factory=dict
    )
    answers: dict[str, str | bool] = Field(default_factory=dict)


class Change(Patch):
    title: Annotated[str, BoundedText(1, 5)] | None = None


def problems(value: Any, model: type[Schema] = Drawing) -> set[tuple[str, str]]:
    with pytest.raises(Problem) as problem:
        check(model, value)
    assert problem.value.code == "invalid_request"
    return {(detail.path, detail.rule) for detail in problem.value.details}


@pytest.mark.parametrize(
    ("member", "value", "rule"),
    [
        ("count", "30", "type"),
        ("count", True, "type"),
        ("count", 30.5, "type"),
        ("ratio", "1", "type"),
        ("ratio", False, "type"),
        ("shown", "true", "type"),
        ("shown", 1, "type"),
        ("title", 5, "type"),
        ("title", ["a"], "type"),
        ("title", "   ", "length"),
        ("title", "123456", "length"),
        ("title", "a\r\nb", "format"),
        ("title", "a\u2028", "format"),
        ("title", "\u0085", "format"),
        ("title", "a\0", "format"),
        ("note", "a\u2029b", "format"),
        ("note", "a\u009fb", "format"),
        ("dueAt", "2026-11-21", "format"),
        ("dueAt", "2026-13-21T00:00:00Z", "format"),
        ("dueAt", "2026-11-21T00:00:00", "format"),
        ("dueAt", 5, "type"),
        ("shapes", {}, "type"),
        ("due_at", None, "unknown_member"),
        ("a/b~c", 1, "unknown_member"),
    ],
)
def test_a_wrong_member_is_named_with_its_rule(member: str, value: Any, rule: str) -> None:
    path = "/" + member.replace("~", "~0").replace("/", "~1")
    assert problems({member: value}) == {(path, rule)}


def test_one_is_told_in_the_singular() -> None:
    with pytest.raises(Problem) as problem:
        check(Drawing, {"title": ""})
    assert [detail.message for detail in problem.value.details] == ["1 character or more."]


def test_problems_inside_alternatives_are_named_by_their_place_in_the_body() -> None:
    shapes = [
        {"type": "square"},
        {"type": "circle", "radius": 10},
        {"type": "star"},
        {},
        {"type": "square", "side": "1"},
    ]
    assert problems({"shapes": shapes}) == {
        ("/shapes/0/side", "required"),
        ("/shapes/1/radius", "range"),
        ("/shapes/2/type", "enum"),
        ("/shapes/3/type", "required"),
        ("/shapes/4/side", "type"),
    }


def test_keys_and_values_of_a_map_are_named() -> None:
    assert problems({"tags": {"A": "", "b": "1234"}}) == {("/tags/A", "format"), ("/tags/b", "length")}
    assert problems({"answers": {"a": 1, "b": [], "c": True}}) == {
        ("/answers/a", "type"),
        ("/answers/b", "type"),
    }


def test_at_most_a_hundred_problems_are_told() -> None:
    assert len(problems({"shapes": [{"type": "square"}] * 200})) == 100


def test_an_endless_number_of_mistakes_is_refused_without_describing_them() -> None:
    assert problems({"shapes": [{}] * 20_000}) == set()
    assert problems({str(n): 1 for n in range(5_000)}) == {("", "unknown_member")}


def test_null_for_an_optional_member_means_absent() -> None:
    read = check(Drawing, {"title": None, "count": None, "shapes": [{"type": "circle", "radius": None}]})
    assert (read.title, read.count) == ("none", 1)
    assert "title" not in read.model_fields_set
    assert problems({"shapes": [{"type": "square", "side": None}]}) == {("/shapes/0/side", "type")}


def test_in_a_patch_null_means_cleared_and_absent_means_unchanged() -> None:
    assert check(Change, {"title": None}).model_fields_set == {"title"}
    assert check(Change, {}).model_fields_set == set()


def test_text_is_trimmed_before_it_is_counted_in_code_points() -> None:
    assert check(Drawing, {"title": "  👩‍💻ab  "}).title == "👩‍💻ab"
    assert check(Drawing, {"note": " a\n\tb\r\n "}).note == "a\n\tb"


def test_a_time_is_read_as_its_instant() -> None:
    assert check(Drawing, {"dueAt": "2026-11-21T01:14:00.123+01:00"}).due_at == 1_795_220_040_123


@pytest.mark.parametrize(
    "text", ["ana@example.com", "o'hara+x@sub.example.co", "ü@例え.jp", "a@xn--r8jz45g.jp", "a@b.test"]
)
def test_one_address_is_taken(text: str) -> None:
    assert check(Drawing, {"owner": text}).owner == text


@pytest.mark.parametrize(
    "text",
    [
        "a@d.test,c@d.test",
        '"a@b.test>,<c"@d.test',
        "a@[127.0.0.1]",
        "a@b",
        "a@127.0.0.1",
        "a" * 65 + "@d.test",
        "a@" + "d." * 126 + "test",
        "a b@d.test",
        "a..b@d.test",
        ".a@d.test",
        "a@d..test",
        "a@-d.test",
        "a@d.test.",
        "@d.test",
        "a@",
        "a",
        "Ana <a@d.test>",
        "a@\u00ad.test",
        "a@ex ample.test",
    ],
)
def test_anything_but_one_address_is_refused(text: str) -> None:
    assert problems({"owner": text}) <= {("/owner", "format"), ("/owner", "length")}


def test_a_validator_may_name_the_member_that_it_means() -> None:
    class PairInput(Schema):
        first: int
        second: int

        def model_post_init(self, _: Any) -> None:
            if self.first == self.second:
                raise refusal("duplicate", "Both are the same.", at="second")

    assert problems({"first": 1, "second": 1}, PairInput) == {("/second", "duplicate")}


def test_an_answer_is_built_by_names_and_written_in_camel_case() -> None:
    class TimedReply(Reply):
        made_at: Moment
        left_out: str | None

    assert TimedReply(made_at=0, left_out=None).model_dump_json(by_alias=True) == (
        '{"madeAt":"1970-01-01T00:00:00.000Z","leftOut":null}'
    )


def test_the_schema_says_what_the_checks_do() -> None:
    class Both(QueryParameters):
        line: Annotated[str, BoundedText(1, 5)]
        mail: Email

    members = Both.model_json_schema()["properties"]
    assert (members["line"]["minLength"], members["line"]["maxLength"]) == (1, 5)
    assert members["mail"]["format"] == "email"


@pytest.mark.parametrize(
    ("kind", "pattern"), [(BoundedText(), LINE), (Multiline(20), LINES)], ids=["line", "lines"]
)
def test_the_pattern_in_the_description_says_which_characters_are_taken(
    kind: BoundedText, pattern: str
) -> None:
    described = TypeAdapter(Annotated[str, kind]).json_schema()
    assert described["pattern"] == pattern
    for number in (*range(0x100), 0x2027, 0x2028, 0x2029, 0x202A, 0x1F600):
        text = f"a{chr(number)}b"
        try:
            taken = kind.check(text) == text
        except PydanticCustomError:
            taken = False
        assert taken == bool(re.search(pattern, text)), hex(number)


def test_a_list_without_doubles_says_so() -> None:
    names = TypeAdapter(Annotated[list[str], UniqueItems()])
    assert names.json_schema()["uniqueItems"] is True
    assert names.validate_python(["a", "b"]) == ["a", "b"]
    with pytest.raises(ValidationError):
        names.validate_python(["a", "a"])


@pytest.mark.parametrize("name", ["a.pdf", "a/b.pdf", "a\\b.pdf", "a b.pdf", "é.pdf"])
def test_the_pattern_of_a_file_name_is_its_rule(name: str) -> None:
    pattern = str(FILE_NAME["pattern"])
    try:
        taken = check_file_name(name) == name
    except PydanticCustomError:
        taken = False
    assert taken == bool(re.search(pattern, name))
