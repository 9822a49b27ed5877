"""API keys as their organisation manages them: create, list, rename and revoke (contract 3.5, 8)."""

from collections.abc import Sequence
from dataclasses import replace

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.people import accounts as making
from esign.actions.people.accounts import KeyWish, LiveKeysNotAllowed, LiveScopeOfTestKey
from esign.core.actor import Owner
from esign.core.errors import Problem
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey, hash_key
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart, cut_page
from esign.store.people import api_keys


async def create(runtime: Runtime, caller: Caller, wish: KeyWish) -> tuple[ApiKey, str]:
    """Create a key of the caller's organisation, and return it with its text, which is shown only this once.

    Raises `plan_required`, `limit_reached`, and `invalid_request` for a mode or scope that is not allowed.
    """
    try:
        made = await making.add_key(runtime.installation, caller, wish)
    except LiveKeysNotAllowed:
        raise Problem("invalid_request", "This installation issues only test keys.") from None
    except LiveScopeOfTestKey:
        raise Problem("invalid_request", "A test key never changes members, settings or keys.") from None
    return made


async def count_active(runtime: Runtime, organisation: Organisation) -> int:
    """Return the number of active keys of an organisation, of both modes."""
    return await api_keys.count_active(runtime.db, organisation.id, runtime.clock.now())


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: PageStart | None
) -> tuple[list[ApiKey], PageStart | None]:
    """Return a page of the keys of one mode, newest first, and the place where the next page begins, or None."""
    found = await api_keys.find_page(runtime.db, owner, limit + 1, after)
    return cut_page(found, limit)


async def get(runtime: Runtime, owner: Owner, key_id: str) -> ApiKey:
    """Return the key. Raises `not_found`."""
    return await api_keys.get_own(runtime.db, owner, key_id)


async def choose_text(runtime: Runtime, key: ApiKey, texts: Sequence[str]) -> str:
    """Return which of the texts is the key. Raise `not_found` if none is."""
    for text in texts:
        found = await api_keys.find_by_hash(runtime.db, hash_key(text))
        if found is not None and found.id == key.id:
            return text
    raise Problem("not_found")


async def rename(runtime: Runtime, caller: Caller, key_id: str, name: str | None) -> ApiKey:
    """Rename the key, and return it. A name of None keeps the old one."""
    owner = caller.owner

    async def write(tx: Transaction) -> ApiKey:
        key = await api_keys.get_own(tx, owner, key_id)
        if name is not None and name != key.name:
            await api_keys.rename(tx, key_id, name)
            names = {"name": {"from": key.name, "to": name}}
            now = runtime.clock.now()
            entry = AdminAct("api_key.renamed", now, audit_log.describe_key(key), names)
            await audit_log.log_act(tx, runtime.vault, caller, entry)
            key = replace(key, name=name)
        await caller.keep(tx, key)
        return key

    return await runtime.db.write(write)


async def revoke(runtime: Runtime, caller: Caller, key_id: str) -> str:
    """Revoke the key from the next request on, and return its id. A second call changes nothing."""
    owner = caller.owner

    async def write(tx: Transaction) -> None:
        key, now = (
            await api_keys.get_own(tx, owner, key_id),
            runtime.clock.now(),
        )
        await api_keys.revoke(tx, key_id, now)
        if key.revoked_at is None:
            entry = audit_log.make_revocation_entry(key, now, "by hand")
            await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, key_id)

    await runtime.db.write(write)
    return key_id
