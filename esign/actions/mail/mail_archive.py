"""The copy of a sent e-mail that the administrators of an organisation can read.

It contains no secrets: a reader with the link or the code of a recipient could sign as them, and one with the
link of an invitation could become a member. In test mode nothing is hidden: those documents have no legal
effect, and the tester reads the same e-mails through the API.
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
class MailCopy:
    """The copy of an e-mail. `letter` names its kind. Subject and text are empty if it was never written."""

    letter: str
    to: str
    subject: str = ""
    text: str = ""


def fill_copy(copy: MailCopy, message: EmailMessage, secrets: Iterable[str]) -> MailCopy:
    """Return the copy with subject and text of the message. Secrets in them are replaced by bullets."""
    body = message.get_body(("plain",))
    text = str(body.get_content()) if body else ""
    subject = str(message["Subject"])
    for secret in secrets:
        text, subject = text.replace(secret, HIDDEN), subject.replace(secret, HIDDEN)
    return replace(copy, subject=subject, text=text)


def list_spellings(code: str) -> tuple[str, ...]:
    """Return a code in every spelling in which an e-mail may contain it."""
    half = len(code) // 2
    return (code, *(f"{code[:half]}{space}{code[half:]}" for space in ("\N{NO-BREAK SPACE}", " ")))


def seal_copy(vault: Vault, key: str, copy: MailCopy) -> bytes:
    """Encrypt the copy for storage. It is bound to the key of its job."""
    return vault.encrypt(PURPOSE, zlib.compress(json.dumps(asdict(copy)).encode()), key.encode())


def unseal_copy(vault: Vault, key: str, sealed: bytes) -> MailCopy:
    """Return the copy from its stored form."""
    return MailCopy(**json.loads(zlib.decompress(vault.decrypt(PURPOSE, sealed, key.encode()))))
