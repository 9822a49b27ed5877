"""The exchange of the application key: everything that is stored by it, and how each is stored anew.

Ciphertexts are encrypted anew, the heads of audit trails get another MAC, and a MAC of something that nobody can ask
for again is wrapped (`system.vault`). A row is replaced only if it is still what was read, so that no lock is needed
while the keys work. What is signed for a while and not stored, such as a cursor, is in `PASSING`.
"""

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from esign.core.document.audit import compose_head_message
from esign.store.document import phone_handoffs, signing_drafts, trails
from esign.store.engine.database import Database, Reader, Row, Transaction
from esign.store.people import erasings
from esign.store.queue import idempotency
from esign.store.server import installation
from esign.system.vault import MAC_BYTES, DamagedCiphertext, Vault

BATCH = 200  # rows of one transaction: 3 to 10 ms
BATCH_BYTES = (
    2 * 2**20
)  # of ciphertexts in one transaction, unless a single one is larger, as a kept mail can be
NO_TEXT, NO_BYTES, LEAST = "", b"", -(2**63)  # each is before all other keys of its kind

# Purposes of what is given out for a while, and not stored.
PASSING = ("cursor", "download", "session-csrf", "typed-secret", "totp-offer", "token-once", "draft-row")

Renew = Callable[[Vault, Row], bytes | str | None]


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """One column whose values the application key made; with `is_mac` they are MACs to wrap.

    `keys` are the columns of the primary key, each with what comes before all values. `renew` returns the value by the
    newest key, None if it is that already, and raises DamagedCiphertext if no key made it. It needs `beside` of the row
    as well. `is_large` says that a value can be of any size.
    """

    table: str
    keys: Mapping[str, object]
    column: str
    purpose: str
    renew: Renew
    is_mac: bool = False
    source: str = ""  # what is read instead of the table
    beside: tuple[str, ...] = ()
    is_large: bool = False

    @property
    def query(self) -> str:
        """Return the query for `:most` rows after the place `:after_0`, `:after_1`."""
        return self._select(", ".join(dict.fromkeys((*self.keys, self.column, *self.beside))))

    @property
    def size_query(self) -> str:
        """Return the query for the sizes of these rows in bytes."""
        return self._select(f"length({self.column}) AS size")

    def _select(self, columns: str) -> str:
        names = ", ".join(self.keys)
        place = ", ".join(f":after_{n}" for n in range(len(self.keys)))
        return (
            f"SELECT {columns} FROM {self.source or self.table}"
            f" WHERE ({names}) > ({place}) AND {self.column} IS NOT NULL ORDER BY {names} LIMIT :most"
        )

    @property
    def update(self) -> str:
        """Return the statement that replaces one value that is still the same."""
        found = " AND ".join(f"{name} = :key_{name}" for name in self.keys)
        return f"UPDATE {self.table} SET {self.column} = :new WHERE {found} AND {self.column} = :old"


@dataclass(slots=True)
class ExchangeCount:
    """How many values were read, how many of them were made anew or wrapped, and how many none of the keys made."""

    read: int = 0
    renewed: int = 0
    wrapped: int = 0
    unreadable: int = 0


def encrypt_anew(
    column: str, purpose: str, bind: Callable[[Row], str], vault: Vault, row: Row
) -> bytes | None:
    """Return the ciphertext of a row by the newest key."""
    return vault.encrypt_anew(purpose, row[column], bind(row).encode())


def wrap_mac(column: str, purpose: str, vault: Vault, row: Row) -> bytes | None:
    """Return the MAC of a row, wrapped."""
    return vault.wrap_mac(purpose, row[column])


def wrap_access_code(vault: Vault, row: Row) -> str | None:
    """Return what is stored of an access code with its MAC wrapped: salt and MAC in hex."""
    salt, _, mac = row["access_code"].partition(":")
    try:
        wrapped = vault.wrap_mac("access-code", bytes.fromhex(mac))
    except ValueError:
        raise DamagedCiphertext("the stored access code was changed") from None
    return None if wrapped is None else f"{salt}:{wrapped.hex()}"


def renew_settings(vault: Vault, row: Row) -> bytes | None:
    """Return what owners set in the browser."""
    return vault.encrypt_anew("settings", row["value"])


def renew_head(vault: Vault, row: Row) -> bytes | None:
    """Return the MAC of the end of a trail. A trail that was changed keeps what shows it."""
    if row["hash"] is None:
        raise DamagedCiphertext("the end of the trail is missing")
    message = compose_head_message(row["document_id"], row["seq"], row["hash"], bool(row["late"]))
    newest, *older = vault.compute_macs(trails.PURPOSE, message)
    if hmac.compare_digest(newest, row["mac"]):
        return None
    if not any(hmac.compare_digest(mac, row["mac"]) for mac in older):
        raise DamagedCiphertext("the trail does not end there")
    return newest


SETTINGS = f"(SELECT name, value FROM installation WHERE name = '{installation.SETTINGS}')"
HEADS = """
(SELECT h.document_id, h.seq, h.mac, h.late, a.hash FROM audit_head h
LEFT JOIN audit a ON a.document_id = h.document_id AND a.seq = h.seq)
"""


def _declare_ciphertext(
    table: str, key: str, column: str, purpose: str, bound: str, first: object = NO_TEXT
) -> StoredSecret:
    bind = partial(_bind, bound)
    renew = partial(encrypt_anew, column, purpose, bind)
    return StoredSecret(table, {key: first}, column, purpose, renew, beside=(bound,), is_large=True)


def _bind(column: str, row: Row) -> str:
    return str(row[column])


