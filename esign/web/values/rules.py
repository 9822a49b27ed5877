"""Rules on single values of requests. Each raises a rule of contract 6."""

import re
from typing import Any, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import GetCoreSchemaHandler
from pydantic.config import JsonDict
from pydantic_core import CoreSchema, core_schema

from esign.core.document import embedding
from esign.web.values.schema import refusal

# The rules on file names and https addresses, as JSON Schema.
FILE_NAME: JsonDict = {"pattern": r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029/\\]*$"}
HTTPS_URL: JsonDict = {"format": "uri", "pattern": r"^https://[^\u0000-\u0020\u007f-\u009f\u2028\u2029\\]+$"}

Entry = TypeVar("Entry", bound=str)


class UniqueItems:
    """A rule on a list: no entry may stand in it twice."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(check_unique, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "uniqueItems": True}


def check_unique(entries: list[Entry]) -> list[Entry]:
    """Return the entries unchanged. Raise if the list contains one twice."""
    if len(set(entries)) < len(entries):
        raise refusal("duplicate", "Each entry must be unique.")
    return entries


def simplify_number(number: float) -> float:
    """Return a whole number as an int, so that it is written without a decimal point."""
    return int(number) if number.is_integer() else number


def check_file_name(name: str) -> str:
    """Return the name unchanged. Raise unless it is a file name without folders."""
    if "/" in name or "\\" in name or name in (".", ".."):
        raise refusal("format", "A file name without folders.")
    return name


def check_zone(name: str) -> str:
    """Return the name of the time zone unchanged. Raise if the IANA database does not have it."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise refusal("format", "A name of the IANA database, such as Europe/Berlin.") from None
    return name


def check_web_origin(text: str) -> str:
    """Return the origin in its normal form. Raise if the text is not an origin."""
    found = embedding.parse_origin(text)
    if found is None:
        raise refusal("format", "An origin such as https://app.example.com: no path and no *.")
    return found


def check_https_url(url: str) -> str:
    """Return the address unchanged. Raise unless it is https and without credentials."""
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
    except ValueError:  # the port or the bracketed host is not valid
        return False
