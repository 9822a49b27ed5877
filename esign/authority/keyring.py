"""Hold the keys and certificates that the running program seals with, and replace them without a restart.

A `Keyring` loads the authority when the program starts. After a renewal or an upload all who hold the keyring, or its
`credentials`, see the new ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

from esign.authority import journal, retired, uploaded
from esign.authority.checks import AuthorityError, SealMaterial, read_name
from esign.authority.configured import SealFiles
from esign.authority.selection import (
    Origin,
    SealAuthority,
    find_key,
    load_or_make_authority,
    make_fresh_seal,
)
from esign.core.actor import Mode
from esign.core.instant import Instant
from esign.core.seal_credential import Credential
from esign.core.sentence import say
from esign.system.single_thread import SingleThread

T = TypeVar("T")

HANGS = "The folder of the seal keys does not answer."

WITHOUT_ASKING: dict[Origin, str] = {"made": "renewed", "uploaded": "uploaded", "configured": "configured"}


@dataclass(frozen=True, slots=True)
class ChangedBy:
    """The person who changes the seal, their address, and the kind of change; all None if the program does it
    itself.
    """

    who: str | None = None
    ip: str | None = None
    deed: str | None = None


BY_ITSELF = ChangedBy()


def _forget_keys(authority: SealAuthority) -> SealAuthority:
    return replace(authority, live=authority.live.forget_key(), test=authority.test.forget_key())


class Keyring:
    """The present authority and its credentials, without their keys: the process that signs is given these.

    `credentials` is always the same mapping object. Every other method reads or writes files: call them by `run`,
    which also keeps two of them from changing the keys at once.
    """

    def __init__(self, data_dir: Path, organisation_name: str, now: Instant, given: SealFiles | None) -> None:
        """Load or make the authority. Raises `AuthorityError`."""
        self._data_dir, self._name, self._given = data_dir, organisation_name, given
        self._thread = SingleThread("seal keys")
        self.authority = _forget_keys(load_or_make_authority(data_dir, organisation_name, now, given))
        self.credentials: dict[Mode, Credential] = {}
        self._hand_out(now, BY_ITSELF)

    def _hand_out(self, now: Instant, by: ChangedBy) -> None:
        self.credentials |= {Mode.LIVE: self.authority.live, Mode.TEST: self.authority.test}
        certificate = x509.load_der_x509_certificate(self.authority.live.certificate_der)
        fingerprint = certificate.fingerprint(SHA256()).hex()
        last = next(iter(journal.read_changes(self._data_dir)), None)
        if last is None or last.fingerprint != fingerprint:
            deed = by.deed or WITHOUT_ASKING[self.authority.origin]
            change = journal.SealChange(now, deed, read_name(certificate.subject), fingerprint, by.who, by.ip)
            journal.add_change(self._data_dir, change)

    async def run(self, method: Callable[..., T], *given: object) -> T:
        """Return what a method of this keyring returns, called in a thread. Only one waits for the folder at a time.

        Raises what it raises, and `AuthorityError` if the folder has not answered those before for half a minute.
        """
        try:
            return await self._thread.run(method, *given)
        except TimeoutError as error:
            raise AuthorityError(say(HANGS)) from error

    def read_key(self, certificate_der: bytes) -> bytes:
        """Return the private key (PKCS#8, DER) of a certificate in use, read anew from its file.

        Raises `AuthorityError` if its file is gone, or holds another key by now.
        """
        return find_key(self._data_dir, certificate_der, self._given)

    def read_history(self) -> list[journal.SealChange]:
        """Return the changes of the seal certificate, the newest first."""
        return journal.read_changes(self._data_dir)

    def refresh(self, now: Instant) -> tuple[SealAuthority, SealAuthority]:
        """Renew what ends soon and take up changed files. Return the authority before and after.

        Raises `AuthorityError`, and then nothing changes.
        """
        return self._change(now, lambda: None, BY_ITSELF)

    def upload(
        self, material: SealMaterial, now: Instant, by: ChangedBy = BY_ITSELF
    ) -> tuple[SealAuthority, SealAuthority]:
        """Seal with this material from now on. The caller has examined it. Return the authority before and after."""

        def write() -> None:
            retired.keep_certificate(self._data_dir, material.credential)
            uploaded.write_uploaded_seal(self._data_dir, material.credential)

        return self._change(now, write, replace(by, deed="uploaded"))

    def go_back(self, now: Instant, by: ChangedBy = BY_ITSELF) -> tuple[SealAuthority, SealAuthority]:
        """Seal with the certificate made here. The uploaded key is deleted, its certificate stays trusted."""
        return self._change(
            now, lambda: uploaded.remove_uploaded_seal(self._data_dir), replace(by, deed="went back")
        )

    def make_anew(
        self, organisation_name: str, now: Instant, by: ChangedBy = BY_ITSELF
    ) -> tuple[SealAuthority, SealAuthority]:
        """Make another authority and seal certificate in this name. The earlier ones stay trusted."""

        def write() -> None:
            make_fresh_seal(self._data_dir, organisation_name, now)

        return self._change(now, write, replace(by, deed="made anew"))

    def _change(
        self, now: Instant, write: Callable[[], None], by: ChangedBy
    ) -> tuple[SealAuthority, SealAuthority]:
        before = self.authority
        write()
        self.authority = _forget_keys(load_or_make_authority(self._data_dir, self._name, now, self._given))
        self._hand_out(now, by)
        return before, self.authority
