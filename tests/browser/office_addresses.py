"""The pages of the office that an address alone leads to, for tests that look at all of them in each language."""

from collections.abc import Iterator

from tests.browser.office_walks import WalkedOffice

SENT, DRAFT = "Appointment of architect, 14 Quay Street", "Fee proposal, Millbrook School"
PLAIN = (
    *("/documents", "/documents/new", "/documents/views", "/contacts", "/contacts/new"),
    *("/templates", "/templates/new", "/members", "/account", "/settings", "/settings/tokens"),
    *("/settings/tokens/new", "/settings/organisation", "/settings/organisation/logo", "/settings/erasure"),
    *("/settings/defaults", "/settings/outbox", "/settings/usage", "/settings/events", "/settings/audit"),
    *("/settings/plan", "/settings/seal", "/settings/webhooks", "/settings/webhooks/new", "/server/address"),
    *("/server/mail", "/server/seal", "/server/clock", "/verify", "/test/messages"),
)
OF_SENT = ("", "remind", "cancel", "expiry", "reminders", "reference", "template", "audit", "pages")
OF_DRAFT = ("edit", "fields", "review")
SIGNED_OUT = ("/", "/sign-in", "/forgot", "/verify")


def list_addresses(office: WalkedOffice) -> Iterator[str]:
    """The paths of pages for an owner."""
    yield from PLAIN
    for title, document in office.documents.items():
        steps = OF_SENT if title == SENT else OF_DRAFT if title == DRAFT else ("",)
        yield from (f"/documents/{document.id}/{step}".rstrip("/") for step in steps)
