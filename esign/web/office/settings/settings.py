"""The settings of an organisation: its name and appearance, defaults of new documents, and how long documents are kept.

Each card of a page is a form of its own and sends only its own fields, so that two users who change different
settings both succeed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from esign.actions.base import settings_in_force
from esign.actions.people import settings as actions
from esign.core.actor import Mode
from esign.core.document import retention
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.language import LANGUAGES
from esign.core.people.account import COLOUR
from esign.core.people.brand_colours import choose_ink, choose_rule, choose_tones
from esign.web.http.validation import check
from esign.web.office.frame.forms import EMPTY, FormError, parse_number
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.settings_menu import find_first_page
from esign.web.office.sign_in.emailed_links import list_zones
from esign.web.signing.page import describe_logo
from esign.web.values.account_values import (
    Colour,
    EmbedOrigins,
    KeyDays,
    OrganisationName,
    RetentionDays,
    ZoneName,
)
from esign.web.values.document_values import Days, Locale, ReminderCount, ReminderDays
from esign.web.values.schema import Email, Patch

ORGANISATION, DEFAULTS = "/settings/organisation", "/settings/defaults"
TEXTS = ("replyTo", "defaultLocale", "timeZone", "brandColour")
NUMBERS = (
    "defaultExpiresInDays",
    "retainCompletedDays",
    "deleteClosedAfterDays",
    "maxKeyLifetimeDays",
)
PLAN = {"firstAfterDays": "first_after_days", "everyDays": "every_days", "max": "max"}
SURE, RESET = "sure", "reset"
KEEPING = ("retain_completed_days", "delete_closed_after_days")


class SettingsForm(Patch):
    """The fields of all cards. The attributes have the names of `Organisation`; an empty field is None."""

    name: Annotated[OrganisationName, Field(alias="organisationName", default_factory=str)]
    reply_to: Email | None = None
    locale: Annotated[Locale | None, Field(alias="defaultLocale")] = None
    time_zone: ZoneName | None = None
    colour: Annotated[Colour | None, Field(alias="brandColour")] = None
    expires_in_days: Annotated[Days | None, Field(alias="defaultExpiresInDays")] = None
    retain_completed_days: RetentionDays | None = None
    delete_closed_after_days: RetentionDays | None = None
    max_key_lifetime_days: KeyDays | None = None
    embed_origins: EmbedOrigins | None = None
    first_after_days: ReminderDays | None = None
    every_days: ReminderDays | None = None
    max: ReminderCount | None = None


async def show_first(call: OfficeCall) -> Response:
    """Redirect to the first page of the settings that the member may see."""
    return call.redirect_to(find_first_page(call.signed_in.member.role))


async def show_organisation(call: OfficeCall) -> Response:
    """Show the settings that recipients see in mails and on signing pages."""
    own = (await settings_in_force.read(call.runtime, call.owner)).organisation
    known = list_zones()
    return call.page(
        "organisation",
        own=own,
        logo=describe_logo(call.signed_in.organisation),
        ink=choose_ink(own.colour),
        tones=choose_tones(own.colour),
        rule=choose_rule(own.colour),
        usual_colour=COLOUR,
        languages=LANGUAGES.values(),
        zones=known if own.time_zone in known else [own.time_zone, *known],
    )


async def show_defaults(call: OfficeCall) -> Response:
    """Show the defaults of new documents, how long documents are kept, and which sites may embed signing pages."""
    config = call.runtime.config
    organisation = call.signed_in.organisation
    return call.page(
        "defaults",
        settings=await settings_in_force.read(call.runtime, call.owner),
        own=organisation,
        installed=config,
        test_days=config.test.purge_after_days,
    )


async def change_organisation(call: OfficeCall) -> Response:
    """Save the settings of the organisation."""
    await save_changes(call, parse_changes(call.form))
    return call.redirect_to(ORGANISATION, "settings")


async def change_defaults(call: OfficeCall) -> Response:
    """Save the defaults. Ask first if documents would be kept or protected for a shorter time than before."""
    changes = parse_changes(call.form)
    found = await find_loss(call, changes)
    if found is not None and SURE not in call.form:
        now = call.runtime.clock.now()
        before = None if found.deletes_after is None else now - found.deletes_after * DAY
        return call.page("defaults_sure", kept=call.form, days=found.deletes_after, before=before, loss=found)
    await save_changes(call, changes)
    return call.redirect_to(DEFAULTS, "settings")


@dataclass(frozen=True, slots=True)
class RetentionLoss:
    """What a shorter retention means, in days.

    `deletes_after`: the age at which ended documents are deleted automatically, if some are deleted earlier
    than before. `protected`: the time for which completed documents cannot be deleted, before the change, if it
    gets shorter; `left`: the same after the change.
    """

    deletes_after: int | None
    protected: int | None
    left: int | None


async def find_loss(call: OfficeCall, changes: Mapping[str, Any]) -> RetentionLoss | None:
    """Return how `changes` shorten the time for which documents are kept; None if they do not."""
    before, now = (
        (await settings_in_force.read(call.runtime, call.owner)).organisation,
        call.runtime.clock.now(),
    )
    after = replace(before, **{name: changes[name] for name in KEEPING if name in changes})
    was, will = (retention.find_horizons(one, Mode.LIVE, 0, now) for one in (before, after))
    pairs = ((was.completed, will.completed), (was.closed, will.closed))
    sooner = any(new is not None and (old is None or old < new) for old, new in pairs)
    protected, left = before.retain_completed_days, after.retain_completed_days
    less = protected is not None and (left is None or left < protected)
    if not sooner and not less:
        return None
    return RetentionLoss(
        after.delete_closed_after_days if sooner else None, protected if less else None, left
    )


async def save_changes(call: OfficeCall, changes: Mapping[str, object]) -> None:
    """Save the changes; raise `FormError` with a sentence at each invalid field."""
    try:
        await actions.change(call.runtime, call.caller, changes)
    except Problem as problem:
        if not problem.details:
            raise
        raise FormError(collect_sentences(problem)) from None


def parse_changes(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the changes that the form asks for, by their names in `Organisation`; raise `FormError`."""
    if RESET in form:
        return {"expires_in_days": None, "reminders": None}
    if not form.get("organisationName", "x").strip():
        raise FormError({"organisationName": EMPTY})
    try:
        changes = check(SettingsForm, read_values(form)).model_dump(exclude_unset=True)
    except Problem as problem:
        raise FormError(collect_sentences(problem)) from None
    plan = {name: changes.pop(name, None) for name in PLAN.values()}
    if "reminders" in form:
        given = {name: number for name, number in plan.items() if number is not None}
        changes["reminders"] = {"enabled": form["reminders"] == "on", **given}
    return changes


def read_values(form: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that the form has. An empty one means the default of the installation, or none."""
    values: dict[str, object] = {name: form[name].strip() or None for name in TEXTS if name in form}
    numbers = (*NUMBERS, *PLAN) if "reminders" in form else NUMBERS
    values |= {name: parse_number(form[name]) for name in numbers if name in form}
    if "organisationName" in form:
        values["organisationName"] = form["organisationName"]
    if "embedOrigins" in form:
        values["embedOrigins"] = form["embedOrigins"].split()
    return values


def collect_sentences(problem: Problem) -> dict[str, str]:
    """Return the messages of a problem by form field; an error inside a list belongs to the field of the list."""
    said: dict[str, str] = {}
    for one in problem.details:
        said.setdefault(one.path[1:].partition("/")[0], one.message)
    return said
