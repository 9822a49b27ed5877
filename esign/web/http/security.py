"""The security headers of every answer: those of the API and those of pages."""

from collections.abc import Mapping, Sequence

POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic'; style-src 'self' 'nonce-{nonce}'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors {ancestors}; object-src 'none'; require-trusted-types-for 'script'; "
    "trusted-types esign; upgrade-insecure-requests"
)
# For a page that is the same for every reader: it has no nonce, scripts only from files, and no forms.
READING_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'; upgrade-insecure-requests"
)
PLAIN_POLICY = "default-src 'none'; frame-ancestors 'none'"
FILE_POLICY = "sandbox; default-src 'none'"

EVERYWHERE: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
}
PAGE_HEADERS: Mapping[str, str] = {
    **EVERYWHERE,
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": (
        "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=(), browsing-topics=()"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Origin-Agent-Cluster": "?1",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}
API_HEADERS: tuple[tuple[bytes, bytes], ...] = tuple(
    (name.lower().encode(), value.encode())
    for name, value in {**EVERYWHERE, "Content-Security-Policy": PLAIN_POLICY}.items()
)
"""There are no CORS headers: API keys do not belong in browsers (contract 3.1)."""


def build_page_headers(nonce: str, ancestors: Sequence[str] = ()) -> dict[str, str]:
    """Return the headers of a page that only pages of `ancestors` may frame.

    X-Frame-Options cannot name an origin. It is left out if there are ancestors; the Content-Security-Policy
    names them.
    """
    policy = POLICY.format(nonce=nonce, ancestors=" ".join(ancestors) or "'none'")
    headers = {**PAGE_HEADERS, "Content-Security-Policy": policy}
    if ancestors:
        del headers["X-Frame-Options"]
    return headers


def add_api_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return `headers` with those of `API_HEADERS` that are missing in it."""
    names = {name.lower() for name, _ in headers}
    return headers + [header for header in API_HEADERS if header[0] not in names]
