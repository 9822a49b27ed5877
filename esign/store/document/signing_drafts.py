"""Drafts of recipients, encrypted. They are deleted with their recipients, or once these have acted."""

import orjson

from esign.core.document.signing_draft import DraftEntry, SigningDraft
from esign.store.engine.database import Reader, Transaction
from esign.system.vault import DamagedCiphertext, Vault

PURPOSE = "draft"


async def get(reader: Reader, recipient_id: str, vault: Vault) -> SigningDraft:
    """Return the draft, which is empty if nothing was entered or another application key encrypted it."""
    row = await reader.one("SELECT content FROM draft WHERE recipient_id = :id", id=recipient_id)
    try:
        return load(vault.decrypt(PURPOSE, row["content"], recipient_id.encode())) if row else SigningDraft()
    except DamagedCiphertext:
        return SigningDraft()


async def save(tx: Transaction, recipient_id: str, content: bytes, vault: Vault) -> None:
    """Save the draft; `content` is what `dump` returned."""
    await tx.run(
        """
        INSERT INTO draft (recipient_id, content) VALUES (:id, :content)
        ON CONFLICT (recipient_id) DO UPDATE SET content = excluded.content
        """,
        id=recipient_id,
        content=vault.encrypt(PURPOSE, content, recipient_id.encode()),
    )


async def forget(tx: Transaction, recipient_id: str) -> None:
    """Delete the draft of a recipient."""
    await tx.run("DELETE FROM draft WHERE recipient_id = :id", id=recipient_id)


def dump(draft: SigningDraft) -> bytes:
    """Return the draft as JSON; a picture that stands in several fields is written once."""
    pictures: dict[str, int] = {}

    def apart(value: object) -> object:
        """Replace the picture of a value by its number in the list of pictures."""
        if isinstance(value, dict) and "picture" in value:
            return {**value, "picture": pictures.setdefault(value["picture"], len(pictures))}
        return value

    entries = {id: (e.at, e.revision, apart(e.value)) for id, e in draft.entries.items()}
    return orjson.dumps({"revision": draft.revision, "entries": entries, "pictures": list(pictures)})


def load(content: bytes) -> SigningDraft:
    """Return the draft of its JSON."""
    stored = orjson.loads(content)

    def whole(value: object) -> object:
        """Replace the number of a picture by the picture."""
        if isinstance(value, dict) and "picture" in value:
            return {**value, "picture": stored["pictures"][value["picture"]]}
        return value

    entries = {id: DraftEntry(at, rev, whole(value)) for id, (at, rev, value) in stored["entries"].items()}
    return SigningDraft(stored["revision"], entries)
