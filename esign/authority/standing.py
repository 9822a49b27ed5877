"""Look at the certificates that documents are sealed with, without making, renewing or keeping any."""

from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from esign.authority import uploaded
from esign.authority.checks import AuthorityError, describe_lapse, examine_material, read_name
from esign.authority.configured import SealFiles
from esign.authority.selection import LIVE, TEST, Origin
from esign.authority.self_signed import AuthorityFolder
from esign.core.instant import Instant, to_datetime

AGAIN = "Restore the folder from a backup, or start esign, which makes another one where it can."


@dataclass(frozen=True, slots=True)
class SealStanding:
    """The certificate of one mode: until when it is valid, what forbids its use, and what will have to be done."""

    mode: str
    origin: Origin
    subject: str = ""
    ends_at: Instant | None = None
    problems: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def read_seal_standing(data_dir: Path, given: SealFiles | None, now: Instant) -> list[SealStanding]:
    """Return how the certificates of both modes stand; nothing of those that the first start will make."""
    found = []
    for mode, prefix in (("live", LIVE), ("test", TEST)):
        origin: Origin = "made"
        try:
            material, source = None, uploaded.SOURCE
            if mode == "live" and given is not None:
                origin, material, source = "configured", given.read_material(), given.source
            elif mode == "live" and (data_dir / uploaded.FILE).exists():
                origin, material = "uploaded", uploaded.read_uploaded_seal(data_dir)
            if material is not None:
                judged = examine_material(material, to_datetime(now), source)
                problems = (*judged.problems, *([judged.dates] if judged.dates else ()))
                notices = tuple(notice.sentence for notice in judged.notices)
                found.append(describe_certificate(mode, origin, material.certificate, problems, notices))
            elif (folder := AuthorityFolder(data_dir, prefix, "", to_datetime(now))).list_numbers("seal"):
                folder.load_credential()  # key, certificate and authority belong together
                lapse = describe_lapse(folder.seal(), to_datetime(now), f"{prefix}seal.pem", AGAIN)
                found.append(describe_certificate(mode, origin, folder.seal(), (lapse,) if lapse else ()))
        except AuthorityError as error:
            found.append(SealStanding(mode, origin, problems=error.problems))
    return found


def describe_certificate(
    mode: str,
    origin: Origin,
    certificate: x509.Certificate,
    problems: tuple[str, ...],
    notices: tuple[str, ...] = (),
) -> SealStanding:
    """Return the standing of a certificate."""
    ends_at = int(certificate.not_valid_after_utc.timestamp()) * 1000
    return SealStanding(mode, origin, read_name(certificate.subject), ends_at, problems, notices)
