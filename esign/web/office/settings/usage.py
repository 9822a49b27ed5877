"""The usage of the organisation by day and by month, and how much of its quotas is used."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date, timedelta

from starlette.responses import Response

from esign.actions.base import usage
from esign.core.instant import DAY
from esign.core.people.usage import Usage
from esign.web.office.frame.office_call import OfficeCall

EPOCH = date(1970, 1, 1)
SPAN = 365
DAYS = 31
KB = 1000


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One day or month. `open` means that it is not over yet."""

    name: str
    used: Usage
    open: bool = False


async def show(call: OfficeCall) -> Response:
    """Show the usage of the last year by month, and of the last 31 days by day."""
    today = call.runtime.clock.now() // DAY
    found = await usage.list_days(call.runtime, call.owner, today - SPAN, today)
    dated = [(EPOCH + timedelta(number), used) for number, used in reversed(found)]
    return call.page(
        "usage",
        months=drop_idle_rows(sum_months(dated)),
        days=drop_idle_rows(
            UsageRow(f"{day.day} {day:%b %Y}", used, n == 0) for n, (day, used) in enumerate(dated[:DAYS])
        ),
        standing=await usage.read_quota_standing(call.runtime, call.owner),
        size=format_size,
    )


def sum_months(dated: list[tuple[date, Usage]]) -> list[UsageRow]:
    """Return at most 12 months, newest first.

    A month whose first days lie before the period is left out.
    """
    names = list(dict.fromkeys(f"{day:%B %Y}" for day, _ in dated))[:12]
    return [
        UsageRow(name, sum_usage(used for day, used in dated if f"{day:%B %Y}" == name), n == 0)
        for n, name in enumerate(names)
    ]


def drop_idle_rows(rows: Iterable[UsageRow]) -> list[UsageRow]:
    """Return the rows with any usage, and the one that is not over yet."""
    return [row for row in rows if row.open or row.used != Usage()]


def sum_usage(used: Iterable[Usage]) -> Usage:
    """Return the sum of several days, count by count."""
    given = list(used)
    return Usage(**{one.name: sum(getattr(each, one.name) for each in given) for one in fields(Usage)})


def format_size(octets: int) -> str:
    """Return a size in bytes as text: `12 kB`, `3.4 MB`, `1.2 GB`."""
    if octets < KB**2:
        return f"{-(-octets // KB)} kB"
    value, unit = (octets / KB**2, "MB") if octets < KB**3 else (octets / KB**3, "GB")
    return f"{value:,.1f} {unit}"
