"""Generate everything that must be random: ids, tokens, keys, secrets and salts."""

import base64
import secrets
from threading import Lock

from esign.core.instant import Instant
from esign.core.people.api_key import ALPHABET, RANDOM

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
PAIRS = [one + other for one in CROCKFORD for other in CROCKFORD]  # by ten bits: half the time of one by one
ROOM = 1 << 61  # the highest of the bits that are counted up

_counting = Lock()
_latest = (-1, 0)  # time and bits of the latest id


def make_id(prefix: str, now: Instant) -> str:
    """Return `<prefix>_` and 26 characters of a UUIDv7 (RFC 9562 5.7), which sorts by time and grants nothing
    (contract 2.4).

    Ids of the same millisecond sort in the order in which they were made (6.2, method 2), so that lists by age
    are exact.
    """
    global _latest
    with _counting:
        at, bits = _latest
        bits = bits + 1 + secrets.randbits(32) if at == now else secrets.randbits(80) & ~ROOM
        _latest = (now, bits)
    return build_id(prefix, now, bits)


def build_id(prefix: str, at: Instant, bits: int) -> str:
    """Return such an id with 80 given bits, of which 74 count. The same arguments give the same id."""
    number = (
        (at & (2**48 - 1)) << 80 | 0x7 << 76 | (bits >> 68 & 0xFFF) << 64 | 0b10 << 62 | bits & (2**62 - 1)
    )
    return f"{prefix}_" + "".join([PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def make_token() -> str:
    """Return a token of 256 bits for a link, 43 URL-safe characters. Only its hash is stored."""
    return secrets.token_urlsafe(32)


def make_nonce() -> int:
    """Return 64 bits that mark the answer to one request: positive, with the highest bit set."""
    return secrets.randbits(63) | 1 << 63


def make_code() -> str:
    """Return six digits to be mailed and typed."""
    return f"{secrets.randbelow(10**6):06}"


def make_recovery_code() -> str:
    """Return 60 bits in three groups, to be kept on paper: `7fk3-m2xd-90wq`."""
    letters = "".join(secrets.choice(CROCKFORD) for _ in range(12))
    return "-".join((letters[:4], letters[4:8], letters[8:]))


def make_webhook_secret() -> str:
    """Return 32 bytes in the form of Standard Webhooks."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def make_salt() -> bytes:
    """Return 16 bytes that keep the personal half of an audit entry from being guessed."""
    return secrets.token_bytes(16)


def draw_jitter() -> float:
    """Return a factor of 0.9 to 1.1 that spreads retries (contract 5)."""
    return 0.9 + secrets.randbelow(2001) / 10_000


def make_key_secret() -> str:
    """Return the 30 random characters of an API key: 178 bits (contract 8)."""
    return "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))


def derive_key_secret(seed: bytes) -> str:
    """Return such characters derived from 32 secret bytes. The same bytes give the same characters."""
    number = int.from_bytes(seed)
    return "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in range(RANDOM))
