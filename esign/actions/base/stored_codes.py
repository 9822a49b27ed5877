"""What is stored in place of a code: a mac under the application key, with a salt or bound to its recipient.

Not a slow hash: codes are short (six digits, four characters), so whoever has the database alone would try
them all in minutes however slow each is; without the application key, which no database or backup of it
holds, not one can be tried. It costs no time either, so that trying codes is no load.
"""

import hmac
import unicodedata

from esign.system.entropy import new_salt
from esign.system.vault import Vault

AGREED, MAILED = "access-code", "email-code"


def agreed(vault: Vault, code: str) -> str:
    """What is stored of an access code: salt and mac, in hex."""
    salt = new_salt()
    return f"{salt.hex()}:{vault.mac(AGREED, salt + spelt(code)).hex()}"


def is_agreed(vault: Vault, stored: str, given: str) -> bool:
    salt, _, mac = stored.partition(":")
    return hmac.compare_digest(bytes.fromhex(mac), vault.mac(AGREED, bytes.fromhex(salt) + spelt(given)))


def mailed(vault: Vault, recipient_id: str, code: str) -> bytes:
    """What is stored of a code that was mailed; blanks between its digits do not count."""
    return vault.mac(MAILED, recipient_id.encode() + b"\0" + digits(code))


def is_mailed(vault: Vault, recipient_id: str, stored: bytes, given: str) -> bool:
    return hmac.compare_digest(stored, mailed(vault, recipient_id, given))


def spelt(code: str) -> bytes:
    """One spelling for what looks the same."""
    return unicodedata.normalize("NFKC", code).strip().encode()


def digits(code: str) -> bytes:
    """The same without the blanks between digits."""
    return b"".join(spelt(code).split())
