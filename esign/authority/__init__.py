"""What documents are sealed with: certificates made at the first start and kept, or those of a PKCS#12 file.

Decisions: test mode has an authority of its own, so that whoever trusts the live one never trusts a test seal by it.
Keys are plain PKCS#8 files that only the server's user can read: whoever reads them reads the database as well. A
certificate is never replaced silently, not even an expired one: what was sealed with it must stay checkable. The
system's trust store counts only where it is asked for: its roots vouch for names of web servers, and hardly one of them
for whoever signs documents.
"""

from dataclasses import dataclass
from pathlib import Path

from esign.authority import bundle
from esign.authority.checks import AuthorityError
from esign.authority.made import Folder, root
from esign.authority.trusted import trusted_roots
from esign.core.credential import TEST_MARK, Credential
from esign.core.instant import Instant, to_datetime

__all__ = ["Authority", "AuthorityError", "known_roots", "load_or_make", "trusted_roots"]


LIVE, TEST = "", "test-"  # how the files of a mode begin


@dataclass(frozen=True, slots=True)
class Authority:
    """What documents are sealed with, and the certificates (DER) that vouch for it, the live mode's first.

    `warnings` tell of certificates outside their dates: signing goes on, seals wait until they are replaced.
    """

    live: Credential
    test: Credential
    roots: tuple[bytes, ...]
    warnings: tuple[str, ...] = ()


def load_or_make(
    data_dir: Path, organisation_name: str, now: Instant, pkcs12_file: Path | None, passphrase: str | None
) -> Authority:
    """The credentials of both modes; makes under `data_dir` what is missing and overwrites nothing.

    Raises `AuthorityError`.
    """
    at = to_datetime(now)
    name = " ".join(organisation_name.split()) or "esign"
    own = Folder(data_dir, LIVE, name, at)
    test = Folder(data_dir, TEST, f"{TEST_MARK} – {name}", at)
    if pkcs12_file is None:
        live = own.credential()
        late = own.lapsed()
    else:
        live = bundle.load(pkcs12_file, passphrase)
        late = bundle.lapsed_in(pkcs12_file, live, at)
    testing = test.credential()
    roots = (live.anchor_der, *known_roots(data_dir), testing.anchor_der)
    warnings = tuple(warning for warning in (late, test.lapsed()) if warning)
    return Authority(live, testing, tuple(dict.fromkeys(roots)), warnings)


def known_roots(
    data_dir: Path, pkcs12_file: Path | None = None, passphrase: str | None = None
) -> tuple[bytes, ...]:
    """The anchor (DER) of the PKCS#12 file and the authorities ever made under `data_dir`, also before that file.

    Makes nothing. Raises `AuthorityError` where the file cannot be opened.
    """
    configured = () if pkcs12_file is None else (bundle.load(pkcs12_file, passphrase).anchor_der,)
    return (*configured, *(made for prefix in (LIVE, TEST) if (made := root(data_dir, prefix))))
