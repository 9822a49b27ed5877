"""The forms of a document: values are validated, and refusals are shown at their fields."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel

from esign.actions.document import documents
from esign.core.document.document import Document, Recipient
from esign.core.errors import Problem
from esign.core.sentence import mark, say
from esign.web.http.validation import check
from esign.web.office.document import possible_actions
from esign.web.office.frame.formats import Times
from esign.web.office.frame.forms import EMPTY, FormError
from esign.web.office.frame.office_call import OfficeCall

M = TypeVar("M", bound=BaseModel)


async def find_document(call: OfficeCall) -> Document:
    """Return the document of the address. Raise `not_found` for one of another organisation or mode."""
    return await documents.get(call.runtime, call.owner, call.path["id"])


async def find_recipient(call: OfficeCall) -> tuple[Document, Recipient]:
    """Return the document and the recipient of the address. Raise `not_found` if either is not there."""
    document = await find_document(call)
    return document, document.recipient(call.path["rid"])


def get_document_path(document_id: str) -> str:
    """Return the path of a document's page."""
    return f"/documents/{document_id}"


def get_times(call: OfficeCall) -> Times:
    """Return what formats times in the organisation's time zone."""
    return call.times


def check_form(model: type[M], body: Mapping[str, object]) -> M:
    """Validate the values of a form.

    Raise `FormError` with a sentence for each field that does not fit.
    """
    try:
        return check(model, dict(body))
    except Problem as problem:
        raise place_details(problem, body) from None


def place_details(problem: Problem, body: Mapping[str, object]) -> FormError:
    """Return the details of a refusal as sentences by field name.

    A detail about none of the fields stands under "".
    """
    sentences: dict[str, str] = {}
    for detail in problem.details:
        name, _, inside = detail.path[1:].partition("/")
        empty = not str(body.get(name) or "").strip() and detail.rule in ("length", "required", "format")
        of_one = inside and isinstance(body.get(name), dict)
        said = (
            say("“{name}”: {problem}", name=inside, problem=mark(detail.message))
            if of_one
            else detail.message
        )
        sentences.setdefault(name if name in body else "", EMPTY if empty and name in body else said)
    return FormError(sentences or {"": problem.message})


@contextmanager
def show_refusals(
    call: OfficeCall, document: Document, body: Mapping[str, object] | None = None
) -> Iterator[None]:
    """Turn a refusal by the action inside the block into `FormError`, so that the form shows it.

    A problem with status 404 passes through as it is.
    """
    try:
        yield
    except Problem as problem:
        if problem.status == 404:
            raise
        if problem.details:
            raise place_details(problem, body or {}) from None
        sentence = possible_actions.explain_refusal(
            problem, get_times(call), document, call.signed_in.organisation
        )
        raise FormError({"": sentence}) from None


def read_filled(form: Mapping[str, str], *names: str) -> dict[str, object]:
    """Return those of the fields that are not blank, with line breaks as the database stores them."""
    return {name: form[name].replace("\r\n", "\n") for name in names if form.get(name, "").strip()}
