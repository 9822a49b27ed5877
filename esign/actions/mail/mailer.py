"""The mailer of the running program: it goes by the settings that are in force when a mail is sent."""

from dataclasses import dataclass
from email.message import EmailMessage
from ipaddress import ip_address
from typing import TYPE_CHECKING

from esign.actions.mail.embedded_outbox import EmbeddedOutbox
from esign.config import Config, EffectiveSettings, MailSettings
from esign.mail.smtp import KEEP, STEP, AcceptedMail, SmtpServer
from esign.store.engine.database import Database
from esign.system.clock import Clock
from esign.system.vault import Vault

if TYPE_CHECKING:
    import ssl


def make_smtp_server(
    mail: MailSettings,
    public_host: str,
    *,
    keep: float = KEEP,
    step: float = STEP,
    trust: "ssl.SSLContext | None" = None,
) -> SmtpServer:
    """Return a client of the mail server, which greets it with the host of this server's address.

    `trust` replaces the system's trust store.
    """
    assert mail.host is not None
    own_name = f"[{public_host}]" if is_ip_address(public_host) else public_host
    return SmtpServer(
        mail.host,
        mail.port,
        mail.security,
        mail.username,
        mail.secret,
        own_name,
        trust=trust,
        step=step,
        connections=mail.connections,
        keep=keep,
    )


def is_ip_address(host: str) -> bool:
    """Return whether a host is an IP address. SMTP greets with an address in brackets (RFC 5321 4.1.3)."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(eq=False, slots=True)
class OpenMailer:
    """A mailer, what it was made of, and how many mails it carries now."""

    mailer: SmtpServer | EmbeddedOutbox
    mail: MailSettings
    public_host: str
    carries: int = 0


class CurrentMailer:
    """Sends by the mail server that is set now, or keeps mails in the embedded outbox while none is.

    A mail that is under way when the settings change ends on the connection on which it began.
    """

    def __init__(self, settings: EffectiveSettings, db: Database, vault: Vault, clock: Clock) -> None:
        self._settings = settings
        self._embedded = EmbeddedOutbox(db, vault, clock)
        self._open = self._make_mailer(settings.config)

    async def send(self, message: EmailMessage, lane: str = "") -> AcceptedMail:
        """Deliver or keep the message. Raise a MailFailure."""
        used = await self._find_mailer()
        used.carries += 1
        try:
            return await used.mailer.send(message, lane)
        finally:
            used.carries -= 1
            if used is not self._open and not used.carries:
                await used.mailer.close()

    async def close(self) -> None:
        """Close every connection to the present mail server."""
        await self._open.mailer.close()

    async def _find_mailer(self) -> OpenMailer:
        """Return the mailer of the present settings. One that nobody uses any more is closed."""
        config, before = self._settings.config, self._open
        if (config.mail, config.public_host) != (before.mail, before.public_host):
            self._open = self._make_mailer(config)
            if not before.carries:
                await before.mailer.close()
        return self._open

    def _make_mailer(self, config: Config) -> OpenMailer:
        if config.mail.host is None:
            return OpenMailer(self._embedded, config.mail, config.public_host)
        server = make_smtp_server(config.mail, config.public_host)
        return OpenMailer(server, config.mail, config.public_host)
