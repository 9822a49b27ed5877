"""The origins of other applications that may show a signing page in a frame."""

import re

MOST = 20
LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
ORIGIN = re.compile(rf"(https?)://((?:{LABEL}\.)*{LABEL})(?::([0-9]{{1,5}}))?/?")
LOCAL = re.compile(r"(.+\.)?localhost|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
PORTS = {"https": 443, "http": 80}


def parse_origin(text: str) -> str | None:
    """Return an origin in the form browsers use, such as `https://app.example.com`, or None if it is not one.

    Plain http is accepted only for the local machine. The check is strict because the result is written into a
    response header.
    """
    found = ORIGIN.fullmatch(text.lower()) if text.isascii() else None
    if found is None or len(found[2]) > 253:
        return None
    scheme, host, port = found[1], found[2], int(found[3] or PORTS[found[1]])
    if not 0 < port < 2**16 or (scheme == "http" and not LOCAL.fullmatch(host)):
        return None
    return f"{scheme}://{host}" + ("" if port == PORTS[scheme] else f":{port}")


def is_plain(origin: str) -> bool:
    """Return whether the origin is reached without TLS, which is meant for trying things out."""
    return origin.startswith("http:")
