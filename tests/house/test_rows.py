"""Each field type and event has its row in the tables that no other test holds against the enumeration."""

import json
import re
from pathlib import Path

import pytest

from esign.core.document.document import FieldType
from esign.core.document.field_types import FIELD_TYPES
from esign.core.webhook.webhook import PUBLISHED
from esign.web.api import words
from esign.web.office.webhook import event_choices
from esign.web.values.field_models import INPUTS, REPLIES
from tests.house.source import ROOT

WEB = ROOT / "esign" / "web"
LABELS = sorted((ROOT / "esign" / "pdf" / "typst" / "labels").glob("*.json"))
ELSEWHERE = ("template.", "audit.", "document.deleted")  # on no certificate page


def test_every_type_has_a_row_and_a_key_of_its_own() -> None:
    assert [*FIELD_TYPES] == [*FieldType]
    assert len({kind.key for kind in FIELD_TYPES.values()}) == len(FIELD_TYPES)


@pytest.mark.parametrize("kind", FieldType)
def test_the_field_editor_has_properties_and_a_picture_for_the_type(kind: FieldType) -> None:
    assert re.search(
        rf"^  {kind}: \{{", (WEB / "static/editor/properties.js").read_text("utf-8"), re.MULTILINE
    )
    assert f'<symbol id="{kind}"' in (WEB / "static/editor.svg").read_text("utf-8")


@pytest.mark.parametrize("kind", FieldType)
def test_the_signing_page_has_a_row_for_the_type(kind: FieldType) -> None:
    script = (WEB / "static/checks.js").read_text("utf-8").partition("const ROWS = {")[2]
    assert re.search(rf"^  {kind}: ", script, re.MULTILINE)


@pytest.mark.parametrize("kind", FieldType)
def test_the_type_has_a_name_on_the_signing_page(kind: FieldType) -> None:
    english = json.loads((WEB / "signing/words/en.json").read_text("utf-8"))
    assert f"type_{kind}" in english, "the other languages follow: tests/test_languages.py"


def test_every_type_has_its_models_in_requests_and_in_answers() -> None:
    assert [*INPUTS] == [*REPLIES] == [*FieldType]
    assert {f"{kind.capitalize()}{end}" for kind in FieldType for end in ("Field", "Reply")} == {*words.KINDS}


def test_the_office_offers_every_event() -> None:
    offered = [name for group in event_choices.GROUPS.values() for name in group]
    assert sorted(offered) == sorted(PUBLISHED)


@pytest.mark.parametrize("file", LABELS, ids=lambda file: file.stem)
def test_every_event_of_a_document_has_a_label_for_the_certificate_page(file: Path) -> None:
    text = file.read_text("utf-8")
    wanted = [name for name in PUBLISHED if not name.startswith(ELSEWHERE)]
    assert [name for name in wanted if f'"{name}":' not in text] == []
