"""The usage of the organisation by week, month and day, and how much of its quotas is used."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta

from markupsafe import Markup
from starlette.responses import Response

from esign.actions.base import usage
from esign.core.instant import DAY
from esign.core.people.usage import Usage
from esign.web.office.frame.formats import write_date
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords
from esign.web.office.settings.charts import Chart, ChartColumn, build_chart

EPOCH = date(1970, 1, 1)
SPAN = 365
DAYS = 31
GB = 10**9
WEEKS = 12
DOCUMENT_SERIES = ("documents_sent", "documents_completed")
REMINDER_SERIES = ("reminders_sent", "reminders_answered")
COMPLETION = ("completed_in_hour", "completed_in_day", "completed_in_week", "completed_later")


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
    weeks, t = sum_weeks(dated, WEEKS), call.words
    return call.page(
        "usage",
        weeks=WEEKS,
        documents=draw_weeks(weeks, DOCUMENT_SERIES, t),
        completion=draw_completion(weeks, t),
        reminders=draw_weeks(weeks, REMINDER_SERIES, t),
        months=drop_idle_rows(sum_months(dated, t)),
        days=drop_idle_rows(
            UsageRow(write_date("date_short", day, t), used, n == 0)
            for n, (day, used) in enumerate(dated[:DAYS])
        ),
        standing=await usage.read_quota_standing(call.runtime, call.owner),
        size=format_size,
    )


def sum_months(dated: list[tuple[date, Usage]], t: OfficeWords) -> list[UsageRow]:
    """Return at most 12 months, newest first.

    A month whose first days lie before the period is left out.
    """
    months = list(dict.fromkeys(day.replace(day=1) for day, _ in dated))[:12]
    return [
        UsageRow(
            name_month(month, t),
            sum_usage(used for day, used in dated if day.replace(day=1) == month),
            n == 0,
        )
        for n, month in enumerate(months)
    ]


def name_month(month: date, t: OfficeWords) -> str:
    """Return a month with its year, such as `November 2026`."""
    return t("settings.usage.month_year", month=t.catalogue["months_alone"][month.month - 1], year=month.year)


def sum_weeks(dated: list[tuple[date, Usage]], number: int) -> list[tuple[date, Usage]]:
    """Return the usage of the last weeks by their Monday, oldest first. `dated` begins with today."""
    this_week = dated[0][0] - timedelta(dated[0][0].weekday())
    mondays = [this_week - timedelta(7 * n) for n in reversed(range(number))]
    return [
        (monday, sum_usage(used for day, used in dated if monday <= day < monday + timedelta(7)))
        for monday in mondays
    ]


def draw_weeks(weeks: list[tuple[date, Usage]], series: Sequence[str], t: OfficeWords) -> Chart:
    """Return a chart of counters by week."""
    columns = [
        ChartColumn(
            t("settings.usage.week_of", day=write_date("date_short", monday, t)),
            write_date("day_short", monday, t),
            tuple(getattr(used, name) for name in series),
        )
        for monday, used in weeks
    ]
    return build_chart([t(f"settings.usage.series.{name}") for name in series], columns, t)


def draw_completion(weeks: list[tuple[date, Usage]], t: OfficeWords) -> Chart:
    """Return a chart of the documents completed in these weeks, by the time since they were sent."""
    used = sum_usage(used for _, used in weeks)
    names = {name: t(f"settings.usage.within.{name}") for name in COMPLETION}
    columns = [ChartColumn(text, text, (getattr(used, name),)) for name, text in names.items()]
    return build_chart([t("settings.usage.series.documents_completed")], columns, t)


def drop_idle_rows(rows: Iterable[UsageRow]) -> list[UsageRow]:
    """Return the rows with any usage, and the one that is not over yet."""
    return [row for row in rows if row.open or row.used != Usage()]


def sum_usage(used: Iterable[Usage]) -> Usage:
    """Return the sum of several days, count by count."""
    given = list(used)
    return Usage(**{one.name: sum(getattr(each, one.name) for each in given) for one in fields(Usage)})


def format_size(t: OfficeWords, octets: int) -> str:
    """Return a size in bytes as text: `12 kB`, `3.4 MB`, `1.2 GB`."""
    if octets < GB:
        return t.size(octets)
    return t("settings.usage.gb", n=Markup(t.number(f"{octets / GB:.1f}")))  # noqa: S704  (digits)
