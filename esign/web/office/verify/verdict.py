"""The summary that a visitor reads first: whether the file is unchanged, by whom and when it was sealed, what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from esign.core.actor import Mode
from esign.pdf.report import Signature, Verification
from esign.pdf.verdict_sentences import (
    DO_NOT_RELY,
    EXPIRED,
    FORM_FILLED,
    NOT_COMPARED,
    REVOKED,
    SIGNED_UNCHANGED,
    UNRECOGNISED,
    find_objections,
    is_unchanged,
)
from esign.store.document.public_records import PublicRecord
from esign.web.office.verify.seals import SealSummary, name_additions
from esign.web.office.verify.untrusted_text import format_time, make_printable

ASK = "Ask the person who gave it to you for the sealed original."
COMPARE = "Compare it with the file as it was sealed."
UNSIGNED = (
    "This file has no seal, so nothing shows whether it was changed. Printing, scanning or saving a PDF again removes"
    " its seal. Ask for the sealed PDF as it was emailed or downloaded."
)
ADDED_LATER = (UNRECOGNISED, NOT_COMPARED, FORM_FILLED)
# What became of the content, by `find_content_state`.
CONTENT: Mapping[str, str] = {
    "unchanged": "The file hasn’t changed since it was sealed.",
    "proof": "What was sealed hasn’t changed. Only proof was added.",
    "sealed": "What was sealed hasn’t changed.",
}


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """A title and a text.

    `tone` is the colour. If `who` is given, it takes the place of `{who}` in the text; it is untrusted.
    """

    tone: Literal["good", "warn", "bad", "none"]
    title: str
    text: str
    who: str = ""


def reach_verdict(
    found: Verification, seals: Sequence[SealSummary], record: PublicRecord | None
) -> VerdictSummary:
    """Return the summary, decided by the worst of the signatures."""
    if found["result"] == "unsigned":
        return VerdictSummary("none", "Not sealed", UNSIGNED)
    worst = next(n for n, seal in enumerate(seals) if seal.result == found["result"])
    if found["result"] == "invalid":
        return describe_invalid(found["signatures"][worst])
    if found["result"] == "indeterminate":
        return describe_doubtful(found["signatures"][worst], seals[worst])
    return describe_valid(found["signatures"], seals, record)


def describe_valid(
    signatures: Sequence[Signature], seals: Sequence[SealSummary], record: PublicRecord | None
) -> VerdictSummary:
    """Return the summary of a file whose signatures are all valid, also for test mode and for added proof."""
    last, content = seals[-1], CONTENT[find_content_state(signatures)]
    if any(seal.test for seal in seals) or (record is not None and record.mode is Mode.TEST):
        text = f"{content} Sealed by {{who}} in test mode, so it has no legal effect."
        return VerdictSummary("warn", "Only a test", text, last.name)
    if is_unchanged(signatures):
        title, text = "Valid and unchanged", "This is exactly the file that {who} sealed."
        if last.at is not None:
            text = f"This is exactly the file that {{who}} sealed on {format_time(last.at)}."
        return VerdictSummary("good", title, text, last.name)
    proof = next((name_additions(signature) for signature in signatures if signature["additions"]), "proof")
    text = f"What {{who}} sealed hasn’t changed. Only proof was added since: {proof}."
    return VerdictSummary("good", "Valid, with proof added", text, last.name)


def describe_invalid(signature: Signature) -> VerdictSummary:
    """Return the summary of an invalid signature, by its most serious reason."""
    worst = find_objections(signature)[0]
    return VerdictSummary("bad", worst.title, f"{worst.reason} {DO_NOT_RELY} {ASK}")


def describe_doubtful(signature: Signature, seal: SealSummary) -> VerdictSummary:
    """Return the summary of a signature whose validity could not be decided, with the reason."""
    reasons, content = signature["reasons"], CONTENT[find_content_state([signature])]
    if later := next((reason for reason in reasons if reason in ADDED_LATER), None):
        return VerdictSummary("warn", "Sealed, with later additions", f"{SIGNED_UNCHANGED} {later} {COMPARE}")
    if revoked := next((reason for reason in reasons if REVOKED in reason), None):
        text = f"{content} {make_printable(revoked)} {DO_NOT_RELY}"
        return VerdictSummary("warn", "The certificate was revoked", text)
    if expired := next((reason for reason in reasons if reason.startswith(EXPIRED)), None):
        return VerdictSummary("warn", "The certificate has expired", f"{content} {expired}")
    if signature["trusted"]:
        text = f"{content} See below for what couldn’t be confirmed."
        return VerdictSummary("warn", "Not fully confirmed", text)
    text = f"{content} It names {{who}} as the signer, but this installation doesn’t trust the certificate."
    return VerdictSummary("warn", "Unknown signer", text, seal.name)


def find_content_state(signatures: Sequence[Signature]) -> Literal["unchanged", "proof", "sealed"]:
    """Return what became of the content. A file is called unchanged only if nothing was added to it."""
    if is_unchanged(signatures):
        return "unchanged"
    return "proof" if any(signature["additions"] for signature in signatures) else "sealed"
