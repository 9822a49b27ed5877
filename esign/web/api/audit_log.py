"""The administrative audit log of the organisation, for its administrators (contract 3.5)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from esign.actions.base import audit_log as actions
from esign.core.actor import Mode
from esign.core.document.audit import AuditEntry
from esign.core.errors import Problem
from esign.core.people.admin_audit import ACTS
from esign.store.people.audit_log import AuditLogFilter
from esign.web.api import account_examples as examples
from esign.web.api.paging import FoundPage, ListReply, Paging
from esign.web.cursors import cursor_of, place_of
from esign.web.rest.endpoint import ApiCall
from esign.web.values.audit_entries import EntryReply, present_chained
from esign.web.values.schema import BoundedText, Reply, Timestamp, refusal

FOREVER = 2**62


def check_type(name: str) -> str:
    """Return the type unchanged. Raise for a type that no entry has."""
    if name not in ACTS:
        raise refusal("enum", f"There is no act “{name[:40]}”.")
    return name


ActType = Annotated[str, AfterValidator(check_type), WithJsonSchema({"type": "string", "enum": list(ACTS)})]


class AuditLogQuery(Paging):
    type: Annotated[ActType | None, Field(description="Only acts of this type.")] = None
    actor: Annotated[
        Annotated[str, BoundedText(1, 64)] | None,
        Field(
            description="Only what this member or API key did, by id.",
            examples=["mem_01kzsz0a1b2c3d4e5f6g7h8j9k"],
        ),
    ] = None
    from_: Annotated[Timestamp | None, Field(alias="from", description="From then on.")] = None
    to: Annotated[Timestamp | None, Field(description="Until then, not included.")] = None


class LogActorReply(Reply):
    """Who did it: `anonymous` for somebody who did not show who they are, as at a failed sign-in; the command line and
    the program itself are `system`."""

    kind: Literal["member", "api_key", "system", "anonymous"]
    id: str | None
    name: str | None
    email: str | None


class LogEntryReply(EntryReply[LogActorReply]):
    """An entry of the chain: its hash is made as that of a document's entry, with `organisationId` in place of
    `documentId` and a `recipientId` of null."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.LOG_ENTRY]})

    organisation_id: str


class AuditLogPage(ListReply[LogEntryReply]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.AUDIT_LOG]})


async def find(call: ApiCall, query: AuditLogQuery) -> FoundPage[AuditEntry]:
    """List the administrative audit log, newest first; needs a live key."""
    if call.key.mode is not Mode.LIVE:
        raise Problem("insufficient_scope", "The audit log is read with a live key.")
    before = FOREVER if query.to is None else query.to
    organisation_id = call.owner.organisation_id
    wanted = AuditLogFilter(organisation_id, query.type, query.actor, query.from_ or 0, before)
    filters = f"audit:{wanted}"
    after = place_of(call.runtime.vault, query.cursor, filters)
    found, more = await actions.find_page(call.runtime, wanted, query.limit, after)
    return FoundPage(found, cursor_of(call.runtime.vault, more, filters))


def present_page(found: FoundPage[AuditEntry]) -> AuditLogPage:
    return AuditLogPage.from_page(found, present_entry)


def present_entry(line: AuditEntry) -> LogEntryReply:
    return LogEntryReply.model_validate({**present_chained(line), "organisation_id": line.document_id})
