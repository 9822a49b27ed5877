"""The administrative audit log, for owners: changes of settings and members, and sign-ins, with time and origin."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from starlette.responses import Response

from esign.actions.base import audit_log
from esign.core.document.audit import AuditEntry
from esign.core.instant import parse
from esign.core.people.admin_audit import ACTS
from esign.store.people import members
from esign.store.people.audit_log import AuditLogFilter
from esign.web.office.frame import paging
from esign.web.office.frame.browser_names import name_browser
from esign.web.office.frame.dates import parse_day_end, parse_day_start
from esign.web.office.frame.formats import Times
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords

HERE = "/settings/audit"
PER_PAGE = 50
FILTERS = ("type", "actor", "from", "to")
ACTORS = 100  # members that the filter lists by name; others can be chosen by a link on one of their entries
NO_DAY = "A day such as 2026-11-21."
FOREVER = 2**62
QUIET = ("sessionId", "memberId", "erasureId")  # ids that mean nothing to a reader; not listed
FLAGS = ("again", "linkShown")  # shown only if they are true
INSTANTS = ("changedAt", "expiresAt", "since", "time")
NAMED = {
    "kind": "server.status.kind",
    "mode": "settings.mode",
    "plan": "settings.plan_name",
    "role": "frame.role",
    "status": "document.status",
}  # others: see `name_value`


@dataclass(frozen=True, slots=True)
class AuditLogRow:
    """An entry as the page shows it; `facts` are its further details as pairs of label and text."""

    line: AuditEntry
    words: str
    who: str
    where: list[str]
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
        rows=[describe_entry(line, call.times) for line in found],
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


def describe_entry(line: AuditEntry, times: Times) -> AuditLogRow:
    """Return an entry of the log as the page shows it."""
    t = times.words
    personal: Mapping[str, Any] = line.personal or {}
    actor = personal.get("actor") or {}
    where = [text for text in (personal.get("ip"), name_browser(personal.get("userAgent"), t)) if text]
    about = "plan" if line.type == "organisation.plan_changed" else ""
    facts = [*list_facts(line.data, times, about), *list_facts(personal.get("detail") or {}, times)]
    return AuditLogRow(line, t(f"settings.log.act.{line.type}"), name_actor(line, actor, t), where, facts)


def name_actor(line: AuditEntry, actor: Mapping[str, object], t: OfficeWords) -> str:
    """Return the name of the actor of an entry."""
    name = actor.get("name") or line.actor_id
    if line.actor_kind == "api_key":
        return t("settings.log.key_actor", name=str(name))
    if line.actor_kind == "anonymous":
        return t("settings.log.anonymous")
    if line.actor_kind == "system":
        return t("settings.command_line") if name == "command line" else "esign"
    return str(name or t("settings.log.former"))


def list_facts(said: Mapping[str, object], times: Times, about: str = "") -> Iterator[tuple[str, str]]:
    """Yield the members of `data` or `detail` as label and text, changes as old and new value.

    The values belong to the member `about`, if it is given: a changed plan has `from` and `to` alone.
    """
    for name, value in said.items():
        if name == "changes" and isinstance(value, dict):
            yield from list_facts(value, times)
        elif name not in QUIET and value is not None and not (name in FLAGS and value is False):
            yield format_label(name, times.words), format_value(about or name, value, times)


def format_value(name: str, value: object, times: Times) -> str:
    """Return a JSON value of the member `name` as text."""
    t = times.words
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        before, after = (format_value(name, value[side], times) for side in ("from", "to"))
        return t("settings.log.change", before=before, after=after)
    if isinstance(value, dict):
        return join_parts(
            [
                t("settings.log.pair", label=format_label(inner, t), value=format_value(inner, one, times))
                for inner, one in value.items()
            ],
            t,
        )
    if isinstance(value, list):
        return join_parts([format_value(name, one, times) for one in value], t)
    if value is None:
        return t("settings.log.none")
    if isinstance(value, bool):  # before numbers: 1 == True
        return t("settings.log.yes" if value else "settings.log.no")
    return name_value(name, str(value), times)


def join_parts(parts: list[str], t: OfficeWords) -> str:
    """Return parts one after the other, or the word for none."""
    return reduce(lambda a, b: t("list.comma", a=a, b=b), parts) if parts else t("settings.log.none")


def name_value(name: str, value: str, times: Times) -> str:
    """Return a value in the reader's language if it is one of those that the program itself writes."""
    if name in INSTANTS:
        return times.moment(parse(value))
    key = f"{NAMED.get(name) or f'settings.log.value.{name}'}.{value.replace(' ', '_')}"
    return times.words(key) if key in times.words.catalogue else value


def format_label(name: str, t: OfficeWords) -> str:
    """Return the label of a member; one that is not known is called by its name in the API."""
    key = f"settings.log.label.{name}"
    return t(key) if key in t.catalogue else name
