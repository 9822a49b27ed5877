"""References in comments and docstrings: sections and rules of the contract, and files of the repository."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import ROOT

CONTRACT = ROOT / "docs" / "dev" / "contract.md"
SECTION = re.compile(r"\bcontract(?:\.md)?,? \(?(\d+(?:\.\d+)*)")
RULE = re.compile(r"\b(D(?:1[0-2]|[1-9]))\b(?!:)")
FILE = re.compile(r"`?\b((?:[a-z_]+/)*[\w.-]+\.md)\b")
# Files that the repository no longer has, and that are named in the history of changes or made by programs.
SUFFIXES = (".py", ".sql", ".js", ".toml", ".css", ".html")


def find_unresolved() -> list[str]:
    """Return `path:line: reference` for each reference to something that is not in the repository."""
    contract = CONTRACT.read_text("utf-8") if CONTRACT.exists() else ""
    sections = set(re.findall(r"^#+ (\d+(?:\.\d+)*)", contract, re.MULTILINE))
    rules = set(re.findall(r"\bD\d+\b", contract))
    return [
        f"{path}:{number}: {name}"
        for path, number, kind, name in find_references()
        if not _resolves(kind, name, path, sections, rules)
    ]


def find_references() -> Iterator[tuple[Path, int, str, str]]:
    """Yield path, line, kind (`section`, `rule`, `file`) and name of every reference in the source and the tests."""
    for folder in ("esign", "tests", "packaging"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and (path.suffix in SUFFIXES or path.parent.name == "packaging"):
                yield from _find_in(path)


def _find_in(path: Path) -> Iterator[tuple[Path, int, str, str]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        return
    shown = path.relative_to(ROOT)
    for number, line in enumerate(lines, 1):
        yield from ((shown, number, "section", found[1]) for found in SECTION.finditer(line))
        if "tests/house" not in str(shown):
            yield from ((shown, number, "rule", found[1]) for found in RULE.finditer(line))
        yield from ((shown, number, "file", found[1]) for found in FILE.finditer(line))


def _resolves(kind: str, name: str, path: Path, sections: set[str], rules: set[str]) -> bool:
    if kind == "section":
        return name in sections
    if kind == "rule":
        return name in rules
    places = (ROOT, ROOT / "docs", ROOT / "docs" / "dev", (ROOT / path).parent)
    return any((place / name).exists() for place in places)
