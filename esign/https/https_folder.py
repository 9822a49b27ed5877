"""The files of `https/` in the data folder: account, certificate, and what became of the last orders."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from esign.core.instant import Instant
from esign.core.sentence import say
from esign.https.https_certificate import HttpsProblem, UnfitCertificate, read_pem_file
from esign.system.vault import write_over

FOLDER = "https"
ACCOUNT_KEY, PAIR, RECORD = "account.key", "certificate.pem", "orders.json"
UNWRITTEN = "{file} cannot be written ({error}); let this user write to {folder}."


@dataclass(frozen=True, slots=True)
class OrderRecord:
    """What is known of the orders with one authority: the address of the account, how many orders failed since the
    last that went well, since when, when the last one failed, and before which time none is tried.
    """

    account: str = ""
    failures: int = 0
    failed_since: Instant | None = None
    last_at: Instant = 0
    next_at: Instant = 0


class HttpsFolder:
    """The folder, readable by this user alone. Errors of reading and writing are `UnfitCertificate`."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FOLDER
        self.path.mkdir(mode=0o700, exist_ok=True)
        for left in self.path.glob(".pair.*"):  # of a run that was killed
            left.unlink()

    @property
    def pair(self) -> Path:
        """Return the path of the file with certificate and key."""
        return self.path / PAIR

    def read_pair(self) -> bytes:
        """Return certificate, issuers and key in PEM, or nothing if there are none yet."""
        return self._read(self.pair)

    def write_pair(self, chain: bytes, key: bytes) -> None:
        """Store a certificate and its key together, so that no crash leaves one without the other."""
        self._write(self.pair, chain.rstrip(b"\n") + b"\n" + key)

    def read_account_key(self) -> bytes:
        """Return the private key of the account, or nothing if there is none yet."""
        return self._read(self.path / ACCOUNT_KEY)

    def write_account_key(self, key: bytes) -> None:
        self._write(self.path / ACCOUNT_KEY, key)

    def read_record(self, directory: str, host: str) -> OrderRecord:
        """Return what is known of orders for this host with this authority; nothing if the file cannot be read."""
        try:
            known = json.loads((self.path / RECORD).read_bytes())
            return OrderRecord(**known.get(name_record(directory, host), {}))
        except (OSError, ValueError, TypeError, AttributeError):
            return OrderRecord()

    def write_record(self, directory: str, host: str, record: OrderRecord) -> None:
        """Store what is known of orders for this host with this authority; what was known of others is dropped."""
        content = json.dumps({name_record(directory, host): asdict(record)}, indent=1)
        self._write(self.path / RECORD, content.encode())

    def _read(self, path: Path) -> bytes:
        """Return the content of a file, or nothing if it does not exist."""
        return read_pem_file(path) if path.exists() else b""

    def explain_unwritten(self, path: Path, error: OSError) -> HttpsProblem:
        """Return the problem that a file cannot be written."""
        sentence = say(UNWRITTEN, file=path, error=error.strerror, folder=self.path)
        return HttpsProblem("the certificate cannot be stored", sentence)

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_over(path, content)
        except OSError as error:
            raise UnfitCertificate(self.explain_unwritten(path, error)) from error


def name_record(directory: str, host: str) -> str:
    """Return the name of the record of orders for a host with an authority."""
    return f"{host} {directory}"
