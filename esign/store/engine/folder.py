"""The data folder: created if missing, closed to other users, refused where SQLite is not reliable."""

import logging
import os
from pathlib import Path

log = logging.getLogger("esign.store")

NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs"}


class UnusableFolder(Exception):
    """The data folder cannot be used; the message says why and what to do."""


def prepare(folder: Path) -> Path:
    """Return the folder, with access for its owner only. Raises UnusableFolder."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except FileExistsError:
        raise UnusableFolder(f"{folder} is not a folder; set storage.data_dir to one") from None
    except OSError as error:
        raise UnusableFolder(f"the data folder {folder} cannot be made: {error.strerror}") from None
    require_own(folder)
    if found.st_mode & 0o077:
        log.warning("the data folder %s was open to others; its access is now 0700", folder)
        folder.chmod(0o700)
    if (kind := find_file_system(folder)) in NETWORK_FILE_SYSTEMS:
        raise UnusableFolder(
            f"the data folder {folder} lies on a network file system ({kind}), where a database can be damaged;"
            " set storage.data_dir to a local disk"
        )
    return folder


def require_own(folder: Path) -> None:
    """Raise UnusableFolder if the folder belongs to another user: what is made in it would be of the wrong one."""
    if folder.stat().st_uid != os.geteuid():
        raise UnusableFolder(f"the data folder {folder} belongs to another user; run esign as its owner")


def find_file_system(folder: Path) -> str:
    """Return the type of the file system that holds `folder`, as in /proc/self/mounts; empty if unknown."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return ""
    place = folder.resolve()
    holding = [
        (len(point), kind)
        for _, point, kind, *_ in map(str.split, mounts.read_text("utf-8", "replace").splitlines())
        if place.is_relative_to(point)
    ]
    return max(holding)[1] if holding else ""
