"""What an order of a certificate consists of, and how it can fail; `order_certificate` carries it out."""

import threading
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from esign.core.instant import Instant


@dataclass(frozen=True, slots=True)
class AcmeAuthority:
    """Whom to order from. `trust` is a file of root certificates, or None for those of the web."""

    directory: str
    email: str | None = None
    trust: str | None = None


@dataclass(slots=True)
class AcmeOrder:
    """An order for one host. `account_key` and `key` are in PEM.

    `account` is the address of an account that this key already has with the authority, or empty; the order fills it
    in. `proofs` is what port 80 answers, by token; the order adds to it and removes it again. `stop` ends the order
    when the program does.
    """

    host: str
    account_key: bytes
    key: bytes
    account: str
    proofs: MutableMapping[str, bytes]
    read_wall_clock: Callable[[], Instant]
    stop: threading.Event = field(default_factory=threading.Event)


class OrderFailed(Exception):
    """The authority issued nothing. `code` is that of an ACME error, `unreachable` or `invalid_answer`; `detail` are
    the words of the authority, and `retry_after` its wish in seconds, or 0.
    """

    def __init__(self, code: str, detail: str, retry_after: int = 0) -> None:
        self.code, self.detail, self.retry_after = code, detail, retry_after
        super().__init__(f"{code}: {detail}")


class OrderStopped(Exception):
    """The program ends."""


def make_key() -> bytes:
    """Return a new private key in PEM (P-256, which every browser takes and every authority signs)."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
