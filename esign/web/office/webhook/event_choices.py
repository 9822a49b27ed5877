"""The texts for the events that a webhook can receive, in groups, and the combinations that most programs need."""

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Documents": {
        "document.created": "Created",
        "document.sent": "Sent",
        "document.completed": "Signed by everybody and sealed",
        "document.declined": "Declined",
        "document.expired": "Expired",
        "document.cancelled": "Cancelled",
        "document.deleted": "Deleted",
        "document.seal_failed": "Could not be sealed so far",
    },
    "Recipients": {
        "recipient.sent": "Invited",
        "recipient.viewed": "Opened the document",
        "recipient.completed": "Signed or approved",
        "recipient.declined": "Declined",
        "recipient.reminded": "Reminded",
        "recipient.delivery_failed": "Address refused by the mail server",
    },
    "Templates": {
        "template.created": "Created",
        "template.updated": "Changed",
        "template.deleted": "Deleted",
    },
    "Administration": {
        "audit.recorded": "An entry in the audit log",
    },
}

CHOSEN = "some"
PRESETS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "completed": (
        "Documents signed and sealed",
        "The file can be fetched at once.",
        ("document.completed",),
    ),
    "all": ("Everything", "Of documents and templates, also those that later versions add.", ("*",)),
}


def describe_events(events: tuple[str, ...]) -> str:
    """Return `all events`, the name of the only event, or their number."""
    if events == ("*",):
        return "all events"
    return events[0] if len(events) == 1 else f"{len(events)} events"
