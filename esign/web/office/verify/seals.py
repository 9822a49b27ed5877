"""Describe one signature of a file in words: its result, whose it is, and each thing that was checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from esign.core.instant import Instant, parse
from esign.core.seal_credential import TEST_MARK
from esign.pdf.report import DocumentTimestamp, Result, Signature
from esign.pdf.verdict_sentences import (
    AGAINST,
    DAMAGED_ARCHIVE,
    DAMAGED_STAMP,
    LEVELS,
    NOTES,
    OF_A_TEST,
    STRIPPED,
    UNCHECKED,
    UNSIGNED,
    find_objections,
    find_result,
    is_level_missed,
    read_reason,
)
from esign.web.office.frame.words import OfficeWords
from esign.web.office.verify.untrusted_text import format_time, isolate, make_printable

ROLE = " Document Seal"  # what `authority.make_certificates` adds to the name of the organisation
Tone = Literal["good", "warn", "bad", "info"]

SHOWN_APART = NOTES | {DAMAGED_STAMP, DAMAGED_ARCHIVE}


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line in the list of checks. The text begins with a few words in bold."""

    tone: Tone
    text: Markup


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
    details: tuple[tuple[Markup, Markup | str], ...]


def describe_seal(signature: Signature, t: OfficeWords) -> SealSummary:
    """Return a signature as the page shows it."""
    certificate, stamp = signature["certificate"], signature["timestamp"]
    proved = signature["valid"] and signature["trusted"]
    stamped = stamp is not None and stamp["valid"] and stamp["trusted"]
    claimed = stamp["time"] if stamp is not None and stamped else signature["signedAt"]
    level = signature["level"]
    return SealSummary(
        result=find_result(signature),
        name=name_sealer(signature, t, ours=proved and signature["issuedHere"]),
        proved=proved,
        issued_here=proved and signature["issuedHere"],
        at=parse(claimed) if claimed else None,
        stamped=stamped,
        level=str(t(f"verify.level_of.{level}")) if level in LEVELS else level,
        issuer=extract_common_name(certificate["issuer"]) if certificate else None,
        since=parse(certificate["notBefore"]) if certificate else None,
        until=parse(certificate["notAfter"]) if certificate else None,
        fingerprint=certificate["sha256"] if certificate else None,
        test=OF_A_TEST in signature["reasons"],
        checks=tuple(list_checks(signature, t)),
        details=tuple(list_details(signature, t)),
    )


def name_sealer(signature: Signature, t: OfficeWords, *, ours: bool) -> str:
    """Return the signer's name; if `ours`, only the organisation's name, without the words added around it."""
    name = make_printable(signature["signerName"]) or str(t("verify.unknown_name"))
    return name.removeprefix(f"{TEST_MARK} – ").removesuffix(ROLE) if ours else name


def list_checks(signature: Signature, t: OfficeWords) -> Iterator[CheckLine]:
    """Yield what speaks against the signature, what holds, and what is undecided."""
    reasons = signature["reasons"]
    against = find_objections(signature)
    yield from (CheckLine("bad", t(f"verify.objection.{name}")) for name in against)
    if not against and not {*reasons} & {*UNCHECKED}:
        yield CheckLine("good", describe_content(signature, t))
    if signature["valid"] and signature["trusted"]:
        whose = "ours" if signature["issuedHere"] else "others"
        yield CheckLine("good", t(f"verify.check.trusted_{whose}"))
    if OF_A_TEST in reasons:
        yield CheckLine("warn", t("verify.check.test"))
    for reason in reasons:
        if reason not in AGAINST and reason not in SHOWN_APART:
            yield CheckLine("warn", t(f"verify.check.{classify_doubt(reason)}", reason=say_reason(reason, t)))
    if signature["certificate"] is not None:
        yield check_time(signature, t)


def classify_doubt(reason: str) -> Literal["unchecked", "altered", "uncovered", "unconfirmed"]:
    """Return the name of the words before a reason that leaves a signature undecided."""
    if reason in UNCHECKED:
        return "unchecked"
    if reason == STRIPPED:
        return "altered"
    return "uncovered" if reason in UNSIGNED else "unconfirmed"


def say_reason(reason: str, t: OfficeWords) -> Markup:
    """Return a reason of a report in the reader's language; it may quote names of an untrusted file."""
    return t.say(read_reason(make_printable(reason)))


