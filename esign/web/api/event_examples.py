"""An example for the body of each event: the document of the other examples, as the event leaves it."""

from collections.abc import Mapping
from typing import Any

from esign.web.api import examples
from esign.web.api.examples import COMPLETED, CREATED, SENT
from esign.web.rest.openapi.schemas import Json

NEVER: Json = dict.fromkeys(("sentAt", "expiresAt", "completedAt", "closedAt", "closeReason"))
OUT: Json = {**NEVER, "sentAt": SENT, "expiresAt": examples.EXPIRES}
VIEWED = examples.SUMMARY_OF_RECIPIENT["viewedAt"]
SIGNED = examples.SUMMARY_OF_RECIPIENT["completedAt"]
DECLINED = "2026-11-21T00:12:40.518Z"
REASON = "The plot number is wrong."

# By event: the document's status and times, the recipient's status and times, and the time of the event.
STATES: Mapping[str, tuple[Json, Json, str]] = {
    "document.created": ({"status": "draft", **NEVER}, {"status": "created"}, CREATED),
    "document.sent": ({"status": "sent", **OUT}, {"status": "sent"}, SENT),
    "document.completed": (
        {"status": "completed", **OUT, "completedAt": COMPLETED},
        {"status": "completed"},
        COMPLETED,
    ),
    "document.declined": (
        {"status": "declined", **OUT, "closedAt": DECLINED, "closeReason": REASON},
        {"status": "declined", "viewedAt": VIEWED, "declinedAt": DECLINED, "declineReason": REASON},
        DECLINED,
    ),
    "document.expired": (
        {"status": "expired", **OUT, "closedAt": examples.EXPIRES},
        {"status": "viewed"},
        examples.EXPIRES,
    ),
    "document.cancelled": (
        {"status": "cancelled", **OUT, "closedAt": VIEWED, "closeReason": examples.CANCEL_DOCUMENT["reason"]},
        {"status": "sent"},
        VIEWED,
    ),
    "document.seal_failed": ({"status": "sealing", **OUT}, {"status": "completed"}, COMPLETED),
    "recipient.sent": ({"status": "sent", **OUT}, {"status": "sent"}, SENT),
    "recipient.viewed": ({"status": "sent", **OUT}, {"status": "viewed", "viewedAt": VIEWED}, VIEWED),
    "recipient.completed": (
        {"status": "sealing", **OUT},
        {"status": "completed", "viewedAt": VIEWED, "completedAt": SIGNED},
        SIGNED,
    ),
    "recipient.declined": (
        {"status": "declined", **OUT, "closedAt": DECLINED, "closeReason": REASON},
        {"status": "declined", "viewedAt": VIEWED, "declinedAt": DECLINED, "declineReason": REASON},
        DECLINED,
    ),
    "recipient.reminded": ({"status": "sent", **OUT}, {"status": "sent"}, "2026-11-23T16:02:12.075Z"),
    "recipient.delivery_failed": (
        {"status": "sent", **OUT},
        {"status": "sent"},
        "2026-11-20T16:02:14.330Z",
    ),
}
TIMES = ("sentAt", "viewedAt", "completedAt", "declinedAt", "declineReason")


def build_examples(bodies: Mapping[str, Any]) -> dict[str, Json]:
    """Return an example for each event by its name."""
    return {name: build_example(name, model) for name, model in bodies.items()}


def build_example(name: str, model: Any) -> Json:
    """Return the example of one event. An event without a row in STATES has the example of its model."""
    [shown, *_] = model.model_config["json_schema_extra"]["examples"]
    body: Json = {**shown, "type": name}
    if name not in STATES:
        return body
    document, recipient, at = STATES[name]
    entry = {**examples.EVENT_RECIPIENT, "status": recipient["status"]}
    data: Json = {"document": {**examples.EVENT_DOCUMENT, **document, "recipients": [entry]}}
    if "recipient" in body["data"]:
        data["recipient"] = {**entry, **dict.fromkeys(TIMES), "sentAt": SENT, **recipient}
    sequence = max(1, list(STATES).index(name) % 6)
    return {**body, "timestamp": at, "sequence": sequence, "data": data}
