"""The plan of the organisation and the limits of this installation, by their names in the API."""

from collections.abc import Mapping

from starlette.responses import Response

from esign.actions.people import accounts
from esign.core.people.account import may_use_api
from esign.web.office.frame.office_call import OfficeCall
from esign.web.office.frame.words import OfficeWords

# The limits by their names in the API. A name that ends in “bytes” is shown as a size.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "documents": (
        "documents_per_month",
        "emails_per_day",
        "reminders_per_hour",
        "recipients",
        "fields",
        "pages",
        "file_bytes",
        "attachment_bytes",
        "link_days",
    ),
    "stored": ("templates", "webhooks", "api_keys", "event_days"),
    "programs": (
        "requests_per_minute",
        "creates_per_minute",
        "sends_per_minute",
        "verifies_per_minute",
        "auth_failures_per_minute",
        "body_bytes",
        "plain_body_bytes",
        "idempotency_hours",
        "download_seconds",
        "rotation_hours",
    ),
}


async def show(call: OfficeCall) -> Response:
    """Show the plan and the limits."""
    limits = accounts.list_limits(call.runtime.config.limits)
    plan = accounts.find_plan(call.signed_in.organisation, call.runtime.config)
    return call.page(
        "plan",
        plan=plan,
        programs=may_use_api(plan),
        groups={
            group: [(name, format_limit(name, limits[name], call.words)) for name in names]
            for group, names in GROUPS.items()
        },
    )


def format_limit(name: str, limit: int | None, t: OfficeWords) -> str:
    """Return a limit as text; limits whose name ends in `bytes` in MB."""
    if limit is None:
        return t("settings.plan.no_limit")
    if name.endswith("bytes"):
        megabytes = t.number(f"{limit / 2**20:g}")
        return t("MB", n=megabytes) if limit else t("settings.plan.not_attached")
    return t.group(limit)
