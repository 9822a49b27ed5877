"""The types of the members of organisations, their members, API keys and webhooks (contract 3.4, 3.5)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from esign.core.document.embedding import MOST
from esign.web.values.document_values import PersonName
from esign.web.values.rules import UniqueItems, check_web_origin, check_zone
from esign.web.values.schema import BoundedText, Email, Schema, TextPattern, TextRule

# ---------- organisations, members and keys ----------

OrganisationName = Annotated[str, BoundedText(1, 200)]
ZoneName = Annotated[str, BoundedText(1, 64), AfterValidator(check_zone)]
Colour = Annotated[str, TextPattern(r"^#[0-9a-fA-F]{6}$", "A colour such as #2f6b4f.")]
RetentionDays = Annotated[int, Field(ge=1, le=36_500)]
KeyDays = Annotated[int, Field(ge=1, le=3_650)]
WebOrigin = Annotated[str, TextRule(BoundedText(1, 270), check_web_origin, "uri")]
EmbedOrigins = Annotated[list[WebOrigin], Field(max_length=MOST), UniqueItems()]
MemberRoleName = Literal["owner", "admin", "member", "viewer"]
KeyName = Annotated[str, BoundedText(1, 100)]


class NamedPerson(Schema):
    """Who is invited, or made a member by the command line."""

    email: Email
    name: PersonName


# ---------- webhooks ----------

WebhookUrl = Annotated[str, BoundedText(1)]
EventNames = Annotated[
    list[Annotated[str, BoundedText(1)]], Field(min_length=1, max_length=50), UniqueItems()
]
WebhookDescription = Annotated[str, BoundedText(0, 200)]
