"""Examples for the description: one for every body about test mode."""

from esign.web.api.examples import RECIPIENT_ID, SENT
from esign.web.rest.openapi.schemas import Json

LINK = "https://sign.fernhill.example/s/dGhpcyBpcyBubyBsaW5rIGF0IGFsbCwganVzdCBvbmU"

MESSAGES: Json = {
    "data": [
        {
            "id": "mail_01kzt0v8q3e5m7p9r1s3t5v7w9",
            "to": "ana@example.com",
            "subject": "[TEST] Please sign: Lease 12 Oak Street",
            "text": f"Hello Ana Alvarez,\n\nRead and sign:\n{LINK}\n",
            "links": [LINK],
            "createdAt": SENT,
        }
    ],
    "hasMore": False,
    "nextCursor": None,
}
SIMULATION: Json = {"action": "complete", "recipientId": RECIPIENT_ID, "values": {"iban": "DE89 3704 0044"}}