def describe_content(signature: Signature, t: OfficeWords) -> Markup:
    """Return the check of the sealed content, for a signature that nothing speaks against."""
    if STRIPPED in signature["reasons"]:
        return t("verify.check.content_altered")
    if {*signature["reasons"]} & {*UNSIGNED}:
        return t("verify.check.content_unsigned")
    if signature["coverage"] == "entire_file":
        return t("verify.check.content_whole")
    if signature["additions"]:
        return t("verify.check.content_proof", proof=name_additions(signature, t))
    return t("verify.check.content_apart")


def name_additions(signature: Signature | None, t: OfficeWords) -> Markup:
    """Return in words what was added after the seal, if it is only proof of validity."""
    added = signature["additions"] if signature is not None else []
    return t(f"verify.additions.{'both' if len(added) > 1 else added[0] if added else 'none'}")


def check_time(signature: Signature, t: OfficeWords) -> CheckLine:
    """Return the check of the time: proved by a time stamp, or only claimed by the sealing computer."""
    stamp, claimed = signature["timestamp"], signature["signedAt"]
    if stamp is not None and not stamp["valid"]:
        return CheckLine("bad", t("verify.check.stamp_damaged"))
    if stamp is not None:
        authority = isolate(make_printable(stamp["authority"]))
        if stamp["trusted"]:
            return CheckLine("good", t("verify.check.stamp_trusted", authority=authority))
        return CheckLine("info", t("verify.check.stamp_unknown", authority=authority))
    # A document time stamp covers the whole file and is listed separately; this is about the one in the signature.
    key = "no_stamp" if signature["level"] in (None, "B-B") else "no_own_stamp"
    if is_level_missed(signature):
        key = "stamp_missed"
    if claimed is None:
        return CheckLine("info", t(f"verify.check.{key}_no_time"))
    return CheckLine("info", t(f"verify.check.{key}", at=format_time(parse(claimed), t)))


def list_details(signature: Signature, t: OfficeWords) -> Iterator[tuple[Markup, Markup | str]]:
    """Yield the technical details as label and text."""
    certificate, stamp = signature["certificate"], signature["timestamp"]
    answers = {True: t("verify.detail.yes"), False: t("verify.detail.no")}
    yield t("verify.detail.field"), make_printable(signature["fieldName"]) or t("verify.detail.none")
    yield t("verify.detail.covers"), t(f"verify.coverage.{signature['coverage']}")
    yield t("verify.detail.added"), t(f"verify.modification.{signature['modification']}")
    yield t("verify.detail.intact"), answers[signature["intact"]]
    yield t("verify.detail.matches"), answers[signature["valid"]]
    yield t("verify.detail.trusted"), answers[signature["trusted"]]
    yield t("verify.detail.revoked"), t(f"verify.revocation.{signature['revocation']}")
    if signature["signedAt"]:
        yield t("verify.detail.claimed"), signature["signedAt"]
    if stamp is not None:
        yield t("verify.detail.stamp"), f"{stamp['time']} {make_printable(stamp['authority'])}"
    if certificate is not None:
        yield t("verify.detail.subject"), make_printable(certificate["subject"])
        yield t("verify.detail.issuer"), make_printable(certificate["issuer"])
        yield t("verify.detail.serial"), certificate["serialNumber"]


def check_archive_stamps(stamps: Sequence[DocumentTimestamp], t: OfficeWords) -> Iterator[CheckLine]:
    """Yield a check for each document time stamp, which covers the whole file."""
    for stamp in stamps:
        if not stamp["valid"] or stamp["time"] is None:
            yield CheckLine("bad", t("verify.check.archive_damaged"))
            continue
        at, authority = format_time(parse(stamp["time"]), t), isolate(make_printable(stamp["authority"]))
        if stamp["trusted"]:
            yield CheckLine("good", t("verify.check.archive_trusted", at=at, authority=authority))
        else:
            yield CheckLine("info", t("verify.check.archive_unknown", at=at, authority=authority))


def extract_common_name(name: str) -> str:
    """Return the first part of `Common Name: Acme Authority, Organization: Acme`, without its label."""
    found = name.partition("Common Name: ")[2].partition(", ")[0]
    return make_printable(found or name)
