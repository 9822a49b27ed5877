"""The query of the list of documents: its filters, its order, and where a page begins."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from esign.core.document.document import Status
from esign.core.document.document_filters import DocumentFilters, Sort, Span
from esign.web.api.paging import Paging
from esign.web.values.document_values import ObjectId, SearchText
from esign.web.values.schema import BoundedText, Email, Timestamp, refusal

NAMES = "|".join(Status)
MIDNIGHT = "2026-11-21T00:00:00Z"


def parse_statuses(text: object) -> object:
    """Return the statuses in a text such as `sent,sealing`, each once and sorted.

    The order is fixed because a cursor is bound to it: one cursor fits every spelling of the same filter.
    """
    names = text.split(",") if isinstance(text, str) else []
    for name in names:
        if name not in set(Status):
            raise refusal("enum", f"There is no status “{name[:40]}”; there are: {', '.join(Status)}.")
    return sorted(set(names))


Statuses = Annotated[
    list[Status],
    BeforeValidator(parse_statuses),
    WithJsonSchema({"type": "string", "pattern": f"^({NAMES})(,({NAMES}))*$"}),
]


class DocumentList(Paging):
    status: Annotated[
        Statuses | None, Field(description="Statuses, separated by commas.", examples=["sent,sealing"])
    ] = None
    q: Annotated[
        SearchText | None,
        Field(
            description="Part of the title, file name, externalId, or a recipient's name or email, in any case.",
            examples=["lease"],
        ),
    ] = None
    recipient_email: Annotated[
        Email | None,
        Field(description="The email of a recipient, in any case.", examples=["ana@example.com"]),
    ] = None
    external_id: Annotated[
        Annotated[str, BoundedText(1, 200)] | None,
        Field(description="The externalId.", examples=["order-77"]),
    ] = None
    template_id: Annotated[
        ObjectId | None,
        Field(
            description="The template a document was made from.", examples=["tpl_01kzt0v8q3e5m7p9r1s3t5v7w9"]
        ),
    ] = None
    created_after: Annotated[
        Timestamp | None, Field(description="Created then or later.", examples=[MIDNIGHT])
    ] = None
    created_before: Annotated[
        Timestamp | None, Field(description="Created earlier.", examples=[MIDNIGHT])
    ] = None
    updated_after: Annotated[
        Timestamp | None, Field(description="Last changed then or later.", examples=[MIDNIGHT])
    ] = None
    updated_before: Annotated[
        Timestamp | None, Field(description="Last changed earlier.", examples=[MIDNIGHT])
    ] = None
    completed_after: Annotated[
        Timestamp | None, Field(description="Completed then or later.", examples=[MIDNIGHT])
    ] = None
    completed_before: Annotated[
        Timestamp | None, Field(description="Completed earlier.", examples=[MIDNIGHT])
    ] = None
    sort: Annotated[
        Literal["-createdAt", "createdAt", "-updatedAt", "updatedAt"],
        Field(
            description="The order; - for the latest first. Ties break on the id.", examples=["-updatedAt"]
        ),
    ] = "-createdAt"

    @property
    def filters(self) -> str:
        """Return the text that a cursor is bound to."""
        return repr([(name, value) for name, value in self if name not in Paging.model_fields])

    def to_listing(self) -> DocumentFilters:
        """Return the filters and the order as the store takes them."""
        return DocumentFilters(
            statuses=frozenset(self.status or ()),
            q=self.q,
            recipient_email=self.recipient_email,
            external_id=self.external_id,
            template_id=self.template_id,
            created=Span(self.created_after, self.created_before),
            updated=Span(self.updated_after, self.updated_before),
            completed=Span(self.completed_after, self.completed_before),
            sort=Sort(self.sort),
        )
