import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import esign
from esign.pdf.drawing import missing_glyphs, overlay, typst_template
from esign.pdf.seal_order import Typesetting
from tests.pdf.sealing import SCRIPTS, a_field, text_of
from tests.pki import NOW

TABLE = json.loads((missing_glyphs.FONTS / "coverage.json").read_text())
COVERED = {c for first, last in TABLE["base"] for c in range(first, last + 1)}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_name_in_each_of_the_promised_scripts_can_be_drawn(script: str) -> None:
    assert missing_glyphs.find_missing([SCRIPTS[script]]) == []


def test_characters_without_a_font_are_named_once_and_sorted() -> None:
    assert missing_glyphs.find_missing(["王 Wang", "山王", "\U0001f9ff"]) == ["山", "王"]


@pytest.mark.parametrize(
    ("character", "script"),
    [
        ("山", "Chinese"),
        ("가", "Korean"),
        ("ア", "Japanese"),
        ("த", "Tamil"),
        ("𒀭", "Cuneiform"),
        ("♞", "symbol"),
    ],
)
def test_what_a_character_belongs_to_is_named(character: str, script: str) -> None:
    assert missing_glyphs.find_script(character) == script
    assert missing_glyphs.find_script("\ue123") == "symbol"


def test_characters_without_a_font_are_spelt_by_their_numbers() -> None:
    assert missing_glyphs.spell_characters("A 山\U0001f9ff", ["山", "\U0001f9ff"]) == "A [U+5C71][U+1F9FF]"
    assert missing_glyphs.spell_characters("e\u0301", []) == "e\u0301"


@pytest.mark.parametrize(
    "text", ["a\u200db", "x\ufe0f", "\u2067rtl\u2069", "soft\u00adhyphen", "two\r\nlines\t", "\U000e0067"]
)
def test_what_leaves_no_mark_needs_no_font(text: str) -> None:
    assert missing_glyphs.find_missing([text]) == []


def test_an_accent_typed_apart_counts_as_the_letter_it_makes() -> None:
    assert missing_glyphs.find_missing(["Vie\u0323\u0302t Nam, e\u0301te\u0301"]) == []


def test_the_table_names_exactly_what_the_shipped_fonts_have() -> None:
    families: dict[str, set[int]] = {}
    for path in missing_glyphs.FONTS.glob("Noto*.ttf"):
        family = path.stem.split("-")[0]
        drawn = set(TTFont(path).getBestCmap())
        families[family] = families.get(family, drawn) & drawn
    assert set().union(*families.values()) == COVERED


def test_typst_draws_every_character_of_the_table() -> None:
    shown = [
        chr(c)
        for c in sorted(COVERED)
        if c > 0x20 and not missing_glyphs._is_in_ranges(missing_glyphs.FREE, chr(c))
    ]
    lines = "\n".join("".join(shown[at : at + 60]) for at in range(0, len(shown), 60))
    field = a_field("text", lines, x=0, y=0, width=100, height=100, options={"multiline": True})
    drawn, _ = overlay.draw_overlay([field], [(1000, 4000)], Typesetting(NOW))
    assert drawn.startswith(b"%PDF-")


@pytest.mark.parametrize("hand", "abc")
def test_a_hand_that_is_offered_writes_the_whole_signature(hand: str) -> None:
    covered = TABLE["hands"][hand]
    text = "".join(chr(c) for first, last in covered for c in range(first, last + 1) if c > 0x20)
    field = a_field("signature", kind="typed", text=text, hand=hand, x=0, y=0, width=100, height=100)
    drawn, _ = overlay.draw_overlay([field], [(4000, 200)], Typesetting(NOW))
    assert f"EsignHand{hand.upper()}".encode() in drawn
    assert b"NotoSans" not in drawn


@pytest.mark.parametrize("hand", "abc")
def test_the_page_offers_a_hand_for_exactly_the_letters_it_has(hand: str) -> None:
    script = Path(esign.__file__).parent / "web" / "static" / "letters.js"
    letters = re.search(rf"^  {hand}: /(.*)/u,$", script.read_text(), re.MULTILINE)
    assert letters is not None
    offered = {c for c in range(0x3000) if re.fullmatch(letters[1], chr(c))}
    assert offered == {c for first, last in TABLE["hands"][hand] for c in range(first, last + 1)}


def test_every_font_file_has_its_licence_beside_it() -> None:
    for path in missing_glyphs.FONTS.glob("*.ttf"):
        licence = missing_glyphs.FONTS / (
            "Noto.OFL.txt" if path.name.startswith("Noto") else f"{path.stem}.OFL.txt"
        )
        assert "SIL OPEN FONT LICENSE" in licence.read_text()


def test_no_renamed_hand_carries_a_reserved_font_name() -> None:
    for path in missing_glyphs.FONTS.glob("EsignHand*.ttf"):
        names = " ".join(
            str(record) for record in TTFont(path)["name"].names if record.nameID in (1, 3, 4, 6, 16)
        )
        assert not re.search("Delafield|Aurore|Caveat", names)


def test_asking_loads_no_font_library() -> None:
    code = (
        "import sys; from esign.pdf.drawing import missing_glyphs; missing_glyphs.find_missing(['王']); "
        "sys.exit(any(name in sys.modules for name in ('typst', 'fontTools', 'pikepdf', 'PIL')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def cjk_folder(tmp_path: Path) -> str:
    """A folder with a font that calls itself as the CJK fonts do and draws two characters, as A and B."""
    font = TTFont(missing_glyphs.FONTS / "NotoSans-Regular.ttf")
    letters = font.getBestCmap()
    for table in font["cmap"].tables:
        table.cmap = {0x738B: letters[ord("A")], 0x660E: letters[ord("B")]}
    font["name"].names = [record for record in font["name"].names if record.nameID not in (1, 4, 6, 16, 21)]
    for number in (1, 4):
        font["name"].setName("Noto Sans CJK JP", number, 3, 1, 0x409)
    font["name"].setName("NotoSansCJKjp-Regular", 6, 3, 1, 0x409)
    font.save(tmp_path / "NotoSansCJKjp-Regular.otf")
    return str(tmp_path)


def test_fonts_of_a_configured_folder_count_for_the_workers(cjk_folder: str) -> None:
    assert missing_glyphs.find_missing(["王明"]) == ["明", "王"]
    assert missing_glyphs.find_missing_with_system(["王明"], [cjk_folder]) == []
    assert missing_glyphs.find_missing_with_system(["王林"], [cjk_folder]) == ["林"]


def test_what_a_configured_folder_can_draw_is_drawn(cjk_folder: str) -> None:
    field = a_field("name", "王明 Wang", lang="ja")
    drawn, _ = overlay.draw_overlay([field], [(595, 842)], Typesetting(NOW, font_paths=(cjk_folder,)))
    assert "王明 Wang" in text_of(drawn)
    assert typst_template.find_families((cjk_folder,)) == {"ja": "Noto Sans CJK JP"}


def test_a_folder_without_such_fonts_changes_nothing_for_the_rest(tmp_path: Path) -> None:
    assert missing_glyphs.find_missing_with_system(["Jo Li"], [str(tmp_path)]) == []
