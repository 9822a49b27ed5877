"""What can still be changed while a document is out: expiry and reminders; and its reference and notes at any time."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from starlette.responses import Response

from esign.actions.document import edit_document
from esign.actions.document.edit_document import DocumentChanges
from esign.core.document.document import Document
from esign.core.document.state.edit import LONGEST_DAYS
from esign.core.errors import Problem
from esign.core.instant import DAY, Instant
from esign.core.sentence import say
from esign.web.http.validation import check
from esign.web.office.document.document_actions import ask_about_document
from esign.web.office.document.forms import (
    check_form,
    find_document,
    get_document_path,
    get_times,
    show_refusals,
)
from esign.web.office.frame import edit_conflict
from esign.web.office.frame.forms import EMPTY, FormError, parse_number
from esign.web.office.frame.office_call import OfficeCall
from esign.web.values.document_values import ExternalId, Metadata, ReminderCount, ReminderDays
from esign.web.values.schema import Patch, Schema

DATE = re.compile(r"\d{4}-\d\d-\d\d")
NO_DATE = "Enter a date such as 2026-12-31."
NO_PAIR = "Write line {number} as name = text."
REPEATED = "Line {number} has the same name as another line. Use each name once."
NUMBERS = ("firstAfterDays", "everyDays", "max")
OUT_OF_BOUNDS = {
    "firstAfterDays": "Enter a whole number from 1 to 90.",
    "everyDays": "Enter a whole number from 1 to 90.",
    "max": "Enter a whole number from 0 to 10.",
}


class ReferenceForm(Patch):
    """The reference and the notes: only the fields that the user edited."""

    external_id: ExternalId | None = None
    metadata: Metadata | None = None


class ReminderPlanForm(Schema):
    """The numbers of the reminders; an empty one is as in the settings."""

    first_after_days: ReminderDays | None = None
    every_days: ReminderDays | None = None
    max: ReminderCount | None = None


async def change_terms(
    call: OfficeCall,
    document: Document,
    members: Mapping[str, object],
    fields: Mapping[str, object],
    done: str,
) -> Response:
    """Change members of the document, then lead to its page with the message `done`.

    Raise `FormError` with a sentence for each of the form's `fields` that does not fit, or if the document was
    changed meanwhile.
    """
    caller = replace(call.caller, revision=document.revision)
    with show_refusals(call, document, fields):
        await edit_document.edit(call.runtime, caller, document.id, DocumentChanges(members))
    return call.redirect_to(get_document_path(document.id), done)


# ---------- until when ----------


async def ask_expiry(call: OfficeCall) -> Response:
    document, times, now = await find_document(call), get_times(call), call.runtime.clock.now()
    last = (document.sent_at or now) + LONGEST_DAYS * DAY
    first = (document.sent_at or now) + document.expires_in_days * DAY
    span = {"least": times.date(now), "most": times.date(last - DAY), "first": first}
    return await ask_about_document(call, "expiry", document, "expiry", **span)


async def change_expiry(call: OfficeCall) -> Response:
    """Set the expiry to the end of a day in the organisation's time zone, or back to the one it was sent with."""
    document = await find_document(call)
    shown = get_times(call).date(document.expires_at) if document.expires_at else ""
    if "reset" in call.form:
        return await change_terms(call, document, {"expires_at": None}, {"expiresAt": None}, "expiry")
    text = edit_conflict.find_typed_texts(call, {"expiresAt": shown}).get("expiresAt", shown).strip()
    if text == shown and "seen-expiresAt" in call.form:
        return call.redirect_to(get_document_path(document.id), "expiry")
    if not text:
        raise FormError({"expiresAt": EMPTY})
    try:
        until = find_day_end(text, call.signed_in.organisation.time_zone)
    except ValueError:
        raise FormError({"expiresAt": NO_DATE}) from None
    return await change_terms(call, document, {"expires_at": until}, {"expiresAt": text}, "expiry")


def find_day_end(date: str, zone: str) -> Instant:
    """Return the last second of that day. Raise ValueError for text that is not a date of the years 1971 to 9000."""
    if not DATE.fullmatch(date):
        raise ValueError(date)
    day = datetime.fromisoformat(date).date()
    if not 1971 <= day.year <= 9000:
        raise ValueError(date)
    begin = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(zone))
    return int(begin.timestamp() * 1000) - 1000


# ---------- reminders ----------


async def ask_reminders(call: OfficeCall) -> Response:
    return await ask_about_document(call, "reminders", await find_document(call), "reminders")


async def change_reminders(call: OfficeCall) -> Response:
    document = await find_document(call)
    stored = {name: str(number) for name, number in zip(NUMBERS, list_plan_numbers(document), strict=True)}
    stored["enabled"] = "yes" if document.reminders.enabled else ""
    texts = stored | edit_conflict.find_typed_texts(
        call, stored, stored | {"enabled": "on" if stored["enabled"] else "off"}
    )
    given = {name: parse_number(texts[name]) for name in NUMBERS if texts[name].strip()}
    try:
        plan = check(ReminderPlanForm, given).model_dump(exclude_unset=True)
    except Problem as problem:
        wrong = {detail.path[1:] for detail in problem.details}
        raise FormError({name: OUT_OF_BOUNDS[name] for name in NUMBERS if name in wrong}) from None
    reminders = {"enabled": bool(texts["enabled"]), **plan}
    return await change_terms(call, document, {"reminders": reminders}, given, "reminders")


def list_plan_numbers(document: Document) -> tuple[int, int, int]:
    plan = document.reminders
    return plan.first_after_days, plan.every_days, plan.max


# ---------- reference and notes ----------


async def ask_reference(call: OfficeCall) -> Response:
    document = await find_document(call)
    return await ask_about_document(call, "reference", document, "reference", notes=format_notes(document))


def format_notes(document: Document) -> str:
    """Return the metadata as lines of `name = text`."""
    return "\n".join(f"{name} = {text}" for name, text in document.metadata.items())


async def change_reference(call: OfficeCall) -> Response:
    """Change only the fields that the user edited.

    Programs may change the reference and the notes as well while the page is open.
    """
    document, body = await find_document(call), dict[str, object]()
    stored = {"externalId": document.external_id or "", "metadata": format_notes(document)}
    texts = edit_conflict.find_typed_texts(
        call, stored, stored | {"metadata": "; ".join(format_notes(document).splitlines())}
    )
    if "externalId" in texts:
        body["externalId"] = texts["externalId"]
    if "metadata" in texts:
        body["metadata"] = parse_pairs(texts["metadata"])
    if not body:
        return call.redirect_to(get_document_path(document.id), "reference")
    members = check_form(ReferenceForm, body).model_dump(exclude_unset=True)
    return await change_terms(call, document, members, body, "reference")


def parse_pairs(text: str, field: str = "metadata") -> dict[str, str]:
    """Parse one `name = text` per line.

    Raise `FormError` for a line without an equals sign, and for a name that is repeated.
    """
    found: dict[str, str] = {}
    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, equals, value = line.partition("=")
        if not equals or name.strip() in found:
            raise FormError({field: say(REPEATED if equals else NO_PAIR, number=n)})
        found[name.strip()] = value.strip()
    return found
