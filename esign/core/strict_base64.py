"""Base64 in the canonical form of RFC 4648: exactly one text for each content."""

import base64


def require_canonical(text: str) -> None:
    """Raise ValueError where the last character carries bits that belong to no byte (RFC 4648 3.5).

    Decoders ignore these bits, so several texts would decode to the same content.
    """
    last = text[-4:]
    if last.endswith("=") and base64.b64encode(base64.b64decode(last, validate=True)).decode() != last:
        raise ValueError("the last bits are not zero")
