"""What the forms of a document send, held against the schemas of the API, and refusals shown where they belong."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel

from esign.actions.document import documents
from esign.core.document.document import Document, Recipient
from esign.core.errors import Problem
from esign.web.http.validation import check
from esign.web.office.document import possible_actions
from esign.web.office.frame.call import Call
from esign.web.office.frame.flash_messages import Times
from esign.web.office.frame.forms import EMPTY, Wrong

M = TypeVar("M", bound=BaseModel)


async def find(call: Call) -> Document:
    """The document of the address; `not_found` for one of another organisation or mode."""
    return await documents.get(call.runtime, call.owner, call.path["id"])


async def find_one(call: Call) -> tuple[Document, Recipient]:
    """The same with the recipient of the address."""
    document = await find(call)
    return document, document.recipient(call.path["rid"])


def home(document_id: str) -> str:
    return f"/documents/{document_id}"


def times_of(call: Call) -> Times:
    return Times(call.signed.organisation.time_zone, call.runtime.clock.now())


def taken(model: type[M], body: Mapping[str, Any]) -> M:
    """The body of a request as a form means it; raises `Wrong` with a sentence for each field that does not fit."""
    try:
        return check(model, dict(body))
    except Problem as problem:
        raise at_fields(problem, body) from None


def at_fields(problem: Problem, body: Mapping[str, Any]) -> Wrong:
    """The details of a refusal at the fields they are about; "" for what is about none."""
    sentences: dict[str, str] = {}
    for detail in problem.details:
        name, _, inside = detail.path[1:].partition("/")
        empty = not str(body.get(name) or "").strip() and detail.rule in ("length", "required", "format")
        of_one = inside and isinstance(body.get(name), dict)
        said = f"“{inside}”: {detail.message}" if of_one else detail.message
        sentences.setdefault(name if name in body else "", EMPTY if empty and name in body else said)
    return Wrong(sentences or {"": problem.message})


@contextmanager
def telling(call: Call, document: Document, body: Mapping[str, Any] | None = None) -> Iterator[None]:
    """What an action refuses stands on the page one comes from; an id that is nobody's stays `not_found`."""
    try:
        yield
    except Problem as problem:
        if problem.status == 404:
            raise
        if problem.details:
            raise at_fields(problem, body or {}) from None
        sentence = possible_actions.said(problem, times_of(call), document, call.signed.organisation)
        raise Wrong({"": sentence}) from None


def filled(form: Mapping[str, str], *names: str) -> dict[str, Any]:
    """Those of the fields in which something stands, their lines as everywhere else."""
    return {name: form[name].replace("\r\n", "\n") for name in names if form.get(name, "").strip()}
