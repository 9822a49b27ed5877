"""The plan of the organisation and the limits of this installation, by their names in the API."""

from collections.abc import Mapping

from starlette.responses import Response

from esign.actions.people import accounts
from esign.core.people.account import may_use_api
from esign.web.office.frame.office_call import OfficeCall

# The limits by their names in the API. A name that ends in “bytes” is shown as a size.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Documents": {
        "documents_per_month": "Live documents sent in a month",
        "emails_per_day": "Mails in a day",
        "reminders_per_hour": "Reminders by hand to one recipient in an hour",
        "recipients": "Recipients of a document",
        "fields": "Fields of a document",
        "pages": "Pages of a PDF",
        "file_bytes": "Size of a PDF",
        "attachment_bytes": "Size up to which the sealed PDF is attached to mails",
        "link_days": "Days that a signing link works after the end",
    },
    "Stored things": {
        "templates": "Templates",
        "webhooks": "Webhooks",
        "api_keys": "API tokens that work",
        "event_days": "Days that events are kept",
    },
    "Programs": {
        "requests_per_minute": "Requests of a token in a minute",
        "creates_per_minute": "Documents made in a minute",
        "sends_per_minute": "Documents sent in a minute",
        "verifies_per_minute": "PDFs verified in a minute",
        "auth_failures_per_minute": "Wrong tokens from one address in a minute",
        "body_bytes": "Size of a request with a file",
        "plain_body_bytes": "Size of any other request",
        "idempotency_hours": "Hours that a repeated request is recognised",
        "download_seconds": "Seconds that a download address works",
        "rotation_hours": "Hours that the webhook secret before signs too",
    },
}
ABOUT = {
    "free": "People work in this web application.",
    "team": "People work in this web application.",
    "business": "People work in this web application, and programs by the API.",
    "enterprise": "People work in this web application, and programs by the API.",
}


async def show(call: OfficeCall) -> Response:
    """Show the plan and the limits."""
    limits = accounts.list_limits(call.runtime.config.limits)
    plan = accounts.find_plan(call.signed_in.organisation, call.runtime.config)
    return call.page(
        "plan",
        plan=plan,
        about=ABOUT[plan],
        programs=may_use_api(plan),
        groups={
            group: [(words, format_limit(name, limits[name])) for name, words in names.items()]
            for group, names in GROUPS.items()
        },
    )


def format_limit(name: str, limit: int | None) -> str:
    """Return a limit as text; limits whose name ends in `bytes` in MB."""
    if limit is None:
        return "No limit"
    if name.endswith("bytes"):
        return f"{limit / 2**20:g} MB" if limit else "None is attached"
    return f"{limit:,}"
