"""Organisations and keys: made, listed, revoked."""

from dataclasses import dataclass, replace
from email.utils import parseaddr

from esign.actions.base import audit_log
from esign.actions.base.audit_log import Act
from esign.actions.base.transition import Keep
from esign.actions.mail import notices
from esign.config import Config, ConfigError
from esign.core.actor import Mode
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.people import api_key
from esign.core.people.account import Organisation, may_use_api
from esign.core.people.api_key import LIVE_ONLY, ApiKey, Scope
from esign.core.people.caller import COMMAND, Caller
from esign.pdf.drawing import glyphs
from esign.store.engine.database import Database, Transaction
from esign.store.people import accounts
from esign.system.entropy import new_id, new_key_secret
from esign.system.vault import Vault


class LiveKeysNotAllowed(Exception):
    """The installation is a test environment: it issues only test keys."""


class LiveScopeOfTestKey(Exception):
    """A test key was to get a scope that only live keys have."""


async def check_name(db: Database, config: Config) -> None:
    """Raise ConfigError where the first use would make an organisation whose name no font can print."""
    name = config.organisation.name
    if await accounts.first_organisation(db) is None and (missing := undrawn(name, config)):
        raise ConfigError(
            f'organisation.name: found "{name}"; allowed is what a font at hand can print,'
            f" and none prints {' '.join(missing)}"
        )


async def ensure_organisation(db: Database, config: Config, now: Instant) -> Organisation:
    """The organisation of the configuration, made at the first use; raises ConfigError as `check_name` does."""
    existing = await accounts.first_organisation(db)
    if existing is not None:
        return existing
    await check_name(db, config)
    settings = config.organisation
    made = Organisation(
        id=new_id("org", now),
        name=settings.name,
        locale=settings.locale,
        time_zone=settings.time_zone,
        created_at=now,
        reply_to=parseaddr(settings.reply_to)[1] if settings.reply_to else None,
    )

    async def write(tx: Transaction) -> Organisation:
        other = await accounts.first_organisation(tx)
        if other is not None:
            return other
        await accounts.add_organisation(tx, made)
        return made

    return await db.write(write)


def undrawn(name: str, config: Config) -> list[str]:
    """What of an organisation's name the certificate page of its documents could not show."""
    return glyphs.missing_with_system([name], [str(path) for path in config.seal.font_paths])


def plan_of(organisation: Organisation, config: Config) -> str:
    """Its own plan, else the installation's."""
    return organisation.plan or config.organisation.plan


