"""References in comments and docstrings: sections and rules of the pages for developers, and files."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import ROOT

DEV = ROOT / "docs" / "dev"
SECTION = re.compile(r"\bcontract(?:\.md)?,? \(?(\d+(?:\.\d+)*)")
SECURITY_SECTION = re.compile(r"\bsecurity\.md,? (\d+(?:\.\d+)*)")
RULE = re.compile(r"\b(D(?:1[0-2]|[1-9]))\b(?!:)")
FILE = re.compile(r"`?\b((?:[a-z_]+/)*[\w.-]+\.md)\b")
# Papers that stood beside the repository and are not in it; their content is in docs/dev.
OUTSIDE = re.compile(r"\b(reliability|house|stack)(?:\.md)?,? (?:[TF]-?\d|\d)")
SUFFIXES = (".py", ".sql", ".js", ".toml", ".css", ".html")


def find_unresolved() -> list[str]:
    """Return `path:line: reference` for each reference to something that is not in the repository."""
    contract = (DEV / "contract.md").read_text("utf-8")
    known = {
        "section": _find_sections(contract),
        "security section": _find_sections((DEV / "security.md").read_text("utf-8")),
        "rule": set(re.findall(r"^\| (D\d+) \|", contract, re.MULTILINE)),
        "outside": set[str](),
    }
    return [
        f"{path}:{number}: {name}"
        for path, number, kind, name in find_references()
        if not (_is_file(name, path) if kind == "file" else name in known[kind])
    ]


def _find_sections(page: str) -> set[str]:
    return set(re.findall(r"^#+ (\d+(?:\.\d+)*)", page, re.MULTILINE))


def _is_file(name: str, path: Path) -> bool:
    """Return whether a page exists: from the top, in `docs`, in `docs/dev`, or beside the file that names it."""
    return any((place / name).exists() for place in (ROOT, ROOT / "docs", DEV, (ROOT / path).parent))


def find_references() -> Iterator[tuple[Path, int, str, str]]:
    """Yield path, line, kind (a key of `known` above, or `file`) and name of every reference in source and tests."""
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
        yield from (
            (shown, number, "security section", found[1]) for found in SECURITY_SECTION.finditer(line)
        )
        if "tests/house" not in str(shown):  # whose patterns are no references
            yield from ((shown, number, "rule", found[1]) for found in RULE.finditer(line))
            yield from ((shown, number, "outside", found[0]) for found in OUTSIDE.finditer(line))
        yield from ((shown, number, "file", found[1]) for found in FILE.finditer(line))
