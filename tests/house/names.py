"""Counts of names and docstrings that do not follow the rules of `CONTRIBUTING.md`."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.source import Function, Source

VERBS = frozenset((Path(__file__).parent / "verbs.txt").read_text("utf-8").split())
IRREGULAR = frozenset(
    (
        *(
            "begun",
            "bound",
            "bought",
            "broken",
            "brought",
            "built",
            "caught",
            "chosen",
            "cut",
            "done",
            "drawn",
            "driven",
        ),
        *(
            "drawn",
            "eaten",
            "fallen",
            "felt",
            "forgiven",
            "forgotten",
            "found",
            "frozen",
            "given",
            "gone",
            "grown",
            "heard",
        ),
        *(
            "held",
            "hidden",
            "kept",
            "known",
            "laid",
            "left",
            "lent",
            "lost",
            "made",
            "meant",
            "met",
            "overdrawn",
            "paid",
        ),
        *(
            "rewritten",
            "risen",
            "said",
            "seen",
            "sent",
            "shown",
            "shut",
            "sold",
            "spelt",
            "spent",
            "split",
            "spoken",
            "stood",
        ),
        *(
            "sworn",
            "taken",
            "taught",
            "thought",
            "thrown",
            "told",
            "torn",
            "understood",
            "unheld",
            "unread",
            "unwound",
        ),
        *(
            "withdrawn",
            "worn",
            "written",
            "wrong",
            "undrawn",
            "unseen",
            "unsent",
            "brought",
            "overwritten",
            "misspelt",
        ),
    )
)
NO_PARTICIPLES = frozenset(
    ("bed", "embed", "exceed", "feed", "need", "proceed", "read", "red", "seed", "shed", "speed")
)
MOST_PARAMETERS = 5


def is_participle(name: str) -> bool:
    """Return whether a name is one past participle and nothing else: `told`, `_kept`."""
    word = name.strip("_").lower()
    return word in IRREGULAR or (word.endswith("ed") and "_" not in word and word not in NO_PARTICIPLES)


def find_participles(sources: Iterable[Source]) -> list[str]:
    """Return the functions that are named by a bare participle; a property may be named by what it is."""
    return [
        f"{source.path}: {function.name}"
        for source in sources
        for function in source.functions
        if is_participle(function.name)
    ]


def find_repeated_classes(sources: Iterable[Source]) -> dict[str, int]:
    """Return the class names that stand more than once, with how often."""
    counts = Counter(one.name for source in sources for one in source.classes)
    return {name: count for name, count in sorted(counts.items()) if count > 1}


def find_long_signatures(sources: Iterable[Source]) -> list[str]:
    """Return the functions with more than five parameters, besides constructors."""
    return [
        f"{source.path}: {function.name} ({count})"
        for source in sources
        for function in source.functions
        if function.name != "__init__" and (count := _count_parameters(function)) > MOST_PARAMETERS
    ]


def _count_parameters(function: Function) -> int:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len([one for one in every if one.arg not in ("self", "cls")])


def find_docstrings(sources: Iterable[Source]) -> Iterator[tuple[str, str]]:
    """Yield each function that has a docstring as `path: name`, and the docstring's first word in lower case."""
    for source in sources:
        for function in source.functions:
            if text := ast.get_docstring(function):
                found = re.match(r"[A-Za-z-]+", text)
                yield f"{source.path}: {function.name}", found[0].lower() if found else ""


def count_any(sources: Iterable[Source]) -> int:
    """Return how often `Any` stands in an annotation or an expression."""
    return sum(
        isinstance(node, ast.Name) and node.id == "Any"
        for source in sources
        for node in ast.walk(source.tree)
    )


def count_bells(sources: Iterable[Source]) -> int:
    """Return how often a bell is rung by hand outside the module that defines it."""
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "ring"
        for source in sources
        for node in ast.walk(source.tree)
    )
