"""What the organisation used on each day, in the mode of the key (contract 3.5)."""

from datetime import date, timedelta
from typing import Annotated

from pydantic import ConfigDict, Field

from esign.actions.base import usage as actions
from esign.core.errors import Detail, Problem
from esign.core.instant import DAY
from esign.core.people.usage import Usage
from esign.web.api import account_examples as examples
from esign.web.rest.endpoint import ApiCall
from esign.web.values.schema import BoundedText, QueryParameters, Reply, TextRule, refusal

LONGEST = 366
USUAL = 30
EPOCH = date(1970, 1, 1)
EARLIEST = (date.min - EPOCH).days


def parse_day(text: str) -> int:
    """Return the number of days from 1970 to a date such as 2026-11-21."""
    try:
        if len(text) == 10 and text.isascii():
            return (date.fromisoformat(text) - EPOCH).days
    except ValueError:
        pass
    raise refusal("format", "A date such as 2026-11-21.")


Day = Annotated[int, TextRule(BoundedText(1, 40), parse_day, "date")]


class UsageQuery(QueryParameters):
    """Both days are counted in; without them the last 30 days."""

    first: Annotated[Day | None, Field(alias="from", description="The first day, in UTC.")] = None
    last: Annotated[Day | None, Field(alias="to", description="The last day, in UTC.")] = None


class UsageDayReply(Reply):
    day: str
    documents_created: int
    documents_sent: int
    documents_completed: int
    emails: int
    api_requests: int
    storage_bytes: int


COUNTED = tuple(name for name in UsageDayReply.model_fields if name != "day")


class UsageReply(Reply):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.USAGE]})

    data: list[UsageDayReply]


async def read_usage(call: ApiCall, query: UsageQuery) -> list[tuple[int, Usage]]:
    """Return one entry for each day, oldest first; `storageBytes` are those of the files added that day."""
    last = call.runtime.clock.now() // DAY if query.last is None else query.last
    first = max(last - USUAL + 1, EARLIEST) if query.first is None else query.first
    if not 0 <= last - first < LONGEST:
        message = f"A day from {LONGEST - 1} days before the last one to that day."
        raise Problem("invalid_request", details=[Detail("?from", message, "range")])
    return await actions.list_days(call.runtime, call.owner, first, last)


def present(found: list[tuple[int, Usage]]) -> UsageReply:
    return UsageReply(
        data=[
            UsageDayReply.model_validate(
                {"day": str(EPOCH + timedelta(n)), **{name: getattr(used, name) for name in COUNTED}}
            )
            for n, used in found
        ]
    )
