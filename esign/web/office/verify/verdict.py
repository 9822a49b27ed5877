"""The summary that a visitor reads first: whether the file is unchanged, by whom and when it was sealed, what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from esign.core.actor import Mode
from esign.core.instant import parse
from esign.pdf.report import (
    ADDED,
    CHANGED,
    EXPIRED,
    MISMATCH,
    NOT_COMPARED,
    OUTSIDE,
    REVOKED,
    TOO_EARLY,
    TRAIL,
    UNREADABLE_FILE,
    UNRECOGNISED,
    Signature,
    Verification,
    is_unchanged,
)
from esign.store.document.public_records import PublicRecord
from esign.web.office.verify.seals import SealSummary, name_additions
from esign.web.office.verify.untrusted_text import format_time

ASK = "Do not rely on this file. Ask whoever gave it to you for the sealed original."
UNSIGNED = (
    "This PDF carries no seal, so nothing in it shows whether it was changed. A file that was printed, scanned or saved"
    " anew has lost its seal: ask for the sealed PDF as it was mailed or downloaded."
)


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
        return describe_invalid(found["signatures"][worst], seals[worst])
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


def describe_invalid(signature: Signature, seal: SealSummary) -> VerdictSummary:
    """Return the summary of an invalid signature, by its most serious reason; `UNREADABLE` is the remaining one."""
    reasons, since = signature["reasons"], format_after(seal)
    if CHANGED in reasons:
        return VerdictSummary("bad", "Changed after it was sealed", f"Its content was altered{since}. {ASK}")
    if MISMATCH in reasons:
        return VerdictSummary("bad", "Not a genuine seal", f"The seal was not made by whom it names. {ASK}")
    if ADDED in reasons:
        return VerdictSummary(
            "bad", "Changed after it was sealed", f"Something was added to the file{since}. {ASK}"
        )
    if TOO_EARLY in reasons:
        early = "A time stamp proves that it was sealed before its certificate was valid"
        return VerdictSummary("bad", "Not a genuine seal", f"{early}. {ASK}")
    if OUTSIDE in reasons:
        return VerdictSummary(
            "bad", "Not covered as a whole", f"A part of the file stands outside the seal. {ASK}"
        )
    if TRAIL in reasons:
        return VerdictSummary(
            "bad",
            "The audit trail in it is not genuine",
            f"It is not the one that the seal vouches for. {ASK}",
        )
    if UNREADABLE_FILE in reasons:
        found = "It is damaged, or something was added to it, so that its seal cannot be found"
        return VerdictSummary("bad", "The file is damaged", f"{found}. {ASK}")
    return VerdictSummary(
        "bad", "The seal is damaged", f"Whether the content was changed as well cannot be told. {ASK}"
    )


def describe_doubtful(signature: Signature, seal: SealSummary) -> VerdictSummary:
    """Return the summary of a signature whose validity could not be decided, with the reason."""
    certificate = signature["certificate"]
    whole = f"{begin_sentence([signature])} since it was sealed. "
    if any(reason in (UNRECOGNISED, NOT_COMPARED) for reason in signature["reasons"]):
        before = (
            "What was sealed is unchanged, but something was added later, and whether it is proof alone that changes no"
            " page could not be found out. Compare it with the file as it was sealed."
        )
        return VerdictSummary("warn", "Sealed, with later additions", before)
    if signature["modification"] == "form_filling":
        before = (
            "What was sealed is unchanged, but form values or a further signature were added later, and the seal does"
            " not vouch for them. Compare it with the file as it was sealed."
        )
        return VerdictSummary("warn", "Sealed, with later additions", before)
    if any(REVOKED in reason for reason in signature["reasons"]):
        revoked = "Its certificate was revoked, and nothing proves that the seal is older. Do not rely on it."
        return VerdictSummary(
            "warn", f"{begin_title([signature])}, but its certificate was revoked", f"{whole}{revoked}"
        )
    if certificate is not None and any(reason.startswith(EXPIRED) for reason in signature["reasons"]):
        ended = format_time(parse(certificate["notAfter"]))
        expired = f"Its certificate expired on {ended}, and nothing proves that the"
        return VerdictSummary(
            "warn",
            f"{begin_title([signature])}, but its certificate has expired",
            f"{whole}{expired} seal is older.",
        )
    if signature["trusted"]:
        return VerdictSummary(
            "warn",
            f"{begin_title([signature])}, but not proved",
            f"{whole}What leaves it undecided stands below.",
        )
    before = f"{whole}Its certificate is not one that this installation trusts, so the name in it, "
    return VerdictSummary(
        "warn",
        f"{begin_title([signature])}, but by whom is not proved",
        before,
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


def format_after(seal: SealSummary) -> str:
    """Return ` after` and the time of the seal, or a phrase without a time."""
    return f" after {format_time(seal.at)}" if seal.at is not None else " after it was sealed"
