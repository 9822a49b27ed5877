"""Find out whether a certificate or one of its issuers was revoked, by the proofs at hand. Nothing is fetched here."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from asn1crypto import crl, x509
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.errors import (
    CRLValidationError,
    OCSPValidationError,
    PathBuildingError,
    RevokedError,
    ValidationError,
)
from pyhanko_certvalidator.path import ValidationPath
from pyhanko_certvalidator.revinfo.validate_crl import verify_crl
from pyhanko_certvalidator.revinfo.validate_ocsp import verify_ocsp_response

from esign.pdf.report import Revocation
from esign.pdf.verify.certificate_evidence import BROKEN, Evidence, Proof

SAYS_NOTHING = (CRLValidationError, OCSPValidationError, PathBuildingError, ValidationError, *BROKEN)


@dataclass(frozen=True, slots=True)
class RevocationStatus:
    """The revocation status of a chain; `since` is when, and `of` which certificate was revoked."""

    state: Revocation
    since: datetime | None = None
    of: x509.Certificate | None = None


UNKNOWN = RevocationStatus("not_checked")


def find_status(path: ValidationPath | None, used: datetime, evidence: Evidence) -> RevocationStatus:
    """Return the revocation status of the whole chain as of `used`, the latest time at which the key was used.

    A certificate that was revoked later counts as not revoked.
    """
    if path is None:
        return UNKNOWN
    chain = list(path.iter_certs(include_root=False)) if evidence.proofs else []
    found = [
        asyncio.run(_find_certificate_status(certificate, path, used, evidence)) for certificate in chain
    ]
    revoked = [one for one in found if one.state == "revoked"]
    if revoked:
        return min(revoked, key=lambda one: one.since or used)
    return (
        RevocationStatus("not_revoked")
        if chain and all(one.state == "not_revoked" for one in found)
        else UNKNOWN
    )


async def _find_certificate_status(
    certificate: x509.Certificate, path: ValidationPath, used: datetime, evidence: Evidence
) -> RevocationStatus:
    good = False
    for proof in evidence.proofs:
        for since, until in list_periods(proof, certificate):
            try:
                await _check_proof(proof, certificate, path, since, evidence)
            except RevokedError as error:
                if error.revocation_dt <= used:
                    return RevocationStatus("revoked", error.revocation_dt, certificate)
                good = True
            except SAYS_NOTHING:
                continue
            else:
                good = good or _is_covering(used, since, until, certificate)
    return RevocationStatus("not_revoked") if good else UNKNOWN


def is_genuine(proof: Proof, certificate: x509.Certificate, path: ValidationPath, evidence: Evidence) -> bool:
    """Return whether the proof is about the certificate and is signed by an issuer that may do so."""
    for since, _ in list_periods(proof, certificate):
        try:
            asyncio.run(_check_proof(proof, certificate, path, since, evidence))
        except RevokedError:
            return True
        except SAYS_NOTHING:
            continue
        return True
    return False


def list_periods(proof: Proof, certificate: x509.Certificate) -> Iterator[tuple[datetime, datetime | None]]:
    """Yield from when until when the proof is valid, if it is about this certificate."""
    try:
        if isinstance(proof, crl.CertificateList):
            content = proof["tbs_cert_list"]
            if proof.issuer == certificate.issuer:
                yield content["this_update"].native, content["next_update"].native
            return
        for one in proof.response_data["responses"]:
            if one["cert_id"]["serial_number"].native == certificate.serial_number:
                yield one["this_update"].native, one["next_update"].native
    except BROKEN:
        return


async def _check_proof(
    proof: Proof, certificate: x509.Certificate, path: ValidationPath, at: datetime, evidence: Evidence
) -> None:
    """Raise RevokedError if the proof says so, or another error if the proof is not valid as of when it was made.

    The proof is judged one second later, because the validator ignores what was revoked at the very moment it
    judges.
    """
    listed = isinstance(proof, crl.CertificateList)
    context = ValidationContext(
        trust_roots=[path.first],
        other_certs=[*path.iter_certs(include_root=False), *evidence.certificates],
        moment=at + timedelta(seconds=1),
        allow_fetching=False,
        crls=[proof] if listed else [],
        ocsps=[] if listed else [proof],
        revocation_mode="none",
    )
    ask = verify_crl if listed else verify_ocsp_response
    await ask(certificate, path, context)


def _is_covering(
    used: datetime, since: datetime, until: datetime | None, certificate: x509.Certificate
) -> bool:
    """Return whether a proof covers the use of the key.

    It does if it was made after the use and before the certificate expired, after which lists may drop it, or
    if it was current at the use.
    """
    if since >= used:
        return bool(since <= certificate.not_valid_after)
    return until is not None and used <= until


def has_revocation_source(certificate: x509.Certificate) -> bool:
    """Return whether the certificate names a place to ask about revocation."""
    return bool(certificate.ocsp_urls or certificate.crl_distribution_points)
