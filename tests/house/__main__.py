"""Print how the source stands: `python -m tests.house [--list]`; with `--list` each finding by name."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median, quantiles

from tests.house import names, references, spread
from tests.house.source import Source, length, read_sources


def main() -> None:
    sources = read_sources()
    print_packages(sources)
    listed = "--list" in sys.argv
    functions = sum(len(source.functions) for source in sources)
    docstrings = list(names.find_docstrings(sources))
    dialect = [f"{where}: {word}" for where, word in docstrings if word not in names.VERBS]
    participles = names.find_participles(sources)
    classes = names.find_repeated_classes(sources)
    signatures = names.find_long_signatures(sources)
    unresolved = references.find_unresolved()
    print(f"\nfunctions {functions}, classes {sum(len(source.classes) for source in sources)}")
    show(f"bare participles {len(participles)} ({len(participles) / functions:.1%})", participles, listed)
    show(
        f"class names that stand twice {len(classes)}",
        [f"{name} {classes[name]}" for name in classes],
        listed,
    )
    show(f"functions with more than five parameters {len(signatures)}", signatures, listed)
    share = 1 - len(dialect) / len(docstrings)
    show(f"docstrings {len(docstrings)}, of which {share:.1%} begin with a verb", dialect, listed)
    show(f"references that do not resolve {len(unresolved)}", unresolved, listed)
    print(f"bells rung by hand {names.count_bells(sources)}")
    print(f"Any {names.count_any(sources)}")
    tests = read_sources("tests")
    participles, classes = names.find_participles(tests), names.find_repeated_classes(tests)
    show(f"bare participles in tests {len(participles)}", participles, listed)
    show(
        f"class names of tests that stand twice {len(classes)}",
        [f"{name} {classes[name]}" for name in classes],
        listed,
    )
    mentions = spread.count_mentions()
    show(
        "files that mention each field type and event", [f"{name} {n}" for name, n in mentions.items()], True
    )


def show(headline: str, findings: Iterable[str], listed: bool) -> None:
    print(headline)
    for finding in findings if listed else ():
        print("  " + finding)


def print_packages(sources: Sequence[Source]) -> None:
    """Print one line per package: files, lines, and the length of its files and functions."""
    importers = count_importers(sources)
    packages: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        packages[source.package].append(source)
    print(
        f"{'package':34} {'files':>5} {'lines':>6}  {'file: median 90% max':>22}  {'function':>14}  single importer"
    )
    for package, held in [*sorted(packages.items()), ("all", list(sources))]:
        files = summarise([source.lines for source in held])
        bodies = summarise([length(function) for source in held for function in source.functions])
        single = sum(importers[source.module] == 1 for source in held)
        lines = sum(source.lines for source in held)
        print(f"{package:34} {len(held):5} {lines:6}  {files:>22}  {bodies:>14}  {single:3}")


def summarise(sizes: Sequence[int]) -> str:
    """Return the median, the 90th percentile and the maximum of some sizes in lines."""
    if len(sizes) < 2:
        return " ".join(map(str, sizes)) or "-"
    return f"{median(sizes):.0f} {quantiles(sizes, n=10, method='inclusive')[8]:.0f} {max(sizes)}"


def count_importers(sources: Sequence[Source]) -> Counter[str]:
    """Return how many other modules import each module."""
    modules = {source.module for source in sources}
    counts: Counter[str] = Counter()
    for source in sources:
        counts.update({name for name in source.imports if name in modules and name != source.module})
    return counts


if __name__ == "__main__":
    main()
