"""The administrative audit log, for owners: who did what in the settings, who signed in, and from where."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from esign.actions.base import audit_log
from esign.actions.base.browser_name import in_words
from esign.core.document.audit import Entry
from esign.core.people.admin_audit import ACTS
from esign.store.people import members
from esign.store.people.audit_log import Wanted
from esign.web.office.frame import paging
from esign.web.office.frame.call import Call
from esign.web.office.frame.dates import begin_of, end_of

HERE = "/settings/audit"
PER_PAGE = 50
FILTERS = ("type", "actor", "from", "to")
ACTORS = 100  # members offered by name; others are found by the link on an entry
NO_DAY = "A day such as 2026-11-21."
FOREVER = 2**62
QUIET = ("sessionId", "memberId", "erasureId")  # ids that say nothing to a reader; the whole entry has them
FLAGS = ("again", "linkShown")  # said only where they are true
LABELS = {"again": "Invited again", "factor": "Second factor", "keyId": "Token"}


@dataclass(frozen=True, slots=True)
class Row:
    """One entry as it is shown; `facts` are what it says besides, label and text."""

    line: Entry
    words: str
    who: str
    where: str
    facts: list[tuple[str, str]]


async def show(call: Call) -> Response:
    """Show a page of the log, newest first, narrowed by what the address asks for."""
    query = call.request.query_params
    given = {name: query[name] for name in FILTERS if query.get(name)}
    if given.get("type") not in ACTS:
        given.pop("type", None)
    wrong: dict[str, str] = {}
    wanted = Wanted(
        call.signed.organisation.id,
        given.get("type"),
        given.get("actor"),
        edge(call, given, "from", wrong),
        edge(call, given, "to", wrong),
    )
    filters = f"audit:{wanted}"
    found, more = await audit_log.find_page(call.runtime, wanted, PER_PAGE, paging.after(call, filters))
    people = await members.find(call.runtime.db, call.signed.organisation.id, ACTORS)
    call.wrong = wrong
    return call.page(
        "audit_log",
        rows=[row(line) for line in found],
        asked={name: given.get(name, "") for name in FILTERS},
        narrowed=bool(given),
        acts=ACTS,
        people=people,
        known={one.id for one in people},
        more=paging.link_to(call, more, filters, **given),
        first=paging.AFTER not in query,
        here_first=paging.begin(HERE, **given),
    )


def edge(call: Call, given: Mapping[str, str], name: str, wrong: dict[str, str]) -> int:
    """Return where a day begins, or for `to` ends, on the organisation's clocks; the end of all where none is named."""
    none = 0 if name == "from" else FOREVER
    if name not in given:
        return none
    try:
        end = end_of(given[name], call.signed.organisation.time_zone)
    except (ValueError, OverflowError):
        wrong[name] = NO_DAY
        return none
    return end if name == "to" else begin_of(given[name], call.signed.organisation.time_zone)


def row(line: Entry) -> Row:
    personal: Mapping[str, Any] = line.personal or {}
    actor = personal.get("actor") or {}
    where = [text for text in (personal.get("ip"), in_words(personal.get("userAgent"))) if text]
    facts = [*facts_of(line.data), *facts_of(personal.get("detail") or {})]
    return Row(line, ACTS.get(line.type, line.type), actor_of(line, actor), " · ".join(where), facts)


def actor_of(line: Entry, actor: Mapping[str, Any]) -> str:
    name = actor.get("name") or line.actor_id
    if line.actor_kind == "api_key":
        return f"API token {name}"
    if line.actor_kind == "anonymous":
        return "Somebody who did not sign in"
    if line.actor_kind == "system":
        return "The command line" if name == "command line" else "esign"
    return str(name or "A former member")


def facts_of(said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is in `data` or `detail` as label and text, changes as from what to what."""
    for name, value in said.items():
        if name == "changes" and isinstance(value, dict):
            yield from facts_of(value)
        elif name not in QUIET and value is not None and not (name in FLAGS and value is False):
            yield label_of(name), text_of(value)


def text_of(value: Any) -> str:
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return f"{text_of(value['from'])} → {text_of(value['to'])}"
    if isinstance(value, dict):
        return ", ".join(f"{label_of(name).lower()} {text_of(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(text_of, value)) or "none"
    return (
        {None: "none", True: "yes", False: "no"}.get(value, str(value))
        if not isinstance(value, str)
        else value
    )


def label_of(name: str) -> str:
    """Return the name of a member as a label: `retainCompletedDays` is `Retain completed days`."""
    return LABELS.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).capitalize()
