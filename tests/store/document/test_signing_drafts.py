"""What is kept of a draft: encrypted, each picture once, found without a walk."""

from typing import Any

from esign.core.document.signing_draft import DraftEntry, SigningDraft
from esign.core.people.account import Organisation
from esign.store.document import signing_drafts
from esign.store.engine.database import Database, Transaction
from esign.system.vault import Vault
from tests.factories import NOW, a_document, store
from tests.store.plans import walks

PICTURE = {"kind": "drawn", "picture": "data:image/png;base64," + "A" * 9_000}
VALUES: dict[str, Any] = {
    "text": "14 Linden Row",
    "box": True,
    "typed": {"kind": "typed", "text": "Jo", "hand": None},
    "one": PICTURE,
    "two": PICTURE,
    "none": None,
}
DRAFT = SigningDraft(
    4, {id: DraftEntry(NOW + n, n % 4 + 1, value) for n, (id, value) in enumerate(VALUES.items())}
)


async def keep(db: Database, vault: Vault, recipient_id: str, draft: SigningDraft = DRAFT) -> None:
    await db.write(lambda tx: signing_drafts.save(tx, recipient_id, signing_drafts.dump(draft), vault))


async def recipients(db: Database, vault: Vault) -> list[str]:
    return [(await store(db, vault, a_document())).recipients[0].id for _ in range(2)]


async def test_a_draft_comes_back_as_it_was_and_is_replaced_whole(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, two = await recipients(db, vault)
    assert await signing_drafts.get(db, one, vault) == SigningDraft()
    await keep(db, vault, one)
    assert await signing_drafts.get(db, one, vault) == DRAFT
    await keep(db, vault, one, SigningDraft(5, {}))
    assert await signing_drafts.get(db, one, vault) == SigningDraft(5, {})
    assert await signing_drafts.get(db, two, vault) == SigningDraft()


def test_a_picture_in_several_fields_is_written_once() -> None:
    assert len(signing_drafts.dump(DRAFT)) < 10_000


async def test_a_draft_cannot_be_moved_to_another_recipient(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, two = await recipients(db, vault)
    await keep(db, vault, one)

    async def move(tx: Transaction) -> None:
        await tx.run("UPDATE draft SET recipient_id = :two WHERE recipient_id = :one", one=one, two=two)

    await db.write(move)
    assert await signing_drafts.get(db, two, vault) == SigningDraft()


async def test_a_draft_of_another_key_is_begun_anew(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, _ = await recipients(db, vault)
    await keep(db, Vault(b"k" * 32), one)
    assert await signing_drafts.get(db, one, vault) == SigningDraft()
    await keep(db, vault, one)
    assert await signing_drafts.get(db, one, vault) == DRAFT


async def test_no_draft_is_looked_for_in_a_whole_table(
    db: Database, vault: Vault, organisation: Organisation
) -> None:
    one, _ = await recipients(db, vault)
    await keep(db, vault, one)

    async def everything(tx: Transaction) -> None:
        await signing_drafts.get(tx, one, vault)
        await signing_drafts.save(tx, one, signing_drafts.dump(DRAFT), vault)
        await signing_drafts.forget(tx, one)

    assert await walks(db, everything) == []
