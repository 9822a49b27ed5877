"""The headers of every answer of the API (reliability.md 6.3); those of pages are in `pages`."""

Headers = tuple[tuple[bytes, bytes], ...]

API_HEADERS: Headers = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"strict-transport-security", b"max-age=63072000; includeSubDomains"),
)
"""No CORS header at all: keys do not belong in browsers."""


def completed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """`headers` with those of `API_HEADERS` that it does not set itself."""
    names = {name.lower() for name, _ in headers}
    return headers + [header for header in API_HEADERS if header[0] not in names]
