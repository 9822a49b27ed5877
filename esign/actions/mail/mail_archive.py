"""The copy of a sent e-mail that the administrators of an organisation can read.

It contains no secrets: a reader with the link or the code of a recipient could sign as them, and one with the
link of an invitation could become a member. In test mode nothing is hidden: those documents have no legal
effect, and the tester reads the same e-mails through the API.
"""

import json
import zlib
from dataclasses import asdict, dataclass, replace
from email.message import EmailMessage

from esign.core.actor import Mode
from esign.mail.outgoing_mail import DocumentMail, OutgoingMail
from esign.system.vault import Vault

PURPOSE = "posted"
HIDDEN = "\N{BULLET}" * 8


@dataclass(frozen=True, slots=True)
class MailCopy:
    """The copy of an e-mail. `letter` names its kind. Subject, text and HTML are empty if it was never written.

    Copies of earlier versions have no HTML.
    """

    letter: str
    to: str
    subject: str = ""
    text: str = ""
    html: str = ""


def begin_copy(mail: OutgoingMail) -> MailCopy:
    """Return the copy of a mail that is not written yet."""
    return MailCopy(mail.letter, mail.to.address if mail.to else "")


def copy_message(mail: OutgoingMail, message: EmailMessage) -> MailCopy:
    """Return the copy of a mail with the words of its message. Secrets in them are replaced by bullets."""
    words = read_words(message)
    for secret in list_secrets(mail):
        words = {name: text.replace(secret, HIDDEN) for name, text in words.items()}
    return replace(begin_copy(mail), **words)


def read_words(message: EmailMessage) -> dict[str, str]:
    """Return subject, text and HTML of a message."""
    bodies = {name: message.get_body((kind,)) for name, kind in (("text", "plain"), ("html", "html"))}
    words = {name: str(body.get_content()) if body else "" for name, body in bodies.items()}
    return {"subject": str(message["Subject"]), **words}


def list_secrets(mail: OutgoingMail) -> tuple[str, ...]:
    """Return the secrets in the mail that let a reader act as its recipient.

    A mail of test mode about a document has none.
    """
    token = (mail.token,) if mail.token else ()
    if not isinstance(mail, DocumentMail):
        return token
    if mail.mode is Mode.TEST:
        return ()
    return (*list_spellings(mail.code), *token) if mail.code else token


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
