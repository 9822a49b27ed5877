"""Write a letter as one message to one recipient (RFC 5322, multipart text + HTML + attachments)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime

import idna

from esign.core.instant import Instant, to_datetime
from esign.mail import header
from esign.mail.failure import PermanentFailure
from esign.mail.sheet import InlinePicture, Letter
from esign.system.entropy import make_token


@dataclass(frozen=True, slots=True)
class NamedMailbox:
    """An address and the name shown with it."""

    address: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class MessageAddresses:
    """From whom a message comes, to whom it goes, and who gets the answer, if not the sender."""

    sender: NamedMailbox
    to: NamedMailbox
    reply_to: NamedMailbox | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    content: bytes
    media_type: str = "application/pdf"


@dataclass(frozen=True, slots=True)
class Envelope:
    """The addresses for the mail server; `international` if the server has to support SMTPUTF8."""

    sender: str
    recipient: str
    international: bool


def compose_message(
    letter: Letter,
    boxes: MessageAddresses,
    *,
    message_id: str,
    at: Instant,
    attachments: Sequence[Attachment] = (),
) -> EmailMessage:
    """Return the whole message; `message_id` is `local@host`, and the same whenever this mail is sent again.

    Raises PermanentFailure for a header that cannot be written safely and for an invalid address.
    """
    headers = {"From": boxes.sender, "To": boxes.to} | (
        {"Reply-To": boxes.reply_to} if boxes.reply_to else {}
    )
    addresses = {name: normalise_address(box.address) for name, box in headers.items()}
    message = EmailMessage(SMTP if all(map(str.isascii, addresses.values())) else SMTPUTF8)
    for name, box in headers.items():
        message[name] = header.write_mailbox(name, box.name, addresses[name])
    message["Subject"] = header.write_text("Subject", letter.subject)
    message["Date"] = format_datetime(to_datetime(at))
    message["Message-ID"] = _build_message_id(message_id)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text, cte="quoted-printable")
    message.add_alternative(letter.html, subtype="html", cte="quoted-printable")
    for inline in letter.inlines:
        _enclose_picture(message, inline)
    for attachment in attachments:
        _attach_file(message, attachment)
    _set_boundaries(message)
    return message


def read_envelope(message: EmailMessage) -> Envelope:
    """Return the addresses that `compose_message` wrote into the headers."""
    return Envelope(message["From"].address, message["To"].address, message.policy.utf8)  # type: ignore[attr-defined]


def normalise_address(address: str) -> str:
    """Return the address with its domain in ASCII. Raises PermanentFailure unless it is one plain mailbox."""
    local, _, domain = address.rpartition("@")
    if not _LOCAL.fullmatch(local) or len(address) > 254:
        raise PermanentFailure("The address is not one mailbox")
    try:
        domain = domain if domain.isascii() else idna.encode(domain, uts46=True).decode()
    except idna.IDNAError as error:
        raise PermanentFailure("The address has no valid domain") from error
    if not _DOMAIN.fullmatch(domain):
        raise PermanentFailure("The address has no valid domain")
    return f"{local}@{domain}"


def _build_message_id(given: str) -> str:
    if not _MESSAGE_ID.fullmatch(given):
        raise PermanentFailure("The Message-ID is not local@host")
    return f"<{given}>"


def _enclose_picture(message: EmailMessage, inline: InlinePicture) -> None:
    """Add a picture beside the HTML, which shows it by its content id (RFC 2392)."""
    html = message.get_body(("html",))
    assert html is not None, "a letter has both"
    html.add_related(
        inline.png, "image", "png", cid=f"<{inline.name}>", disposition="inline", filename="logo.png"
    )


def _attach_file(message: EmailMessage, attachment: Attachment) -> None:
    header.refuse_controls("The name of the attachment", attachment.name)
    kind, _, subtype = attachment.media_type.partition("/")
    message.add_attachment(attachment.content, kind, subtype, filename=attachment.name)


def _set_boundaries(message: EmailMessage) -> None:
    """Give each multipart its boundary.

    The generator would search the whole message for a free one, which takes longer than to write it. `=_` stands in no
    part: each is quoted-printable or base64.
    """
    for number, part in enumerate([part for part in message.walk() if part.is_multipart()]):
        part.set_boundary(f"=_{number}_{make_token()}")


_LOCAL = re.compile(r"""[^\s"(),:;<>@\[\\\]\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,64}""")
_DOMAIN = re.compile(r"(?i:[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*)")
_MESSAGE_ID = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9._-]+")
