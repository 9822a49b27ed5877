"""Names in docstrings and comments of the program that nothing bears any more.

A name in backticks that looks like one of Python (`module.function`, `two_words`, `CamelCase`) must occur somewhere
in code: as a name, in a string, in SQL, JavaScript, a template or a setting, or as a file; after the name of a module,
in that module. A class after "Raises" must
be one that the program defines, uses or finds among the builtins.
"""

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.source import ROOT

WORD = re.compile(r"\w+")
BACKTICKED = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(\))?`(?!`)")
LIKE_PYTHON = re.compile(r"[._]|[a-z][A-Z]|^[A-Z][a-z]+$")
RAISES = re.compile(r"\b[Rr]aises?:?\s+((?:`?[A-Z][\w.]*`?(?:,\s+or\s+|,\s+|\s+or\s+|\s+and\s+)?)+)")
CLASS = re.compile(r"\b[A-Z]\w*[a-z]\w*")
# Names of other programs and formats, and examples.
FOREIGN = frozenset(
    {
        "verify.qr_svg",
        "contract.typ",
        "sample.typ",
        "TimeStampResp",
        "resolv.conf",
        "Tamil",
        "project_manager",
        "project_manager_2",
        "Expect",
        "NaN",
    }
)
OTHER_CODE = (".sql", ".js", ".toml", ".css", ".html", ".json", ".example")


def find_stale_names() -> list[str]:
    """Return `path:line: name` for each name in prose of `esign` that no code has, and each unknown "Raises"."""
    words, classes = collect_words(), collect_classes()
    found = []
    for path in sorted((ROOT / "esign").rglob("*.py")):
        for line, prose in read_prose(path):
            stale = [name for name in BACKTICKED.findall(prose) if is_stale(name, words)]
            stale += [
                name
                for named in RAISES.findall(prose)
                for name in CLASS.findall(named)
                if name not in classes
            ]
            found += [f"{path.relative_to(ROOT)}:{line}: {name}" for name in stale]
    return found


def is_stale(name: str, words: frozenset[str]) -> bool:
    """Return whether a name looks like one of Python and one of its parts occurs nowhere in code.

    A name that begins with an underscore stands for the ends of several names.
    """
    if name in FOREIGN or not LIKE_PYTHON.search(name):
        return False
    if name.startswith("_"):
        return not any(word.endswith(name) for word in words)
    *owner, last = name.split(".")
    if owner and owner[-1] in (modules := collect_modules()) and last not in modules[owner[-1]]:
        return not _is_quoted(name)
    return not words.issuperset(WORD.findall(name))


def read_prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each docstring and comment of a module."""
    source = path.read_text("utf-8")
    docstrings = _find_docstrings(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or token.start in docstrings:
            yield token.start[0], token.string


@cache
def collect_words() -> frozenset[str]:
    """Return every word of the repository's code: names, words in strings, and the names of files."""
    words = set(dir(builtins))
    for path in _find_files():
        words.update(WORD.findall(str(path.relative_to(ROOT))))
        text = path.read_text("utf-8")
        words.update(WORD.findall(text) if path.suffix in OTHER_CODE else _find_words(text))
    for path in (ROOT / "tests").rglob("test_*.py"):
        words.update(re.findall(r"def (test_\w+)", path.read_text("utf-8")))
    return frozenset(words)


@cache
def collect_modules() -> dict[str, set[str]]:
    """Return the words of each module and package by its last name; a package also has those of its modules."""
    modules: dict[str, set[str]] = {}
    for path in (ROOT / "esign").rglob("*.py"):
        words = _find_words(path.read_text("utf-8"))
        modules.setdefault(path.stem, set()).update(words)
        modules.setdefault(path.parent.name, set()).update({path.stem}, words)
    return modules


@cache
def collect_classes() -> frozenset[str]:
    """Return the names of all classes that the program defines, imports or uses, and of the builtin ones."""
    names = set(dir(builtins))
    for path in (ROOT / "esign").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef | ast.alias):
                names.add(node.name)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
    return frozenset(names)


@cache
def _is_quoted(name: str) -> bool:
    """Return whether a dotted name is a whole word of a file of code, such as an event, a setting or a file."""
    found = re.compile(rf"(?<![`\w]){re.escape(name)}(?![`\w])")
    return any(found.search(path.read_text("utf-8")) for path in _find_files())


def _find_files() -> Iterator[Path]:
    for path in (ROOT / "esign").rglob("*"):
        if path.suffix in (".py", *OTHER_CODE):
            yield path
    yield from (ROOT / "pyproject.toml", ROOT / "esign.toml.example", ROOT / "docs" / "openapi.json")


@cache
def _find_words(source: str) -> frozenset[str]:
    docstrings = _find_docstrings(source)
    code = (
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type in (tokenize.NAME, tokenize.STRING) and token.start not in docstrings
    )
    return frozenset(word for text in code for word in WORD.findall(text))


@cache
def _find_docstrings(source: str) -> set[tuple[int, int]]:
    """Return where the docstrings begin: line and column."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    }
