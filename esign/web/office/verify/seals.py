"""Describe one signature of a file in words: its result, whose it is, and each thing that was checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from esign.core.instant import Instant, parse
from esign.core.seal_credential import TEST_MARK
from esign.pdf.report import DocumentTimestamp, Result, Signature
from esign.pdf.verdict_sentences import (
    ADDITIONS,
    AGAINST,
    COVERAGE,
    DAMAGED_ARCHIVE,
    DAMAGED_STAMP,
    LEVEL,
    MODIFICATION,
    NOTES,
    OF_A_TEST,
    REVOCATION,
    STRIPPED,
    UNCHECKED,
    UNSIGNED,
    find_objections,
    find_result,
    is_level_missed,
)
from esign.web.office.verify.untrusted_text import format_time, make_printable

ROLE = " Document Seal"  # what `authority.make_certificates` adds to the name of the organisation
Tone = Literal["good", "warn", "bad", "info"]

SHOWN_APART = NOTES | {DAMAGED_STAMP, DAMAGED_ARCHIVE}


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line in the list of checks: `strong` is printed in bold, `rest` follows it."""

    tone: Tone
    strong: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class SealSummary:
    """A signature as the page shows it.

    `proved` means that the name comes from a certificate that is trusted here. `since` and `until` are the
    validity of the certificate.
    """

    result: Result
    name: str
    proved: bool
    at: Instant | None
    stamped: bool
    level: str | None
    issuer: str | None
    since: Instant | None
    until: Instant | None
    fingerprint: str | None
    test: bool
    checks: tuple[CheckLine, ...]
    details: tuple[tuple[str, str], ...]


def describe_seal(signature: Signature) -> SealSummary:
    """Return a signature as the page shows it."""
    certificate, stamp = signature["certificate"], signature["timestamp"]
    proved = signature["valid"] and signature["trusted"]
    stamped = stamp is not None and stamp["valid"] and stamp["trusted"]
    claimed = stamp["time"] if stamp is not None and stamped else signature["signedAt"]
    return SealSummary(
        result=find_result(signature),
        name=name_sealer(signature, proved and signature["issuedHere"]),
        proved=proved,
        at=parse(claimed) if claimed else None,
        stamped=stamped,
        level=LEVEL.get(signature["level"] or "", signature["level"]),
        issuer=extract_common_name(certificate["issuer"]) if certificate else None,
        since=parse(certificate["notBefore"]) if certificate else None,
        until=parse(certificate["notAfter"]) if certificate else None,
        fingerprint=certificate["sha256"] if certificate else None,
        test=OF_A_TEST in signature["reasons"],
        checks=tuple(list_checks(signature)),
        details=tuple(list_details(signature)),
    )


def name_sealer(signature: Signature, ours: bool) -> str:
    """Return the signer's name; if `ours`, only the organisation's name, without the words added around it."""
    name = make_printable(signature["signerName"]) or "Nobody can tell"
    return name.removeprefix(f"{TEST_MARK} – ").removesuffix(ROLE) if ours else name


def list_checks(signature: Signature) -> Iterator[CheckLine]:
    """Yield what speaks against the signature, what holds, and what is undecided."""
    reasons = signature["reasons"]
    against = find_objections(signature)
    yield from (CheckLine("bad", *one.halves) for one in against)
    if not against and not {*reasons} & {*UNCHECKED}:
        yield check_content(signature)
    if signature["valid"] and signature["trusted"]:
        whose = (
            "is that of this installation"
            if signature["issuedHere"]
            else "was issued by an authority trusted here"
        )
        yield CheckLine("good", "Certificate trusted:", f"it {whose}.")
    if OF_A_TEST in reasons:
        yield CheckLine("warn", "Sealed in test mode:", "no legal effect.")
    for reason in reasons:
        if reason in UNCHECKED:
            yield CheckLine("warn", "Not checked:", reason)
        elif reason == STRIPPED:
            yield CheckLine("warn", "Altered after it was sealed:", reason)
        elif reason in UNSIGNED:
            yield CheckLine("warn", "Not under the seal:", reason)
        elif reason not in AGAINST and reason not in SHOWN_APART:
            yield CheckLine("warn", "Not proved:", make_printable(reason))
    if signature["certificate"] is not None:
        yield check_time(signature)


