"""Hand a message to the mail server, and interpret its answer for the next attempt."""

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
from esign.mail.message import Envelope, read_envelope
from esign.mail.pool import GOODBYE, MailConnection, MailPool
from esign.mail.words import write_line
from esign.system.system_lookup import SystemLookup

if TYPE_CHECKING:
    import ssl

    import aiosmtplib

STEP = 30.0
ALL_OF_IT = 120.0
KEEP = 20.0
LONGEST_REASON = 500
TRIES = 3

# Replies about our login and not about the mail: authentication required, too weak, refused (RFC 4954).
AUTHENTICATION = frozenset({530, 534, 535, 538})
CLOSING = 421  # in reply to any command
NO_ROOM = 452  # for a mail of the announced size (RFC 1870)
TOO_LARGE = 552

Security = Literal["starttls", "tls", "none"]


@dataclass(frozen=True, slots=True)
class AcceptedMail:
    """The server has taken over the message; `reply` is its answer, often with its own id."""

    reply: str


class Mailer(Protocol):
    async def send(self, message: EmailMessage, lane: str = "") -> AcceptedMail:
        """Deliver to the one recipient in `To`, or raise a MailFailure. `lane` is whose mail it is."""
        ...


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A mail server. `starttls` is required, not tried; `trust` replaces the system's trust store.

    `own_name` is the name we give in EHLO; looking it up in the DNS could take longer than the mail. `step` is
    the number of seconds until the server is ready for a mail, and for each command; `all_of_it` that until it
    has taken the message. At most `connections` are open at once; one is kept for `keep` seconds after a mail.
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
    _pool: MailPool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pool", MailPool(self._connect, self.connections, self.keep))

    async def send(self, message: EmailMessage, lane: str = "") -> AcceptedMail:
        """Deliver the message. Raises TemporaryFailure, RelayFailure, PermanentFailure or AuthenticationFailure."""
        octets, to = await asyncio.to_thread(message.as_bytes), read_envelope(message)
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
                return AcceptedMail(_write_reason(reply))
        raise AssertionError("the last try returns or raises")

    async def log_in(self) -> None:
        """Connect, encrypt and log in as for a mail, and leave again. Raises a MailFailure."""
        await self._pool.release(await self._pool.acquire())

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def _connect(self) -> "aiosmtplib.SMTP":
        """Return a connection that is ready for a mail: greeted, encrypted and logged in."""
        from aiosmtplib import SMTP, SMTPException

        try:
            async with asyncio.timeout(self.step):
                dialled = await self._dial()
        except OSError as error:
            raise classify_relay_error(error) from error
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
                await _greet_server(client)
        except (SMTPException, OSError) as error:
            client.close()
            raise classify_relay_error(error) from error
        except BaseException:
            client.close()
            raise
        return client

    async def _hand_over(self, connection: MailConnection, to: Envelope, octets: bytes) -> str:
        """Send one mail to one recipient, and return the server's final reply."""
        from aiosmtplib import SMTPException

        client = connection.client
        if to.international and not client.supports_extension("smtputf8"):
            raise PermanentFailure("The mail server does not take internationalised addresses")
        encoding = "utf-8" if to.international else "ascii"
        try:
            await client.mail(to.sender, options=_build_options(client, to, octets), encoding=encoding)
        except (SMTPException, OSError) as error:
            raise classify_mail_error(error, to) from error
        try:
            await client.rcpt(to.recipient, encoding=encoding)
            return (await client.data(octets)).message
        except (SMTPException, OSError) as error:
            raise classify_error(error) from error

    async def _settle(self, connection: MailConnection) -> None:
        """Reset the connection for another mail after this one was refused, or close it."""
        from aiosmtplib import SMTPException

        client = connection.client
        with contextlib.suppress(SMTPException, OSError):
            if client.is_connected:
                await client.rset(timeout=GOODBYE)
                await self._pool.release(connection)
                return
        await self._pool.discard(connection)

    async def _dial(self) -> socket.socket:
        """Return a connection to the first address that accepts one. Raises the OSError of the last if none does."""
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


async def _greet_server(client: "aiosmtplib.SMTP") -> None:
    """Send EHLO, or HELO if the server does not know it, unless it was sent before STARTTLS or the login."""
    from aiosmtplib import SMTPHeloError

    if not client.is_ehlo_or_helo_needed:
        return
    try:
        await client.ehlo()
    except SMTPHeloError:
        if not client.is_connected:
            raise
        await client.helo()


def _build_options(client: "aiosmtplib.SMTP", to: Envelope, octets: bytes) -> list[str]:
    """Return the options of MAIL FROM: the size (RFC 1870), and those of an international address (RFC 6531)."""
    size = [f"size={len(octets)}"] if client.supports_extension("size") else []
    return size + (["SMTPUTF8", "BODY=8BITMIME"] if to.international else [])


def classify_mail_error(error: Exception, to: Envelope) -> MailFailure:
    """Return what an error at MAIL FROM means; it can be about the mail if SMTPUTF8 or its size was refused."""
    found, code = classify_relay_error(error), _find_code(error)
    asks = to.international or code == NO_ROOM
    if code is None or code == CLOSING or isinstance(found, AuthenticationFailure) or not asks:
        return found
    return OptionFailure(found.reason) if isinstance(found, RelayFailure) else found


def classify_relay_error(error: Exception) -> MailFailure:
    """Return what an error before RCPT TO means; only a refused size is about the mail."""
    found = classify_error(error)
    if isinstance(found, AuthenticationFailure) or _find_code(error) == TOO_LARGE:
        return found
    return RelayFailure(found.reason)


def classify_error(error: Exception) -> MailFailure:
    """Return what an SMTP error means.

    Only an answer to the recipient or the content is about this mail. Other errors are about the server or our
    settings, and the mail waits until they are corrected.
    """
    import aiosmtplib

    if not isinstance(error, aiosmtplib.SMTPResponseException):
        # We open the socket, so the library knows no port.
        said = str(error).replace(" on port None", "")
        return TemporaryFailure(_write_reason(said or "The mail server did not answer in time"))
    reason = _write_reason(f"{error.code} {error.message}")
    if error.code < 500:
        return TemporaryFailure(reason)
    if error.code in AUTHENTICATION or isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return AuthenticationFailure(reason)
    about_mail = isinstance(error, aiosmtplib.SMTPRecipientRefused | aiosmtplib.SMTPDataError)
    return PermanentFailure(reason) if about_mail or error.code == TOO_LARGE else TemporaryFailure(reason)


def _find_code(error: Exception) -> int | None:
    import aiosmtplib

    return error.code if isinstance(error, aiosmtplib.SMTPResponseException) else None


def _write_reason(said: str) -> str:
    return write_line(said)[:LONGEST_REASON]
