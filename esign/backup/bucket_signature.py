"""Sign requests to S3-compatible storage: AWS Signature Version 4, in the header `Authorization`.

Our own because it is this page: the library of AWS has 15 MB, and the one-file program has no room for it.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
UNRESERVED = "-_.~"


@dataclass(frozen=True, slots=True)
class BucketKeys:
    """The keys of an account of a storage, and the region that signatures are for."""

    access: str
    secret: str = field(repr=False)
    region: str


def encode_path(path: str) -> str:
    """Return a path as it is signed and sent: each part encoded once."""
    return quote(path, safe=f"/{UNRESERVED}")


def encode_query(query: Sequence[tuple[str, str]]) -> str:
    """Return a query as it is signed and sent: sorted, each name with a `=`."""
    pairs = sorted((quote(name, safe=UNRESERVED), quote(value, safe=UNRESERVED)) for name, value in query)
    return "&".join(f"{name}={value}" for name, value in pairs)


def sign_request(
    keys: BucketKeys, method: str, url: str, headers: Mapping[str, str], body_hash: str, time: str
) -> str:
    """Return the header `Authorization`.

    `url` has an encoded path and query. `headers` are those to sign, `host` among them, with names in lower case.
    `body_hash` is the SHA-256 of the body in hexadecimal, `time` such as `20130524T000000Z` (UTC).
    """
    parts = urlsplit(url)
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(headers))
    request = "\n".join((method, parts.path or "/", parts.query, lines, names, body_hash))
    scope = f"{time[:8]}/{keys.region}/s3/aws4_request"
    text = "\n".join((ALGORITHM, time, scope, hashlib.sha256(request.encode()).hexdigest()))
    key = f"AWS4{keys.secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    return f"{ALGORITHM} Credential={keys.access}/{scope},SignedHeaders={names},Signature={signature}"
