"""The audit trail of a document in answers (contract 3.2)."""

from pydantic import ConfigDict

from esign.core.document.audit import AuditEntry
from esign.web.api import examples
from esign.web.api.paging import FoundPage, ListReply
from esign.web.values.audit_entries import AuditEntryReply, present_entry


class AuditPage(ListReply[AuditEntryReply]):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.TRAIL]})


def present_trail(found: FoundPage[AuditEntry]) -> AuditPage:
    return AuditPage.from_page(found, present_entry)
