"""The audit trail inside a sealed file: every validator takes it, and it has to lead to what the seal names."""

import io
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from esign.core.actor import Actor
from esign.core.document import audit, audit_file
from esign.core.document.state.outcome import Event
from esign.core.instant import rfc3339
from esign.pdf.audit import audit_head
from esign.pdf.seal_order import SealFailed
from esign.pdf.verdict_sentences import TRAIL
from esign.pdf.verify.validate import verify_signatures
from tests.pdf.local_seal import load_key, seal_document
from tests.pdf.proofs import a_list, with_proofs
from tests.pdf.sealing import ID, a_pdf, a_trail, make_seal_order, save_pdf, sign_file
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
CREDENTIAL = a_seal(ROOT).credential
LINES = a_trail()
MADE = seal_document(make_seal_order(LINES), CREDENTIAL)


def list_attachments(pdf: bytes) -> dict[str, bytes]:
    with pikepdf.open(io.BytesIO(pdf)) as file:
        return {name: spec.get_file().read_bytes() for name, spec in file.attachments.items()}


@pytest.mark.parametrize("pdf", [MADE.sealed, MADE.certificate], ids=["sealed", "certificate"])
def test_validators_take_the_files_with_the_trail_in_them(pdf: bytes, tmp_path: Path) -> None:
    path = tmp_path / "made.pdf"
    path.write_bytes(pdf)

    def find_message(*command: str) -> str:
        environment = {**os.environ, "HOME": str(tmp_path)}
        run = subprocess.run([*command, path], capture_output=True, text=True, check=True, env=environment)
        return run.stdout + run.stderr

    signatures = find_message("pdfsig", "-nocert")
    assert "Signature is Valid." in signatures and "Total document signed" in signatures
    assert "No syntax or stream encoding errors found" in find_message("qpdf", "--check")
    assert "audit.json" in find_message("pdfdetach", "-list")
    assert verify_signatures(pdf, [ROOT.der], NOW)["result"] == "valid"
    assert json.loads(list_attachments(pdf)["audit.json"])["entries"] == len(LINES)


def test_the_certificate_is_what_it_claims_with_an_attachment() -> None:
    """PDF/A-3 asks of an attachment its kind, a time, and what it is to the document."""
    with pikepdf.open(io.BytesIO(MADE.certificate)) as pdf, pdf.open_metadata() as metadata:
        assert metadata.pdfa_status == "3A" and Name.Version not in pdf.Root
        [spec] = pdf.Root.AF
        assert spec.objgen == pdf.Root.Names.EmbeddedFiles.Names[1].objgen
        assert (spec.AFRelationship, str(spec.F), str(spec.UF)) == (Name.Data, "audit.json", "audit.json")
        assert spec.EF.F.Subtype == Name("/application/json") and "/ModDate" in spec.EF.F.Params


def end_trail(name: Any, act: str = "signed") -> list[audit.AuditEntry]:
    """A trail whose last entry is that somebody of this name finished."""
    lines = a_trail()
    event = Event("recipient.completed", NOW, Actor("recipient", "rcp_1", name), "rcp_1", data={"act": act})
    return [*lines, audit.make_entry(event, ID, len(lines) + 1, lines[-1].hash, os.urandom(16))]


def test_who_signed_is_read_from_a_trail_under_a_valid_and_trusted_seal_only() -> None:
    issued = a_seal(ROOT)
    sealed = seal_document(make_seal_order(end_trail("Zoë 山田")), issued.credential).sealed
    assert verify_signatures(sealed, [ROOT.der], NOW)["signers"] == [
        {"name": "Zoë 山田", "act": "signed", "at": rfc3339(NOW)}
    ]
    assert verify_signatures(sealed, [], NOW)["signers"] == [], "nobody here trusts the seal"
    revoked = with_proofs(sealed, a_list(ROOT, NOW, {issued.certificate.serial_number: NOW - 5}))
    assert verify_signatures(revoked, [ROOT.der], NOW)["signers"] == []
    assert verify_signatures(sealed[:-30], [ROOT.der], NOW)["signers"] == []


