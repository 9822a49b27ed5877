import re
from dataclasses import replace
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esign.mail import header
from esign.mail.failure import PermanentFailure
from esign.mail.message import (
    Attachment,
    Envelope,
    MessageAddresses,
    NamedMailbox,
    compose_message,
    normalise_address,
    read_envelope,
)
from esign.mail.sheet import InlinePicture
from esign.mail.write_letter import write_letter
from tests.mail.samples import INVITATION, at, letters

LETTER = letters()["invitation"]
SENDER = NamedMailbox("sign@northlight.example", "Northlight Joinery")
JONAS = NamedMailbox("jonas@weber.example", "Jonas Weber")
NOW = at("2026-11-21T14:05:09")

SPECIAL = st.sampled_from(
    [*' ,;:<>@"\\()[]=?_.-', "=?utf-8?q?", "?=", "é", "例", "😀", "م", "\u200d", "\u202e"]
)
DATA = st.lists(
    st.one_of(SPECIAL, st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))), max_size=200
).map("".join)


def write_message(**changes: Any) -> EmailMessage:
    boxes = MessageAddresses(
        *(changes.pop(name, given) for name, given in (("sender", SENDER), ("to", JONAS), ("reply_to", None)))
    )
    facts: dict[str, Any] = {"letter": LETTER, "message_id": "eml_01k@sign.northlight.example", "at": NOW}
    return compose_message(boxes=boxes, **(facts | changes))


def read(message: EmailMessage) -> EmailMessage:
    parsed = message_from_bytes(message.as_bytes(), policy=SMTP)
    assert isinstance(parsed, EmailMessage)
    return parsed


def raw_header(octets: bytes, name: str) -> str:
    """The unfolded header as it stands on the wire."""
    head = octets.split(b"\r\n\r\n")[0].decode()
    found = [line for line in re.split(r"\r\n(?![ \t])", head) if line.startswith(f"{name}: ")]
    assert len(found) == 1
    return found[0].removeprefix(f"{name}: ").replace("\r\n ", " ")


def test_a_message_has_the_headers_of_a_machine_that_can_be_answered() -> None:
    parsed = read(write_message(reply_to=NamedMailbox("mira@northlight.example", "Mira Okafor")))

    assert parsed.keys() == [
        "From", "To", "Reply-To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
    ]  # fmt: skip
    assert parsed["From"] == "Northlight Joinery <sign@northlight.example>"
    assert parsed["To"] == "Jonas Weber <jonas@weber.example>"
    assert parsed["Reply-To"].addresses[0].addr_spec == "mira@northlight.example"
    assert parsed["Date"] == "Sat, 21 Nov 2026 13:05:09 +0000"
    assert parsed["Message-ID"] == "<eml_01k@sign.northlight.example>"
    assert parsed["Auto-Submitted"] == "auto-generated"


def test_both_twins_arrive_as_written() -> None:
    parsed = read(write_message())
    text, html = (parsed.get_body((kind,)) for kind in ("plain", "html"))

    assert parsed.get_content_type() == "multipart/alternative"
    assert text is not None and text.get_content().replace("\r\n", "\n") == LETTER.text
    assert html is not None and html.get_content().replace("\r\n", "\n").strip() == LETTER.html.strip()


@pytest.mark.parametrize(
    "name", ["Vertrag – Müller 例え.pdf", "x\".html; filename*=utf-8''y.html", "a" * 251 + ".pdf"]
)
def test_an_attachment_arrives_byte_for_byte_under_its_name(name: str) -> None:
    content = bytes(range(256)) * 50
    parsed = read(write_message(attachments=[Attachment(name, content)]))
    (attached,) = parsed.iter_attachments()

    assert attached.get_filename() == name
    assert attached.get_content_type() == "application/pdf"
    assert attached.get_content() == content
    assert parsed.get_body(("html",)) is not None


def test_no_part_contains_what_separates_the_parts() -> None:
    letter = replace(LETTER, text="--=_0\n--=_0--\n", html="<p>--=_1</p>\n")
    message = write_message(letter=letter, attachments=[Attachment("a.pdf", b"\r\n--=_0\r\n")])
    boundaries = [str(part.get_boundary()) for part in message.walk() if part.is_multipart()]
    assert len(set(boundaries)) == 2 and all(boundary.startswith("=_") for boundary in boundaries)
    octets = message.as_bytes()
    # Each stands in its header, before each of its two parts and at the end; nothing else has the same beginning.
    assert [octets.count(boundary.encode()) for boundary in boundaries] == [4, 4]
    assert octets.count(b"=_") == 8
    parsed = read(message)
    assert [part.get_content() for part in parsed.iter_attachments()] == [b"\r\n--=_0\r\n"]
    assert not parsed.defects


def test_the_same_mail_written_twice_keeps_its_message_id() -> None:
    assert (
        write_message()["Message-ID"] == write_message()["Message-ID"] == "<eml_01k@sign.northlight.example>"
    )


