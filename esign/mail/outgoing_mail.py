"""What a mail brings to whom. It is read from its job when it is sent, and then written as a letter."""

from collections.abc import Mapping
from dataclasses import dataclass

from esign.core.actor import Mode, Owner
from esign.core.document.document import Document, Recipient
from esign.core.instant import Instant
from esign.core.people.account import Organisation
from esign.mail.message import Attachment, NamedMailbox
from esign.mail.sheet import InlinePicture, Letterhead


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMail:
    """A mail to one reader. `letter` names what it brings, and `link` is the address that its button opens.

    `to` is None if the reader has no e-mail address. Answers go to `reply_to`, if it is set. `chosen_locale` is the
    language that the reader chose in their account, if they have one.
    """

    letter: str
    organisation: Organisation
    mode: Mode
    to: NamedMailbox | None
    reply_to: NamedMailbox | None = None
    link: str | None = None
    logo: InlinePicture | None = None
    chosen_locale: str | None = None
    attachments: tuple[Attachment, ...] = ()

    @property
    def owner(self) -> Owner:
        """Return the organisation and the mode that the mail belongs to."""
        return Owner(self.organisation.id, self.mode)

    @property
    def token(self) -> str | None:
        """Return the secret at the end of the link, or None."""
        return self.link.rpartition("/")[2] if self.link else None

    @property
    def locale(self) -> str:
        """Return the language of the letter."""
        return self.chosen_locale or self.organisation.locale

    @property
    def head(self) -> Letterhead:
        """Return the letterhead, in the language of the letter."""
        return Letterhead(
            organisation=self.organisation.name,
            colour=self.organisation.colour,
            locale=self.locale,
            time_zone=self.organisation.time_zone,
            test=self.mode is Mode.TEST,
            logo=self.logo,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(OutgoingMail):
    """A mail to a member. Its phrases use the `facts`."""

    to: NamedMailbox
    facts: Mapping[str, str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMail(OutgoingMail):
    """A mail about a document as it is `now`: to a recipient, to the former address of one, or else to the sender.

    `about` is another recipient whom the letter speaks of. `filled` is the number of fields that the recipient
    has filled in. `message` is a text that the sender adds. `code` opens a signing link until `until`. A link
    to a sealed file works for `link_days`.
    """

    document: Document
    recipient: Recipient | None
    now: Instant
    link_days: int
    about: Recipient | None = None
    filled: int = 0
    message: str | None = None
    code: str | None = None
    until: Instant | None = None

    @property
    def goes_to_former_address(self) -> bool:
        """Return whether the mail tells a former address that the document goes to another one now."""
        return self.letter == "corrected"

    @property
    def locale(self) -> str:
        """Return the language of the reader, else of the document, else of the organisation."""
        reader = self.about if self.goes_to_former_address else self.recipient
        own = reader.locale if reader else self.chosen_locale
        return own or self.document.locale or self.organisation.locale

    @property
    def reader(self) -> str | None:
        """Return the name of the recipient, or None for a letter to the sender."""
        return self.recipient.name if self.recipient else None

    @property
    def sender(self) -> str | None:
        """Return the name of the member who sent the document, or None if a program of the organisation did."""
        creator = self.document.created_by
        return creator.name if creator.kind == "member" else None

    @property
    def asker(self) -> str:
        """Return the name of the member who sent the document, or else of the organisation."""
        return self.sender or self.organisation.name