@pytest.mark.parametrize("name", [None, 5, ["Zoë"]])
def test_a_name_that_is_no_text_is_none(name: Any) -> None:
    sealed = seal_document(make_seal_order(end_trail(name, "approved")), CREDENTIAL).sealed
    [signer] = verify_signatures(sealed, [ROOT.der], NOW)["signers"]
    assert (signer["name"], signer["act"]) == (None, "approved")


def test_names_of_places_in_the_document_stay_beside_the_trail() -> None:
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        goal = Array([pdf.pages[0].obj, Name.Fit])
        pdf.Root.Names = Dictionary(Dests=Dictionary(Names=Array([pikepdf.String("here"), goal])))
        prepared = save_pdf(pdf)
    with pikepdf.open(io.BytesIO(seal_document(make_seal_order(LINES, prepared), CREDENTIAL).sealed)) as pdf:
        assert str(pdf.Root.Names.Dests.Names[0]) == "here" and "audit.json" in pdf.attachments


def test_a_long_trail_is_packed_and_read_in_little_time() -> None:
    """A recipient's browser in full words in each of 500 entries: 440 kB of text."""
    order = make_seal_order(a_trail(500))
    made = seal_document(order, CREDENTIAL)
    assert order.trail is not None and list_attachments(made.sealed)["audit.json"] == order.trail
    assert len(made.sealed) - len(seal_document(replace(order, trail=None), CREDENTIAL).sealed) < 110_000


def change_trail(change: Callable[[dict[str, Any]], None]) -> bytes:
    whole = json.loads(audit_file.write_audit_file(ID, LINES))
    change(whole)
    return json.dumps(whole).encode()


BAD: dict[str, bytes] = {
    "a fact": change_trail(lambda whole: whole["data"][2].update(at="2026-01-01T00:00:00.000Z")),
    "a name": change_trail(lambda whole: whole["data"][2]["actor"].update(name="Mallory")),
    "an address": change_trail(lambda whole: whole["data"][0].update(ip="198.51.100.1")),
    "a salt": change_trail(lambda whole: whole["data"][0].update(salt="00" * 16)),
    "what is personal": change_trail(lambda whole: whole["data"][1].update(salt=None)),
    "the end": change_trail(lambda whole: whole["data"].pop()),
    "the beginning": change_trail(lambda whole: whole["data"].pop(0)),
    "the order": change_trail(lambda whole: whole["data"].reverse()),
    "the document": change_trail(lambda whole: whole.update(documentId="doc_2")),
    "all of it": audit_file.write_audit_file(ID, a_trail()),
    "a member": change_trail(lambda whole: whole["data"][3].pop("personalHash")),
    "a kind": change_trail(lambda whole: whole["data"][3].update(data=[1, 2])),
    "another kind": change_trail(lambda whole: whole["data"].__setitem__(3, "x")),
    "a number": change_trail(lambda whole: whole["data"][3].update(seq=1e400)),
    "no list": b'{"documentId": "doc_1", "data": 7}',
    "no object": b"[]",
    "no text": b"\xff\xfe",
    "nothing": b"",
    "depth": b'{"data":' + b"[" * 100_000,
}


@pytest.mark.parametrize("what", BAD)
def test_a_trail_that_does_not_lead_to_the_sealed_entry_speaks_against_the_file(what: str) -> None:
    """Signed by a key we trust: whoever holds it can write anything, but not a trail that fits."""
    names = audit_head.build_head(make_seal_order(LINES).certificate, embedded=True)
    signed = sign_file(a_pdf(), load_key(CREDENTIAL), NOW, "", names, BAD[what])
    verdict = verify_signatures(signed, [ROOT.der], NOW)
    assert (verdict["result"], verdict["signatures"][0]["reasons"]) == ("invalid", [TRAIL])
    assert verdict["audit"] is None


@pytest.mark.parametrize("what", ["a fact", "the end"])
def test_no_seal_is_made_over_a_trail_that_was_changed_where_it_lies(what: str) -> None:
    with pytest.raises(SealFailed, match=r"audit trail is not as it was written: .*entry"):
        seal_document(replace(make_seal_order(LINES), trail=BAD[what]), CREDENTIAL)


def test_an_attachment_of_somebody_else_by_that_name_is_theirs() -> None:
    signed = sign_file(a_pdf(), load_key(CREDENTIAL), NOW, "", None, b"our own audit")
    assert verify_signatures(signed, [ROOT.der], NOW)["result"] == "valid"
