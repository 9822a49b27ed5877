"""What the document endpoints take."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from esign.core.document import Recipient, Role
from esign.entropy import new_id
from esign.web.api.fields import AnyFieldInput
from esign.web.api.paging import Paging
from esign.web.schema import Email, Line, Multiline, Schema, refusal

Locale = Literal["en"]


def https_url(url: str) -> str:
    if not re.fullmatch(r"https://[^\s/@\\]+(/[^\s\\]*)?(\?[^\s\\]*)?", url):
        raise refusal("format", "An https:// address without credentials.")
    return url


def file_name(name: str) -> str:
    if "/" in name or "\\" in name or name in (".", ".."):
        raise refusal("format", "A file name without folders.")
    return name


class RecipientInput(Schema):
    email: Email
    name: Annotated[str, Line(1, 200)]
    role: Literal["signer"] = "signer"
    order: Annotated[int, Field(ge=1, le=100)] = 1
    fields: tuple[AnyFieldInput, ...] = ()
    authentication: Literal["link"] = "link"
    locale: Locale | None = None

    def to_recipient(self, now: int) -> Recipient:
        return Recipient(
            id=new_id("rcp", now),
            email=self.email,
            name=self.name,
            role=Role(self.role),
            order=self.order,
            authentication=self.authentication,
            locale=self.locale,
            fields=tuple(field.to_field(new_id("fld", now)) for field in self.fields),
        )


class RemindersInput(Schema):
    enabled: bool | None = None
    first_after_days: Annotated[int, Field(ge=1, le=90)] | None = None
    every_days: Annotated[int, Field(ge=1, le=90)] | None = None
    max: Annotated[int, Field(ge=0, le=10)] | None = None


MetadataKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]
Metadata = Annotated[dict[MetadataKey, Annotated[str, Line(0, 500)]], Field(max_length=20)]


class CreateDocument(Schema):
    file_name: Annotated[str, Line(1, 255), AfterValidator(file_name)]
    file: Annotated[
        str, Field(json_schema_extra={"contentEncoding": "base64", "contentMediaType": "application/pdf"})
    ]
    recipients: tuple[RecipientInput, ...]
    title: Annotated[str, Line(1, 200)] | None = None
    subject: Annotated[str, Line(1, 200)] | None = None
    message: Annotated[str, Multiline(5_000)] | None = None
    expires_in_days: Annotated[int, Field(ge=1, le=365)] | None = None
    reminders: RemindersInput | None = None
    redirect_url: Annotated[str, Line(1, 2_048), AfterValidator(https_url)] | None = None
    locale: Locale | None = None
    external_id: Annotated[str, Line(1, 200)] | None = None
    metadata: Metadata | None = None


class Empty(Schema):
    """A call that takes nothing."""


class DocumentList(Paging):
    status: str | None = None
