"""Handing a message to the mail server, and what its answer means for the next attempt (reliability 3.3)."""

import asyncio
import contextlib
from dataclasses import dataclass
from email.message import EmailMessage
from typing import TYPE_CHECKING, Literal, Protocol

from esign.mail.failure import AuthenticationFailure, MailFailure, PermanentFailure, TemporaryFailure
from esign.mail.message import envelope
from esign.mail.words import line

if TYPE_CHECKING:
    import ssl

    import aiosmtplib

STEP = 30.0
ALL_OF_IT = 120.0
GOODBYE = 2.0
LONGEST_REASON = 500

# Answers that speak of us and not of the mail: authentication required, too weak, refused (RFC 4954).
AUTHENTICATION = frozenset({530, 534, 535, 538})
TOO_LARGE = 552

Security = Literal["starttls", "tls", "none"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The server has taken the message over; `reply` is what it said, often with its own id."""

    reply: str


class Mailer(Protocol):
    async def send(self, message: EmailMessage) -> Accepted:
        """Deliver to the one recipient in `To`, or raise a MailFailure."""
        ...


@dataclass(frozen=True, slots=True)
class Smtp:
    """A mail server. `starttls` is required, not tried; `trust` replaces the system's trust store.

    `own_name` is what we call ourselves there; finding it out by the DNS could take longer than the mail.

    Seconds: `step` for each command, `all_of_it` until the server has taken the message.
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

    async def send(self, message: EmailMessage) -> Accepted:
        """Deliver, or raise TemporaryFailure, PermanentFailure or AuthenticationFailure."""
        from aiosmtplib import SMTP, SMTPException

        octets = await asyncio.to_thread(message.as_bytes)
        client = SMTP(
            hostname=self.host,
            port=self.port,
            use_tls=self.security == "tls",
            start_tls=self.security == "starttls",
            username=self.username,
            password=self.password,
            local_hostname=self.own_name,
            timeout=self.step,
            tls_context=self.trust,
        )
        try:
            async with asyncio.timeout(self.all_of_it):
                await client.connect()
                reply = await _hand_over(client, message, octets)
            with contextlib.suppress(SMTPException, OSError):
                await client.quit(timeout=GOODBYE)
        except (SMTPException, OSError) as error:
            raise failure(error) from error
        finally:
            client.close()
        return Accepted(_reason(reply))


async def _hand_over(client: "aiosmtplib.SMTP", message: EmailMessage, octets: bytes) -> str:
    """One transaction with one recipient; what the server said at its end."""
    from aiosmtplib import SMTPNotSupported

    to = envelope(message)
    options = ["SMTPUTF8", "BODY=8BITMIME"] if to.international else []
    try:
        _, reply = await client.sendmail(to.sender, [to.recipient], octets, mail_options=options)
    except SMTPNotSupported as error:
        raise PermanentFailure("The mail server does not take internationalised addresses") from error
    return reply


def failure(error: Exception) -> MailFailure:
    """What an error of the conversation means.

    Only an answer to the recipient or the content speaks of this mail; the rest speaks of the server or of
    our settings, and the mail waits until that is mended.
    """
    import aiosmtplib

    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        error = error.recipients[0]
    if not isinstance(error, aiosmtplib.SMTPResponseException):
        return TemporaryFailure(_reason(str(error) or "The mail server did not answer in time"))
    reason = _reason(f"{error.code} {error.message}")
    if error.code < 500:
        return TemporaryFailure(reason)
    if error.code in AUTHENTICATION or isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return AuthenticationFailure(reason)
    about_mail = isinstance(error, aiosmtplib.SMTPRecipientRefused | aiosmtplib.SMTPDataError)
    return PermanentFailure(reason) if about_mail or error.code == TOO_LARGE else TemporaryFailure(reason)


def _reason(said: str) -> str:
    return line(said)[:LONGEST_REASON]
