"""Verify a file by a seal of this installation as of the time that the seal names, once its certificate has expired.

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
