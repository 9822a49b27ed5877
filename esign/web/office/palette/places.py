"""The pages, settings and actions that the command palette leads to, and the words that find them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from esign.core.people.contact import split_words
from esign.core.people.permission import Permission

Kind = Literal["page", "setting", "action"]
KEYS = "#keys"  # the address of an action that the page does itself: it shows its keyboard shortcuts


@dataclass(frozen=True, slots=True)
class PalettePlace:
    """A place that the palette leads to.

    `words` are further words under which it is found. `needs` is the permission for the page. `mode`: it exists in
    live or in test mode alone. `form`: it is a form with these values, sent to the address. `usual`: it is shown
    before anything is typed.
    """

    title: str
    path: str
    icon: str
    kind: Kind = "page"
    words: str = ""
    needs: Permission = Permission.READ
    mode: Literal["live", "test"] | None = None
    form: Mapping[str, str] | None = field(default=None)
    usual: bool = False

    def is_found_by(self, terms: tuple[str, ...]) -> bool:
        """Return whether each term begins one of its words."""
        words = list_words(self.title, f"{self.words} settings" if self.kind == "setting" else self.words)
        return all(any(word.startswith(term) for word in words) for term in terms)

    def begins_with(self, term: str) -> bool:
        """Return whether its title begins with the term."""
        return list_words(self.title, "")[0].startswith(term)


@cache
def list_words(title: str, words: str) -> tuple[str, ...]:
    """Return the folded words of a place."""
    return split_words(f"{title} {words}")


WORK, SETTLE, OWN = Permission.WORK, Permission.SETTLE, Permission.OWN

PLACES: tuple[PalettePlace, ...] = (
    PalettePlace(
        "New document", "/documents/new", "plus", "action", "upload pdf send sign", WORK, usual=True
    ),
    PalettePlace(
        "Try it with a sample",
        "/documents/sample",
        "signature",
        "action",
        "demo example test document agreement",
        WORK,
        form={},
    ),
    PalettePlace("New template", "/templates/new", "template", "action", "create add", WORK),
    PalettePlace("Add person", "/contacts/new", "users", "action", "new contact address book", WORK),
    PalettePlace("Invite member", "/members#email", "users", "action", "new colleague user team", SETTLE),
    PalettePlace("New API token", "/settings/tokens/new", "key", "action", "create key program", SETTLE),
    PalettePlace("New webhook", "/settings/webhooks/new", "hook", "action", "create add program", SETTLE),
    PalettePlace("Documents", "/documents", "doc", "page", "list home all", usual=True),
    PalettePlace(
        "Documents that need attention", "/documents?view=attention", "warn", "page", "failed problem"
    ),
    PalettePlace("Drafts", "/documents?view=draft", "edit", "page", "unsent documents"),
    PalettePlace("Waiting documents", "/documents?view=waiting", "clock", "page", "sent open pending"),
    PalettePlace("Completed documents", "/documents?view=completed", "seal", "page", "signed sealed done"),
    PalettePlace("Closed documents", "/documents?view=closed", "stop", "page", "declined expired cancelled"),
    PalettePlace("Saved views", "/documents/views", "eye", "page", "filters"),
    PalettePlace("Templates", "/templates", "template", "page", "reuse", usual=True),
    PalettePlace(
        "Address book", "/contacts", "users", "page", "people contacts recipients", WORK, usual=True
    ),
    PalettePlace("Verify a PDF", "/verify", "verify", "page", "check seal signature proof", usual=True),
    PalettePlace("Test messages", "/test/messages", "mail", "page", "emails inbox", WORK, "test"),
    PalettePlace("Settings", "/settings", "sliders", "page", "preferences options"),
    PalettePlace("API reference", "/api", "info", "page", "developer documentation openapi rest program"),
    PalettePlace("Organisation", "/settings/organisation", "brand", "setting", "name colour brand", SETTLE),
    PalettePlace("Logo", "/settings/organisation/logo", "brand", "setting", "brand picture image", SETTLE),
    PalettePlace("Members", "/members", "users", "setting", "team colleagues roles invite people", SETTLE),
    PalettePlace("API tokens", "/settings/tokens", "key", "setting", "keys programs developer", SETTLE),
    PalettePlace("Webhooks", "/settings/webhooks", "hook", "setting", "programs developer events", SETTLE),
    PalettePlace(
        "Defaults",
        "/settings/defaults",
        "sliders",
        "setting",
        "reminders deadline language time zone retention deletion",
        SETTLE,
    ),
    PalettePlace("Seal", "/settings/seal", "seal", "setting", "certificate signature timestamp", SETTLE),
    PalettePlace("Outbox", "/settings/outbox", "mail", "setting", "emails sent mails delivery", SETTLE),
    PalettePlace("Events", "/settings/events", "clock", "setting", "log activity", SETTLE),
    PalettePlace("Usage", "/settings/usage", "chart", "setting", "statistics numbers charts", SETTLE),
    PalettePlace("Plan and limits", "/settings/plan", "info", "setting", "quota", SETTLE),
    PalettePlace("Audit log", "/settings/audit", "fingerprint", "setting", "history changes", OWN),
    PalettePlace("Erase a person", "/settings/erasure", "trash", "setting", "gdpr privacy delete data", OWN),
    PalettePlace(
        "Server address", "/server/address", "server", "setting", "domain url proxy this installation", OWN
    ),
    PalettePlace("Mail server", "/server/mail", "mail", "setting", "smtp sender email this server", OWN),
    PalettePlace("Practice seal", "/server/seal", "seal", "setting", "try certificate this server", OWN),
    PalettePlace("Your account", "/account", "lock", "setting", "profile name password sessions browsers"),
    PalettePlace(
        "Second factor", "/account/second-factor", "lock", "setting", "2fa totp authenticator security codes"
    ),
    PalettePlace(
        "Switch to test mode",
        "/mode",
        "refresh",
        "action",
        "try sandbox",
        mode="live",
        form={"mode": "test"},
    ),
    PalettePlace(
        "Switch to live mode",
        "/mode",
        "refresh",
        "action",
        "production real",
        mode="test",
        form={"mode": "live"},
    ),
    PalettePlace("Keyboard shortcuts", KEYS, "ask", "action", "keys help"),
    PalettePlace("Sign out", "/sign-out", "out", "action", "log off logout leave", form={}),
)


def find_places(
    text: str, may: Collection[Permission], mode: str, *, switches: bool = True
) -> Iterator[PalettePlace]:
    """Yield the places that a member with these permissions may open and that the text finds.

    Those whose title begins with it come first. Without a text these are the usual ones. `switches` says whether this
    installation has both modes.
    """
    terms = split_words(text)
    found = [
        place
        for place in PLACES
        if place.needs in may
        and place.mode in (None, mode)
        and (switches or place.path != "/mode")
        and (place.is_found_by(terms) if terms else place.usual)
    ]
    yield from sorted(found, key=lambda place: bool(terms) and not place.begins_with(terms[0]))
