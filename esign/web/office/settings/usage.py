"""What the organisation used, in numbers: by day and by month, and how much of its quotas."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date, timedelta

from starlette.responses import Response

from esign.actions.base import usage
from esign.core.instant import DAY
from esign.core.people.usage import Usage
from esign.web.office.frame.call import Call

EPOCH = date(1970, 1, 1)
SPAN = 365
DAYS = 31
KB = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """A day, or a month, which `open` says is not over."""

    name: str
    used: Usage
    open: bool = False


async def show(call: Call) -> Response:
    today = call.runtime.clock.now() // DAY
    found = await usage.days(call.runtime, call.owner, today - SPAN, today)
    dated = [(EPOCH + timedelta(number), used) for number, used in reversed(found)]
    return call.page(
        "usage",
        months=busy(months(dated)),
        days=busy(Row(f"{day.day} {day:%b %Y}", used, n == 0) for n, (day, used) in enumerate(dated[:DAYS])),
        standing=await usage.standing(call.runtime, call.owner),
        size=size,
    )


def months(dated: list[tuple[date, Usage]]) -> list[Row]:
    """Newest first; of the oldest, whose beginning is not among the days, nothing is said."""
    names = list(dict.fromkeys(f"{day:%B %Y}" for day, _ in dated))[:12]
    return [
        Row(name, added(used for day, used in dated if f"{day:%B %Y}" == name), n == 0)
        for n, name in enumerate(names)
    ]


def busy(rows: Iterable[Row]) -> list[Row]:
    """Those in which anything was used, and the one that is not over."""
    return [row for row in rows if row.open or row.used != Usage()]


def added(used: Iterable[Usage]) -> Usage:
    given = list(used)
    return Usage(**{one.name: sum(getattr(each, one.name) for each in given) for one in fields(Usage)})


def size(octets: int) -> str:
    """`12 kB`, `3.4 MB`, `1.2 GB`."""
    if octets < KB**2:
        return f"{-(-octets // KB)} kB"
    value, unit = (octets / KB**2, "MB") if octets < KB**3 else (octets / KB**3, "GB")
    return f"{value:,.1f} {unit}"
