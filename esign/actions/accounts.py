"""Organisations and keys: made, listed, revoked."""

from dataclasses import dataclass, replace
from email.utils import parseaddr

from esign.actions.transition import Keep
from esign.config import Config, ConfigError
from esign.core import apikey
from esign.core.account import Organisation, may_use_api
from esign.core.apikey import COMMAND_LINE, ApiKey, Scope
from esign.core.document import Actor, Mode
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.entropy import new_id, new_key_secret
from esign.pdf import glyphs
from esign.store import accounts
from esign.store.database import Database, Transaction


class LiveKeysNotAllowed(Exception):
    """The installation is a test environment: it issues only test keys."""


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
    now: Instant,
    *,
    name: str,
    mode: Mode,
    scopes: frozenset[Scope],
    expires_in_days: int | None,
    created_by: Actor = COMMAND_LINE,
) -> tuple[ApiKey, str]:
    """A key and, once, its text; refused below the business plan and over the limit of active keys.

    It lives no longer than the organisation's `max_key_lifetime_days`, whatever was asked for.
    """
    organisation = await ensure_organisation(db, config, now)
    expires_at = None if expires_in_days is None else now + expires_in_days * DAY
    wish = Wish(name, mode, scopes, expires_at)
    return await add_key(db, config, now, organisation, wish, created_by)


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
    now: Instant,
    organisation: Organisation,
    wish: Wish,
    created_by: Actor,
    secret: str | None = None,
    keep: Keep | None = None,
) -> tuple[ApiKey, str]:
    """The same for one of several organisations; `secret`: its random part, where that was drawn before."""
    if not may_use_api(plan_of(organisation, config)):
        raise Problem("plan_required")
    if config.server.environment == "test" and wish.mode is Mode.LIVE:
        raise LiveKeysNotAllowed
    text = apikey.compose(wish.mode, secret or new_key_secret())
    key = ApiKey(
        id=new_id("key", now),
        organisation_id=organisation.id,
        mode=wish.mode,
        name=wish.name,
        hint=apikey.hint(text),
        scopes=wish.scopes,
        created_at=now,
        expires_at=min(filter(None, (wish.expires_at, latest_end(organisation, now))), default=None),
        created_by=created_by,
    )

    async def write(tx: Transaction) -> None:
        limit = config.limits.api_keys
        if await accounts.count_active_keys(tx, organisation.id, now) >= limit:
            raise Problem("limit_reached", f"The organisation has {limit} active keys; revoke one first.")
        if (
            keep is not None
        ):  # first: a secret that was drawn before may be that of a key that is made just now
            await keep(tx, key)
        await accounts.add_key(tx, key, apikey.digest(text))

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


async def revoke_key(db: Database, key_id: str, now: Instant) -> None:
    """Counts from the next request on; `not_found` for an unknown id."""

    async def write(tx: Transaction) -> bool:
        return await accounts.revoke_key(tx, key_id, now)

    if not await db.write(write):
        raise Problem("not_found", f"There is no key {key_id}; see esign keys list.")


def state_of(key: ApiKey, now: Instant) -> str:
    """active, expired or revoked."""
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "active"


async def create_organisation(db: Database, config: Config, name: str, plan: str | None, now: Instant) -> str:
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

    await db.write(write)
    return made.id


async def list_organisations(db: Database) -> list[Organisation]:
    """Oldest first."""
    return await accounts.organisations(db)


async def set_plan(db: Database, organisation_id: str, plan: str) -> None:
    """Counts from the next request on, or the next start; raises `not_found`."""

    async def write(tx: Transaction) -> None:
        found = {one.id: one for one in await accounts.organisations(tx)}
        if organisation_id not in found:
            raise Problem("not_found", f"There is no organisation {organisation_id}; see esign orgs list.")
        await accounts.save_organisation(tx, replace(found[organisation_id], plan=plan))

    await db.write(write)
