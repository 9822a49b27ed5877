import pytest

from esign.core.document import texts_to_draw
from esign.core.document.document import FieldType, Ink
from tests.factories import TYPED, a_document, a_field, a_file, a_recipient


def test_every_text_that_will_be_drawn_is_named_with_its_place_in_the_request() -> None:
    document = a_document(
        a_recipient("Ana", email="ana@example.com"),
        a_recipient("Bo", email="bo@example.com", fields=(a_field(), a_field(value="prefilled"))),
        title="Offer 7",
        file=a_file(name="offer.pdf"),
    )
    assert list(texts_to_draw.list_texts(document)) == [
        ("", "ci"),
        ("/title", "Offer 7"),
        ("/fileName", "offer.pdf"),
        ("/recipients/0/name", "Ana"),
        ("/recipients/0/email", "ana@example.com"),
        ("/recipients/1/name", "Bo"),
        ("/recipients/1/email", "bo@example.com"),
        ("/recipients/1/fields/1", "prefilled"),
    ]


@pytest.mark.parametrize("kind", [FieldType.RADIO, FieldType.DROPDOWN])
def test_every_option_may_be_chosen_and_so_be_drawn(kind: FieldType) -> None:
    field = a_field(kind, options={"options": ["one", "two"]}, value="one")
    assert sorted(texts_to_draw.list_field_texts(field)) == ["one", "one", "two"]


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (None, []),
        (True, []),
        ("words", ["words"]),
        (TYPED, ["Jo Li"]),
        (Ink("drawn", picture="ab" * 32, width=3, height=1), []),
    ],
)
def test_only_text_needs_a_font(value: str | bool | Ink | None, texts: list[str]) -> None:
    assert list(texts_to_draw.list_field_texts(a_field(value=value))) == texts
