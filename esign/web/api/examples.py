"""Examples for the description: one for every body, all about the same document."""

from esign.web.rest.openapi.schemas import Json

DOCUMENT_ID = "doc_01kzt0v8q3e5m7p9r1s3t5v7w9"
RECIPIENT_ID = "rcp_01kzt0v8q3f6n8q0r2s4t6v8w0"
KEY_ID = "key_01kzsz0a1b2c3d4e5f6g7h8j9k"
TEMPLATE_ID = "tpl_01kzt2c4d5f6g7h8j9k0m1n2p3"
WEBHOOK_ID = "wh_01kzsz3m4n5p6q7r8s9t0v1w2x"
CREATED = "2026-11-20T16:02:11.482Z"
SENT = "2026-11-20T16:02:12.075Z"
COMPLETED = "2026-11-21T00:14:00.123Z"
EXPIRES = "2026-12-20T16:02:12.075Z"
UPLOADED = "8c6a9f3f5b1e4d2c7a90e1b2c3d4f5061728394a5b6c7d8e9f00112233445566"
SEALED = "1f2e3d4c5b6a79880716253443526170f1e2d3c4b5a69788796a5b4c3d2e1f00"
CERTIFICATE = "a1b2c3d4e5f60718293a4b5c6d7e8f90112233445566778899aabbccddeeff00"
PERSONAL = "5d0c1b2a39485766758493a2b1c0dfee0d1c2b3a49586776859403121f2e3d4c"
FIRST = "0" * 64
HEAD = "c3b2a1908f7e6d5c4b3a29180706f5e4d3c2b1a0918273645546372819a0b1c2"

# A whole PDF of one page with one line, so that the examples can be sent as they are.
PDF = (
    "JVBERi0xLjQKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZy9QYWdlcyAyIDAgUj4+IGVuZG9iagoyIDAgb2JqPDwvVHlwZS9QYWdlcy9L"
    "aWRzWzMgMCBSXS9Db3VudCAxPj4gZW5kb2JqCjMgMCBvYmo8PC9UeXBlL1BhZ2UvUGFyZW50IDIgMCBSL01lZGlhQm94WzAgMCA1"
    "OTUgODQyXS9Db250ZW50cyA0IDAgUi9SZXNvdXJjZXM8PC9Gb250PDwvRjw8L1R5cGUvRm9udC9TdWJ0eXBlL1R5cGUxL0Jhc2VG"
    "b250L0hlbHZldGljYT4+Pj4+Pj4+IGVuZG9iago0IDAgb2JqPDwvTGVuZ3RoIDQyPj5zdHJlYW0KQlQvRiAyMCBUZiA3MCA3NDAg"
    "VGQoR2FyZGVuIGNvbnRyYWN0KVRqIEVUCmVuZHN0cmVhbSBlbmRvYmoKeHJlZgowIDUKMDAwMDAwMDAwMCA2NTUzNSBmIAowMDAw"
    "MDAwMDA5IDAwMDAwIG4gCjAwMDAwMDAwNTMgMDAwMDAgbiAKMDAwMDAwMDEwMyAwMDAwMCBuIAowMDAwMDAwMjU0IDAwMDAwIG4g"
    "CnRyYWlsZXI8PC9Sb290IDEgMCBSL1NpemUgNT4+CnN0YXJ0eHJlZgozNDIKJSVFT0YK"
)

CREATE_DOCUMENT: Json = {
    "fileName": "garden-contract.pdf",
    "file": PDF,
    "recipients": [
        {
            "email": "nadia@fernhill.example",
            "name": "Nadia Brandt",
            "fields": [{"type": "signature", "page": 1, "x": 12, "y": 80}],
        }
    ],
}
CREATED_DOCUMENT: Json = {"id": DOCUMENT_ID, "status": "draft"}

