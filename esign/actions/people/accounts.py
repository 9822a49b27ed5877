"""Creates, lists and revokes organisations and API keys, as the command line and the start of the program need it."""

from dataclasses import dataclass, field, replace
from email.utils import parseaddr

from esign.actions.base import audit_log
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.mail import notices
from esign.config import Config, ConfigError, LimitSettings
from esign.core.actor import COMMAND, Author, Mode, Owner
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.people import api_key
from esign.core.people.account import Organisation, may_use_api
from esign.core.people.api_key import LIVE_ONLY, ApiKey, Scope
from esign.core.sentence import say
from esign.pdf.drawing import missing_glyphs
from esign.runtime import Installation
from esign.store.engine.database import Database, Transaction
from esign.store.people import api_keys, organisations
from esign.system.entropy import make_id, make_key_secret

PLAIN_BODY = 2**20  # bytes of a request without a file


class LiveKeysNotAllowed(Exception):
    """Raised if a live key is requested of a test environment, which issues only test keys."""


class LiveScopeOfTestKey(Exception):
    """Raised if a test key is requested with a scope that only live keys have."""


async def check_name(db: Database, config: Config) -> None:
    """Raise ConfigError if the first start would create an organisation whose name no font can print."""
    name = config.organisation.name
    if await organisations.find_first(db) is None and (missing := find_undrawn(name, config)):
        raise ConfigError(
            f'organisation.name: found "{name}"; allowed is what a font at hand can print,'
            f" and none prints {' '.join(missing)}"
        )


async def ensure_organisation(db: Database, config: Config, now: Instant) -> Organisation:
    """Return the first organisation, after creating it from the configuration at the first start.

    Raises ConfigError as `check_name` does.
    """
    existing = await organisations.find_first(db)
    if existing is not None:
        return existing
    await check_name(db, config)
    settings = config.organisation
    made = Organisation(
        id=make_id("org", now),
        name=settings.name,
        locale=settings.locale,
        time_zone=settings.time_zone,
        created_at=now,
        reply_to=parseaddr(settings.reply_to)[1] if settings.reply_to else None,
    )

    async def write(tx: Transaction) -> Organisation:
        other = await organisations.find_first(tx)
        if other is not None:
            return other
        await organisations.add(tx, made)
        return made

    return await db.write(write)


def find_undrawn(name: str, config: Config) -> list[str]:
    """Return the characters of an organisation's name that no font can print on a certificate page."""
    return missing_glyphs.find_missing_with_system([name], [str(path) for path in config.seal.font_paths])


def find_plan(organisation: Organisation, config: Config) -> str:
    """Return the plan of the organisation, or else of the installation."""
    return organisation.plan or config.organisation.plan


@dataclass(frozen=True, slots=True)
class KeyWish:
    """The properties of a key that is requested. `secret` is its random part if it was drawn before."""

    name: str
    mode: Mode
    scopes: frozenset[Scope]
    expires_at: Instant | None = None
    secret: str | None = field(default=None, repr=False)


async def create_key(
    installation: Installation, wish: KeyWish, author: Author = COMMAND
) -> tuple[ApiKey, str]:
    """Create a key of the first organisation, and return it with its text, which is shown only this once.

    The key lives no longer than the organisation's `max_key_lifetime_days`. Raises `plan_required` below the
    business plan, `limit_reached` beyond the limit of active keys, `LiveKeysNotAllowed` and
    `LiveScopeOfTestKey`.
    """
    organisation = await ensure_organisation(installation.db, installation.config, installation.now)
    return await add_key(installation, Caller(Owner(organisation.id, wish.mode), author), wish)


