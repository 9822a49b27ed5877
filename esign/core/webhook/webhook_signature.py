"""The signature of a webhook delivery, as any Standard Webhooks receiver checks it (contract 5)."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence

from esign.core.strict_base64 import require_canonical

PREFIX = "whsec_"
USER_AGENT = "esign-webhooks/1"


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """`v1,<base64>` over id, unix seconds and raw body; ValueError: not a `whsec_` secret."""
    content = b".".join((message_id.encode(), str(timestamp).encode(), body))
    digest = hmac.digest(_key(secret), content, hashlib.sha256)
    return "v1," + base64.b64encode(digest).decode()


def headers(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> Mapping[str, str]:
    """What goes with the body: one signature per live secret, newest first; `timestamp` is this attempt's."""
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(secret, message_id, timestamp, body) for secret in secrets),
    }


def _key(secret: str) -> bytes:
    if not secret.startswith(PREFIX):
        raise ValueError(f"a webhook secret starts with {PREFIX}")
    try:
        require_canonical(secret.removeprefix(PREFIX))
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError as error:
        raise ValueError("a webhook secret is base64 after its prefix") from error
