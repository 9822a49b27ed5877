"""The sample contract: the fields lie on their printed places, and the file is what its source makes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from esign.demo import contract
from esign.web.office.draft import sample
from esign.web.office.frame.words import load_words

ROOT = Path(__file__).parents[1]
FIELDS = {field["key"]: field for field in (*contract.CAFE_FIELDS, *contract.GARDENER_FIELDS)}
ALL_TYPES = {
    "signature", "initials", "date", "name", "email", "text", "number", "checkbox", "radio", "dropdown",
}  # fmt: skip


def test_the_file_and_the_fields_are_what_the_source_makes() -> None:
    script = [sys.executable, str(ROOT / "packaging" / "contract"), "--check"]
    ran = subprocess.run(script, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    printed: dict[str, dict[str, dict[str, Any]]] = {"contract": {}, "sample": {}}
    for line in ran.stdout.splitlines():
        place = json.loads(line)
        printed[place.pop("source")][place["key"]] = place
    sampled = {one["key"]: one for one in sample.build_fields(load_words("en"))}
    for source, fields in (("contract", FIELDS), ("sample", sampled)):
        assert printed[source].keys() == fields.keys()
        for key, place in printed[source].items():
            assert {name: fields[key][name] for name in place} == place


def test_the_contract_is_small_has_three_pages_of_a4_and_no_form() -> None:
    file = contract.read_pdf()
    assert len(file) < 120_000
    with pikepdf.open(ROOT / "esign" / "demo" / "contract.pdf") as pdf:
        assert [[round(float(side)) for side in page.mediabox] for page in pdf.pages] == [
            [0, 0, 595, 842]
        ] * 3
        assert "/AcroForm" not in pdf.Root
        assert all("/Annots" not in page for page in pdf.pages)


def test_two_signers_in_order_meet_every_type_of_field() -> None:
    recipients = contract.build_create_body()["recipients"]
    assert [recipient["order"] for recipient in recipients] == [1, 2]
    assert {field["type"] for field in FIELDS.values()} == ALL_TYPES
    assert sum(len(recipient["fields"]) for recipient in recipients) == len(FIELDS)


@pytest.mark.parametrize("key", FIELDS)
def test_every_obligatory_field_that_does_not_fill_itself_has_an_answer(key: str) -> None:
    field = FIELDS[key]
    by_itself = field["type"] in {"signature", "initials", "name", "email", "date"}
    assert (key in contract.ANSWERS) is not by_itself
    if "options" in field:
        assert contract.ANSWERS[key] in field["options"]
