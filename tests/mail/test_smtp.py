import asyncio
import contextlib
from collections.abc import AsyncIterator
from email.message import EmailMessage

import pytest

from esign.mail.failure import AuthenticationFailure, PermanentFailure, RelayFailure, TemporaryFailure
from esign.mail.message import Attachment, MessageAddresses, NamedMailbox, compose_message
from esign.mail.smtp import Mailer, SmtpServer
from tests.certificates import TlsPair
from tests.mail.samples import at, letters
from tests.mail.server import PASSWORD, USER, authenticate, octets, serving

LETTER = letters()["completed"]


def a_message(to: str = "jonas@weber.example", *, content: bytes = b"%PDF-1.7\n.\n..\r\n") -> EmailMessage:
    return compose_message(
        LETTER,
        MessageAddresses(
            NamedMailbox("sign@northlight.example", "Northlight Joinery"), NamedMailbox(to, "Jonas Weber")
        ),
        message_id="eml_01k@sign.northlight.example",
        at=at("2026-11-21T14:05:09"),
        attachments=[Attachment("Agreement.pdf", content)],
    )


def plain(port: int) -> SmtpServer:
    return SmtpServer("127.0.0.1", port, "none", step=5)


async def test_the_server_gets_one_recipient_and_the_whole_letter() -> None:
    async with serving() as server:
        mailer: Mailer = plain(server.port)
        accepted = await mailer.send(a_message())

    (sent,) = server.envelopes
    (message,) = server.messages
    (attached,) = message.iter_attachments()
    text = message.get_body(("plain",))
    assert accepted.reply == "2.0.0 taken as q-123"
    assert (sent.mail_from, sent.rcpt_tos) == ("sign@northlight.example", ["jonas@weber.example"])
    assert message["Subject"] == "Everyone has signed: Joinery agreement, 14 Linden Row"
    assert message["Message-ID"] == "<eml_01k@sign.northlight.example>"
    assert text is not None and text.get_content().replace("\r\n", "\n") == LETTER.text
    assert attached.get_content() == b"%PDF-1.7\n.\n..\r\n"


async def test_a_name_full_of_traps_adds_no_recipient_and_no_header() -> None:
    trap = 'Bob" <x@evil.test>, "Eve\\" <y@evil.test>; Bcc: z@evil.test =?utf-8?q?=0D=0ABcc:_z=40evil.test?='
    message = compose_message(
        LETTER,
        MessageAddresses(
            NamedMailbox("sign@northlight.example", trap), NamedMailbox("jonas@weber.example", trap)
        ),
        message_id="eml_1@sign.example",
        at=0,
    )
    async with serving() as server:
        await plain(server.port).send(message)

    (received,) = server.messages
    assert server.envelopes[0].rcpt_tos == ["jonas@weber.example"]
    assert [box.addr_spec for box in received["To"].addresses] == ["jonas@weber.example"]
    assert received["Bcc"] is None


async def test_starttls_is_used_before_password_and_letter(pair: TlsPair) -> None:
    async with serving(pair.server, authenticator=authenticate, auth_required=True) as server:
        await SmtpServer("localhost", server.port, "starttls", USER, PASSWORD, trust=pair.client).send(
            a_message()
        )

    assert server.encrypted == [True]


async def test_tls_from_the_first_byte(pair: TlsPair) -> None:
    async with serving(pair.server, smtps=True) as server:
        await SmtpServer("localhost", server.port, "tls", trust=pair.client).send(a_message())

    assert len(server.messages) == 1


async def test_a_server_without_starttls_gets_nothing_where_it_is_required() -> None:
    async with serving() as server:
        with pytest.raises(TemporaryFailure, match="STARTTLS"):
            await SmtpServer("127.0.0.1", server.port, "starttls").send(a_message())

    assert server.envelopes == []


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_certificate_that_cannot_be_trusted_stops_the_mail(pair: TlsPair, security: str) -> None:
    async with serving(pair.server, smtps=security == "tls") as server:
        with pytest.raises(TemporaryFailure):
            await SmtpServer("localhost", server.port, security, USER, PASSWORD).send(a_message())  # type: ignore[arg-type]

    assert server.envelopes == []


async def test_a_certificate_for_another_host_stops_the_mail(pair: TlsPair) -> None:
    async with serving(pair.server) as server:
        with pytest.raises(TemporaryFailure):
            await SmtpServer("127.0.0.1", server.port, "starttls", trust=pair.client).send(a_message())

    assert server.envelopes == []


