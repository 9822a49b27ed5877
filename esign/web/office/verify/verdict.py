"""The summary that a visitor reads first: whether the file is unchanged, by whom and when it was sealed, what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from esign.core.actor import Mode
from esign.pdf.report import Signature, Verification
from esign.pdf.verdict_sentences import (
    DO_NOT_RELY,
    EXPIRED,
    FORM_FILLED,
    NO_SIGNATURE,
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

ASK = "Ask whoever gave it to you for the sealed original."
COMPARE = "Compare it with the file as it was sealed."
UNSIGNED = (
    f"{NO_SIGNATURE} Nothing shows whether it was changed. A file that was printed, scanned or saved anew has lost its"
    " seal: ask for the sealed PDF as it was mailed or downloaded."
)
ADDED_LATER = (UNRECOGNISED, NOT_COMPARED, FORM_FILLED)


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """A title and one sentence.

    `tone` is the colour. `who` stands between the two halves of the sentence; its text is untrusted.
    """

    tone: Literal["good", "warn", "bad", "none"]
    title: str
    before: str
    who: str = ""
    after: str = ""


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
    if any(seal.test for seal in seals) or (record is not None and record.mode is Mode.TEST):
        before = f"{begin_sentence(signatures)}, but it was sealed in test mode: it has no legal effect. Sealed by "
        return VerdictSummary(
            "warn",
            f"{begin_title(signatures)}, but only a test",
            before,
            seals[-1].name,
            f"{format_on(seals[-1])}.",
        )
    last = seals[-1]
    if is_unchanged(signatures):
        after = f" sealed{format_on(last)}, byte for byte."
        return VerdictSummary("good", "Valid: nothing has changed", "This is what ", last.name, after)
    proof = next((name_additions(signature) for signature in signatures if signature["additions"]), "proof")
    after = f" sealed{format_on(last)} is unchanged. Added since, and nothing else: {proof}."
    return VerdictSummary("good", "Valid: only proof was added", "What ", last.name, after)


def describe_invalid(signature: Signature) -> VerdictSummary:
    """Return the summary of an invalid signature, by its most serious reason."""
    worst = find_objections(signature)[0]
    return VerdictSummary("bad", worst.title, f"{worst.reason} {DO_NOT_RELY} {ASK}")


def describe_doubtful(signature: Signature, seal: SealSummary) -> VerdictSummary:
    """Return the summary of a signature whose validity could not be decided, with the reason."""
    reasons, title = signature["reasons"], begin_title([signature])
    if later := next((reason for reason in reasons if reason in ADDED_LATER), None):
        return VerdictSummary("warn", "Sealed, with later additions", f"{SIGNED_UNCHANGED} {later} {COMPARE}")
    whole = f"{begin_sentence([signature])} since it was sealed."
    if revoked := next((reason for reason in reasons if REVOKED in reason), None):
        told = f"{whole} {make_printable(revoked)} {DO_NOT_RELY}"
        return VerdictSummary("warn", f"{title}, but its certificate was revoked", told)
    if expired := next((reason for reason in reasons if reason.startswith(EXPIRED)), None):
        return VerdictSummary("warn", f"{title}, but its certificate has expired", f"{whole} {expired}")
    if signature["trusted"]:
        return VerdictSummary(
            "warn", f"{title}, but not proved", f"{whole} What leaves it undecided stands below."
        )
    return VerdictSummary(
        "warn",
        f"{title}, but by whom is not proved",
        f"{whole} Its certificate is not one that this installation trusts, so the name in it, ",
        seal.name,
        ", is not proved.",
    )


def begin_sentence(signatures: Sequence[Signature]) -> str:
    """Return the beginning of a sentence. A file is called unchanged only if nothing was added to it."""
    if is_unchanged(signatures):
        return "The file has not changed"
    if any(signature["additions"] for signature in signatures):
        return "What was sealed has not changed, and only proof was added"
    return "The sealed content has not changed"


def begin_title(signatures: Sequence[Signature]) -> str:
    """Return the beginning of a title."""
    if is_unchanged(signatures):
        return "Unchanged"
    added_only = any(signature["additions"] for signature in signatures)
    return "Only proof added" if added_only else "Sealed content unchanged"


def format_on(seal: SealSummary) -> str:
    """Return ` on` and the time of the seal; empty if it is unknown."""
    return f" on {format_time(seal.at)}" if seal.at is not None else ""
