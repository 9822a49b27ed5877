"""Who signed a file and when, by the audit trail that lies in the file under a seal that is trusted here.

Nothing is read from the database: a visitor learns no name that the certificate page of the file does not print.
Addresses and devices, which that page prints too, are left out, because the page is meant for showing around.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from esign.core.instant import Instant, parse
from esign.pdf.report import SignerRecord, Verification
from esign.web.office.verify.untrusted_text import make_printable

ACTS: Mapping[Literal["signed", "approved"], str] = {
    "signed": "Signed on {at}",
    "approved": "Approved on {at}",
}
ERASED = "Name erased"


@dataclass(frozen=True, slots=True)
class SignerLine:
    """A person who signed or approved; `text` has `{at}` for the time."""

    name: str
    text: str
    at: Instant


def list_signers(found: Verification) -> list[SignerLine]:
    """Return who signed and approved, in the order in which they did."""
    return [describe_signer(signer) for signer in found["signers"]]


def describe_signer(signer: SignerRecord) -> SignerLine:
    """Return the line of one signer."""
    name = make_printable(signer["name"] or "") or ERASED
    return SignerLine(name, ACTS[signer["act"]], parse(signer["at"]))
