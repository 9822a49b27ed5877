"""The parts that this program contains, and under which licences."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

# The one file and the packages made of it bring the list of everything inside, with the libraries of the system.
BUNDLED = Path(__file__).parents[1] / "licenses.json"

# What packages call a licence that has a name in SPDX.
SPDX = {
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "(BSD-3-Clause OR Apache-2.0) AND LicenseRef-PDFium-parts",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

# Packages that declare no licence and bring its text.
UNDECLARED = {"pyrage": "MIT"}

# Files in the wheel with the texts of licences, by the end of their path.
TEXTS = re.compile(r"\.dist-info/(licenses/.+|(LICEN[CS]E|COPYING|NOTICE)[^/]*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the program: its name, its version, its licence as an SPDX expression, and the texts of it."""

    name: str
    version: str
    license: str
    texts: tuple[str, ...]
    source: str  # a package URL


def list_components() -> list[Component]:
    """Return the parts in alphabetic order: of the one file what it contains, else what is installed."""
    if BUNDLED.exists():
        return [Component(**{**one, "texts": tuple(one["texts"])}) for one in json.loads(BUNDLED.read_text())]
    return sorted(map(describe_distribution, find_distributions("esign")), key=lambda one: one.name.lower())


def find_distributions(root: str) -> Iterator[metadata.Distribution]:
    """Yield a distribution and all that it needs, each once. Those of an extra, or of another system, are left out."""
    waiting, seen = [root], set()
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen:
            continue
        seen.add(key)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # needed on other systems only
        yield found
        for need in found.requires or ():
            wanted = re.match(r"[A-Za-z0-9._-]+", need)
            if wanted and "extra ==" not in need:
                waiting.append(wanted[0])


def describe_distribution(found: metadata.Distribution) -> Component:
    """Return the licence that a distribution declares, and the texts that it brings."""
    name, version = found.metadata["Name"], found.version
    texts = tuple(
        Path(str(found.locate_file(file))).read_text(errors="replace")
        for file in found.files or ()
        if TEXTS.search(file.as_posix())
    )
    source = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    return Component(name, version, read_license(found), texts, source)


def read_license(found: metadata.Distribution) -> str:
    """Return the declared licence as SPDX names it, or an empty text."""
    fields = found.metadata
    classifiers = [
        one.split(" :: ")[-1] for one in fields.get_all("Classifier") or () if one.startswith("License")
    ]
    named = [*(fields.get_all("License-Expression") or ()), *(fields.get_all("License") or ())]
    declared = next((one for one in named if one), " OR ".join(classifiers))
    if declared == "MIT License" and len(classifiers) > 1:  # the field names one of two
        declared = " OR ".join(SPDX.get(one, one) for one in classifiers)
    return SPDX.get(declared, declared) or UNDECLARED.get(fields["Name"], "")


def write_components(components: list[Component]) -> str:
    """Return the parts as JSON, as the one file contains them."""
    return json.dumps([asdict(one) for one in components], indent=1, ensure_ascii=False) + "\n"
