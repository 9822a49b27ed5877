import json
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.document.document import RecipientStatus, Role, Status
from esign.core.document.state.outcome import Event
from esign.core.instant import rfc3339
from esign.core.webhook import webhook
from tests.factories import NOW, a_document, a_recipient, a_webhook

DOCUMENT = {
    *(
        "id",
        "title",
        "status",
        "pageCount",
        "createdAt",
        "completedAt",
        "externalId",
        "metadata",
        "recipients",
    ),
    *("sentAt", "expiresAt", "closedAt", "closeReason", "templateId"),
}
ENTRY = {"id", "email", "name", "role", "status", "order"}
RECIPIENT = ENTRY | {"sentAt", "viewedAt", "completedAt", "declinedAt", "declineReason"}


def payload(event: Event, **changes: Any) -> dict[str, Any]:
    recipients = changes.pop("recipients", (a_recipient(id="rcp_1"), a_recipient(id="rcp_2")))
    document = a_document(*recipients, **changes)
    made: dict[str, Any] = json.loads(json.dumps(webhook.make_payload(event, "evt_1", 7, document)))
    return made


@pytest.mark.parametrize("status", Status)
def test_the_payload_of_a_document_event_has_exactly_the_members_of_the_contract(status: Status) -> None:
    body = payload(Event("document.sent", NOW + 123), status=status)
    assert set(body) == {"id", "type", "timestamp", "apiVersion", "mode", "sequence", "data"}
    assert set(body["data"]) == {"document"}
    assert set(body["data"]["document"]) == DOCUMENT
    assert [set(entry) for entry in body["data"]["document"]["recipients"]] == [ENTRY, ENTRY]
    assert body["data"]["document"]["status"] == status.value


def test_the_payload_says_what_happened_to_which_document_and_when() -> None:
    body = payload(
        Event("document.sent", NOW + 123), id="doc_1", title="Ö", mode=Mode.TEST, metadata={"a": "b"}
    )
    assert (body["id"], body["type"], body["sequence"]) == ("evt_1", "document.sent", 7)
    assert (body["apiVersion"], body["mode"]) == ("v1", "test")
    assert body["timestamp"] == "2026-11-21T00:00:00.123Z"
    document = body["data"]["document"]
    assert (document["id"], document["title"], document["pageCount"]) == ("doc_1", "Ö", 1)
    assert (document["createdAt"], document["completedAt"]) == (rfc3339(NOW), None)
    assert (document["externalId"], document["metadata"], document["templateId"]) == (None, {"a": "b"}, None)


@pytest.mark.parametrize("status", RecipientStatus)
def test_a_recipient_event_adds_the_recipient_with_its_times(status: RecipientStatus) -> None:
    recipient = a_recipient(id="rcp_9", status=status, order=2, role=Role.APPROVER, decline_reason="No.")
    body = payload(
        Event("recipient.sent", NOW, recipient_id="rcp_9"), status=Status.SENT, recipients=(recipient,)
    )
    assert set(body["data"]) == {"document", "recipient"}
    told = body["data"]["recipient"]
    assert set(told) == RECIPIENT
    assert (told["id"], told["role"], told["status"], told["order"]) == ("rcp_9", "approver", status.value, 2)
    assert told["declineReason"] == "No."
    assert told["sentAt"] == (None if status is RecipientStatus.CREATED else rfc3339(NOW))
    assert told["completedAt"] == (rfc3339(NOW) if status is RecipientStatus.COMPLETED else None)


@pytest.mark.parametrize(
    ("events", "enabled", "type", "wanted"),
    [
        (("*",), True, "document.sent", True),
        (("*",), False, "document.sent", False),
        (("document.sent",), True, "document.sent", True),
        (("document.sent",), True, "document.completed", False),
        (("document.sent", "recipient.sent"), True, "recipient.sent", True),
        (("recipient.sent",), False, "recipient.sent", False),
        (("*",), True, "webhook.test", False),
        (("webhook.test",), True, "webhook.test", False),
    ],
)
def test_a_webhook_gets_what_it_subscribed_to_while_it_is_enabled(
    events: tuple[str, ...], enabled: bool, type: str, wanted: bool
) -> None:
    assert a_webhook(events=events, enabled=enabled).wants(type) is wanted


def test_every_published_event_may_be_subscribed_to_and_no_name_stands_twice() -> None:
    assert set(webhook.PUBLISHED) < set(webhook.ALL_EVENTS)
    assert len(set(webhook.ALL_EVENTS)) == len(webhook.ALL_EVENTS) == 19


def test_a_test_says_which_webhook_it_is_for_and_has_no_place_in_a_sequence() -> None:
    hook = a_webhook(mode=Mode.TEST)
    assert webhook.make_test_payload(hook, "evt_1", NOW) == {
        "id": "evt_1",
        "type": "webhook.test",
        "timestamp": rfc3339(NOW),
        "apiVersion": "v1",
        "mode": "test",
        "sequence": None,
        "data": {"webhookId": hook.id},
    }


@pytest.mark.parametrize(
    ("until", "alive"),
    [(None, 1), (NOW - 1, 1), (NOW, 1), (NOW + 1, 2)],
    ids=["never", "over", "ends", "runs"],
)
def test_the_previous_secret_signs_too_until_its_grace_is_over(until: int | None, alive: int) -> None:
    hook = a_webhook(previous_secret=b"before" if until is not None else None, previous_until=until)
    assert hook.list_secrets(NOW) == (b"ciphertext", b"before")[:alive]
    assert hook.rotating(NOW) is (alive == 2)
