"""The administrative audit log. Every act is entered in the transaction of its effect.

An act that concerns a person and no organisation, such as a new password, is entered in the log of each of
their organisations. An act that concerns the whole installation is entered in the log of the organisation that
was set up first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from esign.actions.base.caller import Caller
from esign.core.actor import Actor, Author, Origin
from esign.core.document.audit import AuditEntry
from esign.core.document.state.outcome import Event
from esign.core.instant import Instant, rfc3339
from esign.core.people.admin_audit import is_entered
from esign.core.people.api_key import ApiKey
from esign.core.people.user import User
from esign.runtime import Runtime
from esign.store.document import outcomes
from esign.store.engine.database import Transaction
from esign.store.engine.paging import PageStart
from esign.store.people import audit_log, members, organisations
from esign.store.people.audit_log import AuditLogFilter
from esign.system.vault import Vault

ANONYMOUS = "anonymous"  # the kind of an actor who has not signed in


@dataclass(frozen=True, slots=True)
class AdminAct:
    """What happened. `data` stays for ever; `detail` is personal data and can be erased."""

    type: str
    at: Instant
    data: Mapping[str, object]
    detail: Mapping[str, object] | None = None


async def add_entry(
    tx: Transaction, vault: Vault, organisation_id: str, author: Author, act: AdminAct
) -> None:
    """Enter an act in the log of an organisation, and queue it for the organisation's webhooks."""
    fact = Event(act.type, act.at, author.actor, None, author.origin, act.data, act.detail)
    await outcomes.log(tx, organisation_id, fact, vault)


async def log_act(tx: Transaction, vault: Vault, caller: Caller, act: AdminAct) -> None:
    """Enter an act of the caller in the log of their organisation. Otherwise like `add_entry`."""
    await add_entry(tx, vault, caller.owner.organisation_id, caller.author, act)


async def log_of_installation(tx: Transaction, vault: Vault, author: Author, act: AdminAct) -> None:
    """Enter an act that concerns the whole installation. Does nothing while there is no organisation."""
    first = await organisations.find_first(tx)
    if first is not None:
        await add_entry(tx, vault, first.id, author, act)


async def log_own_act(tx: Transaction, vault: Vault, user: User, origin: Origin, act: AdminAct) -> None:
    """Enter what users did to their own accounts in the log of each of their organisations."""
    for member in await members.find_by_user(tx, user.id):
        author = Author(Actor("member", member.id, user.name, user.email), origin)
        about = {"memberId": member.id, **act.data}
        await add_entry(tx, vault, member.organisation_id, author, replace(act, data=about))


async def log_act_on_user(tx: Transaction, vault: Vault, user: User, author: Author, act: AdminAct) -> None:
    """Enter what another did to the account of a user in the log of each of the user's organisations."""
    for member in await members.find_by_user(tx, user.id):
        about = {"memberId": member.id, **act.data}
        detail = {"email": user.email, **(act.detail or {})}
        await add_entry(tx, vault, member.organisation_id, author, replace(act, data=about, detail=detail))


async def log_failure(runtime: Runtime, user: User | None, step: str, origin: Origin) -> None:
    """Count a failed sign-in. Enter the first of an hour, and then fewer and fewer of them.

    `step` is `password`, `code` or `confirmation`. Failures for unknown addresses are counted together, and the
    address that was typed is not stored: it may be a password in the wrong field.
    """
    now, by = runtime.clock.now(), Author(Actor(ANONYMOUS), origin)

    async def write(tx: Transaction) -> None:
        own = await members.find_by_user(tx, user.id) if user else []
        first = None if own else await organisations.find_first(tx)
        places: list[tuple[str, str | None]] = [(member.organisation_id, member.id) for member in own]
        for organisation_id, member_id in places or ([(first.id, None)] if first else []):
            subject = f"{member_id or ''}:{step}"
            tries, since = await audit_log.count_failure(tx, organisation_id, subject, now)
            if is_entered(tries):
                data = {"memberId": member_id, "step": step, "tries": tries, "since": rfc3339(since)}
                detail = {"email": user.email} if user and member_id else None
                act = AdminAct("member.sign_in_failed", now, data, detail)
                await add_entry(tx, runtime.vault, organisation_id, by, act)

    await runtime.db.write(write)


def describe_key(key: ApiKey) -> dict[str, object]:
    """Return the data that describe an API key in log entries."""
    return {
        "keyId": key.id,
        "mode": key.mode.value,
        "scopes": sorted(scope.value for scope in key.scopes),
        "expiresAt": None if key.expires_at is None else rfc3339(key.expires_at),
    }


def make_revocation_entry(key: ApiKey, now: Instant, reason: str) -> AdminAct:
    """Return the log entry of a revoked API key."""
    return AdminAct("api_key.revoked", now, {**describe_key(key), "reason": reason}, {"name": key.name})


async def find_page(
    runtime: Runtime, wanted: AuditLogFilter, limit: int, after: PageStart | None
) -> tuple[list[AuditEntry], PageStart | None]:
    """Return a page of entries, newest first, and the place where the next page begins, or None."""
    found = await audit_log.find_page(runtime.db, wanted, limit + 1, after)
    page = found[:limit]
    return page, audit_log.find_place(page[-1]) if len(found) > limit else None
