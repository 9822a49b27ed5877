"""What an organisation sets for itself: who it is, what documents start from and how long they stay.

Each card of a page is a form of its own and sends only what stands on it, so that two people who change different
things change both. The schema is that of the API.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from esign.actions import settings as actions
from esign.core import retention
from esign.core.account import COLOUR
from esign.core.document import Mode
from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.core.language import LANGUAGES
from esign.web.api.settings import ChangeSettings, changes_of, present
from esign.web.office.arrivals import zones
from esign.web.office.call import Call
from esign.web.office.forms import EMPTY, Wrong, number
from esign.web.signing.page import brand, logo_of
from esign.web.validation import check

ORGANISATION, DEFAULTS = "/settings/organisation", "/settings/defaults"
TEXTS = ("replyTo", "defaultLocale", "timeZone", "brandColour")
NUMBERS = (
    "defaultExpiresInDays",
    "retainCompletedDays",
    "deleteClosedAfterDays",
    "maxKeyLifetimeDays",
)
PLAN = ("firstAfterDays", "everyDays", "max")
SURE, RESET = "sure", "reset"
KEEPING = ("retain_completed_days", "delete_closed_after_days")


async def show_organisation(call: Call) -> Response:
    """Who the organisation is, in mails and on signing pages."""
    found = present(await actions.read(call.runtime, call.owner))
    known = zones()
    return call.page(
        "organisation",
        settings=found,
        logo=logo_of(call.signed.organisation),
        ink=brand(found.brand_colour)[1],
        usual_colour=COLOUR,
        languages=LANGUAGES.values(),
        zones=known if found.time_zone in known else [found.time_zone, *known],
    )


async def show_defaults(call: Call) -> Response:
    """What new documents start from, how long documents are kept, and who may frame signing pages."""
    config = call.runtime.config
    organisation = call.signed.organisation
    return call.page(
        "defaults",
        settings=present(await actions.read(call.runtime, call.owner)),
        own_expiry=organisation.expires_in_days is not None,
        installed=config,
        test_days=config.test.purge_after_days,
    )


async def change_organisation(call: Call) -> Response:
    await change(call, wanted(call.form))
    return call.go(ORGANISATION, "settings")


async def change_defaults(call: Call) -> Response:
    """Saved; first a question where documents would be deleted that would have stayed."""
    changes = wanted(call.form)
    days = await shortened(call, changes)
    if days is not None and SURE not in call.form:
        now = call.runtime.clock.now()
        return call.page("defaults_sure", kept=call.form, days=days, before=now - days * DAY)
    await change(call, changes)
    return call.go(DEFAULTS, "settings")


async def shortened(call: Call, changes: Mapping[str, Any]) -> int | None:
    """After how many days documents that ended are to be deleted, where some go now that would have stayed.

    A shorter retention does the same where they are deleted already.
    """
    before, now = (await actions.read(call.runtime, call.owner)).organisation, call.runtime.clock.now()
    after = replace(before, **{name: changes[name] for name in KEEPING if name in changes})
    was, will = (retention.horizons(one, Mode.LIVE, 0, now) for one in (before, after))
    pairs = ((was.completed, will.completed), (was.closed, will.closed))
    sooner = any(new is not None and (old is None or old < new) for old, new in pairs)
    return after.delete_closed_after_days if sooner else None


async def change(call: Call, changes: Mapping[str, Any]) -> None:
    try:
        await actions.change(call.runtime, call.owner, changes)
    except Problem as problem:
        if not problem.details:
            raise
        raise Wrong(sentences(problem)) from None


def wanted(form: Mapping[str, str]) -> dict[str, Any]:
    """What the form changes, held against what the API takes; raises `Wrong`."""
    if not form.get("organisationName", "x").strip():
        raise Wrong({"organisationName": EMPTY})
    try:
        return changes_of(check(ChangeSettings, body_of(form)))
    except Problem as problem:
        raise Wrong(sentences(problem)) from None


def body_of(form: Mapping[str, str]) -> dict[str, Any]:
    """What is left empty is as the installation has it, or none."""
    if RESET in form:
        return {"defaultExpiresInDays": None, "defaultReminders": None}
    body: dict[str, Any] = {name: form[name].strip() or None for name in TEXTS if name in form}
    body |= {name: number(form[name]) for name in NUMBERS if name in form}
    if "organisationName" in form:
        body["organisationName"] = form["organisationName"]
    if "reminders" in form:
        plan = {name: number(form[name]) for name in PLAN if name in form}
        body["defaultReminders"] = {"enabled": form["reminders"] == "on", **plan}
    if "embedOrigins" in form:
        body["embedOrigins"] = form["embedOrigins"].split()
    return body


def sentences(problem: Problem) -> dict[str, str]:
    """By the name of the field: of a list, that of the list."""
    said: dict[str, str] = {}
    for one in problem.details:
        parts = one.path.strip("/").split("/")
        name = next((part for part in reversed(parts) if not part.isdigit()), "")
        said.setdefault(name, one.message)
    return said
