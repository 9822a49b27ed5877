"""The pages, settings and actions that the command palette leads to, and the words that find them."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from unicodedata import combining, normalize

from esign.core.people.contact import split_words
from esign.core.people.permission import Permission
from esign.web.office.frame.words import OfficeWords

Kind = Literal["page", "setting", "action"]
STROKED = str.maketrans("łŁøØđĐ", "lLoOdD")  # letters that Unicode takes for whole
APART = re.compile("['’-]")  # part words: “d’API” is found by “api”
KEYS = "#keys"  # the address of an action that the page does itself: it shows its keyboard shortcuts


@dataclass(frozen=True, slots=True)
class PalettePlace:
    """A place that the palette leads to.

    `key` names its title and further words under which it is found, in the catalogue of the palette. `needs` is the
    permission for the page. `mode`: it exists in live or in test mode alone. `form`: it is a form with these values,
    sent to the address. `usual`: it is shown before anything is typed.
    """

    key: str
    path: str
    icon: str
    kind: Kind = "page"
    needs: Permission = Permission.READ
    mode: Literal["live", "test"] | None = None
    form: Mapping[str, str] | None = field(default=None)
    usual: bool = False

    def say_title(self, t: OfficeWords) -> str:
        """Return its title in the language of the reader."""
        return str(t(f"palette.place.{self.key}.title").unescape())

    def is_found_by(self, terms: tuple[str, ...], t: OfficeWords) -> bool:
        """Return whether each term begins one of its words."""
        further = str(t(f"palette.place.{self.key}.words").unescape())
        if self.kind == "setting":
            further = f"{further} {t('palette.setting_words').unescape()}"
        return all(
            any(word.startswith(term) for word in list_words(self.say_title(t), further)) for term in terms
        )

    def begins_with(self, term: str, t: OfficeWords) -> bool:
        """Return whether its title begins with the term."""
        return list_words(self.say_title(t), "")[0].startswith(term)


@cache
def list_words(title: str, words: str) -> tuple[str, ...]:
    """Return the folded words of a place."""
    return split_bare_words(f"{title} {words}")


def split_bare_words(text: str) -> tuple[str, ...]:
    """Return the folded words of a text without accents and vowel marks: `modeles` finds `Modèles`."""
    bare = "".join(letter for letter in normalize("NFKD", text.translate(STROKED)) if not combining(letter))
    return split_words(APART.sub(" ", bare))


WORK, SETTLE, OWN = Permission.WORK, Permission.SETTLE, Permission.OWN

PLACES: tuple[PalettePlace, ...] = (
    PalettePlace("new_document", "/documents/new", "plus", "action", WORK, usual=True),
    PalettePlace("sample", "/documents/sample", "signature", "action", WORK, form={}),
    PalettePlace("new_template", "/templates/new", "template", "action", WORK),
    PalettePlace("new_person", "/contacts/new", "users", "action", WORK),
    PalettePlace("invite_member", "/members#email", "users", "action", SETTLE),
    PalettePlace("new_api_key", "/settings/tokens/new", "key", "action", SETTLE),
    PalettePlace("new_webhook", "/settings/webhooks/new", "hook", "action", SETTLE),
    PalettePlace("documents", "/documents", "doc", "page", usual=True),
    PalettePlace("attention", "/documents?view=attention", "warn", "page"),
    PalettePlace("drafts", "/documents?view=draft", "edit", "page"),
    PalettePlace("waiting", "/documents?view=waiting", "clock", "page"),
    PalettePlace("completed", "/documents?view=completed", "seal", "page"),
    PalettePlace("closed", "/documents?view=closed", "stop", "page"),
    PalettePlace("views", "/documents/views", "eye", "page"),
    PalettePlace("templates", "/templates", "template", "page", usual=True),
    PalettePlace("contacts", "/contacts", "users", "page", WORK, usual=True),
    PalettePlace("verify", "/verify", "verify", "page", usual=True),
    PalettePlace("test_messages", "/test/messages", "mail", "page", WORK, "test"),
    PalettePlace("api", "/api", "info", "page"),
    PalettePlace("manual", "/docs", "ask", "page"),
    PalettePlace("settings", "/settings", "sliders", "page"),
    PalettePlace("organisation", "/settings/organisation", "brand", "setting", SETTLE),
    PalettePlace("logo", "/settings/organisation/logo", "brand", "setting", SETTLE),
    PalettePlace("members", "/members", "users", "setting", SETTLE),
    PalettePlace("api_keys", "/settings/tokens", "key", "setting", SETTLE),
    PalettePlace("webhooks", "/settings/webhooks", "hook", "setting", SETTLE),
    PalettePlace("defaults", "/settings/defaults", "sliders", "setting", SETTLE),
    PalettePlace("seal", "/settings/seal", "seal", "setting", SETTLE),
    PalettePlace("outbox", "/settings/outbox", "mail", "setting", SETTLE),
    PalettePlace("events", "/settings/events", "clock", "setting", SETTLE),
    PalettePlace("usage", "/settings/usage", "chart", "setting", SETTLE),
    PalettePlace("plan", "/settings/plan", "info", "setting", SETTLE),
    PalettePlace("audit", "/settings/audit", "fingerprint", "setting", OWN),
    PalettePlace("erasure", "/settings/erasure", "trash", "setting", OWN),
    PalettePlace("server_address", "/server/address", "server", "setting", OWN),
    PalettePlace("mail_server", "/server/mail", "mail", "setting", OWN),
    PalettePlace("practice_seal", "/server/seal", "seal", "setting", OWN),
    PalettePlace("server_clock", "/server/clock", "clock", "setting", OWN),
    PalettePlace("server_status", "/server/status", "server", "setting", OWN),
    PalettePlace("backup", "/server/backup", "server", "setting", OWN),
    PalettePlace("account", "/account", "lock", "setting"),
    PalettePlace("second_factor", "/account/second-factor", "lock", "setting"),
    PalettePlace("test_mode", "/mode", "refresh", "action", mode="live", form={"mode": "test"}),
    PalettePlace("live_mode", "/mode", "refresh", "action", mode="test", form={"mode": "live"}),
    PalettePlace("keys", KEYS, "ask", "action"),
    PalettePlace("sign_out", "/sign-out", "out", "action", form={}),
)


def find_places(
    text: str, may: Collection[Permission], mode: str, t: OfficeWords, *, switches: bool = True
) -> Iterator[PalettePlace]:
    """Yield the places that a member with these permissions may open and that the text finds.

    Those whose title begins with it come first. Without a text these are the usual ones. `switches` says whether this
    installation has both modes.
    """
    terms = split_bare_words(text)
    found = [
        place
        for place in PLACES
        if place.needs in may
        and place.mode in (None, mode)
        and (switches or place.path != "/mode")
        and (place.is_found_by(terms, t) if terms else place.usual)
    ]
    yield from sorted(found, key=lambda place: bool(terms) and not place.begins_with(terms[0], t))
