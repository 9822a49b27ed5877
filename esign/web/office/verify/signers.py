"""Who signed a file and when, by the audit trail that lies in the file under a seal that is trusted here.

Nothing is read from the database: a visitor learns no name that the certificate page of the file does not print.
Addresses and devices, which that page prints too, are left out, because the page is meant for showing around.
"""

from dataclasses import dataclass

from markupsafe import Markup

from esign.core.instant import parse, rfc3339
from esign.pdf.report import SignerRecord, Verification
from esign.web.office.frame.words import OfficeWords
from esign.web.office.verify.untrusted_text import format_time, make_printable


@dataclass(frozen=True, slots=True)
class SignerLine:
    """A person who signed or approved, and a sentence on when they did."""

    name: str
    text: Markup


def list_signers(found: Verification, t: OfficeWords) -> list[SignerLine]:
    """Return who signed and approved, in the order in which they did."""
    return [describe_signer(signer, t) for signer in found["signers"]]


def describe_signer(signer: SignerRecord, t: OfficeWords) -> SignerLine:
    """Return the line of one signer."""
    at = parse(signer["at"])
    time = Markup('<time datetime="{}">{}</time>').format(rfc3339(at), format_time(at, t))
    name = make_printable(signer["name"] or "") or str(t("verify.erased"))
    return SignerLine(name, t(f"verify.{signer['act']}", at=time))
