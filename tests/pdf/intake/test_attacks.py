"""None of the known attacks on signed files makes one valid, and what is no attack stays valid (security.md 1)."""

import io
from decimal import Decimal
from functools import cache

import pikepdf
import pytest
from pyhanko.sign.fields import MDPPerm

from esign.core.errors import Problem
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.attacks import CHANGES, Files, forge_files, wrap_file
from tests.pdf.forging import append_update, moved_gap
from tests.pdf.local_seal import seal_document
from tests.pdf.others import a_stamper, signed_in_loop, stamped_in_loop
from tests.pdf.proofs import a_list, with_proofs
from tests.pdf.readers import misread, visibly_stamped
from tests.pdf.sealing import a_field, a_pdf, an_order
from tests.pdf.shadows import (
    around,
    certify_file,
    mislead_readers,
    prepare_shadow,
    shadow_signed,
    sneak_changes,
)
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
ROOTS = (ROOT.der, an_authority("Test Time Stamps Root").der)
SEAL = a_seal(ROOT)
SEALED = seal_document(an_order(a_pdf(), a_field("name", "Jo Li")), SEAL.credential).sealed
OTHER = seal_document(an_order(a_pdf(words="Another contract")), SEAL.credential).sealed
ARCHIVED = stamped_in_loop(with_proofs(SEALED, a_list(ROOT, NOW)), a_stamper())
ONE = signed_in_loop(prepare_shadow(), SEAL, "One", None)
CERTIFIED = certify_file(SEAL, MDPPerm.FILL_FORMS)
FAMILIES = {
    "forged": lambda: forge_files(SEALED),
    "wrapped": lambda: wrap_file(SEALED),
    "saved": lambda: {name: append_update(change, SEALED) for name, change in CHANGES.items()},
    "saved behind an archive": lambda: {
        name: append_update(change, ARCHIVED) for name, change in CHANGES.items()
    },
    "shadows": lambda: shadow_signed(ONE),
    "shadows of a certified file": lambda: shadow_signed(CERTIFIED),
    "sneaked into fillable": lambda: sneak_changes(CERTIFIED),
    "sneaked into annotatable": lambda: sneak_changes(certify_file(SEAL, MDPPerm.ANNOTATE)),
    "misled": lambda: mislead_readers(SEALED),
    "misled behind an archive": lambda: mislead_readers(ARCHIVED),
    "misread": lambda: misread(SEALED),
    "visible time stamps": lambda: {
        f"{name}, {look}": visibly_stamped(file, look)
        for name, file in (("sealed here", SEALED), ("signed", ONE), ("certified", CERTIFIED))
        for look in (True, False)
    },
    "around": lambda: around(SEALED, OTHER, a_seal(an_authority("Stranger Root"), name="Stranger")),
}


@cache
def family(name: str) -> Files:
    return FAMILIES[name]()


def result(file: bytes) -> str:
    """The verdict, or that there is nothing to judge."""
    try:
        return verify_signatures(file, ROOTS, NOW)["result"]
    except Problem as problem:
        return problem.code


@pytest.mark.parametrize("name", FAMILIES)
def test_no_attack_of_a_family_is_valid(name: str) -> None:
    found = {attack: result(file) for attack, file in family(name).items()}
    assert {attack: said for attack, said in found.items() if said == "valid"} == {}
    assert set(found.values()) <= {"invalid", "indeterminate", "unsigned", "invalid_file", "file_encrypted"}


def test_there_are_as_many_attacks_as_the_plan_wants() -> None:
    count = {name: len(family(name)) for name in FAMILIES}
    assert count["forged"] >= 24 and count["wrapped"] >= 12 and count["saved"] >= 12
    assert count["shadows"] >= 12 and count["sneaked into fillable"] >= 8
    assert sum(count.values()) >= 80


def test_what_was_attacked_is_valid_when_left_alone_or_only_archived() -> None:
    for file in (
        SEALED,
        OTHER,
        ARCHIVED,
        with_proofs(SEALED, a_list(ROOT, NOW)),
        stamped_in_loop(ARCHIVED, a_stamper()),
    ):
        assert result(file) == "valid"
    for file in (ONE, CERTIFIED):
        assert result(file) == "valid"
        assert result(stamped_in_loop(file, a_stamper())) == "valid"


def test_an_archive_may_spell_the_numbers_of_a_page_anew() -> None:
    sides = [0, Decimal("0.000000"), Decimal("595.275600"), Decimal("842.000000")]
    file = signed_in_loop(a_pdf({"MediaBox": sides, "CropBox": sides}), SEAL, "One", None)
    assert b"842.000000" in file and b"842.000000" not in stamped_in_loop(file, a_stamper())[len(file) :]
    assert result(stamped_in_loop(file, a_stamper())) == "valid"


def test_a_moved_gap_keeps_every_hash_and_shows_another_page() -> None:
    """What makes this one the worst: nothing but the place of the gap tells it from the sealed file."""
    file = moved_gap(SEALED)
    [signature] = verify_signatures(file, ROOTS, NOW)["signatures"]
    assert (signature["intact"], signature["valid"]) == (True, True)
    assert (signature["coverage"], signature["reasons"]) == (
        "unclear",
        ["The signature covers only part of the file."],
    )
    with pikepdf.open(io.BytesIO(file)) as pdf:
        assert pdf.pages[0].Contents.read_bytes() == b"9 9 400 400 re f"
