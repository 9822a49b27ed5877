"""The headers of every answer: those of the API and those of pages (docs/dev/security.md 3)."""

from collections.abc import Mapping, Sequence

POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic'; style-src 'self' 'nonce-{nonce}'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors {ancestors}; object-src 'none'; require-trusted-types-for 'script'; "
    "trusted-types esign; upgrade-insecure-requests"
)
# For a page that is the same for everybody: no nonce, scripts from files alone, nothing to send.
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
"""No CORS header at all: keys do not belong in browsers."""


def page_headers(nonce: str, ancestors: Sequence[str] = ()) -> dict[str, str]:
    """Those of a page, which only pages of `ancestors` may frame.

    X-Frame-Options cannot name an origin, so it is left out where there is one: the policy says it all.
    """
    policy = POLICY.format(nonce=nonce, ancestors=" ".join(ancestors) or "'none'")
    headers = {**PAGE_HEADERS, "Content-Security-Policy": policy}
    if ancestors:
        del headers["X-Frame-Options"]
    return headers


def completed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """`headers` with those of `API_HEADERS` that it does not set itself."""
    names = {name.lower() for name, _ in headers}
    return headers + [header for header in API_HEADERS if header[0] not in names]
