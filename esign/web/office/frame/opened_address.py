"""Find out at which address the browser opened a page. A proxy may have replaced the Host header."""

from urllib.parse import urlsplit

from starlette.requests import Request

from esign.config import Config, is_loopback, parse_base_url


def find_opened_address(request: Request, config: Config) -> str | None:
    """Return scheme, host and port, as an address of a server is written; None if it is not certain.

    The browser names them in the Origin of a form and in the Referer of a link that was followed here. Otherwise
    there is only the Host header, without a scheme: an address on this machine may be that of a proxy's own
    request, and any other is served by https.
    """
    named = request.headers.get("origin") or take_origin(request.headers.get("referer", ""))
    if named is None:
        host = request.headers.get("host", "")
        present = config.server.base_url
        if host == present.partition("://")[2]:
            return present
        if is_loopback(urlsplit(f"//{host}").hostname or ""):
            return None
        scheme = "https" if config.server.environment == "production" else urlsplit(present).scheme
        named = f"{scheme}://{host}"
    try:
        return parse_base_url(named)
    except ValueError:
        return None


def take_origin(address: str) -> str | None:
    """Return scheme, host and port of an address, or None if it is none."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else None
