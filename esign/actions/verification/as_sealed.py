"""Verify a file by a seal of this installation as of the time that it was made, once a certificate has expired.

That is for files that this installation keeps or takes back: it knows its certificates and when each was in use, and
an expired one says nothing against what was sealed before. Files of strangers are judged as of now, unless a trusted
time stamp proves an earlier time (docs/verifying.md).
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from esign.core.instant import Instant, parse
from esign.pdf.report import Verification, VerificationCase
from esign.pdf.verdict_sentences import EXPIRED, NOTES

CaseVerifier = Callable[[VerificationCase], Awaitable[Verification]]


async def verify_as_sealed(verify: CaseVerifier, case: VerificationCase) -> Verification:
    """Return the report as of now, or as of the sealing if nothing but an expired certificate keeps it from valid."""
    found = await verify(case)
    at = find_sealing_time(found)
    return found if at is None or at > case.now else await verify(replace(case, now=at))


async def verify_as_stamped(verify: CaseVerifier, case: VerificationCase) -> Verification:
    """Return the report of `verify_as_sealed`, or as of the time stamp if that is trusted then and not any more.

    Certificates of time stamps expire too, often before that of the seal.
    """
    found = await verify_as_sealed(verify, case)
    at = find_stamp_time(found)
    if at is None or at > case.now:
        return found
    then = await verify(replace(case, now=at))
    return then if find_stamp_time(then) is None else found


def find_stamp_time(found: Verification) -> Instant | None:
    """Return the time of a time stamp of the only signature that is whole and not trusted; None without one."""
    stamps = [signature["timestamp"] for signature in found["signatures"]]
    if len(stamps) != 1 or stamps[0] is None or not stamps[0]["valid"] or stamps[0]["trusted"]:
        return None
    return parse(stamps[0]["time"])


def find_sealing_time(found: Verification) -> Instant | None:
    """Return when the only signature says that it was made, if its one fault is that its certificate expired since."""
    if len(found["signatures"]) != 1:
        return None
    [signature] = found["signatures"]
    certificate, claimed = signature["certificate"], signature["signedAt"]
    if certificate is None or claimed is None:
        return None
    expired = EXPIRED[1].format(day=certificate["notAfter"][:10])
    at = parse(claimed)
    only = {*signature["reasons"]} - NOTES == {expired}
    return at if only and at <= parse(certificate["notAfter"]) else None
