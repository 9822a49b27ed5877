"""The organisation, the mode and the limits of an API key (contract 3.5, 7)."""

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict

from esign.actions.people import accounts as actions
from esign.config import Config, LimitSettings
from esign.core.people.account import Organisation
from esign.core.people.api_key import ApiKey
from esign.store.people import organisations
from esign.web.api import account_examples as examples
from esign.web.api.api_keys import ApiKeyReply
from esign.web.api.api_keys import present as present_key
from esign.web.rest.endpoint import ApiCall
from esign.web.values.schema import Reply


class OrganisationReply(Reply):
    id: str
    name: str
    plan: Literal["free", "team", "business", "enterprise"]


class LimitsReply(Reply):
    """The limits as they are set here; null where there is none."""

    requests_per_minute: int
    creates_per_minute: int | None
    sends_per_minute: int | None
    verifies_per_minute: int | None
    auth_failures_per_minute: int
    reminders_per_hour: int
    emails_per_day: int
    documents_per_month: int | None
    idempotency_hours: int
    download_seconds: int
    file_bytes: int
    body_bytes: int
    plain_body_bytes: int
    pages: int
    recipients: int
    fields: int
    webhooks: int
    templates: int
    api_keys: int
    event_days: int
    rotation_hours: int
    link_days: int
    attachment_bytes: int


class AccountReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.ACCOUNT]})

    organisation: OrganisationReply
    mode: Literal["live", "test"]
    key: ApiKeyReply
    limits: LimitsReply


@dataclass(frozen=True, slots=True)
class KeyAccount:
    """A key, its organisation, and the configuration that sets the limits of both."""

    key: ApiKey
    organisation: Organisation
    config: Config


async def read(call: ApiCall) -> KeyAccount:
    """Return the organisation, the mode and the limits of the key of this request."""
    runtime = call.runtime
    organisation = await organisations.get(runtime.db, call.key.organisation_id)
    return KeyAccount(call.key, organisation, runtime.config)


def present(found: KeyAccount) -> AccountReply:
    """Return the answer about the account of a key."""
    organisation = found.organisation
    return AccountReply(
        organisation=OrganisationReply(
            id=organisation.id,
            name=organisation.name,
            plan=actions.find_plan(organisation, found.config),  # type: ignore[arg-type]  # one of core.account.PLANS
        ),
        mode=found.key.mode.value,
        key=present_key(found.key),
        limits=present_limits(found.config.limits),
    )


def present_limits(limits: LimitSettings) -> LimitsReply:
    """Return the limits as they are set here."""
    return LimitsReply.model_validate(actions.list_limits(limits))
