"""The JSON that the page's script sends: only from the page itself, of a limited size, with known members."""

from collections.abc import Mapping
from typing import TypeGuard

from starlette.requests import Request

from esign.core.document.field_types import CONTROL_BUT_LINES
from esign.core.document.signing_draft import EnteredValue
from esign.core.errors import Detail, Problem
from esign.web.http import strict_json
from esign.web.http.body import IncomingBody, run_in_thread_if_large
from esign.web.http.origin import require_same_origin

LIMIT = 2 * 2**20
REASON = 1_000
LONGEST_CODE = 200


async def read_members(request: Request, *members: str) -> Mapping[str, object]:
    """Return the object in the body, which may have only these members. An empty body is an empty object.

    Raise `invalid_request` if another site sent it or it has another form, `unsupported_media_type`, or
    `request_too_large`.
    """
    require_same_origin(request)
    raw = await read_content(request)
    given = await run_in_thread_if_large(raw, strict_json.load, raw or b"{}")
    if not isinstance(given, dict):
        raise make_problem("", "An object is expected.", "type")
    for name in given:
        if name not in members:
            raise make_problem(f"/{name[:200]}", "This member doesn’t exist.", "unknown_member")
    return given


async def read_content(request: Request) -> bytearray:
    """Return the raw body. Raise `unsupported_media_type` or `request_too_large`."""
    incoming = IncomingBody(request.scope, request.receive)
    incoming.require_json()
    return await incoming.read(LIMIT)


def read_answers(given: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """Return the value of each field by its id, and the hash of the consent text that the recipient agreed to.

    The script sends a picture that stands in several fields only once. The other fields give the id of the
    field that holds it.
    """
    values, consent = given.get("answers", {}), given.get("consent")
    if not isinstance(values, dict):
        raise make_problem("/answers", "An object is expected.", "type")
    if not isinstance(consent, str) or not consent:
        raise make_problem("/consent", "Tick the box to show that you agree.", "required")
    return {key: resolve_picture(value, values) for key, value in values.items()}, consent


def resolve_picture(value: object, values: Mapping[str, object]) -> object:
    """Return the value, or the picture of the field that it refers to."""
    if not isinstance(value, dict) or not isinstance(value.get("picture"), str):
        return value
    other = values.get(value["picture"])
    return other if isinstance(other, dict) else value


def read_draft(given: Mapping[str, object]) -> tuple[int, dict[str, EnteredValue]]:
    """Return the revision that the page has seen, and by field id what the recipient has entered since."""
    since, values = given.get("since", 0), given.get("values", {})
    if not is_count(since):
        raise make_problem("/since", "A whole number is expected.", "type")
    if not isinstance(values, dict):
        raise make_problem("/values", "An object is expected.", "type")
    for key, one in values.items():
        if not isinstance(one, dict) or one.keys() != {"at", "value"} or not is_count(one["at"]):
            raise make_problem(f"/values/{key[:200]}", "A value and its time are expected.", "type")
    pictures = {key: one["value"] for key, one in values.items()}
    return since, {
        key: EnteredValue(one["at"], resolve_picture(one["value"], pictures)) for key, one in values.items()
    }


def is_count(given: object) -> TypeGuard[int]:
    """Return whether the value is a whole number that JavaScript holds exactly, and not negative."""
    return type(given) is int and 0 <= given < 2**53


def dedupe_pictures(values: Mapping[str, EnteredValue]) -> dict[str, object]:
    """Return the values as the script sends them: a picture that stands in several fields is written once."""
    first: dict[str, str] = {}
    out: dict[str, object] = {}
    for key, new in values.items():
        value = new.value
        if isinstance(value, dict) and "picture" in value:
            owner = first.setdefault(value["picture"], key)
            value = value if owner == key else {**value, "picture": owner}
        out[key] = {"at": new.at, "value": value}
    return out


def read_reason(given: Mapping[str, object]) -> str | None:
    """Return the reason for declining, or None. Raise `invalid_request` if it is not text or too long."""
    text = given.get("reason")
    if text is None:
        return None
    if not isinstance(text, str) or CONTROL_BUT_LINES.search(text):
        raise make_problem("/reason", "Please enter text.", "format")
    if len(text.strip()) > REASON:
        raise make_problem("/reason", f"Please enter at most {REASON:,} characters.", "length")
    return text.strip() or None


def read_code(given: Mapping[str, object]) -> str:
    """Return the code that the recipient entered. Raise `invalid_request` if it is missing or too long."""
    text = given.get("code")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_CODE:
        raise make_problem("/code", "Please enter your code.", "required")
    return text


def is_framed(given: Mapping[str, object]) -> bool:
    """Return whether the page stands in a frame of another site. Browsers keep the cookies of such a frame separate."""
    value = given.get("framed", False)
    if not isinstance(value, bool):
        raise make_problem("/framed", "True or false.", "type")
    return value


def make_problem(path: str, message: str, rule: str) -> Problem:
    """Return the problem for one member of the body."""
    return Problem("invalid_request", message, details=[Detail(path, message, rule)])
