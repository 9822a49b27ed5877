"""The settings in force: those of an organisation, with the defaults of the installation for what it has not set."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from esign.core.actor import Owner
from esign.core.people.account import Organisation, Reminders
from esign.runtime import Runtime
from esign.store.people import organisations


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force. `organisation` has gaps for unset values; the defaults of new documents are filled in."""

    organisation: Organisation
    expires_in_days: int
    reminders: Reminders


async def read(runtime: Runtime, owner: Owner) -> Settings:
    """Return the settings in force."""
    return fill_settings(runtime, await organisations.get(runtime.db.points, owner.organisation_id))


def fill_settings(runtime: Runtime, organisation: Organisation) -> Settings:
    """Return the settings in force of an organisation that is already read."""
    config = runtime.config
    installed = Reminders(**config.reminders.model_dump())
    own = organisation.reminders
    return Settings(
        organisation=organisation,
        expires_in_days=organisation.expires_in_days or config.expiry.days,
        reminders=replace(own, before_expiry_hours=installed.before_expiry_hours) if own else installed,
    )


async def fill_members(runtime: Runtime, owner: Owner, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given members of a document or template as they are stored.

    `reminders` maps names of `Reminders`; those that are left out, and an expiry of None, are as in the settings.
    Empty texts become None.
    """
    members = {name: None if value == "" else value for name, value in given.items()}
    defaults = await read(runtime, owner)
    if "expires_in_days" in members:
        members["expires_in_days"] = members["expires_in_days"] or defaults.expires_in_days
    if "reminders" in members:
        members["reminders"] = replace(defaults.reminders, **(members["reminders"] or {}))
    if "metadata" in members:
        members["metadata"] = members["metadata"] or {}
    return members
