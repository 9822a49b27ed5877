"""The sample with which members try everything: a draft of one page, with fields, and the member as its recipient.

The positions are those on `sample.pdf`; `packaging/contract` prints them anew when `sample.typ` changes.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

from starlette.responses import Response

from esign.actions.base.caller import Caller
from esign.actions.document import documents
from esign.actions.document.documents import DocumentOrder
from esign.actions.document.holder_entries import HolderEntry
from esign.core.document.document import Document, File
from esign.web.http.validation import check
from esign.web.office.frame import create_once
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords
from esign.web.values.document_values import Fields
from esign.web.values.schema import Schema

FILE_NAME = "Sample agreement.pdf"
CHOICES = ("contract", "lease", "consent", "other")


def _build_field(
    key: str, kind: str, at: tuple[float, ...], label: str | None = None, **rest: object
) -> Mapping[str, Any]:
    """Return a field as requests write it; `at` is x, y, width, height in percent of the page."""
    x, y, width, height = at
    place = {"page": 1, "x": x, "y": y, "width": width, "height": height}
    return {"key": key, "type": kind, **place, "label": label, **rest}


def build_fields(t: OfficeWords) -> tuple[Mapping[str, Any], ...]:
    """Return the fields of the sample, with labels and options in the language of the member who tries it."""
    options = [say_plainly(t, f"choice.{choice}") for choice in CHOICES]
    first, understood = say_plainly(t, "first"), say_plainly(t, "understood")
    return (
        _build_field("first", "dropdown", (11.9, 56.84, 35.71, 3.03), first, options=options),
        _build_field("understood", "checkbox", (11.9, 62.38, 2.38, 1.68), understood, required=True),
        _build_field("signature", "signature", (11.9, 70.56, 35.71, 7.41)),
        _build_field("name", "name", (52.38, 70.56, 35.71, 2.69)),
        _build_field("date", "date", (52.38, 76.22, 19.05, 2.69), format="D MMM YYYY"),
    )


def say_plainly(t: OfficeWords, name: str) -> str:
    """Return a text of the sample as it is stored."""
    return str(t(f"draft.sample.{name}").unescape())


class SampleFields(Schema):
    """The fields of the sample, checked as those of any request."""

    fields: Fields


def read_pdf() -> bytes:
    """Return the sample as it is uploaded: one page of A4 without a form."""
    return resources.files(__package__).joinpath("sample.pdf").read_bytes()


@cache
def hash_pdf() -> str:
    """Return the SHA-256 of the sample."""
    return sha256(read_pdf()).hexdigest()


def is_sample(file: File) -> bool:
    """Return whether a file is the sample."""
    return file.uploaded == hash_pdf()


async def create(call: OfficeCall) -> Response:
    """Create the sample as a draft, once for each form, and lead to its review."""
    user = call.signed_in.user

    async def read_file() -> bytes:
        return read_pdf()

    async def create_draft(caller: Caller) -> Document:
        fields = [
            one.to_field("") for one in check(SampleFields, {"fields": build_fields(call.words)}).fields
        ]
        recipient = HolderEntry({"name": user.name, "email": user.email, "fields": fields})
        title, message = say_plainly(call.words, "title"), say_plainly(call.words, "message")
        order = DocumentOrder(FILE_NAME, read_file, title=title, recipients=(recipient,), message=message)
        return await documents.create(call.runtime, caller, order)

    name = create_once.choose_form_name(call)
    made = await create_once.create_once(call, name, "/documents/sample", {}, create_draft)
    return call.redirect_to(f"/documents/{made}/review")
