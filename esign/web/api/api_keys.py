"""API keys: list, read, rename, revoke (contract 3.5). Keys are created on the command line or in the office only."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from esign.actions.people import api_keys as actions
from esign.core.people.api_key import ApiKey
from esign.web.api import account_examples as examples
from esign.web.api.document_requests import Empty
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.account_values import KeyName, MemberRoleName
from esign.web.values.schema import Moment, Patch, Reply


class RenameKey(Patch):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.RENAME]})

    name: Annotated[KeyName, Field(default_factory=str)]


class KeyMakerReply(Reply):
    """Who made a key, and with which role it acts; the command line is the installation itself."""

    kind: Literal["member", "system"]
    id: str | None
    name: str
    role: MemberRoleName | None


class ApiKeyReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.API_KEY]})

    id: str
    name: str
    mode: Literal["live", "test"]
    hint: str
    scopes: list[str]
    created_at: Moment
    created_by: KeyMakerReply
    expires_at: Moment | None
    last_used_at: Moment | None
    last_used_ip: str | None
    revoked_at: Moment | None


class ApiKeyPage(ListReply[ApiKeyReply]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.API_KEYS]})


class RevokedReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.REVOKED]})

    id: str


async def find(call: ApiCall, query: Paging) -> FoundPage[ApiKey]:
    """List the organisation's keys of this mode, newest first; revoked and expired ones too."""
    filters = f"api-keys:{call.owner}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_page(call.runtime, call.owner, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def read(call: ApiCall) -> ApiKey:
    """Return one key; never the key itself."""
    return await actions.get(call.runtime, call.owner, call.path["id"])


async def rename(call: ApiCall, body: RenameKey) -> ApiKey:
    """Give a key another name; scopes and expiry are fixed at creation."""
    name = body.name if body.model_fields_set else None
    return await actions.rename(call.runtime, call.caller, call.path["id"], name)


async def revoke(call: ApiCall, body: Empty) -> str:
    """End a key from its next request on; the key stays in the list."""
    return await actions.revoke(call.runtime, call.caller, call.path["id"])


async def revoke_current(call: ApiCall, body: Empty) -> str:
    """End the very key of this request."""
    return await actions.revoke(call.runtime, call.caller, call.key.id)


def present(key: ApiKey) -> ApiKeyReply:
    return ApiKeyReply(
        id=key.id,
        name=key.name,
        mode=key.mode.value,
        hint=key.hint,
        scopes=sorted(key.scopes),
        created_at=key.created_at,
        created_by=present_maker(key),
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        last_used_ip=key.last_used_ip,
        revoked_at=key.revoked_at,
    )


def present_maker(key: ApiKey) -> KeyMakerReply:
    """Return who made a key. The role is that of today."""
    maker, role = key.created_by, key.maker_role
    return KeyMakerReply(
        kind=maker.kind,  # type: ignore[arg-type]  # one of the two
        id=maker.id,
        name=maker.name or "",
        role=role.value if role else None,
    )


def present_page(found: FoundPage[ApiKey]) -> ApiKeyPage:
    return ApiKeyPage.from_page(found, present)


def present_revoked(key_id: str) -> RevokedReply:
    return RevokedReply(id=key_id)
