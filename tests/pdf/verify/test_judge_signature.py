"""Time stamps, levels and revocation: what other makers put into a file, and what it is worth here."""

from datetime import timedelta
from typing import Any

import pytest

from esign.core.instant import DAY
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.others import a_stamper, signed_in_loop, stamped_in_loop
from tests.pdf.proofs import LAST, a_list, an_answer, declaring, with_junk, with_proofs, with_stamp_of
from tests.pdf.sealing import a_pdf
from tests.pki import MADE, NOW, YEAR, Issued, a_seal, an_authority

ROOT = an_authority()
OTHER = an_authority("Other Root")
TSA = an_authority("Test Time Stamps Root")
SHORT = a_seal(ROOT, last=MADE + YEAR)  # expires six weeks after NOW
LATER = NOW + 100 * DAY
MUCH_LATER = NOW + 1500 * DAY  # when the certificate of the time stamps has expired too
ROOTS = (ROOT.der, TSA.der)


def judge_file(file: bytes, *roots: bytes, now: int = NOW, **more: Any) -> tuple[str, dict[str, Any]]:
    verdict = verify_signatures(file, roots or ROOTS, now, **more)
    (signature,) = verdict["signatures"]
    return verdict["result"], dict(signature)


PLAIN = signed_in_loop(a_pdf(), SHORT, "One", None)
STAMPED = signed_in_loop(a_pdf(), SHORT, "One", a_stamper())
PROVED = with_proofs(STAMPED, a_list(ROOT, NOW), a_list(TSA, NOW))
ARCHIVED = stamped_in_loop(PROVED, a_stamper(at=NOW + DAY))


# ---------- levels ----------


@pytest.mark.parametrize(
    ("file", "level", "modification"),
    [
        (PLAIN, "B-B", "none"),
        (STAMPED, "B-T", "none"),
        (PROVED, "B-LT", "lta_updates"),
        (ARCHIVED, "B-LTA", "lta_updates"),
        (stamped_in_loop(PLAIN, a_stamper()), "B-T", "lta_updates"),
        (with_proofs(PLAIN, a_list(ROOT, NOW)), "B-B", "lta_updates"),
        (stamped_in_loop(STAMPED, a_stamper()), "B-T", "lta_updates"),
    ],
    ids=["B-B", "B-T", "B-LT", "B-LTA", "stamped whole", "proofs without time", "stamped twice"],
)
def test_each_level_is_known_by_its_parts_and_valid(file: bytes, level: str, modification: str) -> None:
    result, signature = judge_file(file)
    assert (result, signature["level"], signature["modification"]) == ("valid", level, modification)


def test_proofs_about_somebody_else_do_not_lift_the_level() -> None:
    declared = a_seal(ROOT, extensions=declaring())
    file = signed_in_loop(a_pdf(), declared, "One", a_stamper())
    assert judge_file(with_proofs(file, a_list(OTHER, NOW)))[1]["level"] == "B-T"
    assert judge_file(with_proofs(file, a_list(ROOT, NOW)))[1]["level"] == "B-LT"


# ---------- time stamps ----------


def test_a_time_stamp_is_told_with_its_time_and_its_authority() -> None:
    stamp = {
        "valid": True,
        "trusted": True,
        "time": "2026-11-21T00:00:00.000Z",
        "authority": "Test Time Stamps",
    }
    assert judge_file(STAMPED)[1]["timestamp"] == stamp
    result, signature = judge_file(STAMPED, ROOT.der)
    assert (result, signature["timestamp"]) == ("valid", stamp | {"trusted": False})


def test_a_trusted_time_stamp_proves_that_the_certificate_had_not_expired() -> None:
    assert judge_file(PLAIN, now=LATER)[0] == "indeterminate"
    assert judge_file(STAMPED, now=LATER)[0] == "valid"
    result, signature = judge_file(STAMPED, ROOT.der, now=LATER)
    assert (result, signature["reasons"]) == (
        "indeterminate",
        ["The certificate expired on 2027-01-01. No time stamp proves that the file was signed before then."],
    )


def test_a_time_stamp_over_the_document_proves_it_as_well() -> None:
    assert judge_file(stamped_in_loop(PLAIN, a_stamper()), now=LATER)[0] == "valid"
    assert judge_file(stamped_in_loop(PLAIN, a_stamper()), ROOT.der, now=LATER)[0] == "indeterminate"


