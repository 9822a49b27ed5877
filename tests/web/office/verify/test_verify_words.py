"""The words for what no file of the tests can show: time stamps that are trusted or damaged, seals that do not fit."""

from typing import Any

import pytest
from markupsafe import escape

from esign.core.instant import parse
from esign.core.sentence import read_parts
from esign.pdf.report import Result, Signature, Verification
from esign.pdf.verdict_sentences import (
    ADDED,
    AGAINST,
    BURDENED,
    CHANGED,
    DAMAGED_STAMP,
    EXPIRED,
    MISMATCH,
    OBJECTIONS,
    OUTSIDE,
    PADDED,
    REVOCATION_UNKNOWN,
    REVOKED,
    STRIPPED,
    TOO_EARLY,
    TOO_MANY,
    TRAIL,
    UNJUDGED,
    UNREADABLE,
    UNREADABLE_FILE,
    WITH_VALUES,
    is_unchanged,
    read_reason,
    summarise_signatures,
)
from esign.web.office.frame.words import load_words
from esign.web.office.verify import seals
from esign.web.office.verify.seals import SealSummary
from esign.web.office.verify.untrusted_text import make_printable
from esign.web.office.verify.verdict import VerdictSummary, reach_verdict

T = load_words("en")


def a_signature(**changes: Any) -> Signature:
    made: Any = {
        "fieldName": "Seal",
        "signerName": "Acme Document Seal",
        "signedAt": "2026-11-21T11:02:00.000Z",
        "intact": True,
        "valid": True,
        "trusted": True,
        "issuedHere": True,
        "revocation": "not_checked",
        "coverage": "entire_file",
        "modification": "none",
        "additions": [],
        "timestamp": None,
        "level": "B-T",
        "levelAsked": None,
        "certificate": {
            "subject": "Common Name: Acme Document Seal",
            "issuer": "Organization: Acme, Common Name: Acme Authority",
            "serialNumber": "5e",
            "notBefore": "2026-01-01T00:00:00.000Z",
            "notAfter": "2028-12-31T00:00:00.000Z",
            "sha256": "ab" * 32,
        },
        "reasons": [],
    }
    made.update(changes)
    signature: Signature = made
    return signature


def a_stamp(**changes: Any) -> dict[str, Any]:
    stamp = {
        "valid": True,
        "trusted": True,
        "time": "2026-11-21T11:03:00.000Z",
        "authority": "tsa.example.org",
    }
    return stamp | changes


def describe_seal(signature: Signature) -> SealSummary:
    return seals.describe_seal(signature, T)


def judge_result(result: Result, *signatures: Signature) -> VerdictSummary:
    found: Verification = {
        "result": result,
        "summary": summarise_signatures(result, signatures),
        "unchanged": is_unchanged(signatures),
        "sha256": "cd" * 32,
        "pageCount": 1,
        "issuedHere": False,
        "documentId": None,
        "audit": None,
        "signers": [],
        "signatures": list(signatures),
        "documentTimestamps": [],
    }
    return reach_verdict(found, [describe_seal(signature) for signature in signatures], None, T)


def list_said(signature: Signature) -> list[tuple[str, str]]:
    return [(check.tone, str(check.text.striptags())) for check in describe_seal(signature).checks]


def test_a_trusted_time_stamp_proves_the_time() -> None:
    shown = describe_seal(a_signature(timestamp=a_stamp()))
    assert (shown.stamped, shown.at) == (True, parse("2026-11-21T11:03:00.000Z"))
    assert ("good", "Time confirmed. The time stamp is from tsa.example.org.") in list_said(
        a_signature(timestamp=a_stamp())
    )


def test_an_untrusted_or_damaged_time_stamp_proves_none() -> None:
    for stamp in (a_stamp(trusted=False), a_stamp(valid=False)):
        shown = describe_seal(a_signature(timestamp=stamp))
        assert (shown.stamped, shown.at) == (False, parse("2026-11-21T11:02:00.000Z"))
    assert ("bad", DAMAGED_STAMP) in list_said(a_signature(timestamp=a_stamp(valid=False)))


def test_a_seal_without_any_time_says_so() -> None:
    alone = a_signature(signedAt=None, level="B-B")
    assert ("info", "No time stamp. The file doesn’t say when it was sealed.") in list_said(alone)
    assert (
        judge_result("valid", a_signature(signedAt=None)).text
        == "This is exactly the file that <bdi>Acme</bdi> sealed."
    )


def test_a_seal_whose_level_comes_from_a_time_stamp_over_the_file_does_not_deny_that() -> None:
    by_clock = "The sealing server’s clock said 21 Nov 2026, 11:02 UTC."
    assert ("info", f"No time stamp of its own. {by_clock}") in list_said(a_signature(level="B-T"))
    assert ("info", f"No time stamp. {by_clock}") in list_said(a_signature(level="B-B"))
    assert ("info", f"No time stamp. {by_clock}") in list_said(a_signature(level="B-B", levelAsked="B-B"))
    missed = a_signature(level="B-B", levelAsked="B-T")
    assert ("info", f"No time stamp, although one was requested. {by_clock}") in list_said(missed)


