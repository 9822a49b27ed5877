"""The members of the organisation. They are the same in both modes (contract 3.5)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from esign.actions.people import members as actions
from esign.actions.people.members import Removal
from esign.core.people.member import Member, MemberRole
from esign.web.api import account_examples as examples
from esign.web.api.document_requests import Empty
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.account_values import MemberRoleName
from esign.web.values.document_values import PersonName
from esign.web.values.schema import Email, Moment, Patch, Reply, Schema


class InviteMember(Schema):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.INVITE]})

    email: Email
    name: PersonName
    role: MemberRoleName


class ChangeMember(Patch):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.CHANGE_MEMBER]})

    name: Annotated[PersonName, Field(default_factory=str)]
    role: Annotated[MemberRoleName, Field(default_factory=str)]


class MemberReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.MEMBER]})

    id: str
    email: str
    name: str
    role: MemberRoleName
    status: Literal["invited", "active"]
    created_at: Moment


class MemberPage(ListReply[MemberReply]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.MEMBERS]})


class MemberDeleted(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.REMOVED_MEMBER]})

    id: str
    revoked_api_keys: list[str]


async def find(call: ApiCall, query: Paging) -> FoundPage[Member]:
    """List members, newest first."""
    filters = f"members:{call.owner}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_page(call.runtime, call.owner, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


async def invite(call: ApiCall, body: InviteMember) -> Member:
    """Invite somebody by mail; they are `invited` until they have joined. Owners are made in the web application."""
    role = MemberRole(body.role)
    return await actions.invite(call.runtime, call.caller, body.email, body.name, role)


async def change(call: ApiCall, body: ChangeMember) -> Member:
    """Change the name or the role of a member; owners are changed only in the web application, by owners."""
    role = MemberRole(body.role) if "role" in body.model_fields_set else None
    return await actions.change(call.runtime, call.caller, call.path["id"], body.name or None, role)


async def remove(call: ApiCall, body: Empty) -> Removal:
    """Remove a member who is not an owner; their documents stay, the API keys they made are revoked."""
    return await actions.remove(call.runtime, call.caller, call.path["id"])


def present(member: Member) -> MemberReply:
    return MemberReply(
        id=member.id,
        email=member.email,
        name=member.name,
        role=member.role.value,
        status=member.status.value,
        created_at=member.created_at,
    )


def present_page(found: FoundPage[Member]) -> MemberPage:
    return MemberPage.from_page(found, present)


def present_removed(removal: Removal) -> MemberDeleted:
    return MemberDeleted(id=removal.id, revoked_api_keys=[key.id for key in removal.keys])
