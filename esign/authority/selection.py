"""Select the certificates that documents are sealed with, and those that are trusted."""

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

LIVE, TEST = "", "test-"  # prefixes of the file names of each mode

Origin = Literal["configured", "uploaded", "made"]


@dataclass(frozen=True, slots=True)
class Authority:
    """The credentials of both modes, and the certificates (DER) that vouch for them, those of live mode first.

    `own` are the authorities made here and the seal certificates that others issued. The issuers of the latter
    are not in `own`: they issue to others as well, so what leads to them is trusted but was not necessarily
    sealed here.

    `warnings` are about certificates outside their dates: signing goes on, and seals wait until they are
    replaced. `notices` announce what will have to be done. `following` is the authority that will issue the
    next seal, or None.
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
    """The seal of one mode, with its warning and notices."""

    credential: Credential
    warning: str | None
    notices: tuple[Notice, ...]
    following: bytes | None = None


def load_or_make(
    data_dir: Path, organisation_name: str, now: Instant, given: Given | None = None
) -> Authority:
    """Return the credentials of both modes. Makes under `data_dir` what is missing or ends soon, and overwrites
    nothing.

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
    """Return the seal of live mode: the configured one, else the uploaded one, else the one made here."""
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
    """Return a notice on what is not renewed, and why."""
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
    """Return the anchors (DER) of every certificate that was ever used for sealing here, and of the configured one.

    Nothing is made. Raises `AuthorityError` if the configured files cannot be opened.
    """
    configured = () if given is None else (given.read().anchor_der,)
    live, test = _made_roots(data_dir)
    anchors = (chain[-1] for chain in retired.chains(data_dir))
    return tuple(dict.fromkeys((*configured, *live, *anchors, *test)))


def known_own(data_dir: Path, given: Given | None = None) -> tuple[bytes, ...]:
    """Return the certificates (DER) by which a seal of this installation is recognised, as in `Authority.own`.

    Raises as `known_roots` does.
    """
    configured = () if given is None else (given.read().certificate.public_bytes(Encoding.DER),)
    live, test = _made_roots(data_dir)
    seals = (chain[0] for chain in retired.chains(data_dir))
    return tuple(dict.fromkeys((*configured, *live, *seals, *test)))


def _made_roots(data_dir: Path) -> tuple[list[bytes], list[bytes]]:
    live, test = (Folder(data_dir, prefix, "", to_datetime(0)).roots() for prefix in (LIVE, TEST))
    return live, test
