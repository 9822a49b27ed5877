"""Converts signatures as a browser sends them to the form in which they are stored: re-encoded, by hash, or as text."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pybase64

from esign.core.document.document import Ink, Recipient
from esign.core.document.field_types import CONTROL, HANDS, INK
from esign.core.errors import Detail, Problem
from esign.core.strict_base64 import require_canonical
from esign.pdf.inspection import RedrawnPicture
from esign.pdf.worker.queue_turn import QueueTurn
from esign.runtime import Runtime

PICTURE_BYTES = 2**20
DATA_URL = re.compile(r"data:image/(?:png|jpeg|webp);base64,")


@dataclass(frozen=True, slots=True)
class SignatureExchange:
    """The signatures of one recipient's answers, as they are converted.

    `pictures` holds the contents by SHA-256. `inks` holds the signatures by the data URLs of their pictures, so
    that a picture that is used for several fields is re-encoded once.
    """

    runtime: Runtime
    turn: QueueTurn
    pictures: dict[str, bytes] = field(default_factory=dict)
    inks: dict[str, Ink] = field(default_factory=dict)

    async def exchange(self, key: str, value: object) -> object:
        """Return a signature as it is stored. Other values are returned as is."""
        if not isinstance(value, dict):
            return value
        path, kind = f"/answers/{key}", value.get("kind")
        if kind == "typed":
            return read_typed(value, path)
        if kind in ("drawn", "uploaded"):
            return replace(await self.store_picture(value.get("picture"), path), kind=kind)
        raise make_answer_error(path, "Draw, type or upload your signature.")

    async def store_picture(self, url: object, path: str) -> Ink:
        """Return the signature with the picture of a data URL, and put its re-encoded content into `pictures`."""
        if not isinstance(url, str):
            raise make_answer_error(path, "The signature is not a picture.")
        if url not in self.inks:
            picture = await reencode_picture(self.runtime, decode_picture(url, path), path, self.turn)
            sha256 = hashlib.sha256(picture.png).hexdigest()
            self.pictures[sha256] = picture.png
            self.inks[url] = Ink("drawn", sha256, picture.width, picture.height)
        return self.inks[url]


async def exchange_signatures(
    runtime: Runtime, recipient: Recipient, answers: Mapping[str, object], turn: QueueTurn
) -> tuple[dict[str, object], dict[str, bytes]]:
    """Return the answers with each signature as it is stored, and the contents of the pictures by SHA-256.

    Raises `invalid_request` for a signature that cannot be used.
    """
    own = {"signature", *(one.id for one in recipient.fields if one.type in INK)}
    exchange = SignatureExchange(runtime, turn)
    given = {
        key: await exchange.exchange(key, value) if key in own else value for key, value in answers.items()
    }
    return given, exchange.pictures


async def redraw_picture(runtime: Runtime, url: object, path: str, turn: QueueTurn) -> bytes:
    """Return the re-encoded PNG of a picture that a page sends as a data URL. Raises `invalid_request`."""
    if not isinstance(url, str):
        raise make_answer_error(path, "The signature is not a picture.")
    return (await reencode_picture(runtime, decode_picture(url, path), path, turn)).png


async def reencode_picture(runtime: Runtime, image: bytes, path: str, turn: QueueTurn) -> RedrawnPicture:
    """Return the picture re-encoded by a worker. Raises `invalid_request` if it cannot be read."""
    try:
        return await runtime.pdf.reencode(image, turn=turn)
    except Problem as problem:
        if problem.status >= 429:
            raise
        unread = problem.code == "invalid_file"  # the picture made a worker fail
        raise make_answer_error(
            path, "The picture cannot be read; choose another." if unread else problem.message
        ) from problem


def read_typed(value: Mapping[str, object], path: str) -> Ink:
    """Return a typed signature. Raises `invalid_request` if text or handwriting font are not valid."""
    text, hand = value.get("text"), value.get("hand")
    if not isinstance(text, str) or not 1 <= len(text.strip()) <= 100 or hand not in HANDS:
        raise make_answer_error(path, "Type your name.")
    if CONTROL.search(text):
        raise make_answer_error(path, "This text has characters that cannot be printed.")
    return Ink("typed", text=text.strip(), hand=hand)


def decode_picture(url: str, path: str) -> bytes:
    """Return the bytes of a data URL. Raises `invalid_request` if it is not a picture, or larger than 1 MB."""
    if not (prefix := DATA_URL.match(url)):
        raise make_answer_error(path, "The signature is not a picture.")
    try:
        require_canonical(url[prefix.end() :])
        content = pybase64.b64decode(url[prefix.end() :], validate=True)
    except ValueError:
        raise make_answer_error(path, "The signature is not a picture.") from None
    if len(content) > PICTURE_BYTES:
        raise make_answer_error(path, "The picture of the signature is larger than 1 MB.")
    return content


def make_answer_error(path: str, message: str) -> Problem:
    """Return the error for an answer that needs a correction."""
    return Problem(
        "invalid_request", "Some answers need a correction.", details=[Detail(path, message, "format")]
    )
