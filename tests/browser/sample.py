"""The sample contract as the signing pages show it, in English and in Arabic."""

import io
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from esign.core.actor import Actor
from esign.core.document.document import Document, Field, FieldType, File
from esign.demo import contract
from tests.pdf.marks import picture
from tests.web.signing.site import A4, SigningSite, a_document, a_field, a_recipient, other

HELLO = "هذه اتفاقيتنا للسنة القادمة. ننتظر شجرة الإجاص بشوق."
ARABIC = {
    "A year in the courtyard garden": "سنة في حديقة الفناء",
    "Tomas Reyes": "طارق الريّس",
    "Nadia Brandt": "نادية برهان",
    "Initials": "الأحرف الأولى",
    "Where the garden is, and how we get in": "أين الحديقة وكيف ندخلها",
    "Watering between our visits": "السقاية بين زياراتنا",
    "Rainwater from the barrel": "ماء المطر من البرميل",
    "Mains water, in the evening": "ماء الصنبور مساءً",
    "We leave it to the weather": "نترك ذلك للطقس",
    "Invoices go to": "تُرسل الفواتير إلى",
    "Number of planters": "عدد أحواض الزهور",
    "First visit in": "الزيارة الأولى في",
    "March": "مارس",
    "April": "أبريل",
    "May": "مايو",
    "Herbs for the kitchen": "أعشاب للمطبخ",
    "Photographs may be shown": "يجوز عرض الصور",
    "Anything else we should know": "أي شيء آخر ينبغي أن نعرفه",
    "Signature": "التوقيع",
    "Name": "الاسم",
    "Date": "التاريخ",
}
PARTS = ("key", "type", "page", "x", "y", "width", "height", "label", "required")


def translate_value(value: Any, tag: str) -> Any:
    """What people wrote, in their language."""
    if isinstance(value, list):
        return [translate_value(one, tag) for one in value]
    return ARABIC.get(value, value) if tag == "ar" and isinstance(value, str) else value


def fields(given: tuple[Mapping[str, Any], ...], tag: str) -> tuple[Field, ...]:
    return tuple(
        a_field(
            one["key"],
            FieldType(one["type"]),
            one["page"],
            (one["x"], one["y"], one["width"], one["height"]),
            label=translate_value(one["label"], tag),
            required=one.get("required", one["type"] != "checkbox"),
            options={key: translate_value(value, tag) for key, value in one.items() if key not in PARTS},
        )
        for one in given
    )


def translate_document(document: Document, tag: str = "en") -> Document:
    """The same state of things, told of the contract and its two people."""
    title, message = contract.FILE_NAME.removesuffix(".pdf"), contract.build_create_body()["message"]
    sender, their_email = contract.GARDENER
    return replace(
        document,
        title=translate_value(title, tag),
        message=HELLO if tag == "ar" else message,
        created_by=Actor("member", "mem_1", translate_value(sender, tag), their_email),
        file=File(contract.FILE_NAME, "0" * 64, "1" * 64, (A4,) * 3),
        recipients=tuple(
            replace(one, name=translate_value(name, tag), email=email, locale=tag)
            for one, (name, email) in zip(
                document.recipients, (contract.CAFE, contract.GARDENER), strict=False
            )
        ),
    )


def the_contract(tag: str = "en", **mine: Any) -> Document:
    """To be signed, or by another `role` approved or read, by the café."""
    asked = fields(contract.CAFE_FIELDS, tag) if "role" not in mine else ()
    me, gardener = a_recipient(asked, **mine), replace(other(), fields=fields(contract.GARDENER_FIELDS, tag))
    return translate_document(a_document(me, gardener), tag)


def a_contract_site(document: Document, state: str = "open") -> SigningSite:
    """With the pages of the contract as pictures."""
    made = SigningSite(document, state)
    made.organisation = replace(made.organisation, name="Fernhill Gardens", colour="#2f6b4f", reply_to=None)
    made.pictures = list(pictures())
    return made


@cache
def pictures() -> tuple[bytes, ...]:
    def webp(number: int) -> bytes:
        out = io.BytesIO()
        picture(contract.read_pdf(), number).save(out, "WEBP", quality=80)
        return out.getvalue()

    return tuple(webp(number) for number in range(3))
