"""Converts field values to the form in which the page templates read them."""

import base64
from collections.abc import Mapping
from typing import Any

from esign.core.document.document import Document, Field, Ink, Recipient
from esign.pdf.seal_order import Drawn


def inks_of(recipient: Recipient) -> list[Ink]:
    """Return the signatures and initials of a recipient, those in fields first."""
    inks = [field.value for field in recipient.fields if isinstance(field.value, Ink)]
    return [*inks, recipient.ink] if recipient.ink else inks


def drawn_fields(document: Document, pictures: Mapping[str, bytes]) -> list[Drawn]:
    """Return all fields of a document for drawing. `pictures` maps SHA-256 hashes to PNG files."""
    return [
        drawn_field(field, recipient, pictures)
        for recipient in document.recipients
        for field in recipient.fields
    ]


def drawn_field(field: Field, recipient: Recipient, pictures: Mapping[str, bytes]) -> Drawn:
    """Return one field for drawing, in the language of its recipient."""
    value = field.value
    return Drawn(
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
        **(ink_of(value, pictures) if isinstance(value, Ink) else {}),
    )


def ink_of(ink: Ink, pictures: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a signature as the templates read it: a typed text, or a picture in base64."""
    if ink.kind == "typed":
        return {"kind": "typed", "text": ink.text, "hand": ink.hand}
    assert ink.picture is not None
    encoded = base64.b64encode(pictures[ink.picture]).decode()
    return {
        "kind": ink.kind,
        "picture": {"type": "png", "width": ink.width, "height": ink.height, "base64": encoded},
    }