def _bind_answer(row: Row) -> str:
    return idempotency.compose_context(row["key_id"], row["key"]).decode()


ANSWER = {"key_id": NO_TEXT, "key": NO_TEXT}
STORED: tuple[StoredSecret, ...] = (
    _declare_ciphertext("webhook", "id", "secret", "webhook", "id"),
    _declare_ciphertext("webhook", "id", "previous_secret", "webhook", "id"),
    _declare_ciphertext("outbox", "id", "body", "outbox", "key", LEAST),
    _declare_ciphertext("outbox", "id", "words", "posted", "key", LEAST),
    _declare_ciphertext("kept_mail", "id", "content", "mail", "id"),
    _declare_ciphertext("kept_mail", "id", "words", "mail", "id"),
    _declare_ciphertext("draft", "recipient_id", "content", signing_drafts.PURPOSE, "recipient_id"),
    _declare_ciphertext("handoff", "recipient_id", "picture", phone_handoffs.PURPOSE, "id"),
    _declare_ciphertext("app_user", "id", "totp", "totp", "id"),
    _declare_ciphertext("erasing", "id", "email", erasings.PURPOSE, "id"),
    StoredSecret(
        "idempotency",
        ANSWER,
        "body",
        idempotency.PURPOSE,
        partial(encrypt_anew, "body", idempotency.PURPOSE, _bind_answer),
        is_large=True,
    ),
    StoredSecret(
        "idempotency",
        ANSWER,
        "fingerprint",
        idempotency.FINGERPRINT,
        partial(wrap_mac, "fingerprint", idempotency.FINGERPRINT),
        is_mac=True,
    ),
    StoredSecret(
        "recovery_code",
        {"user_id": NO_TEXT, "code": NO_BYTES},
        "code",
        "recovery",
        partial(wrap_mac, "code", "recovery"),
        is_mac=True,
    ),
    StoredSecret(
        "challenge",
        {"recipient_id": NO_TEXT},
        "code",
        "email-code",
        partial(wrap_mac, "code", "email-code"),
        is_mac=True,
    ),
    StoredSecret("recipient", {"id": NO_TEXT}, "access_code", "access-code", wrap_access_code, is_mac=True),
    StoredSecret("installation", {"name": NO_TEXT}, "value", "settings", renew_settings, source=SETTINGS),
    StoredSecret(
        "audit_head",
        {"document_id": NO_TEXT},
        "mac",
        trails.PURPOSE,
        renew_head,
        source=HEADS,
        beside=("seq", "late", "hash"),
    ),
)


async def begin(tx: Transaction, vault: Vault, next_key: bytes, present_key: bytes) -> None:
    """Store each key encrypted with the other: from now on, either opens the database."""
    await installation.save(tx, installation.NEXT, vault.encrypt(installation.EXCHANGE, next_key))
    sealed = Vault(next_key).encrypt(installation.EXCHANGE, present_key)
    await installation.save(tx, installation.PREVIOUS, sealed)
    await installation.delete(tx, installation.ADOPTED)


async def is_under_way(reader: Reader) -> bool:
    """Return whether the key is being exchanged."""
    return await installation.find(reader, installation.NEXT) is not None


async def end(tx: Transaction, vault: Vault) -> None:
    """Let only the newest key of the vault open the database."""
    await installation.save(tx, installation.KEY, installation.compute_key_mac(vault))
    for name in (installation.NEXT, installation.PREVIOUS, installation.ADOPTED):
        await installation.delete(tx, name)


async def renew_batch(
    db: Database, secret: StoredSecret, vault: Vault, after: Sequence[object] | None, count: ExchangeCount
) -> Sequence[object] | None:
    """Make the next values of a column anew, in one transaction. Return the place of the last, None at the end."""
    rows = await find_rows(db, secret, after)
    if not rows:
        return None
    changes = list(find_changes(secret, vault, rows, count))
    if changes:

        async def write(tx: Transaction) -> None:
            await tx.run_many(secret.update, changes)

        await db.write(write)
    return [rows[-1][name] for name in secret.keys]


async def find_rows(reader: Reader, secret: StoredSecret, after: Sequence[object] | None) -> list[Row]:
    """Return the next rows of a column in the order of their key: at most `BATCH`, and at most `BATCH_BYTES` or one."""
    given = after if after is not None else [*secret.keys.values()]
    place = {f"after_{n}": value for n, value in enumerate(given)}
    most = BATCH
    if secret.is_large:
        sizes = await reader.all(secret.size_query, most=BATCH, **place)
        total = list(accumulate(row["size"] for row in sizes))
        most = max(1, sum(1 for size in total if size <= BATCH_BYTES))
    return await reader.all(secret.query, most=most, **place)


def find_changes(
    secret: StoredSecret, vault: Vault, rows: Sequence[Row], count: ExchangeCount
) -> Iterable[dict[str, object]]:
    """Yield the parameters of an update for each value that the newest key has not made."""
    for row in rows:
        if not row[secret.column]:
            continue  # what was finished is emptied
        count.read += 1
        try:
            new = secret.renew(vault, row)
        except DamagedCiphertext:
            count.unreadable += 1
            continue
        if new is not None:
            if secret.is_mac and is_plain(row[secret.column]):
                count.wrapped += 1
            else:
                count.renewed += 1
            yield {"new": new, "old": row[secret.column], **{f"key_{n}": row[n] for n in secret.keys}}


def is_plain(kept: bytes | str) -> bool:
    """Return whether a stored MAC is not wrapped: by which key it was made cannot be seen."""
    size = len(kept.partition(":")[2]) // 2 if isinstance(kept, str) else len(kept)
    return size == MAC_BYTES
