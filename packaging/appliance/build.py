"""Builds the one file, the folder, the list of parts and the checksums into dist/. Started by packaging/binary."""

import argparse
import hashlib
import json
import os
import platform
import shutil
import stat
import struct
import subprocess
import sys
import sysconfig
import tarfile
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from loader import build_launcher

from esign import __version__
from esign.cli.components import Component
from esign.store.engine.engine_version import is_wal_reset_fixed

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "appliance"
DIST = ROOT / "dist"
NAME = f"esign-{__version__}-linux-{platform.machine()}"

# The source of SQLite as one file, from a package that carries it unchanged; the hash decides, not where it came from.
SQLITE_PACKAGE = "better-sqlite3@12.11.1"
SQLITE_SOURCE = "package/deps/sqlite3/sqlite3.c"
SQLITE_VERSION = "3.53.2"
SQLITE_SHA256 = "60d2f39a3726cd6b9021da6f4e868608d66fbb6528a9f513dc8ffcc640493422"
SQLITE_OPTIONS = (
    "SQLITE_ENABLE_FTS5", "SQLITE_ENABLE_DBSTAT_VTAB", "SQLITE_ENABLE_COLUMN_METADATA",
    "SQLITE_ENABLE_MATH_FUNCTIONS", "SQLITE_THREADSAFE=1", "SQLITE_USE_URI=1",
)  # fmt: skip

ARCH = platform.machine()
COMPILER = [sys.executable, "-m", "ziglang", "cc", "-target", f"{ARCH}-linux-gnu.2.17"]
STATIC_COMPILER = [*COMPILER[:-1], f"{ARCH}-linux-musl"]
FOOTER = struct.Struct("<8sQQQ64s")  # as launcher.c reads it
HEAD = struct.Struct("<IIQ")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--twice", action="store_true")
    arguments = parser.parse_args()
    require_shared_python()
    built = build(WORK / "first")
    if arguments.twice:
        report_differences(built, build(WORK / "second"))
    publish(built)


def require_shared_python() -> None:
    """Exit if this Python has no shared library, which the loader needs."""
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        sys.exit(
            "this Python has no shared library; choose another with PYTHON=…, as Debian's python3 with python3-dev"
        )


