"""Every sentence of a verdict, once (contract 3.5).

The API sends the reasons as they are. The verification page and `esign verify` build on them: the page prints the
first words of an objection in bold and puts a title above it. Programs read `result` and the other members of the
report: the wording of a sentence may change (contract 9).
"""

from collections.abc import Mapping, Sequence

from esign.core.sentence import list_forms, read_back
from esign.pdf.report import Addition, Coverage, Result, Revocation, Signature

LEVELS = ("B-B", "B-T", "B-LT", "B-LTA")  # each has what those before it have

# ---------- the reasons of a signature ----------

CHANGED = "The document was changed after it was signed."
MISMATCH = "The signature does not match its certificate."
OUTSIDE = "The signature covers only part of the file."
ADDED = "The file was changed after signing in a way that the signature does not allow."
UNRECOGNISED = "Something was added after signing, and it may be more than proof."
NOT_COMPARED = (
    "Proof was added after signing. The pages could not be compared because it would take too long."
)
TRAIL = "The audit trail in the file is not the one that was sealed."
TOO_EARLY = "It was signed before its certificate was valid, according to a time stamp."
UNREADABLE = "The signature is damaged and cannot be read."
UNREADABLE_FILE = "The file is damaged or was altered, so its signatures cannot be checked."
MOST_SIGNATURES = 50  # of one file that are judged; each can take a pass over the whole file
UNJUDGED = "esign cannot check this kind of signature. It may still be genuine: check it in a PDF reader."
MOST_FIELDS = 5_000  # that name signatures; they can name the same ones again and again
TOO_MANY = (
    f"The file has more than {MOST_SIGNATURES} signatures or thousands of signature fields. This signature and any"
    " after it were not checked."
)
UNCHECKED = (UNJUDGED, TOO_MANY)
STRIPPED = "The time stamp of the seal was removed from the file."
PADDED = "There is unsigned data in the space after a signature or time stamp."
BURDENED = "A signature or time stamp contains unsigned data that proves nothing."
UNSIGNED = (PADDED, BURDENED)  # it cannot be found out whether these bytes were there from the start
DAMAGED_STAMP = "The time stamp is damaged and does not confirm the time."
DAMAGED_ARCHIVE = "A time stamp on the whole file is damaged."
UNJUDGED_ARCHIVE = "esign cannot check a time stamp on the whole file, so it does not confirm the time."
FORM_FILLED = "Form values or another signature were added after signing. This signature does not cover them."
# Doubts about certificates. `{day}` is a date such as 2026-11-24.
EXPIRED = (
    "The certificate expired on {day}, before the time stamp was made.",
    "The certificate expired on {day}. No time stamp proves that the file was signed before then.",
)
REVOKED = (
    "The certificate was revoked on {day}, before the time stamp was made.",
    "The certificate was revoked on {day}. No time stamp proves that the file was signed before then.",
    "The certificate of the issuer “{issuer}” was revoked on {day}, before the time stamp was made.",
    "The certificate of the issuer “{issuer}” was revoked on {day}."
    " No time stamp proves that the file was signed before then.",
)
NOT_YET_VALID = "The certificate is not valid before {day}."
REVOCATION_UNKNOWN = "It is not known whether the certificate was revoked."
UNSAFE_ALGORITHM = "The signature uses an algorithm that is no longer safe ({algorithm})."
UNTRUSTED = "The certificate was issued by “{issuer}”, which is not trusted here."
UNPROVED = "The certificate issued by “{issuer}” could not be traced to a trusted authority."
OTHER_PURPOSE = "The certificate, or the certificate of an issuer, is not meant for signing documents."
ISSUER_EXPIRED = "The certificate of the issuer “{issuer}” has expired."
WITH_VALUES = list_forms(
    *EXPIRED, *REVOKED, NOT_YET_VALID, UNSAFE_ALGORITHM, UNTRUSTED, UNPROVED, ISSUER_EXPIRED
)
OF_A_TEST = "Sealed with a test certificate: no legal effect."
# Notes on added proof; they leave a signature valid.
PROOF_ADDED: Mapping[tuple[Addition, ...], str] = {
    ("validation_data",): "Only proof was added after signing: validation data.",
    ("document_timestamp",): "Only proof was added after signing: a document time stamp.",
    ("validation_data", "document_timestamp"): (
        "Only proof was added after signing: validation data and a document time stamp."
    ),
}
NOTES = frozenset((OF_A_TEST, *PROOF_ADDED.values()))

