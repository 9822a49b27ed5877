"""The authority of a running program: it changes under way, and everybody who holds it sees the change."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from esign.authority import uploaded, used
from esign.authority.checks import Material
from esign.authority.given import Given
from esign.authority.standing import Authority, fresh_seal, load_or_make
from esign.core.credential import Credential
from esign.core.document import Mode
from esign.core.instant import Instant


class Keyring:
    """`credentials` is always the same mapping. Every method reads or writes files: call them in a thread."""

    def __init__(self, data_dir: Path, organisation_name: str, now: Instant, given: Given | None) -> None:
        """Raises `AuthorityError`."""
        self._data_dir, self._name, self._given = data_dir, organisation_name, given
        self._lock = Lock()
        self.authority = load_or_make(data_dir, organisation_name, now, given)
        self.credentials: dict[Mode, Credential] = {}
        self._hand_out()

    def _hand_out(self) -> None:
        self.credentials |= {Mode.LIVE: self.authority.live, Mode.TEST: self.authority.test}

    def refresh(self, now: Instant) -> tuple[Authority, Authority]:
        """Renew what ends, and take what was put into the files meanwhile; before and after.

        Raises `AuthorityError`; then all stays as it was.
        """
        return self._change(now, lambda: None)

    def upload(self, material: Material, now: Instant) -> tuple[Authority, Authority]:
        """Seal with this from now on; it was examined before."""

        def write() -> None:
            used.keep(self._data_dir, material.credential)
            uploaded.write(self._data_dir, material.credential)

        return self._change(now, write)

    def go_back(self, now: Instant) -> tuple[Authority, Authority]:
        """Seal with the certificate made here; the uploaded key is gone, its certificate stays trusted."""
        return self._change(now, lambda: uploaded.remove(self._data_dir))

    def make_anew(self, organisation_name: str, now: Instant) -> tuple[Authority, Authority]:
        """Another authority and seal certificate made here, in this name; the ones before stay trusted."""
        return self._change(now, lambda: fresh_seal(self._data_dir, organisation_name, now))

    def _change(self, now: Instant, write: Callable[[], None]) -> tuple[Authority, Authority]:
        with self._lock:
            before = self.authority
            write()
            self.authority = load_or_make(self._data_dir, self._name, now, self._given)
            self._hand_out()
            return before, self.authority
