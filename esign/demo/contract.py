"""The sample contract: its file, the body that creates it over the API, and what its two signers fill in.

The positions are those on `contract.pdf`; `packaging/contract` prints them anew when `contract.typ` changes.
"""

import base64
from collections.abc import Mapping
from importlib import resources
from typing import Any

FILE_NAME = "A year in the courtyard garden.pdf"
CAFE = ("Tomas Reyes", "tomas@copperkettle.example")
GARDENER = ("Nadia Brandt", "nadia@fernhill.example")


def _build_field(
    key: str, kind: str, page: int, at: tuple[float, ...], label: str, **rest: object
) -> dict[str, Any]:
    """Return a field of contract section 4; `at` is x, y, width, height in percent of the page."""
    x, y, width, height = at
    place = {"page": page, "x": x, "y": y, "width": width, "height": height}
    return {"key": key, "type": kind, **place, "label": label, **rest}


CAFE_FIELDS = (
    _build_field("cafe-initials-1", "initials", 1, (59.29, 91.58, 10, 3.7), "Initials"),
    _build_field(
        "garden-address",
        "text",
        2,
        (11.9, 14.21, 35.71, 8.08),
        "Where the garden is, and how we get in",
        multiline=True,
        maxLength=200,
    ),
    _build_field(
        "watering",
        "radio",
        2,
        (52.38, 14.21, 35.71, 8.08),
        "Watering between our visits",
        options=["Rainwater from the barrel", "Mains water, in the evening", "We leave it to the weather"],
    ),
    _build_field("invoice-email", "email", 2, (11.9, 25.83, 35.71, 2.69), "Invoices go to"),
    _build_field(
        "planters", "number", 2, (52.38, 25.83, 16.19, 2.69), "Number of planters", min=1, max=40, decimals=0
    ),
    _build_field(
        "first-month",
        "dropdown",
        2,
        (71.9, 25.83, 16.19, 2.69),
        "First visit in",
        options=["March", "April", "May"],
    ),
    _build_field("kitchen-herbs", "checkbox", 2, (11.9, 30.96, 2.38, 1.68), "Herbs for the kitchen"),
    _build_field("photographs", "checkbox", 2, (11.9, 33.99, 2.38, 1.68), "Photographs may be shown"),
    _build_field(
        "wishes",
        "text",
        2,
        (11.9, 39.63, 76.19, 6.06),
        "Anything else we should know",
        multiline=True,
        maxLength=400,
        required=False,
    ),
    _build_field("cafe-initials-2", "initials", 2, (59.29, 91.58, 10, 3.7), "Initials"),
    _build_field("cafe-signature", "signature", 3, (11.9, 64.01, 35.71, 6.73), "Signature"),
    _build_field("cafe-name", "name", 3, (11.9, 73.77, 35.71, 2.69), "Name"),
    _build_field("cafe-date", "date", 3, (11.9, 79.49, 17.14, 2.69), "Date", format="D MMM YYYY"),
)
GARDENER_FIELDS = (
    _build_field("gardener-initials-1", "initials", 1, (78.1, 91.58, 10, 3.7), "Initials"),
    _build_field(
        "visiting-day",
        "dropdown",
        2,
        (52.38, 51.67, 35.71, 2.69),
        "We come on a",
        options=["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
    ),
    _build_field("gardener-initials-2", "initials", 2, (78.1, 91.58, 10, 3.7), "Initials"),
    _build_field("gardener-signature", "signature", 3, (52.38, 64.01, 35.71, 6.73), "Signature"),
    _build_field("gardener-name", "name", 3, (52.38, 73.77, 35.71, 2.69), "Name"),
    _build_field("gardener-date", "date", 3, (52.38, 79.49, 17.14, 2.69), "Date", format="D MMM YYYY"),
)

# By key, without signatures, initials and fields that are filled in automatically.
ANSWERS: Mapping[str, str | bool] = {
    "garden-address": "18 Market Row, Wexcombe\nThrough the green gate, code at the bar",
    "watering": "Rainwater from the barrel",
    "planters": "14",
    "first-month": "March",
    "kitchen-herbs": True,
    "photographs": False,
    "wishes": "Deliveries come on Thursdays before nine. The grey cat is called Minze.",
    "visiting-day": "Tuesday",
}


def read_pdf() -> bytes:
    """Return the contract as it is uploaded: three pages of A4 without a form."""
    return resources.files("esign.demo").joinpath("contract.pdf").read_bytes()


def build_create_body() -> dict[str, Any]:
    """Return the body of POST /documents: the café signs first, then the gardener."""
    (cafe, cafe_email), (gardener, gardener_email) = CAFE, GARDENER
    return {
        "fileName": FILE_NAME,
        "file": base64.b64encode(read_pdf()).decode(),
        "message": "Here is our agreement for the coming year. We look forward to the pear tree.",
        "recipients": [
            {"name": cafe, "email": cafe_email, "order": 1, "fields": list(CAFE_FIELDS)},
            {"name": gardener, "email": gardener_email, "order": 2, "fields": list(GARDENER_FIELDS)},
        ],
    }


def choose_answer(person: tuple[str, str], field: Mapping[str, Any]) -> object:
    """Return this person's value for one of their fields, or None if it is filled in automatically.

    The café's signature is drawn, the gardener's is typed.
    """
    if field["type"] == "signature":
        if person == CAFE:
            picture = resources.files("esign.demo").joinpath("signature.png").read_bytes()
            return {"kind": "drawn", "picture": f"data:image/png;base64,{base64.b64encode(picture).decode()}"}
        return {"kind": "typed", "text": person[0], "hand": "b"}
    if field["type"] == "initials":
        return {"kind": "typed", "text": "".join(word[0] for word in person[0].split()), "hand": "b"}
    return ANSWERS.get(field["key"])
