"""Which other applications may show a signing page inside a page of theirs."""

import re

MOST = 20
LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
ORIGIN = re.compile(rf"(https?)://((?:{LABEL}\.)*{LABEL})(?::([0-9]{{1,5}}))?/?")
LOCAL = re.compile(r"(.+\.)?localhost|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
PORTS = {"https": 443, "http": 80}


def origin(text: str) -> str | None:
    """As a browser writes it, such as `https://app.example.com`; None for what is no origin of the web.

    Plain http is only that of the reader's own machine. Nothing else gets through: it stands in a header.
    """
    found = ORIGIN.fullmatch(text.lower()) if text.isascii() else None
    if found is None or len(found[2]) > 253:
        return None
    scheme, host, port = found[1], found[2], int(found[3] or PORTS[found[1]])
    if not 0 < port < 2**16 or (scheme == "http" and not LOCAL.fullmatch(host)):
        return None
    return f"{scheme}://{host}" + ("" if port == PORTS[scheme] else f":{port}")


def is_plain(origin: str) -> bool:
    """Whether it is reached without TLS, for trying things out."""
    return origin.startswith("http:")