def test_a_time_stamp_younger_than_the_expiry_proves_nothing() -> None:
    late = stamped_in_loop(PLAIN, a_stamper(at=LATER - DAY))
    result, signature = judge_file(late, now=LATER)
    assert (result, signature["reasons"]) == (
        "indeterminate",
        [
            "The certificate expired on 2027-01-01, before the time stamp was made.",
            "Only proof was added after signing: a document time stamp.",
        ],
    )


def test_a_chain_of_time_stamps_outlives_their_certificates() -> None:
    assert judge_file(STAMPED, now=MUCH_LATER)[0] == "indeterminate", (
        "the time stamp's certificate has expired"
    )
    new = a_stamper("New Time Stamps", at=NOW + 700 * DAY, last=MADE + 9 * YEAR)
    renewed = stamped_in_loop(STAMPED, new)
    roots = (*ROOTS, an_authority("New Time Stamps Root").der)
    assert judge_file(renewed, *roots, now=MUCH_LATER)[0] == "valid"
    assert judge_file(renewed, now=MUCH_LATER)[0] == "indeterminate", "nobody here trusts the new one"
    too_late = stamped_in_loop(
        STAMPED, a_stamper("New Time Stamps", at=NOW + 1400 * DAY, last=MADE + 9 * YEAR)
    )
    assert judge_file(too_late, *roots, now=MUCH_LATER)[0] == "indeterminate", "the first had expired by then"


def test_a_time_before_the_certificate_was_valid_speaks_against_the_signature() -> None:
    early = signed_in_loop(a_pdf(), a_seal(ROOT, first=MADE + YEAR), "One", a_stamper())
    result, signature = judge_file(early, now=NOW + 90 * DAY)
    assert (result, signature["reasons"]) == (
        "invalid",
        ["It was signed before its certificate was valid, according to a time stamp."],
    )


def test_the_time_stamp_of_another_signature_is_a_doubt_and_lifts_nothing() -> None:
    other = signed_in_loop(a_pdf({}, {}), SHORT, "One", a_stamper())
    file = with_stamp_of(STAMPED, other)
    result, signature = judge_file(file)
    assert (result, signature["level"], signature["timestamp"]["valid"]) == ("indeterminate", "B-B", False)
    assert signature["reasons"] == ["The time stamp is damaged and does not confirm the time."]
    assert judge_file(file, now=LATER)[0] == "indeterminate"


def test_a_damaged_time_stamp_over_the_document_is_never_silent() -> None:
    at = ARCHIVED.rindex(b"/Contents <") + 400
    damaged = ARCHIVED[:at] + bytes([ARCHIVED[at] ^ 1]) + ARCHIVED[at + 1 :]
    verdict = verify_signatures(damaged, ROOTS, NOW + 2 * DAY)
    assert verdict["result"] == "invalid"
    [stamp] = verdict["documentTimestamps"]
    assert (stamp["valid"], stamp["trusted"]) == (False, False)
    again = signed_in_loop(damaged, a_seal(ROOT, name="Second"), "Two", None)
    both = verify_signatures(again, ROOTS, NOW + 2 * DAY)
    assert both["result"] == "indeterminate"
    for signature in both["signatures"]:
        assert "A time stamp on the whole file is damaged." in signature["reasons"]


def test_the_time_stamps_over_the_document_are_told_apart_from_signatures() -> None:
    [stamp] = verify_signatures(ARCHIVED, ROOTS, NOW + 2 * DAY)["documentTimestamps"]
    assert stamp.pop("fieldName")  # type: ignore[misc]
    assert stamp == {
        "valid": True,
        "trusted": True,
        "time": "2026-11-22T00:00:00.000Z",
        "authority": "Test Time Stamps",
    }
    only = verify_signatures(stamped_in_loop(a_pdf(), a_stamper()), ROOTS, NOW)
    assert (only["result"], len(only["documentTimestamps"])) == ("unsigned", 1)


# ---------- revocation ----------

DECLARED = a_seal(ROOT, extensions=declaring())
NUMBER = DECLARED.certificate.serial_number
BARE = signed_in_loop(a_pdf(), DECLARED, "One", None)
TIMED = signed_in_loop(a_pdf(), DECLARED, "One", a_stamper())
AFTER = NOW + 2 * DAY


def revoke_signer(file: bytes, kind: str, since: int) -> bytes:
    """The file with a proof inside, made a day after it was signed."""
    if kind == "list":
        return with_proofs(file, a_list(ROOT, NOW + DAY, {NUMBER: since}))
    return with_proofs(file, answers=(an_answer(ROOT, DECLARED, NOW + DAY, since),))


