"""Where scheduled backups go: a folder of this machine, a bucket, or a folder of another machine."""

from pathlib import Path
from typing import Protocol

from esign.backup.backup_order import BackupOrder
from esign.backup.make_backup import CannotBackUp


class BackupTarget(Protocol):
    """A place for files with a name each. All of its functions block, and raise CannotBackUp in words."""

    def list_files(self) -> dict[str, int]:
        """Return the names of what is there, as far as the schedule can have made it, with sizes in bytes."""
        ...

    def store(self, file: Path, name: str) -> None:
        """Put a file there, whole or not at all, and compare what arrived."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file."""
        ...


class FolderTarget:
    """A folder of this machine. A backup is written into it at once, so nothing is stored later."""

    def __init__(self, order: BackupOrder) -> None:
        """Raise CannotBackUp if the folder is missing, or lies on another disk than before."""
        self.folder, self._text = Path(order.place.path), order.place.text
        data = Path(order.data)
        if not self.folder.is_dir():
            raise CannotBackUp(
                f"there is no folder {self._text}; make it, or mount its disk, and let esign write there"
            )
        if self.folder.resolve().is_relative_to(data.resolve()):
            raise CannotBackUp(f"{self._text} lies in the data folder; set backup.to to another")
        self.is_elsewhere = self.folder.stat().st_dev != data.stat().st_dev
        if order.was_elsewhere and not self.is_elsewhere:
            raise CannotBackUp(
                f"{self._text} was on another disk at the last backup, and is on that of the data now; mount the disk"
            )

    def list_files(self) -> dict[str, int]:
        """Return the files of the folder, without links and folders."""
        try:
            return {
                path.name: path.stat().st_size
                for path in self.folder.iterdir()
                if path.is_file() and not path.is_symlink()
            }
        except OSError as error:
            raise CannotBackUp(f"{self._text} cannot be read: {error.strerror}; check its disk") from None

    def store(self, file: Path, name: str) -> None:
        """Do nothing: the file was made there."""

    def delete(self, name: str) -> None:
        """Delete a file."""
        try:
            (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise CannotBackUp(f"{self.folder / name} cannot be deleted: {error.strerror}") from None


def open_target(order: BackupOrder) -> BackupTarget:
    """Return the target of an order. What a bucket or another machine needs is imported only for these."""
    if order.place.kind == "s3":
        from esign.backup.bucket_target import BucketTarget

        return BucketTarget(order)
    if order.place.kind == "sftp":
        from esign.backup.sftp_target import SftpTarget

        return SftpTarget(order)
    return FolderTarget(order)