async def create_key(
    db: Database,
    config: Config,
    vault: Vault,
    now: Instant,
    *,
    name: str,
    mode: Mode,
    scopes: frozenset[Scope],
    expires_in_days: int | None,
    caller: Caller = COMMAND,
) -> tuple[ApiKey, str]:
    """A key and, once, its text; refused below the business plan and over the limit of active keys.

    Raises `LiveKeysNotAllowed` and `LiveScopeOfTestKey`. The key lives no longer than the organisation's
    `max_key_lifetime_days`, whatever was asked for.
    """
    organisation = await ensure_organisation(db, config, now)
    expires_at = None if expires_in_days is None else now + expires_in_days * DAY
    wish = Wish(name, mode, scopes, expires_at)
    return await add_key(db, config, vault, now, organisation, wish, caller)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a key is to be called, and what it is to be good for."""

    name: str
    mode: Mode
    scopes: frozenset[Scope]
    expires_at: Instant | None


async def add_key(
    db: Database,
    config: Config,
    vault: Vault,
    now: Instant,
    organisation: Organisation,
    wish: Wish,
    caller: Caller,
    secret: str | None = None,
    keep: Keep | None = None,
) -> tuple[ApiKey, str]:
    """The same for one of several organisations; `secret`: its random part, where that was drawn before."""
    if not may_use_api(plan_of(organisation, config)):
        raise Problem("plan_required")
    if config.server.environment == "test" and wish.mode is Mode.LIVE:
        raise LiveKeysNotAllowed
    if wish.mode is Mode.TEST and wish.scopes & LIVE_ONLY:
        raise LiveScopeOfTestKey
    text = api_key.compose(wish.mode, secret or new_key_secret())
    key = ApiKey(
        id=new_id("key", now),
        organisation_id=organisation.id,
        mode=wish.mode,
        name=wish.name,
        hint=api_key.hint(text),
        scopes=wish.scopes,
        created_at=now,
        expires_at=min(filter(None, (wish.expires_at, latest_end(organisation, now))), default=None),
        created_by=caller.actor,
    )

    async def write(tx: Transaction) -> None:
        limit = config.limits.api_keys
        if await accounts.count_active_keys(tx, organisation.id, now) >= limit:
            raise Problem("limit_reached", f"The organisation has {limit} active keys; revoke one first.")
        if (
            keep is not None
        ):  # first: a secret that was drawn before may be that of a key that is made just now
            await keep(tx, key)
        await accounts.add_key(tx, key, api_key.digest(text))
        entry = Act("api_key.created", audit_log.about_key(key), {"name": key.name})
        await audit_log.log(tx, vault, organisation.id, caller, now, entry)
        # By its scopes: what it may do now depends on its maker, and may be more tomorrow.
        if wish.mode is Mode.LIVE and not wish.scopes.isdisjoint({Scope.ALL, Scope.ACCOUNT_ADMIN}):
            await notices.tell_owners_of_key(tx, vault, key, caller, now)

    await db.write(write)
    return replace(key, plan=organisation.plan), text


def latest_end(organisation: Organisation, now: Instant) -> Instant | None:
    """When a key made now ends at the latest; None where keys may live for ever."""
    days = organisation.max_key_lifetime_days
    return None if days is None else now + days * DAY


async def list_keys(db: Database) -> list[ApiKey]:
    """Every key of the installation's organisation, oldest first."""
    organisation = await accounts.first_organisation(db)
    return await accounts.keys_of(db, organisation.id) if organisation else []


async def revoke_key(db: Database, vault: Vault, key_id: str, now: Instant) -> None:
    """Counts from the next request on; `not_found` for an unknown id."""

    async def write(tx: Transaction) -> bool:
        if not await accounts.revoke_key(tx, key_id, now):
            return False
        key = await accounts.get_key(tx, key_id)
        if key.revoked_at == now:  # a second time changes nothing
            entry = Act(
                "api_key.revoked", {**audit_log.about_key(key), "reason": "by hand"}, {"name": key.name}
            )
            await audit_log.log(tx, vault, key.organisation_id, COMMAND, now, entry)
        return True

    if not await db.write(write):
        raise Problem("not_found", f"There is no key {key_id}; see esign keys list.")


def state_of(key: ApiKey, now: Instant) -> str:
    """active, suspended (its maker is no active member any more), expired or revoked."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "suspended" if key.is_suspended else "active"


async def create_organisation(
    db: Database, config: Config, vault: Vault, name: str, plan: str | None, now: Instant
) -> str:
    """The id of one more organisation, with what the installation's has of language and time zone."""
    first = await ensure_organisation(db, config, now)
    made = Organisation(
        id=new_id("org", now),
        name=name,
        locale=first.locale,
        time_zone=first.time_zone,
        created_at=now,
        plan=plan,
    )

    async def write(tx: Transaction) -> None:
        await accounts.add_organisation(tx, made)
        entry = Act("organisation.created", {"organisationId": made.id, "name": name, "plan": plan})
        for organisation_id in (first.id, made.id):
            await audit_log.log(tx, vault, organisation_id, COMMAND, now, entry)

    await db.write(write)
    return made.id


async def list_organisations(db: Database) -> list[Organisation]:
    """Oldest first."""
    return await accounts.organisations(db)


async def set_plan(db: Database, vault: Vault, organisation_id: str, plan: str, now: Instant) -> None:
    """Counts from the next request on, or the next start; raises `not_found`."""

    async def write(tx: Transaction) -> None:
        found = {one.id: one for one in await accounts.organisations(tx)}
        if organisation_id not in found:
            raise Problem("not_found", f"There is no organisation {organisation_id}; see esign orgs list.")
        before = found[organisation_id]
        await accounts.save_organisation(tx, replace(before, plan=plan))
        entry = Act("organisation.plan_changed", {"from": before.plan, "to": plan})
        await audit_log.log(tx, vault, organisation_id, COMMAND, now, entry)

    await db.write(write)
