"""Examples for the description: one for every body about keys and the organisation."""

from esign.web.api.examples import (
    CERTIFICATE,
    COMPLETED,
    CREATED,
    DOCUMENT_ID,
    HEAD,
    KEY_ID,
    PDF,
    SEALED,
    SENT,
)
from esign.web.rest.openapi.schemas import Json

API_KEY: Json = {
    "id": KEY_ID,
    "name": "CRM",
    "mode": "live",
    "hint": "esk_live_ab12…wxyz",
    "scopes": ["documents:read", "documents:write"],
    "createdAt": CREATED,
    "createdBy": {
        "kind": "member",
        "id": "mem_01kzsz0a1b2c3d4e5f6g7h8j9k",
        "name": "Mira Okafor",
        "role": "admin",
    },
    "expiresAt": None,
    "lastUsedAt": SENT,
    "lastUsedIp": "203.0.113.7",
    "revokedAt": None,
}
API_KEYS: Json = {"data": [API_KEY], "hasMore": False, "nextCursor": None}
RENAME: Json = {"name": "CRM, Berlin office"}
REVOKED: Json = {"id": KEY_ID}

ACCOUNT: Json = {
    "organisation": {"id": "org_01kzsz0a1b2c3d4e5f6g7h8j9k", "name": "Fernhill Gardens", "plan": "business"},
    "mode": "live",
    "key": API_KEY,
    "limits": {
        "requestsPerMinute": 600,
        "createsPerMinute": None,
        "sendsPerMinute": None,
        "verifiesPerMinute": 30,
        "authFailuresPerMinute": 20,
        "remindersPerHour": 1,
        "emailsPerDay": 2000,
        "documentsPerMonth": None,
        "idempotencyHours": 24,
        "downloadSeconds": 300,
        "fileBytes": 26214400,
        "bodyBytes": 37748736,
        "plainBodyBytes": 1048576,
        "pages": 500,
        "recipients": 50,
        "fields": 500,
        "webhooks": 20,
        "templates": 1000,
        "apiKeys": 50,
        "eventDays": 30,
        "rotationHours": 24,
        "linkDays": 30,
        "attachmentBytes": 5242880,
    },
}
VERIFY: Json = {"file": PDF}
VERIFICATION: Json = {
    "result": "valid",
    "summary": "The file has not changed since it was signed.",
    "unchanged": True,
    "sha256": SEALED,
    "pageCount": 3,
    "issuedHere": True,
    "documentId": DOCUMENT_ID,
    "audit": {"documentId": DOCUMENT_ID, "entries": 9, "hash": HEAD, "embedded": True},
    "signers": [{"name": "Ada Marsh", "act": "signed", "at": COMPLETED}],
    "signatures": [
        {
            "fieldName": "Seal",
            "signerName": "Fernhill Gardens document seal",
            "signedAt": COMPLETED,
            "intact": True,
            "valid": True,
            "trusted": True,
            "issuedHere": True,
            "revocation": "not_checked",
            "coverage": "entire_file",
            "modification": "none",
            "additions": [],
            "timestamp": None,
            "level": "B-B",
            "levelAsked": "B-B",
            "certificate": {
                "subject": "Common Name: Fernhill Gardens document seal",
                "issuer": "Common Name: Fernhill Gardens authority",
                "serialNumber": "5d3f0a",
                "notBefore": CREATED,
                "notAfter": "2036-11-17T16:02:11.482Z",
                "sha256": CERTIFICATE,
            },
            "reasons": [],
        }
    ],
    "documentTimestamps": [],
}
CHANGE_SETTINGS: Json = {"replyTo": "office@fernhill.example", "brandColour": "#2f6b4f"}
SETTINGS: Json = {
    "organisationName": "Fernhill Gardens",
    "replyTo": "office@fernhill.example",
    "defaultLocale": "en",
    "timeZone": "Europe/Berlin",
    "defaultExpiresInDays": 30,
    "defaultReminders": {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 5},
    "brandColour": "#2f6b4f",
    "retainCompletedDays": 3650,
    "deleteClosedAfterDays": None,
    "maxKeyLifetimeDays": None,
    "embedOrigins": ["https://app.fernhill.example"],
}
USAGE: Json = {
    "data": [
        {
            "day": "2026-11-20",
            "documentsCreated": 12,
            "documentsSent": 11,
            "documentsCompleted": 7,
            "emails": 31,
            "apiRequests": 140,
            "storageBytes": 8123904,
        }
    ]
}
INVITE: Json = {"email": "tomas@fernhill.example", "name": "Tomas Berg", "role": "member"}
CHANGE_MEMBER: Json = {"role": "admin"}
MEMBER: Json = {"id": "mem_01kzsz0a1b2c3d4e5f6g7h8j9k", **INVITE, "status": "invited", "createdAt": CREATED}
MEMBERS: Json = {"data": [MEMBER], "hasMore": False, "nextCursor": None}
REMOVED_MEMBER: Json = {"id": MEMBER["id"], "revokedApiKeys": [KEY_ID]}
LOG_ENTRY: Json = {
    "seq": 42,
    "at": "2026-11-20T16:40:02.113Z",
    "type": "member.changed",
    "organisationId": "org_01kzsz0a1b2c3d4e5f6g7h8j9k",
    "actor": {
        "kind": "member",
        "id": "mem_01kzsz0a1b2c3d4e5f6g7h8j9k",
        "name": "Mira Okafor",
        "email": "mira@example.com",
    },
    "ip": "198.51.100.7",
    "userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "data": {"memberId": "mem_01kzsz0a1b2c3d4e5f6g7h8j9m", "role": {"from": "member", "to": "admin"}},
    "detail": {"name": "Ben Ash", "email": "ben@example.com"},
    "salt": "00112233445566778899aabbccddeeff",
    "personalHash": "5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456",
    "prevHash": "2c624232cdd221771294dfbb310aca000a0df6ac8b66b696d90ef06fdefb64a3",
    "hash": "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
}
AUDIT_LOG: Json = {"data": [LOG_ENTRY], "hasMore": True, "nextCursor": "c2VlIHRoZSBuZXh0IHBhZ2U"}
