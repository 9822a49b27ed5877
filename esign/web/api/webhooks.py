"""Webhooks: create, list, read, change, rotate the secret, delete (contract 3.4)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from esign.actions.webhook import webhooks as actions
from esign.actions.webhook.webhooks import CreatedWebhook, RotatedSecret, WebhookChanges, WebhookOrder
from esign.core.webhook.webhook import Webhook
from esign.web.api import examples
from esign.web.api import webhook_examples as more
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.account_values import EventNames, WebhookDescription, WebhookUrl
from esign.web.values.schema import Moment, Patch, Reply, Schema

FILTERS = "webhooks"


class CreateWebhook(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATE_WEBHOOK]})

    url: WebhookUrl
    events: EventNames
    description: WebhookDescription | None = None


class ChangeWebhook(Patch):
    """`enabled: true` also clears what was counted against it; `enabled: false` gives up what waits for it."""

    model_config = ConfigDict(json_schema_extra={"examples": [more.CHANGE_WEBHOOK]})

    url: Annotated[WebhookUrl, Field(default_factory=str)]
    events: Annotated[EventNames, Field(default_factory=list)]
    enabled: Annotated[bool, Field(default_factory=bool)]
    description: WebhookDescription | None = None


class RotateSecret(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [more.ROTATE]})

    grace_hours: Annotated[
        Annotated[int, Field(ge=0, le=168)] | None,
        Field(
            description="How long the previous secret signs too; 24 unless the installation says otherwise."
        ),
    ] = None


class WebhookReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [more.WEBHOOK]})

    id: str
    url: str
    events: list[str]
    enabled: bool
    created_at: Moment
    description: str | None
    updated_at: Moment
    disabled_at: Moment | None
    disabled_reason: Literal["manual", "failing", "gone"] | None
    failing_since: Moment | None
    last_success_at: Moment | None


class WebhookCreated(WebhookReply):
    """With the secret, which only a rotation shows again."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATED_WEBHOOK]})

    secret: str


class WebhookPage(ListReply[WebhookReply]):
    model_config = ConfigDict(json_schema_extra={"examples": [more.WEBHOOKS]})


class SecretRotated(Reply):
    """`previousSecretExpiresAt` is now where there is no grace."""

    model_config = ConfigDict(json_schema_extra={"examples": [more.ROTATED]})

    id: str
    secret: str
    previous_secret_expires_at: Moment


class Deleted(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELETED_WEBHOOK]})

    id: str


async def create(call: ApiCall, body: CreateWebhook) -> CreatedWebhook:
    """Register an address for events; the secret is shown this once."""
    order = WebhookOrder(body.url, tuple(body.events), body.description or None)
    return await actions.create(call.runtime, call.caller, order)


async def find(call: ApiCall, query: Paging) -> FoundPage[Webhook]:
    """List webhooks, newest first."""
    after = place_of(call.runtime.vault, query.cursor, FILTERS)
    found, place = await actions.find_page(call.runtime, call.owner, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, place, FILTERS))


async def read(call: ApiCall) -> Webhook:
    """Return one webhook; never its secret."""
    return await actions.get(call.runtime, call.owner, call.path["id"])


async def change(call: ApiCall, body: ChangeWebhook) -> Webhook:
    """Change a webhook, switch it off or on again."""
    given = {name: getattr(body, name) for name in body.model_fields_set - {"enabled"}}
    if "events" in given:
        given["events"] = tuple(given["events"])
    if "description" in given:
        given["description"] = given["description"] or None
    enabled = body.enabled if "enabled" in body.model_fields_set else None
    return await actions.change(call.runtime, call.caller, call.path["id"], WebhookChanges(given, enabled))


async def rotate_secret(call: ApiCall, body: RotateSecret) -> RotatedSecret:
    """Give a webhook a new secret; for a while the previous one signs every delivery too."""
    hours = call.runtime.config.limits.rotation_hours if body.grace_hours is None else body.grace_hours
    return await actions.rotate(call.runtime, call.caller, call.path["id"], hours)


async def delete(call: ApiCall) -> str:
    """Delete a webhook; its pending deliveries are dropped."""
    return await actions.delete(call.runtime, call.caller, call.path["id"])


def present(webhook: Webhook) -> WebhookReply:
    return WebhookReply(**collect_members(webhook))


def present_page(found: FoundPage[Webhook]) -> WebhookPage:
    return WebhookPage.from_page(found, present)


def present_created(created: CreatedWebhook) -> WebhookCreated:
    return WebhookCreated.model_construct(**collect_members(created.webhook), secret=created.secret)


def collect_members(webhook: Webhook) -> dict[str, Any]:
    """Return the members of a webhook, by the names of the answer."""
    same = {name: getattr(webhook, name) for name in WebhookReply.model_fields}
    return same | {"events": list(webhook.events)}


def present_rotated(rotated: RotatedSecret) -> SecretRotated:
    return SecretRotated(id=rotated.id, secret=rotated.secret, previous_secret_expires_at=rotated.until)


def present_deleted(webhook_id: str) -> Deleted:
    return Deleted(id=webhook_id)
