"""Signing links. Only the SHA-256 of a token is stored, so a link cannot be read back, only issued anew."""

import hashlib
from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.document.signing_link import LinkRoute, Reached, find_route
from esign.core.instant import Instant
from esign.store.engine.database import Reader, Transaction


@dataclass(frozen=True, slots=True)
class SigningLink:
    """A link: `issued_to` is `recipient` for one in a mail, and `sender` for one handed to the sender.

    `reached` is what became of the mail (`core.document.signing_link.Reached`), None while that is open.
    """

    recipient_id: str
    document_id: str
    issued_to: str
    reached: str | None = None

    def find_route(self, mode: Mode) -> LinkRoute | None:
        """Return how the link reached the person who opens it."""
        return find_route(mode, self.reached, to_sender=self.issued_to == "sender")


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token."""
    return hashlib.sha256(token.encode()).digest()


async def add(
    tx: Transaction, token: str, link: SigningLink, now: Instant, expires_at: Instant | None = None
) -> None:
    """Add a link; without `expires_at` it lasts as long as its document allows."""
    await tx.run(
        """
        INSERT INTO link (hash, recipient_id, document_id, issued_to, created_at, expires_at)
        VALUES (:hash, :recipient_id, :document_id, :issued_to, :now, :expires_at)
        """,
        hash=hash_token(token),
        recipient_id=link.recipient_id,
        document_id=link.document_id,
        issued_to=link.issued_to,
        now=now,
        expires_at=expires_at,
    )


async def revoke(tx: Transaction, recipient_id: str, now: Instant) -> None:
    """End every link of a recipient."""
    await tx.run(
        "UPDATE link SET revoked_at = :now WHERE recipient_id = :id AND revoked_at IS NULL",
        id=recipient_id,
        now=now,
    )


async def find(reader: Reader, token: str, now: Instant) -> SigningLink | None:
    """Return the link of a token if it is neither revoked nor expired."""
    row = await reader.one(
        """
        SELECT recipient_id, document_id, issued_to, reached FROM link
        WHERE hash = :hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
        """,
        hash=hash_token(token),
        now=now,
    )
    return SigningLink(**{name: row[name] for name in SigningLink.__slots__}) if row else None


async def note_reached(tx: Transaction, token: str, reached: Reached) -> None:
    """Save what became of the mail with the link; once a mail server has accepted it, that stays."""
    await tx.run_by_key(
        "UPDATE link SET reached = :reached WHERE hash = :hash AND (reached IS NULL OR reached <> 'email')",
        hash=hash_token(token),
        reached=reached.value,
    )
