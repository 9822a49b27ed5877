"""One letter of each kind with the facts of the design, and one whose every fact is awkward."""

from dataclasses import replace
from datetime import datetime

from esign.core.instant import Instant, parse
from esign.mail.codes import Code, code
from esign.mail.endings import (
    Cancelled,
    Corrected,
    Declined,
    Expired,
    Reader,
    Renewal,
    cancelled,
    corrected,
    declined,
    expired,
    renewal,
)
from esign.mail.letters import Completed, Invitation, Part, Reminder, Signed, completed, invitation, reminder
from esign.mail.notices import Notice, notice
from esign.mail.sheet import Letter, Letterhead

HEAD = Letterhead("Northlight Joinery", "#7a4a1d", "en", "Europe/Berlin")
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
SIGNERS = (
    Signed("Jonas Weber", at("2026-11-21T14:05"), is_reader=True),
    Signed("Mira Okafor", at("2026-11-21T15:20")),
)

INVITATION = Invitation(HEAD, "Jonas Weber", "Mira Okafor", TITLE, LINK, 3, 7, 3, UNTIL, None, MESSAGE)
REMINDER = Reminder(HEAD, "Jonas Weber", "Mira Okafor", TITLE, LINK, 5, 7, at("2026-12-16T09:00"), UNTIL)
COMPLETED = Completed(
    HEAD,
    "Jonas Weber",
    TITLE,
    SIGNERS,
    at("2026-11-21T15:20"),
    "Joinery agreement.pdf",
    412_345,
    True,
    LINK,
    at("2026-12-21T15:20"),
)
DECLINED = Declined(
    HEAD,
    "Mira Okafor",
    Reader.SENDER,
    None,
    TITLE,
    "Jonas Weber",
    at("2026-11-22T08:30"),
    "The price is not what we agreed on.",
)
CANCELLED = Cancelled(HEAD, "Jonas Weber", None, TITLE, at("2026-11-22T08:30"), "The price has changed.")
EXPIRED = Expired(HEAD, "Mira Okafor", TITLE, UNTIL, (SIGNERS[1], Signed("Jonas Weber", None)))
RENEWAL = Renewal(HEAD, "Mira Okafor", TITLE, "Jonas Weber", "jonas.weber@example.com", UNTIL)
CORRECTED = Corrected(HEAD, "Jonas Weber", "Mira Okafor", TITLE, "j•••r@example.com")
CODE = Code(HEAD, "Jonas Weber", "Mira Okafor", "417302", 10, at("2026-11-21T14:12"))
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

LONG = Letterhead("Gesellschaft-für-Brückenbau-und-" * 6 + "mbH", "#ffe08a", "en", "Asia/Kolkata", test=True)
NASTY = '<script>alert("1")</script> & {{ 7 * 7 }} {title} %s '
AWKWARD = Invitation(
    LONG,
    NASTY + "محمد العربي 例え 😀",
    "Ñandú " + "W" * 120,
    NASTY + "Donaudampfschifffahrtsgesellschaftskapitän" * 3,
    LINK,
    1,
    0,
    1,
    UNTIL,
    None,
    "First line\r\nsecond line\r\n\r\n   \r\n<b>Third</b> paragraph\u2028"
    + "unbroken" * 40
    + "\n\nمرحبا بكم",
)


def letters(locale: str = "en") -> dict[str, Letter]:
    """The same facts in the language."""
    head = replace(HEAD, locale=locale)
    return {
        "invitation": invitation(replace(INVITATION, head=head)),
        "reminder": reminder(replace(REMINDER, head=head)),
        "completed": completed(replace(COMPLETED, head=head)),
        "declined": declined(replace(DECLINED, head=head)),
        "expired": expired(replace(EXPIRED, head=head)),
        "renewal": renewal(replace(RENEWAL, head=head)),
        "corrected": corrected(replace(CORRECTED, head=head)),
        "cancelled": cancelled(replace(CANCELLED, head=head)),
        "awkward": invitation(replace(AWKWARD, head=replace(AWKWARD.head, locale=locale))),
        "code": code(replace(CODE, head=head)),
        "invitation_approve": invitation(replace(INVITATION, head=head, part=Part.APPROVE, fields=0)),
        "invitation_read": invitation(replace(INVITATION, head=head, part=Part.READ, fields=0)),
        "reminder_approve": reminder(replace(REMINDER, head=head, part=Part.APPROVE, filled=0)),
        "completed_copy": completed(replace(COMPLETED, head=head, copied_by="Mira Okafor")),
        **{name: notice(Notice(head, "Mira Okafor", name, NOTICED)) for name in NOTICES},
        **{name: notice(Notice(head, "Mira Okafor", name, KEY_NOTED)) for name in KEY_NOTICES},
        **{name: notice(Notice(head, "Mira Okafor", name, ACCOUNT_NOTED)) for name in ACCOUNT_NOTICES},
        **{name: notice(Notice(head, "Mira Okafor", name, OWNER_NOTED)) for name in OWNER_NOTICES},
    }
