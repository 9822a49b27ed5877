"""What a build contains beside Python packages, with the licences, and the glibc that its libraries need."""

import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from esign.cli.components import Component, describe_distribution, find_distributions

SQLITE_TEXT = """The author disclaims copyright to this source code.  In place of a legal notice, here is a blessing:

    May you do good and not evil.
    May you find forgiveness for yourself and forgive others.
    May you share freely, never taking more than you give.
"""

# Licences of Debian packages, whose copyright files name them in words. A library of another package stops the build.
SYSTEM = {
    "libbz2-1.0": "bzip2-1.0.6",
    "libcrypt1": "LGPL-2.1-or-later",
    "libexpat1": "MIT",
    "libffi8": "MIT",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "liblzma5": "0BSD",
    "libssl3": "Apache-2.0",
    "libssl3t64": "Apache-2.0",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libuuid1": "BSD-3-Clause",
    "zlib1g": "Zlib",
}


def list_inventory(binaries: Iterable[Path], sqlite_version: str) -> list[Component]:
    """Return every part of the build in alphabetic order. Exits if the licence of one is not known."""
    found = [
        *map(describe_distribution, find_distributions("esign")),
        *map(describe_distribution, [metadata.distribution("certifi")]),
        *_list_system_libraries(binaries),
        _describe_python(),
        _describe_loader(),
        Component(
            "SQLite", sqlite_version, "blessing", (SQLITE_TEXT,), f"pkg:generic/sqlite@{sqlite_version}"
        ),
    ]
    return sorted({one.name: one for one in found}.values(), key=lambda one: one.name.lower())


def find_glibc(binaries: Iterable[Path]) -> int:
    """Return the N of the glibc 2.N that the most demanding of the libraries needs."""
    needed = 17
    for path in binaries:
        told = subprocess.run(["readelf", "-V", path], capture_output=True, text=True, check=False).stdout
        needed = max([needed, *(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", told))])
    return needed


def _list_system_libraries(binaries: Iterable[Path]) -> Iterator[Component]:
    """Yield the packages of the system that libraries come from."""
    ours = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve() / "lib" / f"python{sys.version[:4]}")
    packages = set()
    for path in {path.resolve() for path in binaries}:
        if any(path.is_relative_to(folder) for folder in ours) or path.name.startswith("libpython"):
            continue
        if path.name.startswith("libsqlite3."):
            continue
        packages.add(_find_package(path))
    for package in sorted(packages):
        if package not in SYSTEM:
            sys.exit(
                f"the licence of {package} is not known; look it up, and add it to packaging/appliance/inventory.py"
            )
        version = _ask("dpkg-query", "--show", "--showformat", "${Version}", package)
        text = Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
        yield Component(package, version, SYSTEM[package], (text,), f"pkg:deb/debian/{package}@{version}")


def _find_package(path: Path) -> str:
    """Return the Debian package that a library comes from, whose list may name it without /usr."""
    for name in (path, Path("/") / path.relative_to("/usr") if path.is_relative_to("/usr") else path):
        told = subprocess.run(["dpkg", "--search", name], capture_output=True, text=True, check=False).stdout
        if told:
            return told.split(":", 1)[0]
    sys.exit(f"{path} belongs to no Debian package, so its licence is not known")


def _describe_python() -> Component:
    texts = [
        Path(sysconfig.get_path("stdlib")) / "LICENSE.txt",
        Path(f"/usr/share/doc/python{sys.version[:4]}/copyright"),
    ]
    text = next(path for path in texts if path.exists()).read_text(errors="replace")
    version = sys.version.split()[0]
    return Component("Python", version, "PSF-2.0", (text,), f"pkg:generic/python@{version}")


def _describe_loader() -> Component:
    found = describe_distribution(metadata.distribution("pyinstaller"))
    license = "GPL-2.0-or-later WITH Bootloader-exception"
    return Component("PyInstaller loader", found.version, license, found.texts, found.source)


def _ask(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