@pytest.mark.parametrize("kind", ["list", "answer"])
def test_a_revoked_certificate_is_never_valid(kind: str) -> None:
    for file in (BARE, TIMED):
        result, signature = judge_file(revoke_signer(file, kind, NOW - DAY), now=AFTER)
        assert (result, signature["trusted"], signature["revocation"]) == ("indeterminate", False, "revoked")
        assert signature["reasons"][0].startswith("The certificate was revoked on 2026-11-20")


@pytest.mark.parametrize("kind", ["list", "answer"])
def test_a_revocation_after_the_proved_time_does_no_harm_and_without_proof_it_does(kind: str) -> None:
    since = NOW + DAY // 2
    assert judge_file(revoke_signer(TIMED, kind, since), now=AFTER)[0] == "valid"
    assert judge_file(revoke_signer(BARE, kind, since), now=AFTER)[0] == "indeterminate"


def test_a_revocation_that_its_authority_did_not_sign_does_not_count() -> None:
    forged_list = a_list(Issued(OTHER.key, ROOT.certificate), NOW + DAY, {NUMBER: NOW - DAY})
    answer = an_answer(ROOT, DECLARED, NOW + DAY, NOW - DAY)
    forged_answer = answer[:-4] + bytes([answer[-4] ^ 1]) + answer[-3:]
    for file in (with_proofs(BARE, forged_list), with_proofs(BARE, answers=(forged_answer,))):
        result, signature = judge_file(file, now=AFTER)
        assert (result, signature["revocation"]) == ("valid", "not_checked")


def test_an_old_list_still_says_who_was_revoked_but_no_longer_who_was_not() -> None:
    long_ago = NOW - 60 * DAY
    old = with_proofs(BARE, a_list(ROOT, long_ago, {NUMBER: long_ago}))
    assert judge_file(old)[1]["revocation"] == "revoked"
    assert judge_file(with_proofs(BARE, a_list(ROOT, long_ago)))[1]["revocation"] == "not_checked"
    assert judge_file(with_proofs(BARE, a_list(ROOT, NOW - DAY)))[1]["revocation"] == "not_revoked"


def test_a_revoked_issuer_takes_all_its_certificates_along() -> None:
    middle = an_authority("Middle", above=ROOT)
    file = signed_in_loop(a_pdf(), a_seal(middle), "One", None)
    assert judge_file(file)[0] == "valid"
    told = a_list(ROOT, NOW, {middle.certificate.serial_number: NOW - DAY})
    result, signature = judge_file(with_proofs(file, told), now=AFTER)
    assert (result, signature["revocation"]) == ("indeterminate", "revoked")
    assert "The certificate of the issuer “Middle” was revoked on 2026-11-20" in signature["reasons"][0]


def test_the_time_stamp_of_a_revoked_authority_proves_nothing() -> None:
    stamper = a_stamper()
    number = stamper.tsa_cert.serial_number
    told = a_list(TSA, NOW + DAY, {number: NOW - DAY})
    file = signed_in_loop(a_pdf(), SHORT, "One", stamper)
    result, signature = judge_file(with_proofs(file, told), now=LATER)
    assert (result, signature["timestamp"]["trusted"]) == ("indeterminate", False)


def test_what_was_asked_for_and_not_answered_is_a_doubt() -> None:
    assert judge_file(BARE)[0] == "valid"
    result, signature = judge_file(BARE, fetched=[])
    assert (result, signature["reasons"]) == (
        "indeterminate",
        ["It is not known whether the certificate was revoked."],
    )
    assert judge_file(BARE, fetched=[a_list(ROOT, NOW)])[0] == "valid"
    assert judge_file(BARE, fetched=[an_answer(ROOT, DECLARED, NOW)])[0] == "valid"
    assert judge_file(BARE, fetched=[a_list(ROOT, NOW, {NUMBER: NOW - DAY})])[0] == "indeterminate"
    assert judge_file(PLAIN, fetched=[])[0] == "valid", "there is nobody to ask about it"


def test_damaged_proofs_prove_nothing_and_are_no_error() -> None:
    good = a_list(ROOT, NOW, {NUMBER: NOW - DAY})
    endless = a_list(ROOT, LAST, lasts=timedelta(0))
    for junk in (b"", b"\x30\x03\x02\x01\x01", good[:-5], good[:60] + b"\0" * 40 + good[100:], endless):
        result, _ = judge_file(with_junk(BARE, junk), now=AFTER)
        assert result in ("valid", "indeterminate")
