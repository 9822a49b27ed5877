import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from esign.core.actor import Mode
from esign.core.document.document import Recipient, Role
from esign.core.language import LANGUAGES
from esign.core.people.account import COLOUR
from esign.core.people.brand_colours import choose_tones
from esign.mail.sheet import build_mark
from esign.mail.words import load_words
from esign.mail.write_letter import write_letter
from tests.factories import a_file
from tests.mail.samples import (
    ACCOUNT_NOTED,
    ACCOUNT_NOTICES,
    APPROVER,
    AWKWARD,
    CODE,
    COMPLETED,
    DECLINED,
    EXPIRED,
    INVITATION,
    JONAS,
    KEY_NOTED,
    KEY_NOTICES,
    LINK,
    MESSAGE,
    MIRA,
    NORTHLIGHT,
    NOTICED,
    NOTICES,
    OWNER_NOTED,
    OWNER_NOTICES,
    PROGRAM,
    REFUSED,
    REMINDER,
    SIGNED,
    TITLE,
    UNTIL,
    a_notice,
    at,
    letters,
    vary,
)


class Shown(HTMLParser):
    """What a reader of the HTML sees, and every tag and address in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words = ""
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [
            value or "" for name, value in attrs if name in ("href", "src", "background", "action")
        ]

    def handle_data(self, data: str) -> None:
        self.words += data


def flat(text: str) -> str:
    return " ".join(text.split())


def test_an_invitation_says_who_asks_for_what_until_when() -> None:
    letter = write_letter(INVITATION)

    assert letter.subject == "Please sign: Joinery agreement, 14 Linden Row"
    for part in (
        "Mira Okafor asks you to sign “Joinery agreement, 14 Linden Row”",
        "Hello Jonas Weber,",
        MESSAGE,
        "Review and sign",
        "3 pages, 7 fields, about 4 minutes",
        "20 December 2026, 14:00 CET",
        "Mira Okafor, Northlight Joinery",
        "Sent by esign on behalf of Northlight Joinery.",
    ):
        assert part in flat(letter.text)
        assert part in flat(Shown(letter.html).words)


@pytest.mark.parametrize(
    ("role", "subject", "heading", "button", "small"),
    [
        (
            Role.APPROVER,
            "Please approve: ",
            "Mira Okafor asks you to approve “",
            "Review and approve",
            "and you don’t sign",
        ),
        (
            Role.VIEWER,
            "For your information: ",
            "Mira Okafor sends you “",
            "Read the document",
            "there’s nothing for you to sign",
        ),
    ],
)
def test_an_invitation_asks_for_what_its_reader_has_to_do(
    role: Role, subject: str, heading: str, button: str, small: str
) -> None:
    letter = write_letter(vary(INVITATION, recipient={"role": role}))
    assert letter.subject == subject + TITLE
    for shown in (heading, button, small):
        assert shown in flat(letter.text) and shown in flat(Shown(letter.html).words)
    assert "Review and sign" not in letter.text and "Sign and finish" not in letter.text


def test_a_reminder_to_approve_speaks_of_approving() -> None:
    letter = write_letter(vary(REMINDER, recipient=APPROVER, filled=0))
    assert letter.subject == f"Still waiting for your approval: {TITLE}"
    assert "waiting for you to approve" in flat(letter.text) and "Decline to approve" in flat(letter.text)


def test_who_approved_is_told_apart_from_who_signed() -> None:
    approved = replace(MIRA, id="rcp_ana", name="Ana Lindqvist", role=Role.APPROVER)
    text = write_letter(vary(COMPLETED, document={"recipients": (SIGNED, MIRA, approved)})).text
    assert "Ana Lindqvist  approved 21 November 2026, 15:20 CET\n" in text
    own = write_letter(vary(COMPLETED, document={"recipients": (approved,)}, recipient=approved)).text
    assert "You approved  21 November 2026, 15:20 CET\n" in own
    still_open = replace(approved, completed_at=None)
    open_ = write_letter(vary(EXPIRED, document={"recipients": (still_open,)})).text
    assert "Ana Lindqvist  has not approved\n" in open_


@pytest.mark.parametrize("tag", sorted(LANGUAGES))
def test_a_document_of_one_recipient_names_who_signed_or_approved_it(tag: str) -> None:
    document = COMPLETED.document
    signer = next(recipient for recipient in document.recipients if recipient.role is Role.SIGNER)
    alone = replace(COMPLETED, document=replace(document, recipients=(signer,), locale=tag), recipient=None)
    letter = write_letter(alone)
    assert signer.name in letter.subject and document.title in letter.subject
    approver = replace(signer, role=Role.APPROVER)
    approved = replace(alone, document=replace(alone.document, recipients=(approver,)))
    subject = write_letter(approved).subject
    assert signer.name in subject and subject != letter.subject


def test_who_gets_a_copy_only_is_told_from_whom() -> None:
    letter = write_letter(vary(COMPLETED, recipient={"role": Role.CC}))
    assert "Mira Okafor is sharing this copy for your information." in flat(letter.text)
    assert "for your information" not in write_letter(COMPLETED).text


def test_a_code_stands_alone_in_its_letter_and_not_in_the_subject() -> None:
    letter = write_letter(CODE)
    assert letter.subject == "Your code from Northlight Joinery"
    assert "\n    417\N{NO-BREAK SPACE}302\n" in letter.text
    assert "417\N{NO-BREAK SPACE}302" in Shown(letter.html).words and Shown(letter.html).links == []
    for said in ("10 minutes, until 21 November 2026, 14:12 CET", "Reply to this email to tell Mira Okafor"):
        assert said in flat(letter.text)


def test_the_link_is_the_only_address_in_the_letter() -> None:
    letter = write_letter(INVITATION)

    assert Shown(letter.html).links == [LINK]
    assert re.findall(r"https?://\S+", letter.text) == [LINK]
    assert f"\n{LINK}\n" in letter.text


@pytest.mark.parametrize("name", list(letters()))
def test_no_letter_loads_anything_or_runs_anything(name: str) -> None:
    shown = Shown(letters()[name].html)

    assert not shown.tags & {"script", "img", "link", "iframe", "form", "object", "svg"}
    assert set(shown.links) <= {LINK}


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_text_twin_has_the_words_of_the_letter(tag: str) -> None:
    """All but what a letter says of its button, and what the text says in place of a coloured edge."""
    phrases = load_words(tag, "UTC", rich=False).phrases
    apart = [phrase for key, phrase in phrases.items() if f"{key}_html" in phrases or key.endswith("_html")]
    apart += [phrases["writes"].format(sender="Mira Okafor"), phrases["reason"], NORTHLIGHT.name]
    unlike = set(re.findall(r"\w+", " ".join(apart)))
    for name, letter in letters(tag).items():
        if name == "awkward":
            continue
        body = letter.html.split("<body")[1].split("</div>", 1)[1]
        rich = set(re.findall(r"\w+", unescape(re.sub(r"<[^>]*>", " ", f"<body {body}")))) - {"NJ"}
        plain = set(re.findall(r"\w+", letter.text.replace(LINK, "")))
        host = set(re.findall(r"\w+", "sign.northlight.example"))
        assert (rich - plain - unlike - host, plain - rich - unlike) == (set(), set()), name


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_letter_has_at_most_one_link_and_the_direction_of_its_language(tag: str) -> None:
    for name, letter in letters(tag).items():
        asks = name.split("_")[0] in ("invitation", "reminder", "completed", "awkward")
        assert Shown(letter.html).links == ([LINK] if asks else []), name
        assert re.findall(r"https?://\S+", letter.text.replace(str(NOTICED["webhook"]), "")) == (
            [LINK] if asks else []
        )
        assert f'<html lang="{tag}" dir="{LANGUAGES[tag].direction}"' in letter.html


@pytest.mark.parametrize("name", [name for name in letters() if name != "awkward"])
def test_the_text_twin_stays_within_72_columns(name: str) -> None:
    lines = letters()[name].text.splitlines()

    assert max(len(line) for line in lines if not line.startswith("https://")) <= 72


def test_a_custom_subject_replaces_the_usual_one() -> None:
    assert write_letter(vary(INVITATION, document={"subject": "Your kitchen"})).subject == "Your kitchen"


def test_test_mode_marks_subject_and_letter() -> None:
    kitchen = vary(INVITATION, document={"subject": "Your kitchen"})
    for mail in (kitchen, REMINDER, COMPLETED, DECLINED, EXPIRED):
        letter = write_letter(replace(mail, mode=Mode.TEST))
        assert letter.subject.startswith("[TEST] ")
        assert letter.text.startswith("This is a test and has no legal effect.\n\n")
        assert "This is a test and has no legal effect." in Shown(letter.html).words


def test_a_live_letter_does_not_speak_of_tests() -> None:
    letter = write_letter(INVITATION)

    assert "TEST" not in letter.subject
    assert "This is a test" not in letter.text + letter.html


def test_without_a_person_the_organisation_asks() -> None:
    text = write_letter(vary(INVITATION, document={"created_by": PROGRAM})).text

    assert text.startswith("Northlight Joinery asks you to sign")
    assert "From      Northlight Joinery\n" in text


def test_without_message_fields_and_end_their_places_are_left_out() -> None:
    bare = {"message": None, "expires_at": None, "file": a_file(1)}
    letter = write_letter(vary(INVITATION, document=bare, recipient={"fields": ()}))

    assert "1 page, about 1 minute\n" in letter.text
    assert "writes:" not in letter.text
    assert "Deadline" not in letter.text + letter.html
    assert 'class="note"' not in letter.html


def test_what_people_write_is_escaped_and_shown_as_written() -> None:
    letter = write_letter(AWKWARD)
    shown = Shown(letter.html)

    assert "script" not in shown.tags
    assert '<script>alert("1")</script> & {{ 7 * 7 }} {title} %s' in flat(shown.words)
    assert '<script>alert("1")</script> & {{ 7 * 7 }} {title} %s' in flat(letter.text)
    assert "<b>Third</b> paragraph" in shown.words


def test_a_message_keeps_its_paragraphs_and_lines() -> None:
    letter = write_letter(vary(INVITATION, document={"message": "One\r\ntwo\r\n \r\n\r\nthree\rfour"}))
    text, html = letter.text, letter.html

    assert "Mira Okafor writes:\n  One\n  two\n\n  three\n  four\n\n" in text
    assert "One<br>two</p>" in html
    assert "three<br>four</p>" in html


def test_line_ends_in_names_and_titles_become_spaces() -> None:
    torn = {"title": "A\r\nBcc: x@evil.test", "subject": "B\nC"}
    letter = write_letter(vary(INVITATION, document=torn, recipient={"name": "Jo\u2028nas\x00"}))

    assert letter.subject == "B C"
    assert "“A Bcc: x@evil.test”" in letter.text
    assert "Hello Jo nas,\n" in letter.text


def test_a_reminder_says_what_is_filled_in_and_how_long_there_is() -> None:
    text = write_letter(REMINDER).text

    assert "5 of 7 fields" in text
    assert "20 December 2026, 14:00 CET, in 4 days" in text
    assert "Continue:\n" in text


@pytest.mark.parametrize(
    ("now", "left"),
    [("2026-12-19T23:59", "tomorrow"), ("2026-12-20T00:01", "today"), ("2026-12-10T12:00", "in 10 days")],
)
def test_days_left_are_counted_by_midnights_in_the_zone_of_the_organisation(now: str, left: str) -> None:
    assert f"14:00 CET, {left}\n" in write_letter(replace(REMINDER, now=at(now))).text


def test_who_has_filled_in_nothing_is_not_told_to_carry_on() -> None:
    text = write_letter(replace(REMINDER, filled=0)).text

    assert "Review and sign:\n" in text
    assert "is kept" not in text
    assert "Filled in" not in text


@pytest.mark.parametrize(
    ("attached", "link", "sentence"),
    [
        (True, LINK, "Your copy is attached to this email, and you can also download it."),
        (True, None, "is sealed. Your copy is attached to this email."),
        (False, LINK, "You can download your copy here."),
        (False, None, "is sealed."),
    ],
)
def test_a_completed_letter_says_how_the_copy_comes(attached: bool, link: str | None, sentence: str) -> None:
    attachments = COMPLETED.attachments if attached else ()
    letter = write_letter(replace(COMPLETED, attachments=attachments, link=link))

    assert sentence in flat(letter.text)
    assert ("Download the sealed PDF" in letter.text) is (link is not None)
    assert ("You can download it until" in letter.text) is (link is not None)
    assert Shown(letter.html).links == ([link] if link else [])


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ((Role.SIGNER, Role.SIGNER), "Everyone has signed"),
        ((Role.SIGNER, Role.VIEWER, Role.CC), "Signed by Jonas Weber"),
        ((Role.APPROVER, Role.APPROVER), "Everyone has approved"),
        ((Role.APPROVER, Role.CC), "Approved by Jonas Weber"),
        ((Role.SIGNER, Role.APPROVER), "Signed and approved"),
    ],
)
def test_a_completed_letter_says_what_the_recipients_did(roles: tuple[Role, ...], words: str) -> None:
    recipients = tuple(replace(SIGNED, id=f"rcp_{n}", role=role) for n, role in enumerate(roles))
    letter = write_letter(vary(COMPLETED, document={"recipients": recipients}))
    assert letter.subject == f"{words}: {TITLE}"
    assert words in flat(letter.text) and words in flat(Shown(letter.html).words)


def test_a_completed_letter_lists_who_signed_when() -> None:
    text = write_letter(COMPLETED).text

    assert "You signed   21 November 2026, 14:05 CET\n" in text
    assert "Mira Okafor  21 November 2026, 15:20 CET\n" in text
    assert "File         Joinery agreement-sealed.pdf, 412 kB\n" in text


@pytest.mark.parametrize(
    ("reader", "sentence"),
    [
        (None, "create a new document and send it"),
        (MIRA, "There’s nothing you need to do"),
        (REFUSED, "You declined to sign “Joinery agreement, 14 Linden Row”"),
    ],
)
def test_a_refusal_is_told_to_each_reader_in_its_words(reader: Recipient | None, sentence: str) -> None:
    letter = write_letter(replace(DECLINED, recipient=reader))

    assert letter.subject == f"Declined: {TITLE}"
    assert sentence in flat(letter.text)
    assert sentence in flat(Shown(letter.html).words)
    assert "The price is not what we agreed on." in letter.text


def test_a_refusal_without_reason_has_no_place_for_one() -> None:
    silent = replace(REFUSED, decline_reason=" \n ")
    text = write_letter(vary(DECLINED, document={"recipients": (silent, MIRA)})).text

    assert "Reason given" not in text
    assert "Hello,\n" in text


def test_an_expiry_tells_who_has_not_signed() -> None:
    text = write_letter(EXPIRED).text

    assert "Jonas Weber  has not signed\n" in text
    assert "Mira Okafor  signed 21 November 2026, 15:20 CET\n" in text


@pytest.mark.parametrize("name", NOTICES)
def test_a_notice_says_what_happened_to_which_webhook(name: str) -> None:
    letter = write_letter(a_notice(name, NOTICED, None))

    assert "{" not in letter.subject + letter.text
    for part in ("Hello,", "books.northlight.example", "Failing since 21 November 2026, 05:58 CET"):
        assert part in flat(letter.text)
        assert part.removeprefix("Failing since ") in flat(Shown(letter.html).words)


@pytest.mark.parametrize("name", KEY_NOTICES)
def test_a_notice_says_which_key_ends_and_when(name: str) -> None:
    letter = write_letter(a_notice(name, KEY_NOTED, None))

    assert "{" not in letter.subject + letter.text
    assert "CRM" in letter.subject
    for part in ("“CRM”", "esk_live_ab12…wxyz", "5 December 2026, 05:58 CET"):
        assert part in flat(letter.text)
        assert part in flat(Shown(letter.html).words)


@pytest.mark.parametrize("name", ACCOUNT_NOTICES)
def test_a_notice_about_an_account_says_which_and_from_where(name: str) -> None:
    letter = write_letter(a_notice(name, ACCOUNT_NOTED, "Mira"))

    assert "{" not in letter.subject + letter.text
    for part in (
        "mira@northlight.example",
        "Firefox 132, Windows",
        "198.51.100.7",
        "5 December 2026, 05:58 CET",
    ):
        assert part in flat(letter.text)
        assert part in flat(Shown(letter.html).words)


@pytest.mark.parametrize("name", OWNER_NOTICES)
def test_a_notice_to_owners_says_who_did_it(name: str) -> None:
    letter = write_letter(a_notice(name, OWNER_NOTED, "Mira"))

    assert "{" not in letter.subject + letter.text and "Mira Okafor" in flat(letter.text)
    assert ("ben@northlight.example" if name == "owner_new" else "“CRM”") in flat(letter.text)


def test_the_facts_of_a_notice_are_no_markup() -> None:
    letter = write_letter(a_notice("webhook_gone", {**NOTICED, "host": "<i>&amp;\nx"}, "<b>"))

    assert not Shown(letter.html).tags & {"i"}
    assert "The webhook to <i>&amp; x is turned off" in letter.text
    assert "The webhook to <i>&amp; x is turned off" in Shown(letter.html).words


def test_a_long_name_leaves_the_columns_in_place() -> None:
    long = replace(JONAS, id="rcp_long", name="N" * 60)
    done = replace(SIGNED, completed_at=UNTIL)
    text = write_letter(vary(EXPIRED, document={"recipients": (long, done)})).text

    assert "N" * 60 + "  has not\n" in text
    assert "\nJonas Weber               signed 20 December 2026, 14:00 CET\n" in text


@pytest.mark.parametrize(
    ("octets", "shown"),
    [(1, "1 byte"), (999, "999 bytes"), (1_000, "1 kB"), (999_499, "999 kB"), (999_500, "1.0 MB")],
)
def test_sizes_are_told_in_thousands(octets: int, shown: str) -> None:
    assert load_words("en", "UTC", rich=False).size(octets) == shown


@pytest.mark.parametrize("locale", ["en", "en-GB", "xx", "../en", ""])
def test_an_unknown_language_is_answered_in_english(locale: str) -> None:
    assert load_words(locale, "UTC", rich=False).language.tag == "en"


@pytest.mark.parametrize(
    ("organisation", "colour", "expected"),
    [
        ("Northlight Joinery", "#7a4a1d", ("NJ", "#7a4a1d", "#ffffff")),
        ("esign", None, ("E", "#3d4657", "#ffffff")),
        ("(the) Öl & Co", "#ffe08a", ("TÖ", "#ffe08a", "#1b2330")),
        ("Evil", "red;background:url(x)", ("E", "#3d4657", "#ffffff")),
        ("!!!", "#FFFFFF", ("", "#FFFFFF", "#1b2330")),
    ],
)
def test_the_mark_can_be_read_on_any_colour(
    organisation: str, colour: str | None, expected: tuple[str, str, str]
) -> None:
    made = build_mark(organisation, colour)

    assert (made.letters, made.ground, made.ink) == expected


def test_the_button_has_the_colour_of_the_organisation_where_it_can_be_read() -> None:
    plain = write_letter(vary(INVITATION, organisation={"name": "Plain", "colour": COLOUR})).html
    assert 'bgcolor="#2546d8"' in plain
    brown = write_letter(vary(INVITATION, organisation={"name": "Northlight", "colour": "#7a4a1d"})).html
    assert 'bgcolor="#7a4a1d" style="border-radius:8px' in brown and "#2546d8" not in brown
    yellow = write_letter(vary(INVITATION, organisation={"name": "Northlight", "colour": "#ffe100"})).html
    tones = choose_tones("#ffe100")
    assert f'bgcolor="{tones.light.ground}"' in yellow and "background-color: #ffe100 !important" in yellow


def test_a_colour_that_is_none_never_reaches_the_letter() -> None:
    evil = {"name": "Evil", "colour": "red;background:url(https://evil.test/)"}

    assert "evil.test" not in write_letter(vary(INVITATION, organisation=evil)).html
