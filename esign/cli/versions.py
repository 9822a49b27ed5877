"""The versions of what this program is made of, for a report of a defect."""

import platform
import ssl
from importlib import metadata

from esign import __version__
from esign.store.engine.engine_version import describe_engine
from esign.system import frozen


def describe_versions() -> str:
    """Return one line for each part: its name and its version."""
    import pikepdf
    import pypdfium2
    from cryptography.hazmat.backends.openssl import backend

    libc, libc_version = platform.libc_ver()
    parts = {
        "esign": __version__ + (" (one file)" if frozen.is_frozen() else ""),
        "Python": platform.python_version(),
        "SQLite": describe_engine(),
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
