"""The source as Python reads it: its files, functions and classes."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file of `esign/`; `path` is relative to the repository."""

    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @property
    def module(self) -> str:
        return ".".join(self.path.with_suffix("").parts).removesuffix(".__init__")

    @property
    def package(self) -> str:
        """Return the folder below `esign/`, or `esign` for what lies in it."""
        return "/".join(self.path.parts[1:-1]) or "esign"

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, Function))

    @cached_property
    def classes(self) -> tuple[ast.ClassDef, ...]:
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))

    @property
    def imports(self) -> Iterator[str]:
        """Yield the full name of each module or member that the file imports."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def read_sources(folder: str = "esign") -> tuple[Source, ...]:
    """Return every Python file below a folder of the repository, in the order of their paths."""
    return tuple(
        Source(path.relative_to(ROOT), path.read_text("utf-8"))
        for path in sorted((ROOT / folder).rglob("*.py"))
    )


def length(function: Function) -> int:
    """Return how many lines a function has, from its `def` to its end."""
    return (function.end_lineno or function.lineno) - function.lineno + 1