def build(folder: Path) -> Path:
    """Build everything in a folder from nothing, and return the folder with the results."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sqlite = build_sqlite(folder)
    loader = fetch_loader_sources(folder)
    run(
        *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
        *(
            "--distpath",
            folder / "out",
            "--workpath",
            folder / "work",
            Path(__file__).with_name("esign.spec"),
        ),
        *("--", sqlite, SQLITE_VERSION, loader),
        environment={"PYTHONHASHSEED": "0", "PYINSTALLER_CONFIG_DIR": str(folder / "cache")},
    )
    launcher = folder / "launcher"
    build_launcher(STATIC_COMPILER, loader / "zlib", launcher)
    write_one_file(launcher, folder / "out" / "esign", folder / "out" / "esign-one-file")
    return folder / "out"


def write_one_file(launcher: Path, folder: Path, target: Path) -> None:
    """Write the launcher, and behind it every file of the folder in one deflate stream, and the footer."""
    packed, unpacked, offset = zlib.compressobj(9), 0, launcher.stat().st_size
    digest = hashlib.sha256()
    with target.open("wb") as out:
        out.write(launcher.read_bytes())
        for path in [*sorted(folder.rglob("*")), None]:
            if path is None:
                plain = HEAD.pack(0, 0, 0)
            elif path.is_symlink():
                plain = pack_entry(
                    path.relative_to(folder), stat.S_IFLNK | 0o777, str(path.readlink()).encode()
                )
            elif path.is_dir():
                continue
            else:
                mode = stat.S_IFREG | (0o755 if os.access(path, os.X_OK) else 0o644)
                plain = pack_entry(path.relative_to(folder), mode, path.read_bytes())
            digest.update(plain)
            unpacked += len(plain)
            out.write(packed.compress(plain))
        out.write(packed.flush())
        length = out.tell() - offset
        name = f"{__version__}-{digest.hexdigest()[:24]}".encode()
        out.write(FOOTER.pack(b"ESIGNONE", offset, length, unpacked, name))
    target.chmod(0o755)


def pack_entry(name: Path, mode: int, content: bytes) -> bytes:
    """Return a file as the payload holds it."""
    encoded = name.as_posix().encode()
    return HEAD.pack(len(encoded), mode, len(content)) + encoded + content


def build_sqlite(folder: Path) -> Path:
    """Compile SQLite without the WAL-reset bug, and return the library. Exits if the source is not the expected one."""
    first, second, third = map(int, SQLITE_VERSION.split("."))
    assert is_wal_reset_fixed((first, second, third))
    source = folder / "sqlite3.c"
    source.write_bytes(read_sqlite_source())
    library = folder / "libsqlite3.so.0"
    options = [f"-D{option}" for option in SQLITE_OPTIONS]
    run(
        *COMPILER, "-O2", "-fPIC", "-shared", "-s", "-Wl,-soname,libsqlite3.so.0", *options,
        *("-o", library, source, "-lm", "-lpthread", "-ldl"),
    )  # fmt: skip
    return library


def read_sqlite_source() -> bytes:
    """Return the source of SQLite, fetched once. ESIGN_SQLITE_SOURCE may name a copy of it."""
    kept = Path(os.environ.get("ESIGN_SQLITE_SOURCE", WORK / "sqlite3.c"))
    if not kept.exists():
        told = subprocess.run(
            ["npm", "pack", "--silent", SQLITE_PACKAGE], cwd=WORK, capture_output=True, text=True, check=True
        )
        with tarfile.open(WORK / told.stdout.split()[-1]) as package:
            member = package.extractfile(SQLITE_SOURCE)
            assert member is not None
            kept.write_bytes(member.read())
    source = kept.read_bytes()
    if hashlib.sha256(source).hexdigest() != SQLITE_SHA256:
        sys.exit(f"{kept} is not the source of SQLite {SQLITE_VERSION} that build.py names")
    return source


def fetch_loader_sources(folder: Path) -> Path:
    """Return the folder with the loader's C files, from the locked source package of PyInstaller."""
    version = subprocess.run(
        [sys.executable, "-m", "PyInstaller", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    archive = WORK / f"pyinstaller-{version}.tar.gz"
    if not archive.exists():
        lock = [
            line.split("#")[0]
            for line in (ROOT / "packaging/requirements-binary.txt").read_text().splitlines()
        ]
        at = next(number for number, line in enumerate(lock) if line.startswith("pyinstaller=="))
        end = next((n for n in range(at + 1, len(lock)) if not lock[n].startswith(" ")), len(lock))
        (WORK / "pyinstaller.txt").write_text("\n".join(lock[at:end]) + "\n")
        run(
            *(sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--no-binary", ":all:"),
            *(
                "--no-build-isolation",
                "--require-hashes",
                "--requirement",
                WORK / "pyinstaller.txt",
                "--dest",
                WORK,
            ),
        )
    with tarfile.open(archive) as package:
        package.extractall(folder, filter="data")
    return folder / f"pyinstaller-{version}" / "bootloader"


def publish(built: Path) -> None:
    """Put the results into dist/ under their names, with the list of parts and the checksums."""
    DIST.mkdir(exist_ok=True)
    shutil.copy(built / "esign-one-file", DIST / NAME)
    pack_folder(built / "esign", DIST / f"{NAME}.tar.zst")
    parts = json.loads((built / "esign" / "lib" / "esign" / "licenses.json").read_text())
    components = [Component(**{**one, "texts": ()}) for one in parts]
    (DIST / "sbom.cdx.json").write_text(json.dumps(write_sbom(components), indent=1) + "\n")
    write_checksums()
    for file in sorted(DIST.iterdir()):
        print(f"{file.stat().st_size / 1e6:7.1f} MB  dist/{file.name}")
    print(f"Needs glibc 2.{(built / 'glibc').read_text()} or newer.")


def pack_folder(folder: Path, target: Path) -> None:
    """Write a folder as .tar.zst, with the same bytes for the same files."""
    plain = target.with_suffix("")

    def plainly(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = int(read_epoch())
        return member

    with tarfile.open(plain, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.add(folder, NAME, filter=plainly)  # in alphabetic order
    level = os.environ.get("ZSTD_CLEVEL", "19")
    run("zstd", "--quiet", "--force", f"-{level}", "--rm", plain, "-o", target)


def write_checksums() -> None:
    """Write SHA256SUMS over all files of this version in dist/, as `sha256sum --check` reads it."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}"
        for file in sorted(DIST.iterdir())
        if file.name != "SHA256SUMS"
    ]
    (DIST / "SHA256SUMS").write_text("\n".join(lines) + "\n")


def write_sbom(components: Sequence[Component]) -> dict[str, object]:
    """Return the list of parts as CycloneDX 1.6 describes it."""
    program = next(one for one in components if one.name == "esign")

    def describe(part: Component, kind: str) -> dict[str, object]:
        return {
            "type": kind,
            "bom-ref": part.source,
            "name": part.name,
            "version": part.version,
            "licenses": [{"expression": part.license}],
            "purl": part.source,
        }

    parts = [describe(one, "library") for one in components if one is not program]
    content = json.dumps(parts).encode()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=4).urn,
        "version": 1,
        "metadata": {"component": describe(program, "application")},
        "components": parts,
        "dependencies": [{"ref": program.source, "dependsOn": [one["bom-ref"] for one in parts]}],
    }


def report_differences(one: Path, other: Path) -> None:
    """Print which files of two builds differ."""
    first, second = dict(list_hashes(one)), dict(list_hashes(other))
    names = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    print(f"{len(first)} files were built twice; {len(names)} differ.")
    for name in names:
        print(f"  differs: {name}")


def list_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the hash of each file in a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()


def read_epoch() -> str:
    """Return the time that all files of the build get: SOURCE_DATE_EPOCH, else that of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    told = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "0"


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a command; its output goes to the terminal."""
    whole = {**os.environ, "SOURCE_DATE_EPOCH": read_epoch(), **(environment or {})}
    subprocess.run(list(map(str, command)), env=whole, check=True)


if __name__ == "__main__":
    main()