async def test_a_wrong_password_is_an_authentication_failure(pair: TlsPair) -> None:
    async with serving(pair.server, authenticator=authenticate, auth_required=True) as server:
        with pytest.raises(AuthenticationFailure, match="535") as caught:
            await SmtpServer("localhost", server.port, "starttls", USER, "wrong", trust=pair.client).send(
                a_message()
            )

    assert "wrong" not in caught.value.reason


async def test_a_server_that_wants_a_password_is_an_authentication_failure(pair: TlsPair) -> None:
    async with serving(pair.server, authenticator=authenticate, auth_required=True) as server:
        with pytest.raises(AuthenticationFailure, match="530"):
            await SmtpServer("localhost", server.port, "starttls", trust=pair.client).send(a_message())


@pytest.mark.parametrize(
    ("step", "answer", "expected"),
    [
        ("mail", "421 4.3.2 shutting down", RelayFailure),
        ("mail", "451 4.3.0 try later", RelayFailure),
        ("mail", "550 5.7.1 this sender may not send here", RelayFailure),
        ("mail", "552 5.3.4 message too large", PermanentFailure),
        ("mail", "530 5.7.0 authentication required", AuthenticationFailure),
        ("rcpt", "450 4.2.0 greylisted", TemporaryFailure),
        ("rcpt", "421 4.7.0 too many", TemporaryFailure),
        ("rcpt", "550 5.1.1 no such user", PermanentFailure),
        ("rcpt", "552 5.2.2 mailbox full", PermanentFailure),
        ("rcpt", "530 5.7.0 authentication required", AuthenticationFailure),
        ("data", "451 4.3.0 try later", TemporaryFailure),
        ("data", "452 4.3.1 disk full", TemporaryFailure),
        ("data", "554 5.7.1 looks like spam", PermanentFailure),
    ],
)
async def test_each_answer_has_its_meaning(step: str, answer: str, expected: type[Exception]) -> None:
    async with serving(says={step: answer}) as server:
        with pytest.raises(expected, match=answer[:3]) as caught:
            await plain(server.port).send(a_message())

    assert type(caught.value) is expected
    assert answer[4:] in str(caught.value)


async def test_a_refused_connection_is_temporary() -> None:
    async with serving() as server:
        pass
    with pytest.raises(TemporaryFailure):
        await plain(server.port).send(a_message())


@contextlib.asynccontextmanager
async def talking(greeting: bytes) -> AsyncIterator[int]:
    """A listener that says one thing and then waits for the other side to leave."""

    left = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            writer.write(greeting)
            await reader.read()
        writer.transport.abort()
        left.set()

    listener = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1]
        await left.wait()


@pytest.mark.parametrize(
    "greeting", [b"", b"220 hello\r\n", b"554 go away\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"]
)
async def test_a_server_that_does_not_talk_smtp_is_temporary(greeting: bytes) -> None:
    async with talking(greeting) as port:
        with pytest.raises(TemporaryFailure) as caught:
            await SmtpServer("127.0.0.1", port, "none", step=0.1).send(a_message())

    assert caught.value.reason
    assert "\n" not in caught.value.reason


async def test_a_whole_conversation_has_an_end_too() -> None:
    async with talking(b"220 hello\r\n") as port:
        with pytest.raises(TemporaryFailure):
            await SmtpServer("127.0.0.1", port, "none", all_of_it=0.1).send(a_message())


async def test_an_international_mailbox_is_delivered_where_the_server_can() -> None:
    async with serving(enable_SMTPUTF8=True) as server:
        await plain(server.port).send(a_message("ü@例え.jp"))

    assert server.envelopes[0].rcpt_tos == ["ü@xn--r8jz45g.jp"]
    assert "SMTPUTF8" in server.envelopes[0].mail_options
    assert "<ü@xn--r8jz45g.jp>".encode() in octets(server.envelopes[0])


async def test_an_international_mailbox_fails_for_good_where_the_server_cannot() -> None:
    async with serving(enable_SMTPUTF8=False) as server:
        with pytest.raises(PermanentFailure, match="internationalised"):
            await plain(server.port).send(a_message("ü@例え.jp"))

    assert server.envelopes == []


async def test_a_large_attachment_arrives_whole() -> None:
    content = bytes(range(256)) * 4 * 1_024
    async with serving() as server:
        await plain(server.port).send(a_message(content=content))

    (attached,) = server.messages[0].iter_attachments()
    assert attached.get_content() == content
