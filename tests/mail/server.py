"""A mail server on loopback that keeps what it takes and says what it is told to say."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP as POLICY
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.certificates import HOST

USER, PASSWORD = "esign", "correct horse"


@dataclass
class Server:
    """`says` maps a step (`mail`, `rcpt`, `data`) to the answer given there instead of the usual one."""

    says: dict[str, str] = field(default_factory=dict)
    port: int = 0
    envelopes: list[Envelope] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    connections: int = 0  # since the start
    open: int = 0
    most_open: int = 0
    of_domain: dict[str, str] = field(
        default_factory=dict
    )  # what is said to RCPT of these; "hang" and "drop" too
    asked: list[str] = field(default_factory=list)  # the recipients named, whatever was said
    breaks_off_at: str | None = None  # the recipient at whose mail the connection ends without an answer

    @property
    def messages(self) -> list[EmailMessage]:
        return [message_from_bytes(octets(sent), policy=POLICY) for sent in self.envelopes]

    async def handle_MAIL(
        self, _: SMTP, __: Session, envelope: Envelope, sender: str, options: list[str]
    ) -> str:
        if "mail" in self.says:
            return self.says["mail"]
        if "smtputf8" in self.says and "SMTPUTF8" in options:
            return self.says["smtputf8"]
        envelope.mail_from = sender
        envelope.mail_options += options
        return "250 OK"

    async def handle_RCPT(
        self, smtp: SMTP, _: Session, envelope: Envelope, to: str, options: list[str]
    ) -> str:
        self.asked.append(to)
        match self.of_domain.get(to.rpartition("@")[2]):
            case "hang":
                await asyncio.Event().wait()
            case "drop":
                assert isinstance(smtp.transport, asyncio.Transport)
                smtp.transport.abort()
                return "421 gone"
            case str(said):
                return said
        if "rcpt" in self.says:
            return self.says["rcpt"]
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, smtp: SMTP, session: Session, envelope: Envelope) -> str:
        if self.breaks_off_at in envelope.rcpt_tos:
            assert isinstance(smtp.transport, asyncio.Transport)
            smtp.transport.abort()
            return "421 gone"
        if "data" in self.says:
            return self.says["data"]
        self.envelopes.append(envelope)
        self.encrypted.append(session.ssl is not None)
        return "250 2.0.0 taken as q-123"


def octets(envelope: Envelope) -> bytes:
    assert isinstance(envelope.content, bytes)
    return envelope.content


def authenticate(_: Any, __: Any, ___: Any, ____: str, data: Any) -> AuthResult:
    fine = isinstance(data, LoginPassword) and (data.login, data.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    return AuthResult(success=fine, handled=False)


@contextlib.asynccontextmanager
async def serving(
    tls: ssl.SSLContext | None = None,
    *,
    smtps: bool = False,
    says: dict[str, str] | None = None,
    port: int = 0,
    limit: int = 0,
    **options: Any,
) -> AsyncIterator[Server]:
    """`tls` offers STARTTLS, with `smtps` TLS from the first byte; `options` are those of aiosmtpd."""
    server = Server(says or {})
    loop = asyncio.get_running_loop()
    if tls and not smtps:
        options |= {"tls_context": tls, "require_starttls": True}

    transports: dict[SMTP, asyncio.BaseTransport] = {}

    class CountedConnection(SMTP):
        """Counts connections; `says["connect"]` is said instead of a greeting once `limit` are open."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if transports.get(self) is not None:  # the same connection, encrypted from now on
                super().connection_made(transport)
                return
            server.connections += 1
            server.open += 1
            transports[self] = transport
            server.most_open = max(server.most_open, server.open)
            if "connect" in server.says and server.open > limit:
                assert isinstance(transport, asyncio.Transport)
                transport.write(server.says["connect"].encode() + b"\r\n")
                transport.close()
            super().connection_made(transport)

        def connection_lost(self, error: Exception | None) -> None:
            server.open -= 1
            super().connection_lost(error)

    listener = await loop.create_server(
        lambda: CountedConnection(server, hostname=HOST, loop=loop, **options),
        "127.0.0.1",
        port,
        ssl=tls if smtps else None,
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for transport in transports.values():
            transport.close()
        await listener.wait_closed()
