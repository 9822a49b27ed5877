"""What a scheduled backup is to do, and what came of it, as the server and its child process tell one another."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from esign.backup.encryption import Protection
from esign.config import BackupPlace, Config
from esign.core.instant import HOUR, Instant

MOST_NAMED = 10  # of what was found, and of what was deleted, in an outcome for the server
MOST_SAID = 500  # characters of what was found


@dataclass(frozen=True, slots=True)
class TargetAccess:
    """How to get at a bucket or at the server of a folder."""

    endpoint: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    key_file: str = ""
    host_key: str = ""


@dataclass(frozen=True, slots=True)
class BackupOrder:
    """What to back up, to where, and what may be deleted there.

    `label` names this installation among others with the same target, and `at` is the present time. `spare` is how many
    bytes of the disk of the data stay free. `may_delete` is false while the clock is in doubt. `was_elsewhere` says
    that the last backup lay on another disk than the data: if this one would not, that disk is not mounted.
    """

    data: str
    configuration: str | None
    key_file: str | None
    place: BackupPlace
    access: TargetAccess
    label: str
    at: Instant
    protection: Protection = field(repr=False)
    keep: int
    full_every: int  # ms; 0: each backup is a whole one
    spare: int
    scratch: str | None = None
    may_delete: bool = True
    was_elsewhere: bool = False

    def encode(self) -> bytes:
        """Return the order on one line, with its secrets: for a pipe, never for a file."""
        values = {name: getattr(self, name) for name in self.__slots__}
        plain = {
            "place": self.place.model_dump(),
            "access": asdict(self.access),
            "protection": asdict(self.protection),
        }
        return json.dumps({**values, **plain}).encode() + b"\n"


def decode_order(line: bytes) -> BackupOrder:
    """Return the order of a line. Raises ValueError, KeyError or TypeError for anything else."""
    values: dict[str, Any] = json.loads(line)
    protection = values["protection"]
    return BackupOrder(
        **values
        | {
            "place": BackupPlace(**values["place"]),
            "access": TargetAccess(**values["access"]),
            "protection": Protection(protection["passphrase"], tuple(protection["recipients"])),
        }
    )


@dataclass(frozen=True, slots=True)
class BackupOutcome:
    """A backup that is in its place. `found` is what is damaged in it, `elsewhere` whether that is another disk.

    `left_out` is how many more were deleted than `deleted` names.
    """

    name: str
    made_at: Instant
    size: int
    is_whole: bool
    found: list[str]
    deleted: list[str]
    elsewhere: bool
    left_out: int = 0

    def encode(self) -> bytes:
        """Return the outcome on one line, which is short whatever was found and deleted."""
        short = replace(
            self,
            found=[line[:MOST_SAID] for line in self.found[:MOST_NAMED]],
            deleted=self.deleted[:MOST_NAMED],
            left_out=self.left_out + len(self.deleted[MOST_NAMED:]),
        )
        return json.dumps(asdict(short)).encode() + b"\n"


def decode_outcome(line: bytes) -> BackupOutcome:
    """Return the outcome of a line. Raises ValueError or TypeError for anything else."""
    return BackupOutcome(**json.loads(line))


def make_order(
    config: Config, label: str, now: Instant, *, may_delete: bool = True, was_elsewhere: bool = False
) -> BackupOrder:
    """Return the order that the settings give. `[backup] to` is set."""
    settings = config.backup
    assert settings.to is not None
    endpoint = settings.s3_endpoint.url if settings.s3_endpoint else ""
    hours = settings.full_every_hours if settings.full_every_hours > settings.every_hours else 0
    return BackupOrder(
        data=str(config.storage.data_dir.absolute()),
        configuration=str(config.file) if config.file else None,
        key_file=str(config.storage.key_file) if config.storage.key_file else None,
        place=settings.to,
        access=TargetAccess(
            endpoint=endpoint.rstrip("/") or f"https://s3.{settings.s3_region}.amazonaws.com",
            region=settings.s3_region,
            access_key=settings.s3_access_key or "",
            secret_key=settings.s3_secret or "",
            key_file=str(settings.sftp_key or ""),
            host_key=settings.sftp_host_key or "",
        ),
        label=label,
        at=now,
        protection=Protection(settings.secret, settings.recipients),
        keep=settings.keep,
        full_every=hours * HOUR,
        spare=config.storage.spare_mib * 2**20,
        scratch=str(settings.scratch) if settings.scratch else None,
        may_delete=may_delete,
        was_elsewhere=was_elsewhere,
    )
