"""What differs when the program runs as one file, with Python and all libraries in it.

Such a program has no `python -m`: its PDF workers, its signer and what checks contents and copies are the same file,
started with one word that no command has.
"""

import sys
from collections.abc import Mapping, MutableMapping, Sequence
from enum import StrEnum
from pathlib import Path


class Child(StrEnum):
    """The child processes, by the word that starts each."""

    WORKER = "run-pdf-worker"
    SIGNER = "run-seal-signer"  # holds the seal key
    CONTENT_CHECK = "run-content-check"
    COPY_CHECK = "run-copy-check"


MODULES: Mapping[Child, str] = {
    Child.WORKER: "esign.pdf.worker.worker",
    Child.SIGNER: "esign.pdf.signer.signer",
    Child.CONTENT_CHECK: "esign.actions.server.content_process",
    Child.COPY_CHECK: "esign.cli.check_beside",
}

# Set by the loader of the one file: where its parts are unpacked, so that a worker does not unpack them again.
LOADER = ("LD_LIBRARY_PATH", "_PYI_")

# Where distributions keep the authorities that their administrators trust. OpenSSL only knows the first of them.
TRUST_STORES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",
)


def is_frozen() -> bool:
    """Return whether this is the one file, and not a Python that imports it."""
    return bool(getattr(sys, "frozen", False))


def find_child(arguments: Sequence[str]) -> Child | None:
    """Return what the one file was started as; None if it was started as the program that people know."""
    if not is_frozen() or len(arguments) != 2:
        return None
    return next((child for child in Child if child == arguments[1]), None)


def name_child_command(child: Child) -> tuple[str, ...]:
    """Return the command that starts a child process of this program."""
    if is_frozen():
        return (sys.executable, child)
    return (sys.executable, "-I", "-m", MODULES[child])


def name_command(*arguments: str) -> tuple[str, ...]:
    """Return the command line that runs a command of this program in a process of its own."""
    if is_frozen():
        return (sys.executable, *arguments)
    return (sys.executable, "-P", "-m", "esign", *arguments)


def list_loader_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a child of the one file needs; none if it is not the one file."""
    if not is_frozen():
        return {}
    return {name: value for name, value in environment.items() if name.startswith(LOADER)}


def make_child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a child process that needs nothing of this one: no secret is among them."""
    return {"LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1", **list_loader_variables(environment)}


def choose_trust_store(environment: MutableMapping[str, str], bundled: Path) -> None:
    """Let OpenSSL trust what the system trusts, or the authorities in the file where the system has none.

    The paths that OpenSSL was built with are those of the machine that built it.
    """
    if "SSL_CERT_FILE" in environment or "SSL_CERT_DIR" in environment:
        return
    found = next((path for path in TRUST_STORES if Path(path).is_file()), str(bundled))
    environment["SSL_CERT_FILE"] = found


def find_bundled_authorities() -> Path:
    """Return the file with the authorities that the one file brings."""
    return Path(__file__).parents[2] / "certifi" / "cacert.pem"
