"""The answers of acts on a document that do not show the whole document."""

from typing import Literal

from pydantic import ConfigDict

from esign.actions.document.reminders import ReminderResult
from esign.core.document.document import Document
from esign.web.api import examples
from esign.web.values.schema import Reply


class DocumentDeleted(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.DELETED_DOCUMENT]})

    id: str


class Skipped(Reply):
    recipient_id: str
    reason: Literal["completed", "not_invited", "not_acting", "too_soon"]


class RemindedReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.REMINDED]})

    id: str
    status: Literal["sent"]
    reminded: list[str]
    skipped: list[Skipped]


class PageReply(Reply):
    """A page as displayed, in points; `rotation` is in degrees clockwise."""

    page: int
    width_pt: float
    height_pt: float
    rotation: Literal[0, 90, 180, 270]


class PagesReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.PAGES]})

    data: list[PageReply]


def present_deleted(document: Document) -> DocumentDeleted:
    return DocumentDeleted(id=document.id)


def present_reminded(done: ReminderResult) -> RemindedReply:
    return RemindedReply(
        id=done.document.id,
        status=done.document.status.value,  # type: ignore[arg-type]  # only a sent document is reminded of
        reminded=list(done.reminded),
        skipped=[Skipped(recipient_id=id, reason=reason) for id, reason in done.skipped],  # type: ignore[arg-type]
    )


def present_pages(document: Document) -> PagesReply:
    return PagesReply(
        data=[
            PageReply(page=number, width_pt=page.width, height_pt=page.height, rotation=page.rotation)  # type: ignore[arg-type]  # one of the four
            for number, page in enumerate(document.file.pages, 1)
        ]
    )
