"""One letter of each kind with the facts of the design, and one whose every fact is awkward."""

from dataclasses import replace
from datetime import datetime

from esign.core.instant import Instant, parse
from esign.mail.codes import CodeFacts, write_code_letter
from esign.mail.endings import (
    CancelledFacts,
    CorrectedFacts,
    DeclinedFacts,
    DeclineReader,
    ExpiredFacts,
    RenewalFacts,
    write_cancelled_letter,
    write_corrected_letter,
    write_declined_letter,
    write_expired_letter,
    write_renewal_letter,
)
from esign.mail.letters import (
    CompletedFacts,
    InvitationFacts,
    LetterPart,
    ReminderFacts,
    SignerProgress,
    write_completed_letter,
    write_invitation,
    write_reminder,
)
from esign.mail.notices import NoticeFacts, write_notice
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
    SignerProgress("Jonas Weber", at("2026-11-21T14:05"), is_reader=True),
    SignerProgress("Mira Okafor", at("2026-11-21T15:20")),
)

INVITATION = InvitationFacts(HEAD, "Jonas Weber", "Mira Okafor", TITLE, LINK, 3, 7, 3, UNTIL, None, MESSAGE)
REMINDER = ReminderFacts(HEAD, "Jonas Weber", "Mira Okafor", TITLE, LINK, 5, 7, at("2026-12-16T09:00"), UNTIL)
COMPLETED = CompletedFacts(
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
DECLINED = DeclinedFacts(
    HEAD,
    "Mira Okafor",
    DeclineReader.SENDER,
    None,
    TITLE,
    "Jonas Weber",
    at("2026-11-22T08:30"),
    "The price is not what we agreed on.",
)
CANCELLED = CancelledFacts(HEAD, "Jonas Weber", None, TITLE, at("2026-11-22T08:30"), "The price has changed.")
EXPIRED = ExpiredFacts(HEAD, "Mira Okafor", TITLE, UNTIL, (SIGNERS[1], SignerProgress("Jonas Weber", None)))
RENEWAL = RenewalFacts(HEAD, "Mira Okafor", TITLE, "Jonas Weber", "jonas.weber@example.com", UNTIL)
CORRECTED = CorrectedFacts(HEAD, "Jonas Weber", "Mira Okafor", TITLE, "j•••r@example.com")
CODE = CodeFacts(HEAD, "Jonas Weber", "Mira Okafor", "417302", 10, at("2026-11-21T14:12"))
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
AWKWARD = InvitationFacts(
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
        "invitation": write_invitation(replace(INVITATION, head=head)),
        "reminder": write_reminder(replace(REMINDER, head=head)),
        "completed": write_completed_letter(replace(COMPLETED, head=head)),
        "declined": write_declined_letter(replace(DECLINED, head=head)),
        "expired": write_expired_letter(replace(EXPIRED, head=head)),
        "renewal": write_renewal_letter(replace(RENEWAL, head=head)),
        "corrected": write_corrected_letter(replace(CORRECTED, head=head)),
        "cancelled": write_cancelled_letter(replace(CANCELLED, head=head)),
        "awkward": write_invitation(replace(AWKWARD, head=replace(AWKWARD.head, locale=locale))),
        "code": write_code_letter(replace(CODE, head=head)),
        "invitation_approve": write_invitation(
            replace(INVITATION, head=head, part=LetterPart.APPROVE, fields=0)
        ),
        "invitation_read": write_invitation(replace(INVITATION, head=head, part=LetterPart.READ, fields=0)),
        "reminder_approve": write_reminder(replace(REMINDER, head=head, part=LetterPart.APPROVE, filled=0)),
        "completed_copy": write_completed_letter(replace(COMPLETED, head=head, copied_by="Mira Okafor")),
        **{name: write_notice(NoticeFacts(head, "Mira Okafor", name, NOTICED)) for name in NOTICES},
        **{name: write_notice(NoticeFacts(head, "Mira Okafor", name, KEY_NOTED)) for name in KEY_NOTICES},
        **{
            name: write_notice(NoticeFacts(head, "Mira Okafor", name, ACCOUNT_NOTED))
            for name in ACCOUNT_NOTICES
        },
        **{name: write_notice(NoticeFacts(head, "Mira Okafor", name, OWNER_NOTED)) for name in OWNER_NOTICES},
    }
