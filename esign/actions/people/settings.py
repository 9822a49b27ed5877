"""Changes the settings of an organisation (contract 3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from esign.actions.base import audit_log, printable_text
from esign.actions.base.audit_log import AdminAct
from esign.actions.base.caller import Caller
from esign.actions.base.settings_in_force import Settings, fill_settings
from esign.config import Config
from esign.core.document.embedding import is_plain
from esign.core.errors import Detail, Problem
from esign.core.instant import Instant
from esign.core.people.account import COLOUR, Organisation, Reminders
from esign.runtime import Runtime
from esign.store.engine.database import Transaction
from esign.store.people import organisations


async def change(runtime: Runtime, caller: Caller, changes: Mapping[str, Any]) -> Settings:
    """Change settings by their names in `Organisation`, and return the settings in force. None restores the default.

    `reminders` maps names of `Reminders`. Names that are left out get the default of the installation. Raises
    `invalid_request` for a name that cannot be printed, and as `check_origins` does.
    """
    owner = caller.owner
    config = runtime.config
    cleared = {
        "colour": COLOUR,
        "locale": config.organisation.locale,
        "time_zone": config.organisation.time_zone,
        "embed_origins": (),
    }
    wanted: dict[str, Any] = {n: cleared.get(n) if value is None else value for n, value in changes.items()}
    if wanted.get("reminders") is not None:
        wanted["reminders"] = replace(Reminders(**config.reminders.model_dump()), **wanted["reminders"])
    check_origins(config, wanted.get("embed_origins", ()))
    if "name" in wanted:
        await printable_text.check_texts(
            runtime, {"/organisationName": wanted["name"]}, owner.organisation_id
        )

    async def write(tx: Transaction) -> Settings:
        before = await organisations.get(tx, owner.organisation_id)
        after = fill_settings(runtime, replace(before, **wanted))
        await organisations.save(tx, after.organisation)
        if (entry := make_change_entry(before, after.organisation, runtime.clock.now())) is not None:
            await audit_log.log_act(tx, runtime.vault, caller, entry)
        await caller.keep(tx, after)
        return after

    changed = await runtime.db.write(write)
    return changed


# The names of settings in the API. Log entries use them too.
NAMES = {
    "name": "organisationName",
    "locale": "defaultLocale",
    "time_zone": "timeZone",
    "expires_in_days": "defaultExpiresInDays",
    "reminders": "defaultReminders",
    "colour": "brandColour",
    "retain_completed_days": "retainCompletedDays",
    "delete_closed_after_days": "deleteClosedAfterDays",
    "max_key_lifetime_days": "maxKeyLifetimeDays",
    "embed_origins": "embedOrigins",
}


def make_change_entry(before: Organisation, after: Organisation, now: Instant) -> AdminAct | None:
    """Return the log entry of the settings that changed, each with old and new value, or None if none changed."""
    data = {
        name: {"from": make_plain(getattr(before, member)), "to": make_plain(getattr(after, member))}
        for member, name in NAMES.items()
        if getattr(before, member) != getattr(after, member)
    }
    replies = {"from": before.reply_to, "to": after.reply_to}
    detail = {"replyTo": replies} if before.reply_to != after.reply_to else None  # personal data
    return AdminAct("settings.changed", now, {"changes": data}, detail) if data or detail else None


def make_plain(value: object) -> object:
    """Return a setting as JSON represents it."""
    if isinstance(value, Reminders):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value


def check_origins(config: Config, origins: Sequence[str]) -> None:
    """Raise `invalid_request` for plain http origins, unless the installation is for tests or serves only its
    own machine.
    """
    if config.is_loopback or config.server.environment == "test":
        return
    message = "An https:// origin; plain http is for installations on the same machine or for tests only."
    plain = [
        Detail(f"/embedOrigins/{n}", message, "format") for n, one in enumerate(origins) if is_plain(one)
    ]
    if plain:
        raise Problem("invalid_request", details=plain)