def check_content(signature: Signature) -> CheckLine:
    """Return the check of the sealed content, for a signature that nothing speaks against."""
    if STRIPPED in signature["reasons"]:
        return CheckLine(
            "good", "Content unchanged.", "What was altered is beside the signature and shows nothing."
        )
    if {*signature["reasons"]} & {*UNSIGNED}:
        return CheckLine("good", "Content unchanged.", "What nobody signed is beside the signature.")
    if signature["coverage"] == "entire_file":
        return CheckLine(
            "good", "Whole file covered", "by the seal, no byte of it changed and none outside it."
        )
    if signature["additions"]:
        return CheckLine(
            "good",
            "What was sealed is unchanged.",
            f"Only proof was added later: {name_additions(signature)}.",
        )
    return CheckLine("good", "What was sealed is unchanged", "and can still be told from what came later.")


def name_additions(signature: Signature) -> str:
    """Return in words what was added after the seal, if it is only proof of validity."""
    return " and ".join(ADDITIONS[one] for one in signature["additions"])


def check_time(signature: Signature) -> CheckLine:
    """Return the check of the time: proved by a time stamp, or only claimed by the sealing computer."""
    stamp, claimed = signature["timestamp"], signature["signedAt"]
    if stamp is not None and not stamp["valid"]:
        return CheckLine("bad", DAMAGED_STAMP)
    if stamp is not None:
        by = f"by {make_printable(stamp['authority'])}"
        if stamp["trusted"]:
            return CheckLine("good", "Time proved", f"{by}.")
        return CheckLine("info", "Time stamped", f"{by}, an authority that this installation does not know.")
    # A document time stamp covers the whole file and is listed separately; this is about the one in the signature.
    own = "" if signature["level"] in (None, "B-B") else " of its own"
    missed = ", though one was asked for" if is_level_missed(signature) else ""
    if claimed is None:
        return CheckLine("info", f"No time stamp{own}{missed}:", "nothing says when it was sealed.")
    clock = f"{format_time(parse(claimed))} is what the clock of the sealing computer said."
    return CheckLine("info", f"No time stamp{own}{missed}:", clock)


def list_details(signature: Signature) -> Iterator[tuple[str, str]]:
    """Yield the technical details as label and text."""
    certificate, stamp = signature["certificate"], signature["timestamp"]
    yield "Field", make_printable(signature["fieldName"]) or "none"
    yield "Covers", COVERAGE[signature["coverage"]]
    yield "Added since", MODIFICATION[signature["modification"]]
    yield "Bytes unchanged", "yes" if signature["intact"] else "no"
    yield "Signature fits", "yes" if signature["valid"] else "no"
    yield "Issuer trusted here", "yes" if signature["trusted"] else "no"
    yield "Certificate revoked", REVOCATION[signature["revocation"]]
    if signature["signedAt"]:
        yield "Claimed time", signature["signedAt"]
    if stamp is not None:
        yield "Time stamp", f"{stamp['time']} {make_printable(stamp['authority'])}"
    if certificate is not None:
        yield "Subject", make_printable(certificate["subject"])
        yield "Issuer", make_printable(certificate["issuer"])
        yield "Serial number", certificate["serialNumber"]


def check_archive_stamps(stamps: Sequence[DocumentTimestamp]) -> Iterator[CheckLine]:
    """Yield a check for each document time stamp, which covers the whole file."""
    for stamp in stamps:
        by = (
            f"{format_time(parse(stamp['time']))}, by {make_printable(stamp['authority'])}"
            if stamp["time"]
            else ""
        )
        if not stamp["valid"]:
            yield CheckLine("bad", "A time stamp over the file is damaged,", "so it proves no time.")
        elif stamp["trusted"]:
            yield CheckLine("good", "The whole file existed on", f"{by}.")
        else:
            yield CheckLine("info", "The whole file was time stamped on", f"{by}, which is not trusted here.")


def extract_common_name(name: str) -> str:
    """Return the first part of `Common Name: Acme Authority, Organization: Acme`, without its label."""
    found = name.partition("Common Name: ")[2].partition(", ")[0]
    return make_printable(found or name)