async def add_key(installation: Installation, caller: Caller, wish: KeyWish) -> tuple[ApiKey, str]:
    """Create a key of the caller's organisation. Otherwise like `create_key`."""
    config, vault, now = installation.config, installation.vault, installation.now
    organisation = await organisations.get(installation.db, caller.owner.organisation_id)
    if not may_use_api(find_plan(organisation, config)):
        raise Problem("plan_required")
    if config.server.environment == "test" and wish.mode is Mode.LIVE:
        raise LiveKeysNotAllowed
    if wish.mode is Mode.TEST and wish.scopes & LIVE_ONLY:
        raise LiveScopeOfTestKey
    text = api_key.compose_key(wish.mode, wish.secret or make_key_secret())
    key = ApiKey(
        id=make_id("key", now),
        organisation_id=organisation.id,
        mode=wish.mode,
        name=wish.name,
        hint=api_key.make_hint(text),
        scopes=wish.scopes,
        created_at=now,
        expires_at=min(filter(None, (wish.expires_at, find_latest_end(organisation, now))), default=None),
        created_by=caller.author.actor,
    )

    async def write(tx: Transaction) -> None:
        limit = config.limits.api_keys
        if await api_keys.count_active(tx, organisation.id, now) >= limit:
            raise Problem(
                "limit_reached",
                say(
                    "The organisation has {n} active keys; revoke one first.",
                    one="The organisation has {n} active key; revoke it first.",
                    n=limit,
                ),
            )
        # The answer is kept first: a repeated request may bring a `secret` whose key was added a moment ago.
        await caller.keep(tx, key)
        await api_keys.add(tx, key, api_key.hash_key(text))
        entry = AdminAct("api_key.created", now, audit_log.describe_key(key), {"name": key.name})
        await audit_log.log_act(tx, vault, caller, entry)
        # Its scopes decide: the rights that it has now depend on its creator, who may have more tomorrow.
        if wish.mode is Mode.LIVE and not wish.scopes.isdisjoint({Scope.ALL, Scope.ACCOUNT_ADMIN}):
            await notices.tell_owners_of_key(tx, vault, key, caller.author, now)

    await installation.db.write(write)
    return replace(key, plan=organisation.plan), text


def find_latest_end(organisation: Organisation, now: Instant) -> Instant | None:
    """Return the latest time at which a key created now may end, or None if keys may live for ever."""
    days = organisation.max_key_lifetime_days
    return None if days is None else now + days * DAY


async def list_keys(db: Database) -> list[ApiKey]:
    """Return every key of the first organisation, oldest first."""
    organisation = await organisations.find_first(db)
    return await api_keys.find_all(db, organisation.id) if organisation else []


async def revoke_key(installation: Installation, key_id: str) -> None:
    """Revoke the key from the next request on. Raises `not_found`."""
    now = installation.now

    async def write(tx: Transaction) -> bool:
        if not await api_keys.revoke(tx, key_id, now):
            return False
        key = await api_keys.get(tx, key_id)
        if key.revoked_at == now:  # a key that was revoked before keeps its time and gets no entry
            entry = audit_log.make_revocation_entry(key, now, "by hand")
            await audit_log.add_entry(tx, installation.vault, key.organisation_id, COMMAND, entry)
        return True

    if not await installation.db.write(write):
        raise Problem("not_found", say("There is no key {id}; see esign keys list.", id=key_id))


def name_state(key: ApiKey, now: Instant) -> str:
    """Return the state of the key: active, suspended, expired or revoked.

    A key is suspended if the member who created it is not active any more.
    """
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "suspended" if key.is_suspended else "active"


async def create_organisation(installation: Installation, name: str, plan: str | None) -> str:
    """Create another organisation, with the language and time zone of the first one, and return its id."""
    now = installation.now
    first = await ensure_organisation(installation.db, installation.config, now)
    made = Organisation(
        id=make_id("org", now),
        name=name,
        locale=first.locale,
        time_zone=first.time_zone,
        created_at=now,
        plan=plan,
    )

    async def write(tx: Transaction) -> None:
        await organisations.add(tx, made)
        entry = AdminAct("organisation.created", now, {"organisationId": made.id, "name": name, "plan": plan})
        for organisation_id in (first.id, made.id):
            await audit_log.add_entry(tx, installation.vault, organisation_id, COMMAND, entry)

    await installation.db.write(write)
    return made.id


async def list_organisations(db: Database) -> list[Organisation]:
    """Return all organisations, oldest first."""
    return await organisations.find_all(db)


async def set_plan(installation: Installation, organisation_id: str, plan: str) -> None:
    """Set the plan of the organisation from the next request or start on. Raises `not_found`."""

    async def write(tx: Transaction) -> None:
        found = {one.id: one for one in await organisations.find_all(tx)}
        if organisation_id not in found:
            raise Problem(
                "not_found", say("There is no organisation {id}; see esign orgs list.", id=organisation_id)
            )
        before = found[organisation_id]
        await organisations.save(tx, replace(before, plan=plan))
        data = {"from": before.plan, "to": plan}
        entry = AdminAct("organisation.plan_changed", installation.now, data)
        await audit_log.add_entry(tx, installation.vault, organisation_id, COMMAND, entry)

    await installation.db.write(write)


def list_limits(limits: LimitSettings) -> dict[str, int | None]:
    """Return the limits of this installation by their names (contract 7), None where there is none."""
    sized = {name: getattr(limits, f"{name}_mib") * 2**20 for name in ("file", "body", "attachment")}
    set_here = {name: limit or None for name, limit in limits if not name.endswith("_mib")}
    return {
        **set_here,
        **{f"{name}_bytes": size for name, size in sized.items()},
        "plain_body_bytes": PLAIN_BODY,
        "reminders_per_hour": 1,
    }
