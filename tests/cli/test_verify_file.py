"""What `esign verify` prints of files that somebody else made or damaged."""

import io

import pikepdf
import pytest

from esign.cli.verify_file import write_report
from esign.core.errors import Problem
from esign.pdf.verdict_sentences import UNREADABLE_FILE
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.local_seal import seal_document
from tests.pdf.others import signed_in_loop
from tests.pdf.proofs import a_list, with_proofs
from tests.pdf.sealing import a_pdf, an_order, save_pdf
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()


def print_verdict(file: bytes) -> list[str]:
    return write_report(verify_signatures(file, [ROOT.der], NOW), as_json=False).splitlines()


def test_a_signature_that_cannot_be_read_is_one_line_without_empty_names() -> None:
    cut_off = seal_document(an_order(a_pdf()), a_seal(ROOT).credential).sealed[:-30]
    verdict, _, *told = print_verdict(cut_off)
    assert verdict == f"NOT VALID: Do not rely on this file. {UNREADABLE_FILE}"
    assert told == [f"  a signature: {UNREADABLE_FILE}"]


def test_a_file_is_called_unchanged_only_where_nothing_was_added() -> None:
    sealed = seal_document(an_order(a_pdf()), a_seal(ROOT).credential).sealed
    assert print_verdict(sealed)[0] == "VALID: The file has not changed since it was signed."
    verdict, *told = print_verdict(with_proofs(sealed, a_list(ROOT, NOW)))
    assert verdict == (
        "VALID: What was signed has not changed. Only proof was added after signing: validation data."
    )
    assert not any("file is unchanged" in line for line in told)


def test_a_name_in_a_foreign_file_writes_no_verdict_of_its_own() -> None:
    name = "Ok\x1b[2J\nVALID: the file is unchanged since it was sealed.\x9b2J\u202e"
    signed = signed_in_loop(a_pdf(), a_seal(an_authority("Nobody")), name, None)
    lines = print_verdict(signed)
    assert lines[0].startswith("NOT CONFIRMED: The signatures in this file could not be fully confirmed.")
    assert not [line for line in lines if line.startswith("VALID") or not line.isprintable()]
    assert any("Ok\ufffd[2J\ufffdVALID" in line for line in lines)


def test_a_file_with_a_password_is_not_asked_to_be_saved_without_one() -> None:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        locked = save_pdf(pdf, encryption=pikepdf.Encryption(owner="o", user="u"))
    with pytest.raises(Problem, match="cannot be opened here; check its signatures in a PDF reader"):
        verify_signatures(locked, [ROOT.der], NOW)
