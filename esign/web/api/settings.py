"""The settings of the organisation, for both modes (contract 3.5)."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from esign.actions.base import settings_in_force
from esign.actions.base.settings_in_force import Settings
from esign.actions.people import settings as actions
from esign.web.api import account_examples as examples
from esign.web.api.document_requests import RemindersInput
from esign.web.rest.endpoint import ApiCall
from esign.web.values.account_values import (
    Colour,
    EmbedOrigins,
    KeyDays,
    OrganisationName,
    RetentionDays,
    ZoneName,
)
from esign.web.values.document_values import Days, Locale
from esign.web.values.schema import Email, Patch, Reply


class ChangeSettings(Patch):
    """Null sets a member back to what the installation says, or to none; the name is always there."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CHANGE_SETTINGS]})

    organisation_name: Annotated[OrganisationName, Field(default_factory=str)]
    reply_to: Email | None = None
    default_locale: Locale | None = None
    time_zone: ZoneName | None = None
    default_expires_in_days: Days | None = None
    default_reminders: RemindersInput | None = None
    brand_colour: Colour | None = None
    retain_completed_days: RetentionDays | None = None
    delete_closed_after_days: RetentionDays | None = None
    max_key_lifetime_days: KeyDays | None = None
    embed_origins: EmbedOrigins | None = None


class DefaultRemindersReply(Reply):
    enabled: bool
    first_after_days: int
    every_days: int
    max: int


class SettingsReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.SETTINGS]})

    organisation_name: str
    reply_to: str | None
    default_locale: Locale
    time_zone: str
    default_expires_in_days: int
    default_reminders: DefaultRemindersReply
    brand_colour: str
    retain_completed_days: int | None
    delete_closed_after_days: int | None
    max_key_lifetime_days: int | None
    embed_origins: list[str]


# The members that have another name in `core`.
NAMES = {
    "organisation_name": "name",
    "default_locale": "locale",
    "default_expires_in_days": "expires_in_days",
    "default_reminders": "reminders",
    "brand_colour": "colour",
}


async def read(call: ApiCall) -> Settings:
    """Return the settings as they count now, defaults of the installation put in."""
    return await settings_in_force.read(call.runtime, call.owner)


async def change(call: ApiCall, body: ChangeSettings) -> Settings:
    """Change settings; they count for what happens from now on, drafts and open documents keep theirs."""
    return await actions.change(call.runtime, call.caller, changes_of(body))


def changes_of(body: ChangeSettings) -> dict[str, object]:
    """Return the members to change, by their names in `core`."""
    given: dict[str, Any] = body.model_dump(exclude_unset=True)
    if isinstance(given.get("default_reminders"), dict):
        given["default_reminders"] = {k: v for k, v in given["default_reminders"].items() if v is not None}
    return {NAMES.get(name, name): value for name, value in given.items()}


def present(found: Settings) -> SettingsReply:
    organisation, plan = found.organisation, found.reminders
    return SettingsReply(
        organisation_name=organisation.name,
        reply_to=organisation.reply_to,
        default_locale=organisation.locale,  # type: ignore[arg-type]  # one that there are words for
        time_zone=organisation.time_zone,
        default_expires_in_days=found.expires_in_days,
        default_reminders=DefaultRemindersReply(
            **{name: getattr(plan, name) for name in DefaultRemindersReply.model_fields}
        ),
        brand_colour=organisation.colour,
        retain_completed_days=organisation.retain_completed_days,
        delete_closed_after_days=organisation.delete_closed_after_days,
        max_key_lifetime_days=organisation.max_key_lifetime_days,
        embed_origins=list(organisation.embed_origins),
    )
