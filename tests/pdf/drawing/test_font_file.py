"""Families and characters of font files are read as fontTools reads them."""

from pathlib import Path

import pytest
from fontTools.ttLib import TTCollection, TTFont
from fontTools.ttLib.tables._c_m_a_p import CmapSubtable

from esign.pdf.drawing.font_file import BadFont, FontFace, read_faces
from esign.pdf.drawing.missing_glyphs import FONTS

SHIPPED = sorted(FONTS.glob("*.ttf"))
SANS, HEBREW = FONTS / "NotoSans-Regular.ttf", FONTS / "NotoSansHebrew-Regular.ttf"


def read_by_library(font: TTFont) -> FontFace:
    return FontFace(font["name"].getBestFamilyName(), frozenset(font.getBestCmap() or ()))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_font_is_read_as_the_library_reads_it(path: Path) -> None:
    assert read_faces(path) == [read_by_library(TTFont(path))]


def test_every_font_of_a_collection_is_read(tmp_path: Path) -> None:
    both = TTCollection()
    both.fonts = [TTFont(SANS), TTFont(HEBREW)]
    both.save(tmp_path / "both.ttc")
    assert read_faces(tmp_path / "both.ttc") == [*read_faces(SANS), *read_faces(HEBREW)]


@pytest.mark.parametrize("format", [4, 12])
def test_both_forms_of_a_map_are_read(tmp_path: Path, format: int) -> None:
    font = TTFont(HEBREW)
    drawn = font.getBestCmap()
    table = CmapSubtable.newSubtable(format)
    table.platformID, table.platEncID, table.language = 3, 10 if format == 12 else 1, 0
    table.cmap = {**drawn, 0x20BB7: "space"} if format == 12 else drawn
    font["cmap"].tables = [table]
    font.save(tmp_path / "font.ttf")
    (face,) = read_faces(tmp_path / "font.ttf")
    assert face == read_by_library(TTFont(tmp_path / "font.ttf"))
    assert (0x20BB7 in face.characters) is (format == 12)


@pytest.mark.parametrize(
    "names", [{1: "Old"}, {1: "Old", 16: "Better"}, {1: "Old", 16: "Better", 21: "Best"}, {}]
)
def test_the_best_name_is_that_of_the_library(tmp_path: Path, names: dict[int, str]) -> None:
    font = TTFont(HEBREW)
    for number in (1, 16, 21):
        font["name"].removeNames(nameID=number)
    for number, name in names.items():
        font["name"].setName(f"{name} 明朝", number, 3, 1, 0x411)
        font["name"].setName(name, number, 3, 1, 0x409)
    font.save(tmp_path / "font.ttf")
    (face,) = read_faces(tmp_path / "font.ttf")
    assert face.family == TTFont(tmp_path / "font.ttf")["name"].getBestFamilyName()
    assert face.family == (names[max(names)] if names else None)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"ttcf\0\1\0\0\xff\xff\xff\xff", bytes(64)])
def test_what_is_no_font_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "font.ttf"
    path.write_bytes(content)
    with pytest.raises(BadFont):
        read_faces(path)


def test_a_font_that_was_cut_off_is_refused_or_read_without_another_error(tmp_path: Path) -> None:
    whole, path, refused = HEBREW.read_bytes(), tmp_path / "font.ttf", 0
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        try:
            read_faces(path)
        except BadFont:
            refused += 1
    assert refused > 20
