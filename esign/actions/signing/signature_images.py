"""Signatures as a recipient's browser sends them, exchanged for what is stored: re-encoded, by hash, or as text."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pybase64

from esign.core.document.document import INK, Ink, Recipient
from esign.core.document.field_values import CONTROL, HANDS
from esign.core.errors import Detail, Problem
from esign.core.strict_base64 import require_canonical
from esign.pdf.inspection import Picture
from esign.pdf.worker.queue_turn import Turn
from esign.runtime import Runtime

PICTURE_BYTES = 2**20
DATA_URL = re.compile(r"data:image/(?:png|jpeg|webp);base64,")


async def exchange(
    runtime: Runtime, recipient: Recipient, answers: Mapping[str, Any], turn: Turn
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The answers with each signature as it is stored, and the content of its picture by SHA-256."""
    pictures: dict[str, bytes] = {}
    inks: dict[str, Ink] = {}
    own = {"signature", *(field.id for field in recipient.fields if field.type in INK)}
    given = {
        key: await exchanged(runtime, key, value, pictures, inks, turn) if key in own else value
        for key, value in answers.items()
    }
    return given, pictures


async def exchanged(
    runtime: Runtime, key: str, value: Any, pictures: dict[str, bytes], inks: dict[str, Ink], turn: Turn
) -> Any:
    """A signature as it is stored: its picture re-encoded, once, and put aside by hash; other values as they are."""
    if not isinstance(value, dict):
        return value
    path = f"/answers/{key}"
    if value.get("kind") == "typed":
        return typed(value, path)
    if value.get("kind") in ("drawn", "uploaded"):
        url = value.get("picture")
        if not isinstance(url, str):
            raise wrong(path, "The signature is not a picture.")
        if url not in inks:
            picture = await reencoded(runtime, raw_picture(url, path), path, turn)
            sha256 = hashlib.sha256(picture.png).hexdigest()
            pictures[sha256] = picture.png
            inks[url] = Ink(value["kind"], sha256, picture.width, picture.height)
        return replace(inks[url], kind=value["kind"])
    raise wrong(path, "Draw, type or upload your signature.")


async def redrawn(runtime: Runtime, url: object, path: str, turn: Turn) -> bytes:
    """The PNG made anew of a picture that a page sends."""
    if not isinstance(url, str):
        raise wrong(path, "The signature is not a picture.")
    return (await reencoded(runtime, raw_picture(url, path), path, turn)).png


async def reencoded(runtime: Runtime, image: bytes, path: str, turn: Turn) -> Picture:
    try:
        return await runtime.pdf.reencode(image, turn=turn)
    except Problem as problem:
        if problem.status >= 429:
            raise
        unread = problem.code == "invalid_file"  # it brought a worker down
        raise wrong(
            path, "The picture cannot be read; choose another." if unread else problem.message
        ) from problem


def typed(value: Mapping[str, Any], path: str) -> Ink:
    text, hand = value.get("text"), value.get("hand")
    if not isinstance(text, str) or not 1 <= len(text.strip()) <= 100 or hand not in HANDS:
        raise wrong(path, "Type your name.")
    if CONTROL.search(text):
        raise wrong(path, "This text has characters that cannot be printed.")
    return Ink("typed", text=text.strip(), hand=hand)


def raw_picture(url: str, path: str) -> bytes:
    if not (prefix := DATA_URL.match(url)):
        raise wrong(path, "The signature is not a picture.")
    try:
        require_canonical(url[prefix.end() :])
        content = pybase64.b64decode(url[prefix.end() :], validate=True)
    except ValueError:
        raise wrong(path, "The signature is not a picture.") from None
    if len(content) > PICTURE_BYTES:
        raise wrong(path, "The picture of the signature is larger than 1 MB.")
    return content


def wrong(path: str, message: str) -> Problem:
    return Problem(
        "invalid_request", "Some answers need a correction.", details=[Detail(path, message, "format")]
    )
