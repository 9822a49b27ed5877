"""Examples for the description: webhooks, deliveries and events."""

from esign.web.api.examples import CREATED_WEBHOOK, EVENT, WEBHOOK_ID
from esign.web.rest.openapi.schemas import Json

WEBHOOK: Json = {name: value for name, value in CREATED_WEBHOOK.items() if name != "secret"}
WEBHOOKS: Json = {"data": [WEBHOOK], "hasMore": False, "nextCursor": None}
CHANGE_WEBHOOK: Json = {"events": ["*"], "description": "Invoice archive"}
ROTATE: Json = {"graceHours": 48}
ROTATED: Json = {
    "id": WEBHOOK_ID,
    "secret": "whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=",
    "previousSecretExpiresAt": "2026-11-22T18:02:12.075Z",
}
TEST_EVENT: Json = {
    **EVENT,
    "id": "evt_01kzt0v8q3f6n8q0s2t4v6w8x0",
    "type": "webhook.test",
    "sequence": None,
    "data": {"webhookId": WEBHOOK_ID},
}
RECORDED_EVENT: Json = {
    **EVENT,
    "id": "evt_01kzt0v8q3f6n8q0s2t4v6w8x1",
    "type": "audit.recorded",
    "timestamp": "2026-11-20T16:40:02.113Z",
    "mode": "live",
    "sequence": None,
    "data": {
        "entry": {
            "seq": 42,
            "at": "2026-11-20T16:40:02.113Z",
            "type": "api_key.created",
            "actor": {"kind": "member", "id": "mem_01kzsz0a1b2c3d4e5f6g7h8j9k"},
            "hash": "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
        }
    },
}
DELIVERY_ID = "dlv_01kzt0v8q3h0s2t4v6w8x0y2z4"
TESTED: Json = {"eventId": TEST_EVENT["id"], "deliveryId": DELIVERY_ID}
DELIVERY: Json = {
    "id": DELIVERY_ID,
    "webhookId": WEBHOOK_ID,
    "eventId": EVENT["id"],
    "eventType": EVENT["type"],
    "status": "pending",
    "attemptCount": 1,
    "nextAttemptAt": "2026-11-20T18:02:17.313Z",
    "lastStatusCode": 503,
    "lastError": "status 503",
    "createdAt": "2026-11-20T18:02:12.081Z",
    "finishedAt": None,
}
DELIVERIES: Json = {"data": [DELIVERY], "hasMore": False, "nextCursor": None}
DELIVERY_LOG: Json = {
    **DELIVERY,
    "attempts": [
        {
            "at": "2026-11-20T18:02:12.090Z",
            "durationMs": 212,
            "statusCode": 503,
            "error": "status 503",
            "responseBody": "Maintenance until noon",
        }
    ],
    "payload": EVENT,
}
RECOVER: Json = {"since": "2026-11-20T12:00:00Z"}
RECOVERED: Json = {"queued": 17}
EVENTS: Json = {"data": [EVENT], "hasMore": False, "nextCursor": None}
