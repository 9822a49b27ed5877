"""The signature of a webhook request, as receivers of Standard Webhooks check it (contract 5)."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence

from esign.core.strict_base64 import require_canonical

PREFIX = "whsec_"
USER_AGENT = "esign-webhooks/1"


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return `v1,<base64>`, the signature of id, unix seconds and raw body.

    Raises ValueError unless the secret starts with `whsec_` and continues in base64.
    """
    content = b".".join((message_id.encode(), str(timestamp).encode(), body))
    digest = hmac.digest(_decode_secret(secret), content, hashlib.sha256)
    return "v1," + base64.b64encode(digest).decode()


def make_headers(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """Return the headers of a request, with one signature per live secret, newest first.

    `timestamp` is that of this attempt, in unix seconds.
    """
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(secret, message_id, timestamp, body) for secret in secrets),
    }


def _decode_secret(secret: str) -> bytes:
    """Return the bytes of a secret. Raises ValueError."""
    if not secret.startswith(PREFIX):
        raise ValueError(f"a webhook secret starts with {PREFIX}")
    try:
        require_canonical(secret.removeprefix(PREFIX))
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError as error:
        raise ValueError("a webhook secret is base64 after its prefix") from error
