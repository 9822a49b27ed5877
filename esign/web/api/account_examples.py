"""One example of every body about keys and the organisation, shown in the description of the API."""

from esign.web.api.examples import CREATED, KEY_ID, SENT, Json

API_KEY: Json = {
    "id": KEY_ID,
    "name": "CRM",
    "mode": "live",
    "hint": "esk_live_ab12…wxyz",
    "scopes": ["documents:read", "documents:write"],
    "createdAt": CREATED,
    "createdBy": {"kind": "system", "id": None, "name": "command line"},
    "expiresAt": None,
    "lastUsedAt": SENT,
    "lastUsedIp": "203.0.113.7",
    "revokedAt": None,
}
API_KEYS: Json = {"data": [API_KEY], "hasMore": False, "nextCursor": None}
RENAME: Json = {"name": "CRM, Berlin office"}
REVOKED: Json = {"id": KEY_ID}
