"""Converts field values to the form in which the page templates read them."""

import base64
from collections.abc import Mapping
from typing import Any

from esign.core.document.document import Document, Field, Ink, Recipient
from esign.pdf.seal_order import DrawnField


def list_inks(recipient: Recipient) -> list[Ink]:
    """Return the signatures and initials of a recipient, those in fields first."""
    inks = [field.value for field in recipient.fields if isinstance(field.value, Ink)]
    return [*inks, recipient.ink] if recipient.ink else inks


def make_drawn_fields(document: Document, pictures: Mapping[str, bytes]) -> list[DrawnField]:
    """Return all fields of a document for drawing. `pictures` maps SHA-256 hashes to PNG files."""
    return [
        make_drawn_field(field, recipient, pictures)
        for recipient in document.recipients
        for field in recipient.fields
    ]


def make_drawn_field(field: Field, recipient: Recipient, pictures: Mapping[str, bytes]) -> DrawnField:
    """Return one field for drawing, in the language of its recipient."""
    value = field.value
    return DrawnField(
        id=field.id,
        type=field.type.value,
        page=field.page,
        x=field.x,
        y=field.y,
        width=field.width,
        height=field.height,
        value=None if isinstance(value, Ink) else value,
        font_size=field.font_size,
        align=field.align,
        lang=recipient.locale,
        options=field.options,
        **(encode_ink(value, pictures) if isinstance(value, Ink) else {}),
    )


def encode_ink(ink: Ink, pictures: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a signature as the templates read it: a typed text, or a picture in base64."""
    if ink.kind == "typed":
        return {"kind": "typed", "text": ink.text, "hand": ink.hand}
    assert ink.picture is not None
    encoded = base64.b64encode(pictures[ink.picture]).decode()
    return {
        "kind": ink.kind,
        "picture": {"type": "png", "width": ink.width, "height": ink.height, "base64": encoded},
    }
