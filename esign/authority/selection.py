"""Select the certificates that documents are sealed with, and those that are trusted."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.serialization import Encoding

from esign.authority import retired, uploaded
from esign.authority.checks import (
    ENDING,
    AuthorityError,
    MaterialSource,
    SealMaterial,
    SealNotice,
    examine_material,
)
from esign.authority.configured import SealFiles
from esign.authority.self_signed import AuthorityFolder
from esign.core.instant import Instant, to_datetime
from esign.core.seal_credential import TEST_MARK, Credential
from esign.core.sentence import mark, say

LIVE, TEST = "", "test-"  # prefixes of the file names of each mode

Origin = Literal["configured", "uploaded", "made"]


@dataclass(frozen=True, slots=True)
class SealAuthority:
    """The credentials of both modes, and the certificates (DER) that vouch for them, those of live mode first.

    `own` are the authorities made here and the seal certificates that others issued. The issuers of the latter
    are not in `own`: they issue to others as well, so what leads to them is trusted but was not necessarily
    sealed here.

    `warnings` are about certificates outside their dates: signing continues, and seals wait until they are
    replaced. `notices` announce what will have to be done. `following` is the authority that will issue the
    next seal, or None.
    """

    live: Credential
    test: Credential
    roots: tuple[bytes, ...]
    own: tuple[bytes, ...]
    origin: Origin
    warnings: tuple[str, ...] = ()
    notices: tuple[SealNotice, ...] = ()
    following: bytes | None = None


@dataclass(frozen=True, slots=True)
class ModeSeal:
    """The seal of one mode, with its warning and notices."""

    credential: Credential
    warning: str | None
    notices: tuple[SealNotice, ...]
    following: bytes | None = None


def load_or_make_authority(
    data_dir: Path, organisation_name: str, now: Instant, given: SealFiles | None = None
) -> SealAuthority:
    """Return the credentials of both modes. Makes under `data_dir` what is missing or ends soon, and overwrites
    nothing.

    Raises `AuthorityError`.
    """
    at = to_datetime(now)
    test = _load_made_seal(
        AuthorityFolder(data_dir, TEST, f"{TEST_MARK} – {_clean_name(organisation_name)}", at)
    )
    origin, live = _select_live_seal(data_dir, organisation_name, at, given)
    roots = (live.credential.anchor_der, *find_known_roots(data_dir), test.credential.anchor_der)
    return SealAuthority(
        live=live.credential,
        test=test.credential,
        roots=tuple(dict.fromkeys(roots)),
        own=tuple(dict.fromkeys((live.credential.certificate_der, *find_known_own(data_dir)))),
        origin=origin,
        warnings=tuple(one.warning for one in (live, test) if one.warning),
        notices=tuple(dict.fromkeys((*live.notices, *test.notices))),
        following=live.following,
    )


def _clean_name(organisation_name: str) -> str:
    return " ".join(organisation_name.split()) or "esign"


def _select_live_seal(
    data_dir: Path, organisation_name: str, at: datetime, given: SealFiles | None
) -> tuple[Origin, ModeSeal]:
    """Return the seal of live mode: the configured one, else the uploaded one, else the one made here."""
    if given is not None:
        standing = _check_brought_seal(given.read_material(), at, given.source)
        retired.keep_certificate(data_dir, standing.credential)
        return "configured", standing
    if (material := uploaded.read_uploaded_seal(data_dir)) is not None:
        return "uploaded", _check_brought_seal(material, at, uploaded.SOURCE)
    return "made", _load_made_seal(AuthorityFolder(data_dir, LIVE, _clean_name(organisation_name), at))


def _check_brought_seal(material: SealMaterial, at: datetime, source: MaterialSource) -> ModeSeal:
    found = examine_material(material, at, source)
    if found.problems:
        raise AuthorityError(*found.problems)
    return ModeSeal(material.credential, found.dates, found.notices)


def _load_made_seal(folder: AuthorityFolder) -> ModeSeal:
    hindrance = folder.settle()
    late, following = folder.describe_late_seal(hindrance), folder.find_following_authority()
    hindered = _describe_hindrance(folder, hindrance) if hindrance else None
    return ModeSeal(
        folder.load_credential(),
        late,
        tuple(one for one in (hindered, folder.describe_succession()) if one and not late),
        following.public_bytes(Encoding.DER) if following else None,
    )


def _describe_hindrance(folder: AuthorityFolder, hindrance: str) -> SealNotice:
    """Return a notice on what is not renewed, and why."""
    if folder.is_ending_soon():
        ends = f"{folder.seal().not_valid_after_utc:%Y-%m-%d}"
        return SealNotice(
            ENDING,
            say(
                "The seal certificate ends on {day} and cannot be renewed: {reason}",
                day=ends,
                reason=mark(hindrance),
            ),
        )
    return SealNotice(
        "some PDF readers refuse the seal certificate",
        say(
            "The seal certificate names document signing as its only purpose, which some PDF readers (NSS, OpenSSL,"
            " Adobe) do not accept; esign would renew it, and cannot: {reason}",
            reason=mark(hindrance),
        ),
    )


def find_key(data_dir: Path, certificate_der: bytes, given: SealFiles | None = None) -> bytes:
    """Return the private key (DER) of a seal certificate, from the file that has both.

    Raises `AuthorityError` if none has, or if it cannot be read.
    """

    def find_own(prefix: str) -> Credential | None:
        return AuthorityFolder(data_dir, prefix, "", to_datetime(0)).find_credential(certificate_der)

    def find_given() -> Credential | None:
        material = uploaded.read_uploaded_seal(data_dir) if given is None else given.read_material()
        if material is None or material.certificate.public_bytes(Encoding.DER) != certificate_der:
            return None
        return material.credential

    failed: AuthorityError | None = None
    for find in (partial(find_own, LIVE), partial(find_own, TEST), find_given):
        try:
            found = find()
        except AuthorityError as error:  # of a file that may be another's
            failed = failed or error
        else:
            if found is not None:
                return found.key_der
    raise failed or AuthorityError(
        say(
            "The key of the seal certificate in use is not in its file any more; put it back, or restart esign."
        )
    )


def make_fresh_seal(data_dir: Path, organisation_name: str, now: Instant) -> None:
    AuthorityFolder(data_dir, LIVE, _clean_name(organisation_name), to_datetime(now)).make_anew()


def find_known_roots(data_dir: Path, given: SealFiles | None = None) -> tuple[bytes, ...]:
    """Return the anchors (DER) of every certificate that was ever used for sealing here, and of the configured one.

    Nothing is made. Raises `AuthorityError` if the configured files cannot be opened.
    """
    configured = () if given is None else (given.read_material().anchor_der,)
    live, test = _read_made_roots(data_dir)
    anchors = (chain[-1] for chain in retired.read_chains(data_dir))
    return tuple(dict.fromkeys((*configured, *live, *anchors, *test)))


def find_known_own(data_dir: Path, given: SealFiles | None = None) -> tuple[bytes, ...]:
    """Return the certificates (DER) by which a seal of this installation is recognised, as in `Authority.own`.

    Raises as `find_known_roots` does.
    """
    configured = () if given is None else (given.read_material().certificate.public_bytes(Encoding.DER),)
    live, test = _read_made_roots(data_dir)
    seals = (chain[0] for chain in retired.read_chains(data_dir))
    return tuple(dict.fromkeys((*configured, *live, *seals, *test)))


def _read_made_roots(data_dir: Path) -> tuple[list[bytes], list[bytes]]:
    live, test = (
        AuthorityFolder(data_dir, prefix, "", to_datetime(0)).read_roots() for prefix in (LIVE, TEST)
    )
    return live, test
