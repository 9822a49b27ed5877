"""The copy of a mail that stays for those who look after an organisation.

What opens something is not in it: whoever has the link or the code of a recipient can sign as them, whoever has that
of an invitation becomes a member. Of documents of test mode nothing is hidden: they have no legal effect, and the
tester reads the same mails over the API.
"""

import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from email.message import EmailMessage

from esign.system.vault import Vault

PURPOSE = "posted"
HIDDEN = "\N{BULLET}" * 8


@dataclass(frozen=True, slots=True)
class Copy:
    """`letter` is which one it is; without subject and text it was never written."""

    letter: str
    to: str
    subject: str = ""
    text: str = ""


def filled_in(copy: Copy, message: EmailMessage, secrets: Iterable[str]) -> Copy:
    """With what its reader sees, but for the secrets."""
    body = message.get_body(("plain",))
    text = str(body.get_content()) if body else ""
    subject = str(message["Subject"])
    for secret in secrets:
        text, subject = text.replace(secret, HIDDEN), subject.replace(secret, HIDDEN)
    return replace(copy, subject=subject, text=text)


def spelt(code: str) -> tuple[str, ...]:
    """A code in every way in which a mail may write it."""
    half = len(code) // 2
    return (code, *(f"{code[:half]}{space}{code[half:]}" for space in ("\N{NO-BREAK SPACE}", " ")))


def seal(vault: Vault, key: str, copy: Copy) -> bytes:
    """As it is stored, bound to the key of its job."""
    return vault.encrypt(PURPOSE, zlib.compress(json.dumps(asdict(copy)).encode()), key.encode())


def unseal(vault: Vault, key: str, sealed: bytes) -> Copy:
    return Copy(**json.loads(zlib.decompress(vault.decrypt(PURPOSE, sealed, key.encode()))))
