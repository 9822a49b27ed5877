"""The administrative audit log, for owners: changes of settings and members, and sign-ins, with time and origin."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from esign.actions.base import audit_log
from esign.actions.base.browser_name import describe_browser
from esign.core.document.audit import AuditEntry
from esign.core.people.admin_audit import ACTS
from esign.store.people import members
from esign.store.people.audit_log import AuditLogFilter
from esign.web.office.frame import paging
from esign.web.office.frame.dates import parse_day_end, parse_day_start
from esign.web.office.frame.office_call import OfficeCall

HERE = "/settings/audit"
PER_PAGE = 50
FILTERS = ("type", "actor", "from", "to")
ACTORS = 100  # members that the filter lists by name; others can be chosen by a link on one of their entries
NO_DAY = "A day such as 2026-11-21."
FOREVER = 2**62
QUIET = ("sessionId", "memberId", "erasureId")  # ids that mean nothing to a reader; not listed
FLAGS = ("again", "linkShown")  # shown only if they are true
LABELS = {"again": "Invited again", "factor": "Second factor", "keyId": "Token"}


@dataclass(frozen=True, slots=True)
class AuditLogRow:
    """An entry as the page shows it; `facts` are its further details as pairs of label and text."""

    line: AuditEntry
    words: str
    who: str
    where: str
    facts: list[tuple[str, str]]


async def show(call: OfficeCall) -> Response:
    """Show one page of the log, newest first, filtered as the address asks."""
    query = call.request.query_params
    given = {name: query[name] for name in FILTERS if query.get(name)}
    if given.get("type") not in ACTS:
        given.pop("type", None)
    wrong: dict[str, str] = {}
    wanted = AuditLogFilter(
        call.signed_in.organisation.id,
        given.get("type"),
        given.get("actor"),
        parse_edge(call, given, "from", wrong),
        parse_edge(call, given, "to", wrong),
    )
    filters = f"audit:{wanted}"
    found, more = await audit_log.find_page(call.runtime, wanted, PER_PAGE, paging.read_cursor(call, filters))
    people = await members.find(call.runtime.db, call.signed_in.organisation.id, ACTORS)
    call.wrong = wrong
    return call.page(
        "audit_log",
        rows=[describe_entry(line) for line in found],
        asked={name: given.get(name, "") for name in FILTERS},
        narrowed=bool(given),
        acts=ACTS,
        people=people,
        known={one.id for one in people},
        more=paging.link_next_page(call, more, filters, **given),
        first=paging.AFTER not in query,
        here_first=paging.link_first_page(HERE, **given),
    )


def parse_edge(call: OfficeCall, given: Mapping[str, str], name: str, wrong: dict[str, str]) -> int:
    """Return the beginning of the day in field `from`, or the end of the day in `to`; without a day, no limit.

    The day is read in the organisation's time zone. Add an error to `wrong` if the text is not a day.
    """
    none = 0 if name == "from" else FOREVER
    if name not in given:
        return none
    try:
        end = parse_day_end(given[name], call.signed_in.organisation.time_zone)
    except (ValueError, OverflowError):
        wrong[name] = NO_DAY
        return none
    return end if name == "to" else parse_day_start(given[name], call.signed_in.organisation.time_zone)


def describe_entry(line: AuditEntry) -> AuditLogRow:
    """Return an entry of the log as the page shows it."""
    personal: Mapping[str, Any] = line.personal or {}
    actor = personal.get("actor") or {}
    where = [text for text in (personal.get("ip"), describe_browser(personal.get("userAgent"))) if text]
    facts = [*list_facts(line.data), *list_facts(personal.get("detail") or {})]
    return AuditLogRow(
        line, ACTS.get(line.type, line.type), name_actor(line, actor), " · ".join(where), facts
    )


def name_actor(line: AuditEntry, actor: Mapping[str, object]) -> str:
    """Return the name of the actor of an entry."""
    name = actor.get("name") or line.actor_id
    if line.actor_kind == "api_key":
        return f"API token {name}"
    if line.actor_kind == "anonymous":
        return "Somebody who did not sign in"
    if line.actor_kind == "system":
        return "The command line" if name == "command line" else "esign"
    return str(name or "A former member")


def list_facts(said: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the members of `data` or `detail` as label and text, changes as old and new value."""
    for name, value in said.items():
        if name == "changes" and isinstance(value, dict):
            yield from list_facts(value)
        elif name not in QUIET and value is not None and not (name in FLAGS and value is False):
            yield format_label(name), format_value(value)


def format_value(value: object) -> str:
    """Return a JSON value as text."""
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return f"{format_value(value['from'])} → {format_value(value['to'])}"
    if isinstance(value, dict):
        return ", ".join(f"{format_label(name).lower()} {format_value(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(format_value, value)) or "none"
    if value is None:
        return "none"
    if isinstance(value, bool):  # before numbers: 1 == True
        return "yes" if value else "no"
    return str(value)


def format_label(name: str) -> str:
    """Return the label of a member: `retainCompletedDays` becomes `Retain completed days`."""
    return LABELS.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).capitalize()
