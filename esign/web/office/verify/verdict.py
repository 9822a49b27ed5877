"""The summary that a visitor reads first: whether the file is unchanged, by whom and when it was sealed, what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from esign.core.actor import Mode
from esign.core.sentence import read_parts
from esign.pdf.report import Signature, Verification
from esign.pdf.verdict_sentences import (
    EXPIRED,
    FORM_FILLED,
    NOT_COMPARED,
    OBJECTIONS,
    REVOKED,
    UNRECOGNISED,
    find_objections,
    is_unchanged,
    read_reason,
)
from esign.store.document.public_records import PublicRecord
from esign.web.office.frame.words import OfficeWords
from esign.web.office.verify.seals import SealSummary, name_additions, say_reason
from esign.web.office.verify.untrusted_text import format_time, isolate

ADDED_LATER = (UNRECOGNISED, NOT_COMPARED, FORM_FILLED)


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """A title and a text. `tone` is the colour."""

    tone: Literal["good", "warn", "bad", "none"]
    title: Markup
    text: Markup


def reach_verdict(
    found: Verification, seals: Sequence[SealSummary], record: PublicRecord | None, t: OfficeWords
) -> VerdictSummary:
    """Return the summary, decided by the worst of the signatures."""
    if found["result"] == "unsigned":
        return VerdictSummary("none", t("verify.verdict.unsigned"), t("verify.verdict.unsigned_text"))
    worst = next(n for n, seal in enumerate(seals) if seal.result == found["result"])
    if found["result"] == "invalid":
        return describe_invalid(found["signatures"][worst], t)
    if found["result"] == "indeterminate":
        return describe_doubtful(found["signatures"][worst], seals[worst], t)
    return describe_valid(found["signatures"], seals, record, t)


def describe_valid(
    signatures: Sequence[Signature],
    seals: Sequence[SealSummary],
    record: PublicRecord | None,
    t: OfficeWords,
) -> VerdictSummary:
    """Return the summary of a file whose signatures are all valid, also for test mode and for added proof."""
    last, content = seals[-1], find_content_state(signatures)
    who = isolate(last.name)
    if any(seal.test for seal in seals) or (record is not None and record.mode is Mode.TEST):
        return VerdictSummary("warn", t("verify.verdict.test"), t(f"verify.verdict.test_{content}", who=who))
    if is_unchanged(signatures):
        text = t("verify.verdict.unchanged_text", who=who)
        if last.at is not None:
            text = t("verify.verdict.unchanged_at", who=who, at=format_time(last.at, t))
        return VerdictSummary("good", t("verify.verdict.unchanged"), text)
    proof = name_additions(next((one for one in signatures if one["additions"]), None), t)
    return VerdictSummary(
        "good", t("verify.verdict.proof"), t("verify.verdict.proof_text", who=who, proof=proof)
    )


def describe_invalid(signature: Signature, t: OfficeWords) -> VerdictSummary:
    """Return the summary of an invalid signature, by its most serious reason."""
    worst = find_objections(signature)[0]
    text = t("verify.verdict.invalid_text", reason=t.say(OBJECTIONS[worst]))
    return VerdictSummary("bad", t(f"verify.objection_title.{worst}"), text)


def describe_doubtful(signature: Signature, seal: SealSummary, t: OfficeWords) -> VerdictSummary:
    """Return the summary of a signature whose validity could not be decided, with the reason."""
    reasons, content = signature["reasons"], t(f"verify.content.{find_content_state([signature])}")
    if later := next((reason for reason in reasons if reason in ADDED_LATER), None):
        return VerdictSummary(
            "warn", t("verify.verdict.later"), t("verify.verdict.later_text", reason=t.say(later))
        )
    for forms, name, key in ((REVOKED, "revoked", "revoked_text"), (EXPIRED, "expired", "doubt_text")):
        if reason := next((one for one in reasons if read_parts(read_reason(one))[0] in forms), None):
            text = t(f"verify.verdict.{key}", content=content, reason=say_reason(reason, t))
            return VerdictSummary("warn", t(f"verify.verdict.{name}"), text)
    unsure = t("verify.verdict.unconfirmed_text")
    if signature["trusted"]:
        text = t("verify.verdict.doubt_text", content=content, reason=unsure)
        return VerdictSummary("warn", t("verify.verdict.unconfirmed"), text)
    unknown = t("verify.verdict.unknown_text", who=isolate(seal.name))
    text = t("verify.verdict.doubt_text", content=content, reason=unknown)
    return VerdictSummary("warn", t("verify.verdict.unknown"), text)


def find_content_state(signatures: Sequence[Signature]) -> Literal["unchanged", "proof", "sealed"]:
    """Return what became of the content. A file is called unchanged only if nothing was added to it."""
    if is_unchanged(signatures):
        return "unchanged"
    return "proof" if any(signature["additions"] for signature in signatures) else "sealed"