FIELD: Json = {
    "id": "fld_01kzt0v8q3g7p9r1s3t5v7w9x1",
    "page": 1,
    "x": 12.0,
    "y": 80.0,
    "width": 25.0,
    "height": 6.0,
    "key": None,
    "label": None,
    "placeholder": None,
    "required": True,
    "readOnly": False,
    "fontSize": None,
    "align": None,
    "filledAt": COMPLETED,
    "allowed": ["drawn", "typed", "uploaded"],
    "type": "signature",
    "value": {"kind": "drawn"},
}
SUMMARY_OF_RECIPIENT: Json = {
    "id": RECIPIENT_ID,
    "email": "nadia@fernhill.example",
    "name": "Nadia Brandt",
    "role": "signer",
    "status": "completed",
    "order": 1,
    "authentication": "link",
    "locale": None,
    "sentAt": SENT,
    "viewedAt": "2026-11-21T00:11:37.004Z",
    "completedAt": "2026-11-21T00:13:59.260Z",
    "declinedAt": None,
    "declineReason": None,
    "remindersSent": 0,
    "lastRemindedAt": None,
    "delivery": {"status": "accepted", "at": SENT, "error": None},
    "mail": "sent",
    "proof": {"method": "link", "link": "email", "code": None},
}
SUMMARY: Json = {
    "id": DOCUMENT_ID,
    "title": "garden-contract",
    "status": "completed",
    "pageCount": 1,
    "createdAt": CREATED,
    "recipients": [SUMMARY_OF_RECIPIENT],
    "mode": "live",
    "revision": 6,
    "fileName": "garden-contract.pdf",
    "fileSha256": UPLOADED,
    "file": {"repaired": False, "removed": []},
    "subject": None,
    "message": None,
    "locale": None,
    "expiresInDays": 30,
    "expiresAt": EXPIRES,
    "reminders": {"enabled": True, "firstAfterDays": 3, "everyDays": 4, "max": 5},
    "redirectUrl": None,
    "externalId": None,
    "metadata": {},
    "templateId": None,
    "createdBy": {"kind": "api_key", "id": KEY_ID, "name": "ci"},
    "updatedAt": COMPLETED,
    "sentAt": SENT,
    "completedAt": COMPLETED,
    "closedAt": None,
    "closeReason": None,
    "sealError": None,
    "seal": {
        "level": "B-T",
        "levelAsked": "B-T",
        "sealedAt": COMPLETED,
        "sha256": SEALED,
        "size": 148_213,
        "pageCount": 3,
        "timestamped": True,
        "timestamp": {"time": COMPLETED, "authority": "Example Time Stamps"},
        "certificateSha256": CERTIFICATE,
    },
}
RECIPIENT: Json = {**SUMMARY_OF_RECIPIENT, "fields": [FIELD]}
DOCUMENT: Json = {**SUMMARY, "recipients": [RECIPIENT]}
DOCUMENTS: Json = {"data": [SUMMARY], "hasMore": False, "nextCursor": None}

FILE: Json = {
    "variant": "sealed",
    "fileName": "garden-contract-sealed.pdf",
    "contentType": "application/pdf",
    "size": 148_213,
    "sha256": SEALED,
    "url": "https://sign.example.com/download/AZrG7nQ0…",
    "expiresAt": "2026-11-21T00:20:00.000Z",
}
TRAIL: Json = {
    "data": [
        {
            "seq": 1,
            "at": CREATED,
            "type": "document.created",
            "actor": {"kind": "api_key", "id": KEY_ID, "name": "ci", "email": None},
            "recipientId": None,
            "ip": "203.0.113.7",
            "userAgent": "python-httpx/0.28.1",
            "data": {"fileSha256": UPLOADED, "preparedSha256": UPLOADED, "pageCount": 1},
            "detail": None,
            "salt": "000102030405060708090a0b0c0d0e0f",
            "personalHash": PERSONAL,
            "prevHash": FIRST,
            "hash": HEAD,
        }
    ],
    "hasMore": False,
    "nextCursor": None,
}

CREATE_TEMPLATE: Json = {
    "fileName": "garden-contract.pdf",
    "file": PDF,
    "title": "Garden contract",
    "roles": [
        {
            "key": "customer",
            "name": "Customer",
            "fields": [
                {"type": "signature", "page": 1, "x": 12, "y": 80},
                {"type": "text", "page": 1, "x": 12, "y": 40, "key": "plot", "label": "Plot"},
            ],
        }
    ],
}
CREATE_TEMPLATE_FROM_DOCUMENT: Json = {"fromDocumentId": DOCUMENT_ID, "title": "Garden contract"}
TEMPLATE_ROLE: Json = {
    "id": "rol_01kzt2c4d5e6f7g8h9j0k1m2n3",
    "key": "customer",
    "name": "Customer",
    "role": "signer",
    "order": 1,
}
TEMPLATE_SUMMARY: Json = {
    "id": TEMPLATE_ID,
    "title": "Garden contract",
    "fileName": "garden-contract.pdf",
    "pageCount": 1,
    "revision": 1,
    "mode": "live",
    "subject": None,
    "message": None,
    "expiresInDays": 30,
    "reminders": SUMMARY["reminders"],
    "createdAt": CREATED,
    "updatedAt": CREATED,
    "roles": [TEMPLATE_ROLE],
}
TEMPLATE: Json = {
    **TEMPLATE_SUMMARY,
    "roles": [{**TEMPLATE_ROLE, "fields": [{**FIELD, "filledAt": None, "value": None}]}],
}
TEMPLATES: Json = {"data": [TEMPLATE_SUMMARY], "hasMore": False, "nextCursor": None}
CHANGE_TEMPLATE: Json = {
    "subject": "Your garden contract",
    "roles": [{"id": TEMPLATE_ROLE["id"], "name": "Tenant"}],
}
DELETED_TEMPLATE: Json = {"id": TEMPLATE_ID}
USE_TEMPLATE: Json = {
    "recipients": [
        {
            "roleKey": "customer",
            "email": "nadia@fernhill.example",
            "name": "Nadia Brandt",
            "values": {"plot": "14 B"},
        }
    ],
    "title": "Garden contract, plot 14 B",
}

