"""Webhooks: register one and delete it (contract 3.4)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from esign.actions import webhooks as actions
from esign.core.webhook import Webhook
from esign.web.api import examples
from esign.web.api.documents import owner_of
from esign.web.api.rules import once
from esign.web.endpoint import Call
from esign.web.schema import Line, Moment, Reply, Schema


class CreateWebhook(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATE_WEBHOOK]})

    url: Annotated[str, Line(1)]
    events: Annotated[list[Annotated[str, Line(1)]], Field(min_length=1, max_length=50), AfterValidator(once)]
    description: Annotated[str, Line(0, 200)] | None = None


class WebhookReply(Reply):
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
    """The one answer that shows the secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATED_WEBHOOK]})

    secret: str


class Deleted(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELETED_WEBHOOK]})

    id: str


async def create(call: Call, body: CreateWebhook) -> tuple[Webhook, str]:
    """Register an address for events; the secret is shown this once."""
    return await actions.create(
        call.runtime, owner_of(call), body.url, tuple(body.events), body.description or None, call.keep
    )


async def delete(call: Call) -> str:
    """Delete a webhook; its pending deliveries are dropped."""
    return await actions.delete(call.runtime, owner_of(call), call.path["id"], call.keep)


def present_created(made: tuple[Webhook, str]) -> WebhookCreated:
    webhook, secret = made
    same = {name: getattr(webhook, name) for name in WebhookReply.model_fields if name != "events"}
    return WebhookCreated(**same, events=list(webhook.events), secret=secret)


def present_deleted(webhook_id: str) -> Deleted:
    return Deleted(id=webhook_id)
