"""The usage of the organisation by week, month and day, and how much of its quotas is used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta

from starlette.responses import Response

from esign.actions.base import usage
from esign.core.instant import DAY
from esign.core.people.usage import Usage
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.settings.charts import Chart, ChartColumn, build_chart

EPOCH = date(1970, 1, 1)
SPAN = 365
DAYS = 31
KB = 1000
WEEKS = 12
DOCUMENT_SERIES = {"documents_sent": "Sent", "documents_completed": "Completed"}
REMINDER_SERIES = {"reminders_sent": "Reminders", "reminders_answered": "Finished"}
COMPLETION_NAMES = {
    "completed_in_hour": "1 hour",
    "completed_in_day": "1 day",
    "completed_in_week": "1 week",
    "completed_later": "Longer",
}


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
    weeks = sum_weeks(dated, WEEKS)
    return call.page(
        "usage",
        weeks=WEEKS,
        documents=draw_weeks(weeks, DOCUMENT_SERIES),
        completion=draw_completion(weeks),
        reminders=draw_weeks(weeks, REMINDER_SERIES),
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


def sum_weeks(dated: list[tuple[date, Usage]], number: int) -> list[tuple[date, Usage]]:
    """Return the usage of the last weeks by their Monday, oldest first. `dated` begins with today."""
    this_week = dated[0][0] - timedelta(dated[0][0].weekday())
    mondays = [this_week - timedelta(7 * n) for n in reversed(range(number))]
    return [
        (monday, sum_usage(used for day, used in dated if monday <= day < monday + timedelta(7)))
        for monday in mondays
    ]


def draw_weeks(weeks: list[tuple[date, Usage]], series: Mapping[str, str]) -> Chart:
    """Return a chart of counters by week; `series` maps the names of the counters to those that people read."""
    columns = [
        ChartColumn(
            f"Week of {monday.day} {monday:%b %Y}",
            f"{monday.day} {monday:%b}",
            tuple(getattr(used, name) for name in series),
        )
        for monday, used in weeks
    ]
    return build_chart(tuple(series.values()), columns)


def draw_completion(weeks: list[tuple[date, Usage]]) -> Chart:
    """Return a chart of the documents completed in these weeks, by the time since they were sent."""
    used = sum_usage(used for _, used in weeks)
    columns = [ChartColumn(text, text, (getattr(used, name),)) for name, text in COMPLETION_NAMES.items()]
    return build_chart(("Completed",), columns)


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
