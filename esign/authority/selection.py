"""Which of the certificates at hand documents are sealed with, and which are trusted."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from cryptography.hazmat.primitives.serialization import Encoding

from esign.authority import retired, uploaded
from esign.authority.checks import ENDING, AuthorityError, Material, Notice, Source, examine
from esign.authority.configured import Given
from esign.authority.self_signed import Folder
from esign.core.instant import Instant, to_datetime
from esign.core.seal_credential import TEST_MARK, Credential

LIVE, TEST = "", "test-"  # how the files of a mode begin

Origin = Literal["configured", "uploaded", "made"]


@dataclass(frozen=True, slots=True)
class Authority:
    """What documents are sealed with, and the certificates (DER) that vouch for it, the live mode's first.

    `own`: the authorities made here, and the certificates of the seals that others issued. Whoever issued those
    issues to others as well: what leads to them is trusted, and was not sealed here for that.
    `warnings` tell of certificates outside their dates: signing goes on, seals wait until they are replaced.
    `notices` tell of what will have to be done. `following` is the authority that will issue the seal after this one.
    """

    live: Credential
    test: Credential
    roots: tuple[bytes, ...]
    own: tuple[bytes, ...]
    origin: Origin
    warnings: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    following: bytes | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One mode's seal, and what there is to say about it."""

    credential: Credential
    warning: str | None
    notices: tuple[Notice, ...]
    following: bytes | None = None


def load_or_make(
    data_dir: Path, organisation_name: str, now: Instant, given: Given | None = None
) -> Authority:
    """The credentials of both modes; makes under `data_dir` what is missing or ends soon, and overwrites nothing.

    Raises `AuthorityError`.
    """
    at = to_datetime(now)
    test = _made(Folder(data_dir, TEST, f"{TEST_MARK} – {_named(organisation_name)}", at))
    origin, live = _live(data_dir, organisation_name, at, given)
    roots = (live.credential.anchor_der, *known_roots(data_dir), test.credential.anchor_der)
    return Authority(
        live=live.credential,
        test=test.credential,
        roots=tuple(dict.fromkeys(roots)),
        own=tuple(dict.fromkeys((live.credential.certificate_der, *known_own(data_dir)))),
        origin=origin,
        warnings=tuple(one.warning for one in (live, test) if one.warning),
        notices=tuple(dict.fromkeys((*live.notices, *test.notices))),
        following=live.following,
    )


def _named(organisation_name: str) -> str:
    return " ".join(organisation_name.split()) or "esign"


def _live(
    data_dir: Path, organisation_name: str, at: datetime, given: Given | None
) -> tuple[Origin, Standing]:
    """The configured one before one that was uploaded, and that before the one made here."""
    if given is not None:
        standing = _brought(given.read(), at, given.source)
        retired.keep(data_dir, standing.credential)
        return "configured", standing
    if (material := uploaded.read(data_dir)) is not None:
        return "uploaded", _brought(material, at, uploaded.SOURCE)
    return "made", _made(Folder(data_dir, LIVE, _named(organisation_name), at))


def _brought(material: Material, at: datetime, source: Source) -> Standing:
    found = examine(material, at, source)
    if found.problems:
        raise AuthorityError(*found.problems)
    return Standing(material.credential, found.dates, found.notices)


def _made(folder: Folder) -> Standing:
    hindrance = folder.settle()
    late, following = folder.late(hindrance), folder.following()
    hindered = _hindered(folder, hindrance) if hindrance else None
    return Standing(
        folder.credential(),
        late,
        tuple(one for one in (hindered, folder.succession()) if one and not late),
        following.public_bytes(Encoding.DER) if following else None,
    )


def _hindered(folder: Folder, hindrance: str) -> Notice:
    """Say what is not renewed, and why."""
    if folder.ends_soon():
        ends = f"{folder.seal().not_valid_after_utc:%Y-%m-%d}"
        return Notice(ENDING, f"The seal certificate ends on {ends} and cannot be renewed: {hindrance}")
    return Notice(
        "some readers of PDFs refuse the seal certificate",
        "The seal certificate names document signing as its only purpose, which some readers of PDFs (NSS, OpenSSL,"
        f" Adobe) do not accept; esign would renew it, and cannot: {hindrance}",
    )


def fresh_seal(data_dir: Path, organisation_name: str, now: Instant) -> None:
    Folder(data_dir, LIVE, _named(organisation_name), to_datetime(now)).anew()


def known_roots(data_dir: Path, given: Given | None = None) -> tuple[bytes, ...]:
    """The anchors (DER) of every certificate that was ever sealed with here, and of the configured one.

    Makes nothing. Raises `AuthorityError` where the configured files cannot be opened.
    """
    configured = () if given is None else (given.read().anchor_der,)
    live, test = _made_roots(data_dir)
    anchors = (chain[-1] for chain in retired.chains(data_dir))
    return tuple(dict.fromkeys((*configured, *live, *anchors, *test)))


def known_own(data_dir: Path, given: Given | None = None) -> tuple[bytes, ...]:
    """By what (DER) a seal made here is known, as `Authority.own`; raises as `known_roots` does."""
    configured = () if given is None else (given.read().certificate.public_bytes(Encoding.DER),)
    live, test = _made_roots(data_dir)
    seals = (chain[0] for chain in retired.chains(data_dir))
    return tuple(dict.fromkeys((*configured, *live, *seals, *test)))


def _made_roots(data_dir: Path) -> tuple[list[bytes], list[bytes]]:
    live, test = (Folder(data_dir, prefix, "", to_datetime(0)).roots() for prefix in (LIVE, TEST))
    return live, test
