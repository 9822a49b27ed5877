"""What the page's script sends: JSON, from the page itself, of a bounded size, in a known shape."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from esign.core.errors import Detail, Problem
from esign.core.value import CONTROL_BUT_LINES
from esign.web import strict_json
from esign.web.body import Incoming, apart

LIMIT = 2 * 2**20
REASON = 1_000


async def read(request: Request, *members: str) -> Mapping[str, Any]:
    """The object in the body, which may hold these members; an empty body is an empty object."""
    same_origin(request)
    raw = await content(request)
    given = await apart(raw, strict_json.load, raw or b"{}")
    if not isinstance(given, dict):
        raise refused("", "An object is expected.", "type")
    for name in given:
        if name not in members:
            raise refused(f"/{name[:200]}", "There is no such member.", "unknown_member")
    return given


def same_origin(request: Request) -> None:
    """Refuse what another site's page sent; a program that is no browser names no origin.

    A proxy may have put the host that it asks in place of the one that the browser knows.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own = request.headers.get("host"), host_of(request.app.state.runtime.config.server.base_url)
    if site not in (None, "same-origin") or (origin is not None and host_of(origin) not in own):
        raise Problem("invalid_request", "This can only be sent from the page itself.")


def host_of(origin: str) -> str:
    """Host and port of `https://sign.example.com:8443`, whatever else the text may be."""
    return origin.partition("://")[2]


async def content(request: Request) -> bytearray:
    incoming = Incoming(request.scope, request.receive)
    incoming.require_json()
    return await incoming.read(LIMIT, unhindered)


async def unhindered() -> None:
    """Bodies of this size need no place among the uploads."""


def answers(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Field id to JSON value, and the hash of the words agreed to.

    A picture that stands in several fields is sent once; the others give the id of its field instead.
    """
    values, consent = given.get("answers", {}), given.get("consent")
    if not isinstance(values, dict):
        raise refused("/answers", "An object is expected.", "type")
    if not isinstance(consent, str) or not consent:
        raise refused("/consent", "Tick the box to show that you agree.", "required")
    return {key: shared(value, values) for key, value in values.items()}, consent


def shared(value: Any, values: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict) or not isinstance(value.get("picture"), str):
        return value
    other = values.get(value["picture"])
    return other if isinstance(other, dict) else value


def reason(given: Mapping[str, Any]) -> str | None:
    text = given.get("reason")
    if text is None:
        return None
    if not isinstance(text, str) or CONTROL_BUT_LINES.search(text):
        raise refused("/reason", "Please write text.", "format")
    if len(text.strip()) > REASON:
        raise refused("/reason", f"Please write at most {REASON:,} characters.", "length")
    return text.strip() or None


def refused(path: str, message: str, rule: str) -> Problem:
    return Problem("invalid_request", message, details=[Detail(path, message, rule)])
