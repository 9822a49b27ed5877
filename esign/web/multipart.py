"""Forms that bring files, as browsers write them (RFC 7578): fields and files side by side, nothing nested."""

import re
from dataclasses import dataclass

from esign.core.errors import Problem

MEDIA = re.compile(rb'multipart/form-data\s*;\s*boundary=("?)([!#-~]{1,70})\1', re.IGNORECASE)
NAME = re.compile(r';\s*name="([^"]*)"', re.IGNORECASE)
FILE_NAME = re.compile(r';\s*filename="([^"]*)"', re.IGNORECASE)
ESCAPED = {"%22": '"', "%0D": "\r", "%0A": "\n"}  # the only three that browsers write otherwise
MOST = 100
HEAD = 8 * 2**10


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as the browser calls it, which nobody has looked at yet."""

    field: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    fields: dict[str, str]
    files: tuple[SentFile, ...] = ()


def parse(media: bytes, body: bytearray) -> Form:
    """Raises `invalid_request` where the body is cut, or a field stands there twice; files may share their field."""
    found = MEDIA.fullmatch(media.strip())
    if found is None:
        raise Problem("unsupported_media_type", "Send the form of the page.")
    first, *parts = (bytearray(b"\r\n") + body).split(b"\r\n--" + found[2], MOST + 1)
    if first.strip() or not parts or not parts.pop().startswith(b"--"):
        raise Problem("invalid_request", "The form is not whole, or has too many parts.")
    fields: dict[str, str] = {}
    files: list[SentFile] = []
    for part in parts:
        head, content = halves(part)
        name = named(NAME, head)
        if name is None:
            raise Problem("invalid_request", "A part of the form has no name.")
        file_name = named(FILE_NAME, head)
        if file_name is None:
            if name in fields:
                raise Problem("invalid_request", "A field of the form was sent twice.")
            fields[name] = text(content)
        elif file_name or content:  # where no file was chosen, an empty one without a name is sent
            files.append(SentFile(name, file_name, bytes(content)))
    return Form(fields, tuple(files))


def halves(part: bytearray) -> tuple[str, bytearray]:
    end = part.find(b"\r\n\r\n", 0, HEAD)
    if not part.startswith(b"\r\n") or end < 0:
        raise Problem("invalid_request", "A part of the form has no head.")
    return text(part[2:end]), part[end + 4 :]


def named(pattern: re.Pattern[str], head: str) -> str | None:
    line = next((one for one in head.split("\r\n") if one[:20].lower() == "content-disposition:"), "")
    found = pattern.search(line)
    return re.sub("|".join(ESCAPED), lambda hit: ESCAPED[hit[0]], found[1]) if found else None


def text(raw: bytearray) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Problem("invalid_request", "The form is not text in UTF-8.") from None
