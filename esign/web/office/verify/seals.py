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
    issued_here: bool
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
        issued_here=proved and signature["issuedHere"],
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
    name = make_printable(signature["signerName"]) or "Unknown"
    return name.removeprefix(f"{TEST_MARK} – ").removesuffix(ROLE) if ours else name


def list_checks(signature: Signature) -> Iterator[CheckLine]:
    """Yield what speaks against the signature, what holds, and what is undecided."""
    reasons = signature["reasons"]
    against = find_objections(signature)
    yield from (CheckLine("bad", *one.halves) for one in against)
    if not against and not {*reasons} & {*UNCHECKED}:
        yield check_content(signature)
    if signature["valid"] and signature["trusted"]:
        ours = "It belongs to this installation."
        others = "It was issued by an authority that this installation trusts."
        yield CheckLine("good", "Trusted certificate.", ours if signature["issuedHere"] else others)
    if OF_A_TEST in reasons:
        yield CheckLine("warn", "Sealed in test mode.", "It has no legal effect.")
    for reason in reasons:
        if reason in UNCHECKED:
            yield CheckLine("warn", "Not checked:", reason)
        elif reason == STRIPPED:
            yield CheckLine("warn", "Altered after sealing:", reason)
        elif reason in UNSIGNED:
            yield CheckLine("warn", "Not covered by the seal:", reason)
        elif reason not in AGAINST and reason not in SHOWN_APART:
            yield CheckLine("warn", "Not confirmed:", make_printable(reason))
    if signature["certificate"] is not None:
        yield check_time(signature)


def check_content(signature: Signature) -> CheckLine:
    """Return the check of the sealed content, for a signature that nothing speaks against."""
    if STRIPPED in signature["reasons"]:
        return CheckLine(
            "good",
            "Content unchanged.",
            "Only data next to the signature was altered, and none of it is visible.",
        )
    if {*signature["reasons"]} & {*UNSIGNED}:
        return CheckLine("good", "Content unchanged.", "The unsigned data is next to the signature.")
    if signature["coverage"] == "entire_file":
        return CheckLine("good", "Nothing has changed.", "The seal covers every byte of the file.")
    if signature["additions"]:
        return CheckLine(
            "good",
            "What was sealed hasn’t changed.",
            f"Only proof was added later: {name_additions(signature)}.",
        )
    return CheckLine(
        "good", "What was sealed hasn’t changed.", "It can be told apart from what was added later."
    )


def name_additions(signature: Signature) -> str:
    """Return in words what was added after the seal, if it is only proof of validity."""
    return " and ".join(ADDITIONS[one] for one in signature["additions"])


def check_time(signature: Signature) -> CheckLine:
    """Return the check of the time: proved by a time stamp, or only claimed by the sealing computer."""
    stamp, claimed = signature["timestamp"], signature["signedAt"]
    if stamp is not None and not stamp["valid"]:
        return CheckLine("bad", DAMAGED_STAMP)
    if stamp is not None:
        authority = make_printable(stamp["authority"])
        if stamp["trusted"]:
            return CheckLine("good", "Time confirmed.", f"The time stamp is from {authority}.")
        unknown = f"It is from {authority}, an authority that this installation doesn’t know."
        return CheckLine("info", "Time stamp not confirmed.", unknown)
    # A document time stamp covers the whole file and is listed separately; this is about the one in the signature.
    strong = "No time stamp." if signature["level"] in (None, "B-B") else "No time stamp of its own."
    if is_level_missed(signature):
        strong = "No time stamp, although one was requested."
    if claimed is None:
        return CheckLine("info", strong, "Nothing says when it was sealed.")
    return CheckLine("info", strong, f"The sealing server’s clock said {format_time(parse(claimed))}.")


def list_details(signature: Signature) -> Iterator[tuple[str, str]]:
    """Yield the technical details as label and text."""
    certificate, stamp = signature["certificate"], signature["timestamp"]
    yield "Field", make_printable(signature["fieldName"]) or "none"
    yield "Covers", COVERAGE[signature["coverage"]]
    yield "Added later", MODIFICATION[signature["modification"]]
    yield "Bytes unchanged", "yes" if signature["intact"] else "no"
    yield "Signature matches", "yes" if signature["valid"] else "no"
    yield "Issuer trusted", "yes" if signature["trusted"] else "no"
    yield "Certificate revoked", REVOCATION[signature["revocation"]]
    if signature["signedAt"]:
        yield "Time claimed", signature["signedAt"]
    if stamp is not None:
        yield "Time stamp", f"{stamp['time']} {make_printable(stamp['authority'])}"
    if certificate is not None:
        yield "Subject", make_printable(certificate["subject"])
        yield "Issuer", make_printable(certificate["issuer"])
        yield "Serial number", certificate["serialNumber"]


def check_archive_stamps(stamps: Sequence[DocumentTimestamp]) -> Iterator[CheckLine]:
    """Yield a check for each document time stamp, which covers the whole file."""
    for stamp in stamps:
        authority = make_printable(stamp["authority"])
        if not stamp["valid"] or stamp["time"] is None:
            yield CheckLine("bad", "A time stamp on the whole file is damaged.", "It confirms no time.")
        elif stamp["trusted"]:
            at = format_time(parse(stamp["time"]))
            yield CheckLine(
                "good", f"The whole file existed on {at}.", f"The time stamp is from {authority}."
            )
        else:
            at = format_time(parse(stamp["time"]))
            unknown = f"It is from {authority}, an authority that this installation doesn’t know."
            yield CheckLine("info", f"The whole file was time-stamped on {at}.", unknown)


def extract_common_name(name: str) -> str:
    """Return the first part of `Common Name: Acme Authority, Organization: Acme`, without its label."""
    found = name.partition("Common Name: ")[2].partition(", ")[0]
    return make_printable(found or name)
