"""A contact: a person in the address book of an organisation, to whom documents go again and again."""

import re
from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.fold_text import fold
from esign.core.instant import DAY, Instant, Millis

KEPT: Millis = 730 * DAY  # after the last document was sent to them, or the last change of the entry
MOST_WORDS = 16
LONGEST = 100  # characters of a word that are searched for
PARTS = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Contact:
    """A person in the address book. `used_at` is when a document last went to them, or the entry last changed."""

    id: str
    organisation_id: str
    mode: Mode
    name: str
    email: str
    company: str
    created_at: Instant
    used_at: Instant

    def list_words(self) -> tuple[str, ...]:
        """Return the folded words under which the contact is found: of name, company and address."""
        email = fold(self.email)
        words = [*split_words(f"{self.name} {self.company}"), email, *PARTS.split(email)]
        return tuple(dict.fromkeys(word[:LONGEST] for word in words if word))[:MOST_WORDS]

    def is_found_by(self, terms: tuple[str, ...]) -> bool:
        """Return whether each term begins one of its words."""
        words = self.list_words()
        return all(any(word.startswith(term) for word in words) for term in terms)


def split_words(text: str) -> tuple[str, ...]:
    """Return the folded words of a text that was typed, without the signs around them."""
    words = (word.strip("\"'.,;:()<>-") for word in fold(text).split())
    return tuple(dict.fromkeys(word[:LONGEST] for word in words if word))
