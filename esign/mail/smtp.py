"""Handing a message to the mail server, and what its answer means for the next attempt (docs/dev/security.md 7)."""

import asyncio
import contextlib
import socket
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import TYPE_CHECKING, Literal, Protocol

from esign.mail.failure import (
    AuthenticationFailure,
    MailFailure,
    OptionFailure,
    PermanentFailure,
    RelayFailure,
    TemporaryFailure,
)
from esign.mail.message import Envelope, envelope
from esign.mail.pool import GOODBYE, Connection, Pool
from esign.mail.words import line
from esign.system.resolve_names import SystemLookup

if TYPE_CHECKING:
    import ssl

    import aiosmtplib

STEP = 30.0
ALL_OF_IT = 120.0
KEEP = 20.0
LONGEST_REASON = 500
TRIES = 3

# Answers that speak of us and not of the mail: authentication required, too weak, refused (RFC 4954).
AUTHENTICATION = frozenset({530, 534, 535, 538})
CLOSING = 421  # whatever was asked
NO_ROOM = 452  # for a mail of the size that was announced (RFC 1870)
TOO_LARGE = 552

Security = Literal["starttls", "tls", "none"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The server has taken the message over; `reply` is what it said, often with its own id."""

    reply: str


class Mailer(Protocol):
    async def send(self, message: EmailMessage, lane: str = "") -> Accepted:
        """Deliver to the one recipient in `To`, or raise a MailFailure; `lane` is whose mail it is."""
        ...


@dataclass(frozen=True, slots=True)
class Smtp:
    """A mail server. `starttls` is required, not tried; `trust` replaces the system's trust store.

    `own_name` is what we call ourselves there; finding it out by the DNS could take longer than the mail.

    Seconds: `step` until the server is ready for a mail, and for each command; `all_of_it` until it has taken the
    message. At most `connections` are open at once; one is kept for `keep` seconds after a mail.
    """

    host: str
    port: int = 587
    security: Security = "starttls"
    username: str | None = None
    password: str | None = None
    own_name: str = "localhost"
    trust: "ssl.SSLContext | None" = None
    step: float = STEP
    all_of_it: float = ALL_OF_IT
    connections: int = 1
    keep: float = 0.0
    lookup: SystemLookup = field(default_factory=SystemLookup)
    _pool: Pool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pool", Pool(self._connect, self.connections, self.keep))

    async def send(self, message: EmailMessage, lane: str = "") -> Accepted:
        """Deliver, or raise TemporaryFailure, RelayFailure, PermanentFailure or AuthenticationFailure."""
        octets, to = await asyncio.to_thread(message.as_bytes), envelope(message)
        for tried in range(1, TRIES + 1):
            connection = await self._pool.acquire(lane)
            try:
                async with asyncio.timeout(self.all_of_it):
                    reply = await self._hand_over(connection, to, octets)
            except AuthenticationFailure:
                await self._pool.discard(connection)
                raise
            except RelayFailure:
                # Nothing of this mail was taken yet, so it may go over another connection at once: a new one where
                # the server had closed this one meanwhile, else one of those that it does serve.
                closed = connection.reused and not connection.client.is_connected
                await self._pool.discard(connection)
                elsewhere = self._pool.drop_idle() if closed else self._pool.shrink()
                if tried == TRIES or not elsewhere:
                    self._pool.forget_limit()
                    raise
            except MailFailure:
                await self._settle(connection)
                raise
            except TimeoutError as error:
                await self._pool.discard(connection)
                raise TemporaryFailure("The mail server did not answer in time") from error
            except BaseException:
                await self._pool.discard(connection)
                raise
            else:
                await self._pool.release(connection)
                return Accepted(_reason(reply))
        raise AssertionError("the last try returns or raises")

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def _connect(self) -> "aiosmtplib.SMTP":
        """A connection that is ready for a mail: greeted, encrypted, logged in."""
        from aiosmtplib import SMTP, SMTPException

        try:
            async with asyncio.timeout(self.step):
                dialled = await self._dial()
        except OSError as error:
            raise relay_failure(error) from error
        client = SMTP(
            hostname=self.host,
            port=None,
            sock=dialled,
            use_tls=self.security == "tls",
            start_tls=self.security == "starttls",
            username=self.username,
            password=self.password,
            local_hostname=self.own_name,
            timeout=self.step,
            tls_context=self.trust,
        )
        try:
            async with asyncio.timeout(min(self.step, self.all_of_it)):
                await client.connect()
                await _greet(client)
        except (SMTPException, OSError) as error:
            client.close()
            raise relay_failure(error) from error
        except BaseException:
            client.close()
            raise
        return client

    async def _hand_over(self, connection: Connection, to: Envelope, octets: bytes) -> str:
        """One transaction with one recipient; what the server said at its end."""
        from aiosmtplib import SMTPException

        client = connection.client
        if to.international and not client.supports_extension("smtputf8"):
            raise PermanentFailure("The mail server does not take internationalised addresses")
        encoding = "utf-8" if to.international else "ascii"
        try:
            await client.mail(to.sender, options=_options(client, to, octets), encoding=encoding)
        except (SMTPException, OSError) as error:
            raise mail_failure(error, to) from error
        try:
            await client.rcpt(to.recipient, encoding=encoding)
            return (await client.data(octets)).message
        except (SMTPException, OSError) as error:
            raise failure(error) from error

    async def _settle(self, connection: Connection) -> None:
        """Ready the connection for another mail after this one was refused, or close it."""
        from aiosmtplib import SMTPException

        client = connection.client
        with contextlib.suppress(SMTPException, OSError):
            if client.is_connected:
                await client.rset(timeout=GOODBYE)
                await self._pool.release(connection)
                return
        await self._pool.discard(connection)

    async def _dial(self) -> socket.socket:
        """Return a connection to the first address that takes one; raise OSError of the last where none does."""
        loop, last = asyncio.get_running_loop(), OSError(f"{self.host} has no address")
        for address in await self.lookup(self.host):
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            dialled = socket.socket(family, socket.SOCK_STREAM)
            dialled.setblocking(False)
            try:
                await loop.sock_connect(dialled, (address, self.port))
            except OSError as error:
                dialled.close()
                last = error
            except asyncio.CancelledError:
                dialled.close()
                raise
            else:
                return dialled
        raise last


async def _greet(client: "aiosmtplib.SMTP") -> None:
    """EHLO, or HELO where the server does not know it, unless it was said before STARTTLS or the login."""
    from aiosmtplib import SMTPHeloError

    if not client.is_ehlo_or_helo_needed:
        return
    try:
        await client.ehlo()
    except SMTPHeloError:
        if not client.is_connected:
            raise
        await client.helo()


def _options(client: "aiosmtplib.SMTP", to: Envelope, octets: bytes) -> list[str]:
    """What follows MAIL FROM: the size (RFC 1870), and what an international address needs (RFC 6531)."""
    size = [f"size={len(octets)}"] if client.supports_extension("size") else []
    return size + (["SMTPUTF8", "BODY=8BITMIME"] if to.international else [])


def mail_failure(error: Exception, to: Envelope) -> MailFailure:
    """What an error at MAIL FROM means: of the mail speaks what may lie in SMTPUTF8, or in its size."""
    found, code = relay_failure(error), _code(error)
    asks = to.international or code == NO_ROOM
    if code is None or code == CLOSING or isinstance(found, AuthenticationFailure) or not asks:
        return found
    return OptionFailure(found.reason) if isinstance(found, RelayFailure) else found


def relay_failure(error: Exception) -> MailFailure:
    """What an error means before the server was told of a recipient: only the size of the mail speaks of the mail."""
    found = failure(error)
    if isinstance(found, AuthenticationFailure) or _code(error) == TOO_LARGE:
        return found
    return RelayFailure(found.reason)


def failure(error: Exception) -> MailFailure:
    """What an error of the conversation means.

    Only an answer to the recipient or the content speaks of this mail; the rest speaks of the server or of
    our settings, and the mail waits until that is mended.
    """
    import aiosmtplib

    if not isinstance(error, aiosmtplib.SMTPResponseException):
        return TemporaryFailure(_reason(str(error) or "The mail server did not answer in time"))
    reason = _reason(f"{error.code} {error.message}")
    if error.code < 500:
        return TemporaryFailure(reason)
    if error.code in AUTHENTICATION or isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return AuthenticationFailure(reason)
    about_mail = isinstance(error, aiosmtplib.SMTPRecipientRefused | aiosmtplib.SMTPDataError)
    return PermanentFailure(reason) if about_mail or error.code == TOO_LARGE else TemporaryFailure(reason)


def _code(error: Exception) -> int | None:
    import aiosmtplib

    return error.code if isinstance(error, aiosmtplib.SMTPResponseException) else None


def _reason(said: str) -> str:
    return line(said)[:LONGEST_REASON]
