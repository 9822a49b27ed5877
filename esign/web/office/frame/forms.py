"""What a form sends: names and texts, of a bounded size, each name once, held against a schema."""

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel
from starlette.requests import Request

from esign.core.errors import Problem
from esign.web.http import multipart
from esign.web.http.body import Incoming, apart
from esign.web.http.multipart import Form
from esign.web.http.ratelimit import Place
from esign.web.http.validation import check

LIMIT = 64 * 2**10
FIELDS = 100
LONG, MANY = 2**20, 5_000  # for the form of a draft, which has a row for each recipient
MEDIA = b"application/x-www-form-urlencoded"
EMPTY = "Please fill this in."

M = TypeVar("M", bound=BaseModel)


class Wrong(Exception):
    """What a form cannot be taken with: a sentence by the name of its field, "" for the form as a whole."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self.sentences = sentences
        super().__init__(str(sentences))


async def read(request: Request, limit: int = LIMIT, most: int = FIELDS) -> dict[str, str]:
    """The fields of a form; of a name that is there twice nobody could say which one counts."""
    incoming = Incoming(request.scope, request.receive)
    if incoming.media.partition(b";")[0].strip().lower() != MEDIA:
        raise Problem("unsupported_media_type", "Send the form of the page.")
    raw = await incoming.read(limit)
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=most, errors="strict")
    except ValueError:
        raise Problem("invalid_request", "The form is not text in UTF-8.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Problem("invalid_request", "A field of the form was sent twice.")
    return fields


async def read_files(incoming: Incoming, limit: int, place: Place) -> Form:
    """The fields and the files of a form, in a place among the uploads if it is large."""
    raw = await incoming.read(limit, place)
    return await apart(raw, multipart.parse, incoming.media, raw)


def checked(model: type[M], form: Mapping[str, str]) -> M:
    """The fields that the model knows; raises `Wrong` with a sentence for each that does not fit."""
    names = [field.alias or name for name, field in model.model_fields.items()]
    try:
        return check(model, {name: form.get(name, "") for name in names})
    except Problem as problem:
        found = {detail.path[1:]: detail.message for detail in problem.details}
        raise Wrong(
            {name: found[name] if form.get(name, "").strip() else EMPTY for name in names if name in found}
        ) from None


def number(text: str) -> int | str | None:
    """A whole number, nothing, or the text, for the schema to refuse."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text or None


def revision(form: Mapping[str, str]) -> int | None:
    """What the form was made for, so that nobody's change is written over unseen."""
    text = form.get("revision", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