def test_a_seal_whose_time_stamp_was_taken_off_says_so_and_not_that_no_byte_changed() -> None:
    for reason, lead in (
        (STRIPPED, "Altered after sealing"),
        (PADDED, "Not covered by the seal"),
        (BURDENED, "Not covered by the seal"),
    ):
        beside = a_signature(level="B-B", levelAsked="B-T", reasons=[reason])
        told = list_said(beside)
        assert ("warn", f"{lead}: {reason}") in told
        assert not any("every byte" in words for _, words in told)
        assert not is_unchanged([beside])
        whole = judge_result("indeterminate", beside)
        assert whole.title == "Not fully confirmed"
        assert whole.text.startswith("What was sealed hasn’t changed.")
    words = " ".join(
        words for _, words in list_said(a_signature(level="B-B", levelAsked="B-T", reasons=[STRIPPED]))
    )
    assert "one was requested" not in words


def test_a_signature_that_was_not_checked_claims_nothing() -> None:
    for reason in (UNJUDGED, TOO_MANY):
        unchecked = a_signature(
            certificate=None, valid=False, trusted=False, coverage="unclear", reasons=[reason]
        )
        assert list_said(unchecked) == [("warn", f"Not checked: {reason}")]


@pytest.mark.parametrize(
    ("reason", "title"),
    [
        (CHANGED, "Changed after it was sealed"),
        (MISMATCH, "Not a genuine seal"),
        (OUTSIDE, "Only part of the file is sealed"),
        (ADDED, "Changed after it was sealed"),
        (TOO_EARLY, "Not a genuine seal"),
        (TRAIL, "The audit trail isn’t genuine"),
        (UNREADABLE, "The seal is damaged"),
        (UNREADABLE_FILE, "The file is damaged"),
    ],
)
def test_each_reason_against_a_seal_has_its_words(reason: str, title: str) -> None:
    broken = a_signature(reasons=[reason], valid=False)
    told = judge_result("invalid", broken)
    assert (told.tone, told.title) == ("bad", title) and "sealed original" in told.text
    assert describe_seal(broken).result == "invalid" and not describe_seal(broken).proved
    assert list_said(broken)[0][0] == "bad" and all(tone != "good" for tone, _ in list_said(broken))


def test_there_are_words_for_every_reason_against_a_seal() -> None:
    assert len(AGAINST) == 8, "a new one wants its words and its row above"


def test_a_doubt_of_any_other_kind_is_told_in_its_own_words() -> None:
    doubt = REVOCATION_UNKNOWN
    told = judge_result("indeterminate", a_signature(trusted=False, reasons=[doubt]))
    assert told.title == "Unknown signer"
    assert ("warn", f"Not confirmed: {doubt}") in list_said(a_signature(trusted=False, reasons=[doubt]))
    early = "The certificate is not valid before 2027-01-01."
    assert judge_result("indeterminate", a_signature(reasons=[early])).title == "Not fully confirmed"


def test_the_worst_of_several_decides_whatever_its_place() -> None:
    broken = a_signature(reasons=[CHANGED], valid=False)
    for signatures in ((a_signature(), broken), (broken, a_signature())):
        assert judge_result("invalid", *signatures).title == "Changed after it was sealed"


def test_a_certificate_of_this_installation_is_named_by_its_organisation_and_any_other_as_it_is() -> None:
    assert describe_seal(a_signature()).name == "Acme"
    assert describe_seal(a_signature(trusted=False)).name == "Acme Document Seal"
    assert describe_seal(a_signature(signerName="", trusted=False)).name == "Unknown"
    assert describe_seal(a_signature()).issuer == "Acme Authority"


def test_text_of_others_is_one_line_without_tricks() -> None:
    assert make_printable("a\u202eb\nc\0d") == "a b c d"
    assert make_printable("क\u094dष \u200d") == "क\u094dष \u200d".strip(), (
        "joiners are letters of some scripts"
    )
    assert len(make_printable("x" * 10_000)) == 241


@pytest.mark.parametrize("name", OBJECTIONS)
def test_the_words_of_the_page_against_a_seal_are_those_of_the_report(name: str) -> None:
    assert T(f"verify.objection.{name}").striptags() == OBJECTIONS[name]


REASONS = [
    form.format(day="2027-01-01", issuer="Acme, “the” {authority}", algorithm="md5") for form in WITH_VALUES
]


@pytest.mark.parametrize(("form", "reason"), list(zip(WITH_VALUES, REASONS, strict=True)))
def test_a_reason_with_values_is_read_back_as_its_form(form: str, reason: str) -> None:
    found, values = read_parts(read_reason(reason))
    assert found == form and form.format(**values) == reason
    assert T.say(read_reason(reason)) == escape(reason)


def test_a_reason_without_values_is_read_as_it_is() -> None:
    assert read_reason(CHANGED) == CHANGED


@pytest.mark.parametrize(
    ("form", "title"),
    [
        *((form, "The certificate was revoked") for form in REVOKED),
        *((form, "The certificate has expired") for form in EXPIRED),
    ],
)
def test_a_certificate_that_has_ended_is_told_in_the_title(form: str, title: str) -> None:
    reason = form.format(day="2027-01-01", issuer="Acme")
    assert judge_result("indeterminate", a_signature(reasons=[reason])).title == title
