"""Fetch revocation lists and OCSP answers from the places that certificates name.

Only `esign verify --online` does this. The addresses come from the files of strangers: a server that followed
them would send requests wherever a stranger likes, and keep users waiting for the answers.
"""

from collections.abc import Sequence
from itertools import groupby

from esign.net import OutboundClient, RequestFailed, TargetRefused
from esign.pdf.report import RevocationSource

LONGEST_ANSWER, LONGEST_LIST = 64 * 1024, 16 * 1024 * 1024
QUESTION = {"Content-Type": "application/ocsp-request", "Accept": "application/ocsp-response"}
LIST = {"Accept": "application/pkix-crl"}


async def fetch_answers(http: OutboundClient, sources: Sequence[RevocationSource]) -> list[bytes]:
    """Return one answer for each certificate, from the first of its sources that has one."""
    found: list[bytes] = []
    for _, own in groupby(sources, key=lambda source: source.of):
        for source in own:
            said = await _fetch_answer(http, source)
            if said is not None:
                found.append(said)
                break
    return found


async def _fetch_answer(http: OutboundClient, source: RevocationSource) -> bytes | None:
    headers, most = (LIST, LONGEST_LIST) if source.question is None else (QUESTION, LONGEST_ANSWER)
    try:
        said = await http.fetch(source.url, source.question, headers, most)
    except (RequestFailed, TargetRefused):
        return None
    return said if source.question is None or _is_answer(said) else None


def _is_answer(said: bytes) -> bool:
    """Return whether the OCSP response is successful; a responder without an answer may leave it to the list."""
    from cryptography.x509.ocsp import OCSPResponseStatus, load_der_ocsp_response

    try:
        return load_der_ocsp_response(said).response_status is OCSPResponseStatus.SUCCESSFUL
    except ValueError:
        return False
