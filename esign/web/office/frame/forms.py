"""Read the body of a form, within limits on size and fields, and check it against a schema."""

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.requests import Request

from esign.core.errors import Problem
from esign.web.http import multipart
from esign.web.http.body import IncomingBody, run_in_thread_if_large
from esign.web.http.multipart import MultipartForm
from esign.web.http.ratelimit import UploadPlace
from esign.web.http.validation import check

LIMIT = 64 * 2**10
FIELDS = 100
LONG, MANY = 2**20, 5_000  # for the form of a draft, which has a row for each recipient
MEDIA = b"application/x-www-form-urlencoded"
EMPTY = "Please fill this in."

M = TypeVar("M", bound=BaseModel)


class FormError(Exception):
    """A form that is not accepted: a sentence for each wrong field, under "" for the form as a whole."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self.sentences = sentences
        super().__init__(str(sentences))


async def read_form(request: Request, limit: int = LIMIT, most: int = FIELDS) -> dict[str, str]:
    """Return the fields of a URL-encoded form.

    Raise `unsupported_media_type` for another media type, and `invalid_request` for more than `most` fields, a
    text that is not UTF-8, or a name that occurs twice, since it would be unclear which one counts.
    """
    incoming = IncomingBody(request.scope, request.receive)
    if incoming.media.partition(b";")[0].strip().lower() != MEDIA:
        raise Problem("unsupported_media_type", "Send the form of the page.")
    raw = await incoming.read(limit)
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=most, errors="strict")
    except ValueError:
        raise Problem("invalid_request", "The form is not text in UTF-8.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Problem("invalid_request", "A form field was sent twice.")
    return fields


async def read_form_with_files(incoming: IncomingBody, limit: int, place: UploadPlace) -> MultipartForm:
    """Return the fields and files of a multipart form; `place` limits how many large bodies are read at once."""
    raw = await incoming.read(limit, place)
    return await run_in_thread_if_large(raw, multipart.parse_form, incoming.media, raw)


def check_form(model: type[M], form: Mapping[str, str]) -> M:
    """Return the fields that the model knows; raise `FormError` with a sentence for each invalid or empty one."""
    names = [field.alias or name for name, field in model.model_fields.items()]
    try:
        return check(model, {name: form.get(name, "") for name in names})
    except Problem as problem:
        found = {detail.path[1:]: detail.message for detail in problem.details}
        raise FormError(
            {name: found[name] if form.get(name, "").strip() else EMPTY for name in names if name in found}
        ) from None


def parse_number(text: str) -> int | str | None:
    """Return a whole number, None for an empty text, or else the text itself, which the schema then refuses."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text or None


def parse_revision(form: Mapping[str, str]) -> int | None:
    """Return the revision that the form was made for, so that no other change is overwritten; None if it has none."""
    text = form.get("revision", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