CREATE_WEBHOOK: Json = {
    "url": "https://example.com/hooks/esign",
    "events": ["document.completed", "document.declined"],
}
CREATED_WEBHOOK: Json = {
    "id": WEBHOOK_ID,
    **CREATE_WEBHOOK,
    "enabled": True,
    "createdAt": CREATED,
    "description": None,
    "updatedAt": CREATED,
    "disabledAt": None,
    "disabledReason": None,
    "failingSince": None,
    "lastSuccessAt": None,
    "secret": "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
}
DELETED_WEBHOOK: Json = {"id": WEBHOOK_ID}

EVENT_RECIPIENT: Json = {
    name: SUMMARY_OF_RECIPIENT[name] for name in ("id", "email", "name", "role", "status", "order")
}
EVENT_DOCUMENT: Json = {
    **{
        name: SUMMARY[name]
        for name in (
            "id",
            "title",
            "status",
            "pageCount",
            "createdAt",
            "sentAt",
            "expiresAt",
            "completedAt",
            "closedAt",
            "closeReason",
            "templateId",
            "externalId",
            "metadata",
        )
    },
    "recipients": [EVENT_RECIPIENT],
}
EVENT: Json = {
    "id": "evt_01kzt0v8q3e5m7p9r1s3t5v7w9",
    "type": "document.completed",
    "timestamp": COMPLETED,
    "apiVersion": "v1",
    "mode": "live",
    "sequence": 5,
    "data": {"document": EVENT_DOCUMENT},
}
RECIPIENT_EVENT: Json = {
    **EVENT,
    "type": "recipient.completed",
    "timestamp": SUMMARY_OF_RECIPIENT["completedAt"],
    "sequence": 4,
    "data": {
        "document": {**EVENT_DOCUMENT, "status": "sealing", "completedAt": None},
        "recipient": {
            **EVENT_RECIPIENT,
            **{
                name: SUMMARY_OF_RECIPIENT[name]
                for name in ("sentAt", "viewedAt", "completedAt", "declinedAt", "declineReason")
            },
        },
    },
}
TEMPLATE_EVENT: Json = {
    **EVENT,
    "type": "template.created",
    "timestamp": CREATED,
    "sequence": None,
    "data": {"template": {name: TEMPLATE[name] for name in ("id", "title", "revision")}},
}
DELETED_EVENT: Json = {
    **EVENT,
    "type": "document.deleted",
    "sequence": 6,
    "data": {"document": {"id": DOCUMENT_ID, "externalId": None}},
}
CANCEL_DOCUMENT: Json = {"reason": "The price has changed; a new offer follows."}
DELETED_DOCUMENT: Json = {"id": DOCUMENT_ID}
EDIT_DOCUMENT: Json = {"title": "Garden contract", "externalId": "order-1042", "message": None}
ADD_RECIPIENT: Json = {
    "email": "elias@fernhill.example",
    "name": "Elias Moreno",
    "order": 2,
    "fields": [{"type": "signature", "page": 1, "x": 55, "y": 80}],
}
CHANGE_RECIPIENT: Json = {"email": "nadia.brandt@fernhill.example"}
DELETED_RECIPIENT: Json = {"id": RECIPIENT_ID}
REMIND: Json = {"recipientIds": [RECIPIENT_ID], "message": "We would like to start on Monday."}
REMINDED: Json = {
    "id": DOCUMENT_ID,
    "status": "sent",
    "reminded": [RECIPIENT_ID],
    "skipped": [{"recipientId": "rcp_01kzt0v8q3g9r1s3t5v7w9x1y3", "reason": "not_invited"}],
}
DUPLICATE: Json = {"title": "Garden contract, second season"}
ISSUE_LINK: Json = {"ttlHours": 2}
UNBLOCKED: Json = {"recipientId": RECIPIENT_ID, "unblocked": True}
ISSUED_LINK: Json = {
    "recipientId": RECIPIENT_ID,
    "url": "https://sign.example.com/s/kq3v8m2rt7xdkq3v8m2rt7xdkq3v8m2rt7xdkq3v8m2",
    "expiresAt": "2026-11-20T18:02:12.075Z",
}
PAGES: Json = {"data": [{"page": 1, "widthPt": 595.28, "heightPt": 841.89, "rotation": 0}]}
