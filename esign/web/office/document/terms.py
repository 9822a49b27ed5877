"""What stays open to change while a document is out, and its reference at any time."""

import re
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from starlette.responses import Response

from esign.actions.document import edit_document
from esign.actions.document.edit_document import Changes
from esign.actions.people import settings
from esign.core.document.document import Document
from esign.core.document.state.edit import LONGEST_DAYS
from esign.core.instant import DAY, Instant, rfc3339
from esign.web.api.documents import edited
from esign.web.api.edit_requests import EditDocument
from esign.web.office.document.document_actions import ask, asking
from esign.web.office.document.forms import find, home, taken, telling, times_of
from esign.web.office.frame import edit_conflict
from esign.web.office.frame.call import Call
from esign.web.office.frame.forms import EMPTY, Wrong, number

DATE = re.compile(r"\d{4}-\d\d-\d\d")
NO_DATE = "A date such as 2026-12-31."
NO_PAIR = "Line {number} is not a name, an equals sign and a text."
NUMBERS = ("firstAfterDays", "everyDays", "max")


async def change(call: Call, document: Document, body: dict[str, Any], done: str) -> Response:
    """Changed as by the API, if nobody was faster; what is wrong stands at the field that was typed into."""
    given = taken(EditDocument, body)
    with telling(call, document, body):
        defaults = await settings.read(call.runtime, call.owner)
        await edit_document.edit(
            call.runtime, asking(call, document, document.revision), Changes(edited(defaults, given))
        )
    return call.go(home(document.id), done)


# ---------- until when ----------


async def ask_expiry(call: Call) -> Response:
    document, times, now = await find(call), times_of(call), call.runtime.clock.now()
    last = (document.sent_at or now) + LONGEST_DAYS * DAY
    first = (document.sent_at or now) + document.expires_in_days * DAY
    span = {"least": times.date(now), "most": times.date(last - DAY), "first": first}
    return await ask(call, "expiry", document, "expiry", **span)


async def expiry(call: Call) -> Response:
    """Until the end of a day, as the organisation's clocks have it."""
    document = await find(call)
    shown = times_of(call).date(document.expires_at) if document.expires_at else ""
    if "reset" in call.form:
        return await change(call, document, {"expiresAt": None}, "expiry")
    text = edit_conflict.typed(call, {"expiresAt": shown}).get("expiresAt", shown).strip()
    if text == shown and "seen-expiresAt" in call.form:
        return call.go(home(document.id), "expiry")
    if not text:
        raise Wrong({"expiresAt": EMPTY})
    try:
        until = end_of(text, call.signed.organisation.time_zone)
    except ValueError:
        raise Wrong({"expiresAt": NO_DATE}) from None
    return await change(call, document, {"expiresAt": rfc3339(until)}, "expiry")


def end_of(date: str, zone: str) -> Instant:
    """The last second of that day; raises ValueError for what is no date."""
    if not DATE.fullmatch(date):
        raise ValueError(date)
    day = datetime.fromisoformat(date).date()
    if not 1971 <= day.year <= 9000:
        raise ValueError(date)
    begin = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(zone))
    return int(begin.timestamp() * 1000) - 1000


# ---------- reminders ----------


async def ask_reminders(call: Call) -> Response:
    return await ask(call, "reminders", await find(call), "reminders")


async def reminders(call: Call) -> Response:
    document = await find(call)
    stored = {name: str(number) for name, number in zip(NUMBERS, numbers(document), strict=True)}
    stored["enabled"] = "yes" if document.reminders.enabled else ""
    texts = stored | edit_conflict.typed(
        call, stored, stored | {"enabled": "on" if stored["enabled"] else "off"}
    )
    plan: dict[str, Any] = {name: number(texts[name]) for name in NUMBERS if texts[name].strip()}
    body = {"reminders": {"enabled": bool(texts["enabled"]), **plan}}
    try:
        return await change(call, document, body, "reminders")
    except Wrong as wrong:
        raise wrong if "reminders" not in wrong.sentences else plan_refused(body) from None


def numbers(document: Document) -> tuple[int, int, int]:
    plan = document.reminders
    return plan.first_after_days, plan.every_days, plan.max


def plan_refused(body: dict[str, Any]) -> Wrong:
    """The same at the three numbers, which the form shows one by one."""
    limits = {"firstAfterDays": (1, 90), "everyDays": (1, 90), "max": (0, 10)}
    return Wrong(
        {
            name: f"A whole number from {least} to {most}."
            for name, (least, most) in limits.items()
            if not isinstance(number := body["reminders"].get(name, least), int)
            or not least <= number <= most
        }
    )


# ---------- reference and notes ----------


async def ask_reference(call: Call) -> Response:
    document = await find(call)
    return await ask(call, "reference", document, "reference", notes=notes(document))


def notes(document: Document) -> str:
    return "\n".join(f"{name} = {text}" for name, text in document.metadata.items())


async def reference(call: Call) -> Response:
    """What was typed into, and nothing else: programs write here as well, while people have the page open."""
    document, body = await find(call), dict[str, Any]()
    stored = {"externalId": document.external_id or "", "metadata": notes(document)}
    texts = edit_conflict.typed(call, stored, stored | {"metadata": "; ".join(notes(document).splitlines())})
    if "externalId" in texts:
        body["externalId"] = texts["externalId"]
    if "metadata" in texts:
        body["metadata"] = pairs(texts["metadata"])
    return (
        await change(call, document, body, "reference") if body else call.go(home(document.id), "reference")
    )


def pairs(text: str, field: str = "metadata") -> dict[str, str]:
    """One `name = text` on each line; raises `Wrong` for a line that is none."""
    found: dict[str, str] = {}
    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, equals, value = line.partition("=")
        if not equals or name.strip() in found:
            raise Wrong({field: NO_PAIR.format(number=n)})
        found[name.strip()] = value.strip()
    return found
