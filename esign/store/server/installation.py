"""Values of the installation by name, and the check that the database belongs to its application key."""

import hmac

from esign.core.document.audit import compose_head_message
from esign.store.document import trails
from esign.store.engine.database import Database, Reader, Transaction
from esign.system.vault import DamagedCiphertext, UnusableKey, Vault

HEADS = "heads"  # there are audit trails from before trails had heads
SETTINGS = "settings"  # what owners set in the browser, as ciphertext
KEY = "key"  # a mac that only the application key of this database makes
NEXT = "next_key"  # while the application key is exchanged: the next one, encrypted with the present one
PREVIOUS = "previous_key"  # the present one, encrypted with the next one
ADOPTED = "next_key_adopted"  # the run of the server that writes with the next one, and the mac of that key


async def find(reader: Reader, name: str) -> bytes | None:
    """Return the value, or None if there is none."""
    row = await reader.one("SELECT value FROM installation WHERE name = :name", name=name)
    return bytes(row["value"]) if row else None


async def save(tx: Transaction, name: str, value: bytes) -> None:
    """Save a value under this name."""
    await tx.run(
        """
        INSERT INTO installation (name, value) VALUES (:name, :value)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """,
        name=name,
        value=value,
    )


async def delete(tx: Transaction, name: str) -> None:
    """Delete the value of this name."""
    await tx.run("DELETE FROM installation WHERE name = :name", name=name)


# ---------- the application key ----------

PURPOSE = "installation"
EXCHANGE = "key-exchange"
FOREIGN = (
    "app.key is not the key that this database was written with: nothing was changed;"
    " put the app.key back that belongs to this esign.db, or the esign.db that belongs to this app.key;"
    " a backup from before esign keys rotate-app belongs to the key of its time"
)
HEADS_ASKED = 20


async def confirm_key(db: Database, vault: Vault) -> None:
    """Raise UnusableKey unless the database was written with this application key.

    The database stores a mac made with its key. One that has none yet is judged by its newest macs and
    ciphertexts, and then gets one. While the key is exchanged, the database has each of the two keys encrypted with
    the other, and the vault gets the one that it lacks.
    """
    await join_exchange(db, vault)
    if await find(db, KEY) is None:
        await db.write(lambda tx: save(tx, KEY, compute_key_mac(vault)))


async def join_exchange(reader: Reader, vault: Vault) -> None:
    """Give the vault the other key while the key is exchanged, and write nothing.

    Raise UnusableKey if the database was written with another key.
    """
    known = await find(reader, KEY)
    if known is None:
        if await is_foreign(reader, vault):
            raise UnusableKey(FOREIGN)
    elif hmac.compare_digest(known, compute_key_mac(vault)):
        await adopt_next_key(reader, vault)
    elif not await accept_previous_key(reader, vault, known):
        raise UnusableKey(FOREIGN)


def compute_key_mac(vault: Vault) -> bytes:
    """Return the mac by which a database knows its application key."""
    return vault.compute_mac(PURPOSE, b"esign")


async def adopt_next_key(reader: Reader, vault: Vault) -> None:
    """Let the vault write with the next key, if the key is being exchanged."""
    if (sealed := await find(reader, NEXT)) is not None:
        vault.adopt_key(vault.decrypt(EXCHANGE, sealed))


async def accept_previous_key(reader: Reader, vault: Vault, known: bytes) -> bool:
    """Let the vault, which has the next key, read with the previous one. Return False if the key is not exchanged.

    `known` is the mac of the key in whose place the next one comes.
    """
    sealed = await find(reader, PREVIOUS)
    try:
        previous = vault.decrypt(EXCHANGE, sealed) if sealed is not None else b""
    except DamagedCiphertext:
        return False
    if not previous or not hmac.compare_digest(known, compute_key_mac(Vault(previous))):
        return False
    vault.accept_older_key(previous)
    return True


async def is_foreign(db: Reader, vault: Vault) -> bool:
    """Return whether the database has macs or ciphertexts, and this key made none of those that were tried."""
    rows = await db.all(
        """
        SELECT h.document_id, h.seq, h.mac, h.late, a.hash FROM audit_head h
        JOIN audit a ON a.document_id = h.document_id AND a.seq = h.seq
        ORDER BY h.document_id DESC LIMIT :most
        """,
        most=HEADS_ASKED,
    )
    proofs = [
        hmac.compare_digest(
            row["mac"],
            vault.compute_mac(
                trails.PURPOSE,
                compose_head_message(row["document_id"], row["seq"], row["hash"], bool(row["late"])),
            ),
        )
        for row in rows
    ]
    hooks = await db.all("SELECT id, secret FROM webhook ORDER BY id DESC LIMIT :most", most=HEADS_ASKED)
    proofs += [can_decrypt(vault, row["secret"], row["id"]) for row in hooks]
    return bool(proofs) and not any(proofs)


def can_decrypt(vault: Vault, secret: bytes, webhook_id: str) -> bool:
    """Return whether this key decrypts the secret of a webhook."""
    try:
        vault.decrypt("webhook", secret, webhook_id.encode())
    except DamagedCiphertext:
        return False
    return True
