"""Stores codes as a MAC under the application key, with a salt or bound to the recipient.

A slow hash would not protect them. The codes are short (six digits, four characters), so an attacker with the
database could try all of them in minutes. Without the application key, which neither the database nor its
backups hold, not one code can be tried. A MAC is also fast, so that trying codes puts no load on the server.
"""

import hmac
import unicodedata

from esign.system.entropy import new_salt
from esign.system.vault import Vault

AGREED, MAILED = "access-code", "email-code"


def agreed(vault: Vault, code: str) -> str:
    """Return what is stored of an access code: salt and MAC in hex, separated by a colon."""
    salt = new_salt()
    return f"{salt.hex()}:{vault.mac(AGREED, salt + spelt(code)).hex()}"


def is_agreed(vault: Vault, stored: str, given: str) -> bool:
    """Return whether `given` is the access code of which `stored` is kept. The comparison takes constant time."""
    salt, _, mac = stored.partition(":")
    return hmac.compare_digest(bytes.fromhex(mac), vault.mac(AGREED, bytes.fromhex(salt) + spelt(given)))


def mailed(vault: Vault, recipient_id: str, code: str) -> bytes:
    """Return what is stored of a code that was sent by e-mail. Blanks between its digits do not count."""
    return vault.mac(MAILED, recipient_id.encode() + b"\0" + digits(code))


def is_mailed(vault: Vault, recipient_id: str, stored: bytes, given: str) -> bool:
    """Return whether `given` is the mailed code of which `stored` is kept. The comparison takes constant time."""
    return hmac.compare_digest(stored, mailed(vault, recipient_id, given))


def spelt(code: str) -> bytes:
    """Return the code in one spelling for characters that look the same (NFKC), without blanks around it."""
    return unicodedata.normalize("NFKC", code).strip().encode()


def digits(code: str) -> bytes:
    """Return the code in one spelling, without any blanks."""
    return b"".join(spelt(code).split())
