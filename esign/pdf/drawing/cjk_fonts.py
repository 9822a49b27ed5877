"""Find Chinese, Japanese and Korean fonts.

They are too large to ship and come from configured folders or the system.
"""

from functools import cache
from pathlib import Path

from esign.pdf.drawing.font_file import read_faces
from esign.system import font_folders

NAMES = ("NotoSansCJK*", "NotoSansSC*", "NotoSansTC*", "NotoSansJP*", "NotoSansKR*", "SourceHanSans*")
KINDS = {".ttf", ".otf", ".ttc", ".otc"}

# Language -> the families that have its forms, the best first.
FAMILIES = {
    "zh": ("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN"),
    "zh-Hant": ("Noto Sans CJK TC", "Noto Sans TC", "Source Han Sans TC", "Source Han Sans TW"),
    "ja": ("Noto Sans CJK JP", "Noto Sans JP", "Source Han Sans", "Source Han Sans JP"),
    "ko": ("Noto Sans CJK KR", "Noto Sans KR", "Source Han Sans K", "Source Han Sans KR"),
}


def _find_fonts(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for name in NAMES for path in folder.rglob(name) if path.suffix.lower() in KINDS)


@cache
def find_files(font_paths: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the CJK font files of the configured folders, or those of the system if these folders hold none."""
    for folders in (font_paths, font_folders.SYSTEM):
        found = [path for folder in folders for path in _find_fonts(Path(folder).expanduser())]
        if found:
            return tuple(dict.fromkeys(found))
    return ()


def find_folders(font_paths: tuple[str, ...]) -> list[str]:
    """Return the folders of the font files, since Typst accepts only folders."""
    return list(dict.fromkeys(str(path.parent) for path in find_files(font_paths)))


def choose_families(installed: set[str]) -> dict[str, str]:
    """Return the font family to use for each language, of those that are installed."""
    chosen = {language: [f for f in wanted if f in installed] for language, wanted in FAMILIES.items()}
    return {language: found[0] for language, found in chosen.items() if found}


@cache
def read_characters(font_paths: tuple[str, ...]) -> frozenset[int]:
    """Return the code points that the usable CJK fonts can draw. Takes about 60 ms for a font collection."""
    wanted = {family for names in FAMILIES.values() for family in names}
    faces = (face for path in find_files(font_paths) for face in read_faces(path))
    return frozenset().union(*(face.characters for face in faces if face.family in wanted))