def test_every_line_is_short_ascii() -> None:
    octets = write_message(
        letter=letters()["awkward"], to=NamedMailbox("jonas@weber.example", "例え" * 100)
    ).as_bytes()

    assert octets.isascii()
    assert max(map(len, octets.split(b"\r\n"))) <= 78
    assert b"\n" not in octets.replace(b"\r\n", b"")


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(DATA)
def test_any_subject_reaches_the_reader_as_it_was(subject: str) -> None:
    octets = write_message(letter=replace(LETTER, subject=subject)).as_bytes()

    assert str(make_header(decode_header(raw_header(octets, "Subject")))) == subject


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(DATA)
def test_any_name_reaches_the_reader_as_it_was_and_adds_no_recipient(name: str) -> None:
    octets = write_message(to=replace(JONAS, name="." + name)).as_bytes()
    shown, _, address = raw_header(octets, "To").rpartition("<")
    parsed = message_from_bytes(octets, policy=SMTP)

    assert address == "jonas@weber.example>"
    assert [box.addr_spec for box in parsed["To"].addresses] == ["jonas@weber.example"]
    if shown.startswith('"'):
        assert re.fullmatch(r'"(?:[^"\\]|\\.)*" ', shown)
        assert re.sub(r"\\(.)", r"\1", shown[1:-2]) == "." + name
    else:
        assert str(make_header(decode_header(shown.strip()))) == "." + name


@pytest.mark.parametrize(
    "character", ["\r", "\n", "\r\n", "\x00", "\x0b", "\x7f", "\x85", "\u2028", "\u2029", "\ud800"]
)
@pytest.mark.parametrize(
    "place",
    [
        lambda text: {"letter": replace(LETTER, subject=text)},
        lambda text: {"to": replace(JONAS, name=text)},
        lambda text: {"to": NamedMailbox(text + "@weber.example")},
        lambda text: {"sender": replace(SENDER, name=text)},
        lambda text: {"reply_to": NamedMailbox("mira@northlight.example", text)},
        lambda text: {"message_id": text + "@sign.example"},
        lambda text: {"attachments": [Attachment(text, b"")]},
    ],
)
def test_a_control_character_in_a_header_is_refused(place: Any, character: str) -> None:
    with pytest.raises(PermanentFailure):
        write_message(**place(f"Bob{character}Bcc: evil@x.test"))


@pytest.mark.parametrize(
    "address",
    [
        "a@b.test,c@d.test",
        '"a@b.test>,<c"@d.test',
        "a@[127.0.0.1]",
        "a b@c.test",
        "<a@b.test>",
        "a@b.test>",
        "a",
        "@b.test",
        "a@",
        "a@b..test",
        "a@b.test\n",
        "a@b.test c",
        "a" * 65 + "@b.test",
        "a@" + "b" * 250 + ".test",
    ],
)
def test_what_is_not_one_mailbox_is_refused(address: str) -> None:
    with pytest.raises(PermanentFailure):
        write_message(to=NamedMailbox(address))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("jonas@weber.example", "jonas@weber.example"),
        ("o'neil+x/y=z@sub.weber.example", "o'neil+x/y=z@sub.weber.example"),
        ("ü@例え.jp", "ü@xn--r8jz45g.jp"),
        ("jonas@Bücher.example", "jonas@xn--bcher-kva.example"),
        ("esign@localhost", "esign@localhost"),
    ],
)
def test_a_domain_is_written_in_ascii(address: str, expected: str) -> None:
    assert normalise_address(address) == expected


def test_an_international_mailbox_makes_an_international_message() -> None:
    message = write_message(to=NamedMailbox("ü@例え.jp", "Ünal"))

    assert read_envelope(message) == Envelope("sign@northlight.example", "ü@xn--r8jz45g.jp", True)
    assert "<ü@xn--r8jz45g.jp>".encode() in message.as_bytes()


def test_an_ordinary_message_needs_nothing_special() -> None:
    assert read_envelope(write_message()) == Envelope("sign@northlight.example", "jonas@weber.example", False)


def test_a_header_reads_as_the_text_it_carries() -> None:
    assert header.write_text("Subject", "例え") == "例え"
    assert write_message()["To"] == "Jonas Weber <jonas@weber.example>"


@pytest.mark.parametrize("attached", [(), (Attachment("a.pdf", b"%PDF-"),)], ids=["alone", "with a file"])
def test_a_logo_comes_beside_the_html_and_the_text_knows_nothing_of_it(
    attached: tuple[Attachment, ...],
) -> None:
    logo = InlinePicture("logo.1@esign", b"\x89PNG logo", 640, 160)
    letter = write_letter(replace(INVITATION, logo=logo))
    parsed = read(write_message(letter=letter, attachments=attached))
    kinds = [part.get_content_type() for part in parsed.walk()]
    assert kinds[-5 - len(attached) :][:5] == [
        *("multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png")
    ]
    [picture] = (part for part in parsed.walk() if part.get_content_type() == "image/png")
    assert (picture["Content-ID"], picture.get_content_disposition()) == ("<logo.1@esign>", "inline")
    assert picture.get_payload(decode=True) == logo.png
    assert letter.text == LETTER.text
    assert parsed.get_body(("plain",)).get_content().replace("\r\n", "\n") == LETTER.text  # type: ignore[union-attr]
    assert [part.get_filename() for part in parsed.iter_attachments()] == ["a.pdf"] * len(attached)
