"""Stores codes as a MAC under the application key, with a salt or bound to the recipient.

A slow hash would not protect them. The codes are short (six digits, four characters), so an attacker with the
database could try all of them in minutes. Without the application key, which neither the database nor its
backups hold, not one code can be tried. A MAC is also fast, so that trying codes puts no load on the server.
"""

import unicodedata

from esign.system.entropy import make_salt
from esign.system.vault import Vault

AGREED, MAILED = "access-code", "email-code"


def encode_access_code(vault: Vault, code: str) -> str:
    """Return what is stored of an access code: salt and MAC in hex, separated by a colon."""
    salt = make_salt()
    return f"{salt.hex()}:{vault.compute_mac(AGREED, salt + normalise_code(code)).hex()}"


def is_access_code(vault: Vault, stored: str, given: str) -> bool:
    """Return whether `given` is the access code of which `stored` is kept. The comparison takes constant time."""
    salt, _, mac = stored.partition(":")
    message = bytes.fromhex(salt) + normalise_code(given)
    return vault.is_stored_mac(AGREED, message, bytes.fromhex(mac))


def encode_mailed_code(vault: Vault, recipient_id: str, code: str) -> bytes:
    """Return what is stored of a code that was sent by e-mail. Blanks between its digits do not count."""
    return vault.compute_mac(MAILED, _bind_to_recipient(recipient_id, code))


def is_mailed_code(vault: Vault, recipient_id: str, stored: bytes, given: str) -> bool:
    """Return whether `given` is the mailed code of which `stored` is kept. The comparison takes constant time."""
    return vault.is_stored_mac(MAILED, _bind_to_recipient(recipient_id, given), stored)


def _bind_to_recipient(recipient_id: str, code: str) -> bytes:
    return recipient_id.encode() + b"\0" + normalise_digits(code)


def normalise_code(code: str) -> bytes:
    """Return the code in one spelling for characters that look the same (NFKC), without blanks around it."""
    return unicodedata.normalize("NFKC", code).strip().encode()


def normalise_digits(code: str) -> bytes:
    """Return the code in one spelling, without any blanks."""
    return b"".join(normalise_code(code).split())
