"""Rules on one value that the schemas of requests name; each raises what contract 6 calls the rule."""

import re
from typing import TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from esign.web.schema import refusal

Entry = TypeVar("Entry", bound=str)


def once(entries: list[Entry]) -> list[Entry]:
    if len(set(entries)) < len(entries):
        raise refusal("duplicate", "Each entry stands once.")
    return entries


def plain(number: float) -> float:
    """A whole number without a point, as people write it."""
    return int(number) if number.is_integer() else number


def file_name(name: str) -> str:
    if "/" in name or "\\" in name or name in (".", ".."):
        raise refusal("format", "A file name without folders.")
    return name


def known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise refusal("format", "A name of the IANA database, such as Europe/Berlin.") from None
    return name


def https_url(url: str) -> str:
    if not _is_https(url):
        raise refusal("format", "An https:// address without credentials.")
    return url


def _is_https(url: str) -> bool:
    if re.search(r"[\s\\]", url):
        return False
    try:
        parts = urlsplit(url)
        return (
            parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
        )
    except ValueError:  # a port or a bracketed host that is none
        return False
