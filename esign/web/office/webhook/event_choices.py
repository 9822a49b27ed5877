"""The events that a webhook can receive, in groups, and the combinations that most programs need."""

from collections.abc import Mapping

from esign.core.webhook.webhook import PUBLISHED
from esign.web.office.frame.words import OfficeWords

SUBJECTS = ("document", "recipient", "template", "audit")
GROUPS: Mapping[str, tuple[str, ...]] = {
    subject: tuple(name for name in PUBLISHED if name.startswith(f"{subject}.")) for subject in SUBJECTS
}

CHOSEN = "some"
PRESETS: Mapping[str, tuple[str, ...]] = {"completed": ("document.completed",), "all": ("*",)}


def describe_events(events: tuple[str, ...], t: OfficeWords) -> str:
    """Return `All events`, the name of the only event, or their number."""
    if events == ("*",):
        return t("webhook.all_events")
    return events[0] if len(events) == 1 else t.count("webhook.events", len(events))
