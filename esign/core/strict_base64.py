"""Base64 as RFC 4648 writes it: one text for one content."""

import base64


def require_canonical(text: str) -> None:
    """Raise ValueError where the last letter holds bits that belong to no byte (RFC 4648 3.5).

    Decoders ignore them, so that several texts stand for the same content.
    """
    last = text[-4:]
    if last.endswith("=") and base64.b64encode(base64.b64decode(last, validate=True)).decode() != last:
        raise ValueError("the last bits are not zero")
