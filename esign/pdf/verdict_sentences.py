"""Every sentence of a verdict, once (contract 3.5).

The API sends the reasons as they are. The verification page and `esign verify` build on them: the page prints the
first words of an objection in bold and puts a title above it. Programs read `result` and the other members of the
report: the wording of a sentence may change (contract 9).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from esign.pdf.report import Addition, Coverage, Modification, Result, Revocation, Signature

LEVELS = ("B-B", "B-T", "B-LT", "B-LTA")  # each has what those before it have

# ---------- the reasons of a signature ----------

CHANGED = "The document was changed after it was signed."
MISMATCH = "The signature is damaged: it does not match the certificate it names."
OUTSIDE = "The signature does not cover the whole file: part of it is outside the signature."
ADDED = "Something was added to the file after it was signed that the signature does not allow."
UNRECOGNISED = "Something was added to the file after it was signed that may be more than proof."
NOT_COMPARED = "Proof was added after it was signed, and comparing the pages before and after takes too long."
TRAIL = "The audit trail in the file does not lead to the entry that the seal names."
TOO_EARLY = "A time stamp proves that it was signed before its certificate was valid."
UNREADABLE = "The signature is damaged and cannot be read."
UNREADABLE_FILE = (
    "The file is damaged, or something was added to it, so that its signatures cannot be found and checked."
)
MOST_SIGNATURES = 50  # of one file that are judged; each can take a pass over the whole file
UNJUDGED = "This program cannot check this kind of signature. It may still be genuine: check it with another program."
MOST_FIELDS = 5_000  # that name signatures; they can name the same ones again and again
TOO_MANY = (
    f"The file has more than {MOST_SIGNATURES} signatures, or thousands of signature fields. This one and those after"
    " it were not checked."
)
UNCHECKED = (UNJUDGED, TOO_MANY)
STRIPPED = "The time stamp that it was sealed with was removed from the file."
PADDED = "The space left after a signature or time stamp holds data that nobody signed."
BURDENED = (
    "The bytes of a signature or time stamp hold data that its signer did not sign and that proves nothing."
)
UNSIGNED = (PADDED, BURDENED)  # it cannot be found out whether these bytes were there from the start
DAMAGED_STAMP = "Its time stamp is damaged and confirms no time."
DAMAGED_ARCHIVE = "A time stamp on the whole document is damaged."
UNJUDGED_ARCHIVE = (
    "This program cannot check a time stamp on the whole document, so it confirms no time here."
)
FORM_FILLED = (
    "Form values or a further signature were added after it was signed, and it does not vouch for them."
)
EXPIRED = "The certificate expired on"  # the beginnings of two of the doubts
REVOKED = "was revoked on"
OF_A_TEST = "Sealed with a test certificate: no legal effect."
# Notes on added proof; they leave a signature valid.
PROOF_ADDED: Mapping[tuple[Addition, ...], str] = {
    ("validation_data",): "Only proof was added after it was signed: validation data.",
    ("document_timestamp",): "Only proof was added after it was signed: a document time stamp.",
    ("validation_data", "document_timestamp"): (
        "Only proof was added after it was signed: validation data and a document time stamp."
    ),
}
NOTES = frozenset((OF_A_TEST, *PROOF_ADDED.values()))


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason that makes a signature invalid, how many of its words are printed in bold, and the title of the page."""

    reason: str
    bold: int
    title: str

    @property
    def halves(self) -> tuple[str, str]:
        """Return the words in bold and the others."""
        words = self.reason.split()
        return " ".join(words[: self.bold]), " ".join(words[self.bold :])


# The most serious first. Any other sentence makes a signature indeterminate, except for the notes (`NOTES`).
OBJECTIONS = (
    Objection(CHANGED, 4, "Changed after it was sealed"),
    Objection(MISMATCH, 4, "Not a genuine seal"),
    Objection(ADDED, 3, "Changed after it was sealed"),
    Objection(TOO_EARLY, 4, "Not a genuine seal"),
    Objection(OUTSIDE, 8, "Only part of the file is sealed"),
    Objection(TRAIL, 6, "The audit trail is not genuine"),
    Objection(UNREADABLE_FILE, 4, "The file is damaged"),
    Objection(UNREADABLE, 4, "The seal is damaged"),
)
AGAINST = tuple(one.reason for one in OBJECTIONS)

# ---------- the words for the values of the report ----------

COVERAGE: Mapping[Coverage, str] = {
    "entire_file": "the whole file",
    "entire_revision": "the whole file as it was when it was signed",
    "contiguous": "only the beginning of the file",
    "unclear": "unclear parts of the file",
}
MODIFICATION: Mapping[Modification, str] = {
    "none": "nothing",
    "lta_updates": "proof that the seal is valid, such as an archive time stamp",
    "form_filling": "form values or another signature",
    "annotations": "comments or marks",
    "other": "something that changes, or may change, what the file shows or does",
}
LEVEL: Mapping[str, str] = {
    "B-B": "B-B, without a time stamp",
    "B-T": "B-T, with a time stamp",
    "B-LT": "B-LT, with proof of validity",
    "B-LTA": "B-LTA, with an archive time stamp",
}
REVOCATION: Mapping[Revocation, str] = {
    "not_revoked": "no, according to proof in the file",
    "revoked": "yes",
    "not_checked": "unknown, no proof in the file",
}
ADDITIONS: Mapping[Addition, str] = {
    "validation_data": "validation data (certificates and revocation proof)",
    "document_timestamp": "a time stamp on the whole file",
}

# ---------- the whole file ----------

NO_SIGNATURE = "There is no signature in this file."
DO_NOT_RELY = "Do not rely on this file."
SIGNED_UNCHANGED = "What was signed is unchanged."


def find_result(signature: Signature) -> Result:
    """Return the result of this signature alone, by its reasons."""
    reasons = {*signature["reasons"]} - NOTES
    if not reasons.isdisjoint(AGAINST):
        return "invalid"
    return "indeterminate" if reasons else "valid"


def find_objections(signature: Signature) -> list[Objection]:
    """Return what makes the signature invalid, the most serious first."""
    return [one for one in OBJECTIONS if one.reason in signature["reasons"]]


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
        return f"This file could not be confirmed as valid. {doubt}".strip()
    if is_unchanged(signatures):
        return "The file is unchanged since it was signed."
    added = next((one for one in reasons if one in PROOF_ADDED.values()), "")
    return f"{SIGNED_UNCHANGED} {added}".strip()
