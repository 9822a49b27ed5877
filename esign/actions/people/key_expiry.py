"""API keys that end soon: notifies their administrators, and revokes unused keys if the configuration says so."""

from esign.actions.base import audit_log
from esign.actions.mail import notices
from esign.actions.mail.notices import News
from esign.core.actor import PROGRAM, Owner
from esign.core.instant import DAY, Instant
from esign.core.people.api_key import ApiKey
from esign.core.people.key_expiry import EXPIRY_NOTICES, FIRST, UNUSED, find_expiry_notice, find_unused_step
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import api_keys, organisations


async def tell_expiring(runtime: Runtime) -> int:
    """Notify administrators of keys that end soon. Return the number of keys in notices."""
    now = runtime.clock.read_settled_time()
    found = await api_keys.find_expiring(runtime.db, now, now + max(EXPIRY_NOTICES) * DAY)

    async def spoken_of(key_id: str) -> bool:
        async def write(tx: Transaction) -> bool:
            key = await api_keys.get(tx, key_id)
            days = None if key.revoked_at is not None else find_expiry_notice(key, now)
            if days is None:
                return False
            assert key.expires_at is not None
            news = make_news(key, "key_expiring", f"{key.id}:{days}", key.expires_at)
            if told := await queue_key_notice(runtime, tx, key, news):
                await api_keys.note_expiry(tx, key.id, days)
            return told

        return await runtime.db.write(write)

    count = sum([await spoken_of(key.id) for key in found if find_expiry_notice(key, now) is not None])
    return count


async def revoke_unused(runtime: Runtime) -> int:
    """Warn about keys that have not been used for long, and revoke them in the end.

    Return the number of keys concerned.
    """
    now = runtime.clock.read_settled_time()
    found = await api_keys.find_unused(runtime.db, now - UNUSED + FIRST, now)

    async def went_on(key_id: str) -> bool:
        async def write(tx: Transaction) -> bool:
            key = await api_keys.get(tx, key_id)
            step = None if key.revoked_at is not None else find_unused_step(key, now)
            if step is None:
                return False
            if step.notice is None:
                revoked = await api_keys.revoke(tx, key.id, now)
                entry = audit_log.make_revocation_entry(key, now, "unused")
                await audit_log.add_entry(tx, runtime.vault, key.organisation_id, PROGRAM, entry)
                return revoked
            news = make_news(key, "key_unused", f"{key.id}:{now}", step.ends_at)
            if told := await queue_key_notice(runtime, tx, key, news):
                await api_keys.note_unused(tx, key.id, step.notice, now)
            return told

        return await runtime.db.write(write)

    count = sum([await went_on(key.id) for key in found if find_unused_step(key, now) is not None])
    return count


def make_news(key: ApiKey, letter: str, name: str, ends_at: Instant) -> News:
    """Return the news that the key ends at `ends_at`."""
    return News(letter, name, {"api_key": key.name, "hint": key.hint, "ends_at": ends_at})


async def queue_key_notice(runtime: Runtime, tx: Transaction, key: ApiKey, news: News) -> bool:
    """Queue a notice about the key.

    Return False if there is nobody to notify: then the key is not revoked later either.
    """
    organisation = await organisations.get(tx, key.organisation_id)
    if not await notices.list_administrators(tx, organisation):
        return False
    await notices.queue_for_administrators(runtime, tx, Owner(key.organisation_id, key.mode), news)
    return True
