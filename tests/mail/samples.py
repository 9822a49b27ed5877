"""One mail of each kind with the facts of the design, and one whose every fact is awkward."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from esign.core.actor import Actor, Mode
from esign.core.document.document import Recipient, RecipientStatus, Role, Status
from esign.core.instant import Instant, parse
from esign.core.people.account import Organisation
from esign.mail.message import Attachment, NamedMailbox
from esign.mail.outgoing_mail import DocumentMail, Notice
from esign.mail.sheet import Letter
from esign.mail.words import LoadWords, load_words
from esign.mail.write_letter import write_letter
from tests.factories import a_document, a_field, a_file, a_recipient, a_seal

TITLE = "Joinery agreement, 14 Linden Row"
LINK = "https://sign.northlight.example/s/kq3v8m2rt7xdkq3v8m2rt7xdkq3v8m2rt7xdkq3v8m2"
MESSAGE = (
    "Here is the agreement as we discussed it on Tuesday. "
    "Please choose how you would like to pay and the day on which we start."
)


def at(text: str) -> Instant:
    """An instant of a time in Berlin in winter."""
    return parse(datetime.fromisoformat(text).isoformat() + "+01:00")


UNTIL = at("2026-12-20T14:00")
NORTHLIGHT = Organisation("org_1", "Northlight Joinery", "en", "Europe/Berlin", 0, colour="#7a4a1d")
SENDER = Actor("member", "usr_1", "Mira Okafor", "mira@northlight.example")
PROGRAM = Actor("api_key", "key_1", "CRM")
JONAS = a_recipient(
    "Jonas Weber", status=RecipientStatus.SENT, fields=tuple(a_field() for _ in range(7)), id="rcp_jonas"
)
MIRA = a_recipient(
    "Mira Okafor",
    status=RecipientStatus.COMPLETED,
    completed_at=at("2026-11-21T15:20"),
    id="rcp_mira",
)
SIGNED = replace(JONAS, status=RecipientStatus.COMPLETED, completed_at=at("2026-11-21T14:05"))
REFUSED = replace(
    JONAS, status=RecipientStatus.DECLINED, decline_reason="The price is not what we agreed on."
)
SENT = a_document(
    JONAS,
    status=Status.SENT,
    title=TITLE,
    created_by=SENDER,
    expires_at=UNTIL,
    message=MESSAGE,
    file=a_file(3, name="Joinery agreement.pdf"),
)
SEALED = replace(
    SENT,
    status=Status.COMPLETED,
    completed_at=at("2026-11-21T15:20"),
    recipients=(SIGNED, MIRA),
    seal=a_seal(sealed_at=at("2026-11-21T15:20"), size=412_345),
)
CLOSED_AT = at("2026-11-22T08:30")

INVITATION = DocumentMail(
    letter="invitation",
    organisation=NORTHLIGHT,
    mode=Mode.LIVE,
    to=NamedMailbox("jonas@example.com", "Jonas Weber"),
    link=LINK,
    document=SENT,
    recipient=JONAS,
    now=at("2026-11-21T14:00"),
    link_days=30,
)
REMINDER = replace(INVITATION, letter="reminder", filled=5, now=at("2026-12-16T09:00"))
COMPLETED = replace(
    INVITATION,
    letter="completed",
    document=SEALED,
    recipient=SIGNED,
    attachments=(Attachment("Joinery agreement-sealed.pdf", b"%PDF"),),
)
ENDED = replace(INVITATION, link=None, recipient=None)
DECLINED = replace(
    ENDED,
    letter="declined",
    document=replace(SENT, status=Status.DECLINED, closed_at=CLOSED_AT, recipients=(REFUSED, MIRA)),
)
CANCELLED = replace(
    ENDED,
    letter="cancelled",
    recipient=JONAS,
    document=replace(
        SENT, status=Status.CANCELLED, closed_at=CLOSED_AT, close_reason="The price has changed."
    ),
)
EXPIRED = replace(
    ENDED,
    letter="expired",
    document=replace(SENT, status=Status.EXPIRED, closed_at=UNTIL, recipients=(MIRA, JONAS)),
)
RENEWAL = replace(EXPIRED, letter="renewal", about=JONAS)
CORRECTED = replace(ENDED, letter="corrected", about=JONAS)
CODE = replace(INVITATION, letter="code", link=None, code="417302", until=at("2026-11-21T14:12"))
NOTICED: dict[str, str | int] = {
    "webhook": "https://books.northlight.example/in/signed",
    "host": "books.northlight.example",
    "event": "document.completed",
    "answer": "status 503",
    "since_at": at("2026-11-21T05:58"),
    "until_at": at("2026-11-26T05:58"),
    "days": 30,
}
NOTICES = ("webhook_exhausted", "webhook_warning", "webhook_failing", "webhook_gone")
KEY_NOTED: dict[str, str | int] = {
    "api_key": "CRM",
    "hint": "esk_live_ab12…wxyz",
    "ends_at": at("2026-12-05T05:58"),
}
KEY_NOTICES = ("key_expiring", "key_unused")
ACCOUNT_NOTED: dict[str, str | int] = {
    "account": "mira@northlight.example",
    "organisation": "Northlight Joinery",
    "browser": "Firefox 132, Windows",
    "address": "198.51.100.7",
    "done_at": at("2026-12-05T05:58"),
}
ACCOUNT_NOTICES = ("sign_in_new", "password_changed", "factor_on", "factor_off", "codes_new")
OWNER_NOTED: dict[str, str | int] = {
    **ACCOUNT_NOTED,
    "actor": "Mira Okafor",
    "member": "Ben Ash",
    "email": "ben@northlight.example",
    "api_key": "CRM",
    "hint": "esk_live_ab12…wxyz",
}
OWNER_NOTICES = ("owner_new", "admin_key")
BACKUP_NOTED: dict[str, str | int] = {
    "backed_up_to": "s3://backups/esign",
    "backup_problem": "there is no bucket backups; make it, or set backup.to to another",
    "backup_last_at": at("2026-11-20T02:00"),
}
DAMAGE_NOTED: dict[str, str | int] = {
    "number": 2,
    "damaged": "blob 5e5e5e5e5e5e; seal doc_01kzt0v8q3e5m7p9r1s3t5v7w9",
}

ANCHOR_NOTED: dict[str, str | int] = {
    "number": 12,
    "fingerprint": " ".join(["5e5e5e5e"] * 8),
    "done_at": at("2026-12-05T00:03"),
}

NASTY = '<script>alert("1")</script> & {{ 7 * 7 }} {title} %s '


def vary(
    mail: DocumentMail,
    *,
    organisation: Mapping[str, Any] | None = None,
    document: Mapping[str, Any] | None = None,
    recipient: Mapping[str, Any] | Recipient | None = None,
    **changes: Any,
) -> DocumentMail:
    """The same mail with another reader, or other members of its organisation, its document, its reader, or its own."""
    mail = replace(
        mail,
        organisation=replace(mail.organisation, **organisation or {}),
        document=replace(mail.document, **document or {}),
    )
    if isinstance(recipient, Recipient):
        mail = replace(mail, recipient=recipient)
    elif recipient:
        assert mail.recipient is not None
        reader = replace(mail.recipient, **recipient)
        mail = replace(mail, recipient=reader, document=mail.document.with_recipient(reader))
    return replace(mail, **changes)


AWKWARD = vary(
    INVITATION,
    organisation={
        "name": "Gesellschaft-für-Brückenbau-und-" * 6 + "mbH",
        "colour": "#ffe08a",
        "time_zone": "Asia/Kolkata",
    },
    mode=Mode.TEST,
    recipient={"name": NASTY + "محمد العربي 例え 😀", "fields": ()},
    document={
        "created_by": replace(SENDER, name="Ñandú " + "W" * 120),
        "title": NASTY + "Donaudampfschifffahrtsgesellschaftskapitän" * 3,
        "file": a_file(1),
        "message": "First line\r\nsecond line\r\n\r\n   \r\n<b>Third</b> paragraph\u2028"
        + "unbroken" * 40
        + "\n\nمرحبا بكم",
    },
)
APPROVER: Mapping[str, Any] = {"role": Role.APPROVER, "fields": ()}
MAILS = {
    "invitation": INVITATION,
    "reminder": REMINDER,
    "completed": COMPLETED,
    "declined": DECLINED,
    "expired": EXPIRED,
    "renewal": RENEWAL,
    "corrected": CORRECTED,
    "cancelled": CANCELLED,
    "awkward": AWKWARD,
    "code": CODE,
    "invitation_approve": vary(INVITATION, recipient=APPROVER),
    "invitation_read": vary(INVITATION, recipient={"role": Role.VIEWER, "fields": ()}),
    "reminder_approve": vary(REMINDER, recipient=APPROVER, filled=0),
    "completed_copy": vary(COMPLETED, recipient={"role": Role.CC}),
}


def a_notice(
    letter: str, facts: Mapping[str, str | int], to: str | None = "Mira Okafor", locale: str = "en"
) -> Notice:
    """A notice of Northlight Joinery to one of its members."""
    return Notice(
        letter=letter,
        organisation=replace(NORTHLIGHT, locale=locale),
        mode=Mode.LIVE,
        to=NamedMailbox("mira@northlight.example", to),
        facts=facts,
    )


def letters(locale: str = "en", load: LoadWords = load_words) -> dict[str, Letter]:
    """The same facts in the language."""
    groups = (
        (NOTICES, NOTICED),
        (KEY_NOTICES, KEY_NOTED),
        (ACCOUNT_NOTICES, ACCOUNT_NOTED),
        (OWNER_NOTICES, OWNER_NOTED),
        (("damage_found",), DAMAGE_NOTED),
        (("backup_failed",), BACKUP_NOTED),
        (("anchor_made",), ANCHOR_NOTED),
    )
    notices = {name: a_notice(name, facts, locale=locale) for names, facts in groups for name in names}
    mails = {name: vary(mail, organisation={"locale": locale}) for name, mail in MAILS.items()}
    written = {name: write_letter(mail, load) for name, mail in mails.items()}
    return written | {name: write_letter(notice, load) for name, notice in notices.items()}
