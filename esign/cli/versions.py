"""The versions of what this program is made of, for a report of a defect."""

import platform
import sqlite3
import ssl
from importlib import metadata

from esign import __version__
from esign.system import frozen

# With the WAL-reset bug, two connections that write at once can lose commits. The branches with the fix, newest first.
WAL_RESET_FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))


def is_wal_reset_fixed(version: tuple[int, int, int]) -> bool:
    """Return whether this version of SQLite is free of the WAL-reset bug."""
    newest, *older = WAL_RESET_FIXED
    return version >= newest or any(version[:2] == fixed[:2] and version >= fixed for fixed in older)


def describe_versions() -> str:
    """Return one line for each part: its name and its version."""
    import pikepdf
    import pypdfium2
    from cryptography.hazmat.backends.openssl import backend

    first, second, third = sqlite3.sqlite_version_info[:3]
    bug = (
        "" if is_wal_reset_fixed((first, second, third)) else " (with the WAL-reset bug; see docs/storage.md)"
    )
    libc, libc_version = platform.libc_ver()
    parts = {
        "esign": __version__ + (" (one file)" if frozen.is_frozen() else ""),
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version + bug,
        "OpenSSL": f"{_cut_name(ssl.OPENSSL_VERSION)} (network), {_cut_name(backend.openssl_version_text())} (seals)",
        "pikepdf": f"{pikepdf.__version__} (qpdf {pikepdf.__libqpdf_version__})",
        "pdfium": str(pypdfium2.PDFIUM_INFO),
        "Typst": metadata.version("typst"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}, {libc} {libc_version}".strip(),
    }
    return "\n".join(f"{name:<8} {version}" for name, version in parts.items())


def _cut_name(text: str) -> str:
    """Return the version out of a text such as `OpenSSL 3.0.19 27 Jan 2026`."""
    return text.split()[1]
