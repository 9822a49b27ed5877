"""The embedded outbox. If no mail server is configured, every e-mail is stored here instead of being sent."""

import email
import email.policy
import logging
import re
from email.message import EmailMessage

from esign.core.instant import Instant
from esign.mail.smtp import AcceptedMail
from esign.runtime import Runtime
from esign.store.engine.database import Database, Transaction
from esign.store.queue import kept_mail
from esign.store.queue.kept_mail import KeptMail
from esign.system.clock import Clock
from esign.system.entropy import make_id
from esign.system.vault import Vault

log = logging.getLogger("esign.mail")

KEPT = "kept in the embedded outbox"


class EmbeddedOutbox:
    """A mailer that stores e-mails encrypted, because they contain signing links."""

    def __init__(self, db: Database, vault: Vault, clock: Clock) -> None:
        self._db = db
        self._vault = vault
        self._clock = clock

    async def send(self, message: EmailMessage, lane: str = "") -> AcceptedMail:
        """Store the message, and return a reply that says so."""
        now = self._clock.now()
        encrypted = await self._vault.encrypt_aside(lambda: encrypt_mail(self._vault, message, now))

        async def write(tx: Transaction) -> str:
            return await kept_mail.keep(tx, encrypted())

        mail_id = await self._db.write(write)
        log.info("kept a mail, since no mail server is set; read it with: esign outbox %s", mail_id)
        return AcceptedMail(KEPT)

    async def close(self) -> None:
        """Do nothing: there is no connection to close."""


def encrypt_mail(vault: Vault, message: EmailMessage, now: Instant) -> KeptMail:
    """Encrypt a message for storage."""
    mail_id = make_id("mail", now)
    return KeptMail(
        id=mail_id,
        message_id=message["Message-ID"],
        recipient=message["To"],
        subject=message["Subject"],
        content=vault.encrypt("mail", message.as_bytes(), mail_id.encode()),
        created_at=now,
    )


def make_message_id(runtime: Runtime, key: str) -> str:
    """Return the Message-ID, `local@host`, derived from the key of the job that sends a mail."""
    return f"{make_message_name(key)}{(runtime.config.public_host or 'localhost').replace(':', '.')}"


def make_message_name(key: str) -> str:
    """Return the Message-ID without its host, which is that of the address when the mail was sent."""
    return f"eml.{re.sub(r'[^A-Za-z0-9_.-]', '.', key)}@"


async def find_message(runtime: Runtime, key: str) -> EmailMessage | None:
    """Return the stored e-mail of a job, or None if it was not stored."""
    kept = await kept_mail.find_by_message_id(runtime.db, make_message_name(key))
    return await read_mail(runtime.db, runtime.vault, kept.id) if kept else None


async def list_mails(db: Database, limit: int) -> list[KeptMail]:
    """Return the newest `limit` stored e-mails, newest last."""
    return await kept_mail.find_newest(db, limit)


async def read_mail(db: Database, vault: Vault, mail_id: str) -> EmailMessage | None:
    """Return one stored e-mail, or None for an unknown id."""
    kept = await kept_mail.get(db, mail_id)
    if kept is None:
        return None
    content = vault.decrypt("mail", kept.content, kept.id.encode())
    return email.message_from_bytes(content, policy=email.policy.default)