# What makes a signature invalid, by the names under which pages look for their words; the most serious first. Any
# other sentence makes a signature indeterminate, except for the notes (`NOTES`).
OBJECTIONS: Mapping[str, str] = {
    "changed": CHANGED,
    "mismatch": MISMATCH,
    "added": ADDED,
    "too_early": TOO_EARLY,
    "outside": OUTSIDE,
    "trail": TRAIL,
    "unreadable_file": UNREADABLE_FILE,
    "unreadable": UNREADABLE,
}
AGAINST = tuple(OBJECTIONS.values())

# ---------- the words for the values of the report ----------

COVERAGE: Mapping[Coverage, str] = {
    "entire_file": "the whole file",
    "entire_revision": "the whole file as it was signed",
    "contiguous": "only the beginning of the file",
    "unclear": "unclear parts of the file",
}
REVOCATION: Mapping[Revocation, str] = {
    "not_revoked": "no, according to proof in the file",
    "revoked": "yes",
    "not_checked": "unknown, no proof in the file",
}

# ---------- the whole file ----------

NO_SIGNATURE = "This file has no signature."
DO_NOT_RELY = "Do not rely on this file."
SIGNED_UNCHANGED = "What was signed has not changed."


def find_result(signature: Signature) -> Result:
    """Return the result of this signature alone, by its reasons."""
    reasons = {*signature["reasons"]} - NOTES
    if not reasons.isdisjoint(AGAINST):
        return "invalid"
    return "indeterminate" if reasons else "valid"


def find_objections(signature: Signature) -> list[str]:
    """Return the names of what makes the signature invalid, the most serious first."""
    return [name for name, reason in OBJECTIONS.items() if reason in signature["reasons"]]


def read_reason(reason: str) -> str:
    """Return a reason of a report as the sentence that it was, if values were put into it; any other as it is."""
    return read_back(reason, WITH_VALUES)


def is_level_missed(signature: Signature) -> bool:
    """Return whether a higher level was asked for than the signature has, unless its time stamp was removed later."""
    if STRIPPED in signature["reasons"]:
        return False
    level, asked = signature["level"], signature["levelAsked"]
    return level is not None and asked is not None and LEVELS.index(level) < LEVELS.index(asked)


def is_unchanged(signatures: Sequence[Signature]) -> bool:
    """Return whether a valid signature covers the file to the last byte and no reason speaks of a change."""
    whole = any(one["coverage"] == "entire_file" and one["intact"] and one["valid"] for one in signatures)
    changed = (*AGAINST, *UNSIGNED, STRIPPED)
    return whole and not any(reason in changed for one in signatures for reason in one["reasons"])


def summarise_signatures(result: Result, signatures: Sequence[Signature]) -> str:
    """Return one or two sentences on the whole file: unchanged, or what was added, or why it is not valid."""
    reasons = [reason for one in signatures for reason in one["reasons"]]
    if result == "unsigned":
        return NO_SIGNATURE
    if result == "invalid":
        return f"{DO_NOT_RELY} {next((one for one in reasons if one in AGAINST), UNREADABLE)}"
    if result == "indeterminate":
        doubt = next((one for one in reasons if one not in NOTES), "")
        return f"The signatures in this file could not be fully confirmed. {doubt}".strip()
    if is_unchanged(signatures):
        return "The file has not changed since it was signed."
    added = next((one for one in reasons if one in PROOF_ADDED.values()), "")
    return f"{SIGNED_UNCHANGED} {added}".strip()
