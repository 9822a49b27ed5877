"""One letter of each kind with the facts of the design, and one whose every fact is awkward."""

from datetime import datetime

from esign.core.instant import Instant, parse
from esign.mail.letters import (
    Cancelled,
    Completed,
    Declined,
    Expired,
    Invitation,
    Reader,
    Reminder,
    Signed,
    cancelled,
    completed,
    declined,
    expired,
    invitation,
    reminder,
)
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


def letters() -> dict[str, Letter]:
    return {
        "invitation": invitation(INVITATION),
        "reminder": reminder(REMINDER),
        "completed": completed(COMPLETED),
        "declined": declined(DECLINED),
        "expired": expired(EXPIRED),
        "cancelled": cancelled(CANCELLED),
        "awkward": invitation(AWKWARD),
    }
