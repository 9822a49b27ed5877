"""The texts for the events that a webhook can receive, in groups, and the combinations that most programs need."""

from collections.abc import Mapping

from esign.core.webhook.webhook import PUBLISHED

SUBJECTS = {
    "Documents": "document.",
    "Recipients": "recipient.",
    "Templates": "template.",
    "Administration": "audit.",
}
GROUPS: Mapping[str, Mapping[str, str]] = {
    title: {name: event.choice for name, event in PUBLISHED.items() if name.startswith(subject)}
    for title, subject in SUBJECTS.items()
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
