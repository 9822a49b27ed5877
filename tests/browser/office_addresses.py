"""The pages of the office that an address alone leads to, for tests that look at all of them in each language."""

from collections.abc import Iterator

from esign.web.office.palette.places import KEYS, PLACES
from tests.browser.office_walks import WalkedOffice

SENT, DRAFT = "Appointment of architect, 14 Quay Street", "Fee proposal, Millbrook School"
OF_SENT = ("", "remind", "cancel", "expiry", "reminders", "reference", "template", "audit", "pages")
OF_DRAFT = ("edit", "fields", "review")
SIGNED_OUT = ("/", "/sign-in", "/forgot", "/verify")
ENGLISH = ("/api", "/docs")  # their texts have one language


def list_addresses(office: WalkedOffice) -> Iterator[str]:
    """The paths of pages for an owner: every place of the palette, and the documents in each state."""
    yield from (place.path for place in PLACES if place.form is None and place.path not in (KEYS, *ENGLISH))
    for title, document in office.documents.items():
        steps = OF_SENT if title == SENT else OF_DRAFT if title == DRAFT else ("",)
        yield from (f"/documents/{document.id}/{step}".rstrip("/") for step in steps)
