"""Checks what needs neither the data nor a network: settings, permissions, disk and version; at each start too."""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.config import SECRETS, Config
from esign.pdf.worker.confinement_report import describe_confinement
from esign.pdf.worker.frames import FrameError
from esign.store.engine.connections import FILE
from esign.store.engine.engine_version import is_wal_reset_fixed, read_engine_version
from esign.store.engine.write_ahead_log import LARGE_LOG
from esign.system.disk import count_free_bytes
from esign.system.file_cache import FileCache

SCARCE_BYTES, SCARCE_SHARE = 2**30, 0.05  # of the disk free: below both it is time to act

# A setting, whether it has an effect, and why not.
EFFECTS: Sequence[tuple[str, Callable[[Config], bool], str]] = (
    ("server.http_port", lambda c: c.server.https != "off", 'server.https is "off"'),
    ("server.acme_directory", lambda c: c.server.https == "auto", 'server.https is not "auto"'),
    ("server.acme_email", lambda c: c.server.https == "auto", 'server.https is not "auto"'),
    ("server.acme_trust", lambda c: c.server.https == "auto", 'server.https is not "auto"'),
    ("seal.tsa_urls", lambda c: c.seal.level != "B-B", 'seal.level is "B-B"'),
    ("seal.tsa_outage", lambda c: c.seal.level != "B-B", 'seal.level is "B-B"'),
    ("test.time_stamps", lambda c: c.seal.level != "B-B", 'seal.level is "B-B"'),
    ("metrics.host", lambda c: c.metrics.port != 0, "metrics.port is not set"),
    *(
        (f"mail.{key}", lambda c: c.mail.host is not None, "mail.host is not set")
        for key in ("port", "security", "username", "password", "from", "connections")
    ),
    *(
        (f"backup.{key}", lambda c: c.backup.to is not None, "backup.to is not set")
        for key in ("every_hours", "full_every_hours", "keep", "scratch")
    ),
    *(
        (
            f"backup.{key}",
            lambda c: c.backup.to is not None and c.backup.to.kind == "s3",
            "backup.to is no bucket",
        )
        for key in ("s3_endpoint", "s3_region", "s3_access_key", "s3_secret_key")
    ),
    *(
        (
            f"backup.{key}",
            lambda c: c.backup.to is not None and c.backup.to.kind == "sftp",
            "backup.to is no sftp://",
        )
        for key in ("sftp_key", "sftp_host_key")
    ),
    *(
        (f"reminders.{key}", lambda c: c.reminders.enabled, "reminders.enabled is false")
        for key in ("first_after_days", "every_days", "max", "before_expiry_hours")
    ),
    ("webhooks.allow_hosts", lambda c: not c.webhooks.allow_private, "webhooks.allow_private allows all"),
    (
        "limits.creates_per_minute",
        lambda c: c.limits.creates_per_minute < c.limits.requests_per_minute,
        "limits.requests_per_minute is not higher",
    ),
    (
        "limits.sends_per_minute",
        lambda c: c.limits.sends_per_minute < c.limits.requests_per_minute,
        "limits.requests_per_minute is not higher",
    ),
)


def check_settings(config: Config) -> CheckLine:
    """Name the settings that have no effect beside the others."""
    idle = [
        f"{key} (from {source}): {why}"
        for key, has_effect, why in EFFECTS
        if (source := config.find_source(key)) is not None and not has_effect(config)
    ]
    if idle:
        remedy = "Remove them, or set what they belong to."
        return CheckLine("settings", CheckState.WARNING, "some settings have no effect", remedy, idle)
    return CheckLine("settings", CheckState.OK, "the configuration is valid, and every setting has an effect")


def check_permissions(config: Config, file: Path | None = None) -> CheckLine:
    """Check that nobody else can read the data folder, the keys, and a configuration file with secrets."""
    data = config.storage.data_dir
    open_files, foreign = [], []
    try:
        owner = data.stat().st_uid
        for path in (data, *sorted(data.iterdir())):
            found = path.stat(follow_symlinks=False)
            if found.st_mode & 0o077 and (path == data or not stat.S_ISDIR(found.st_mode)):
                open_files.append(f"{path} has mode {stat.S_IMODE(found.st_mode):04o}: chmod go= {path}")
            if found.st_uid != owner:
                foreign.append(f"{path} belongs to user {found.st_uid}, the folder to {owner}: chown")
    except OSError as error:
        words = f"{error.filename}: {error.strerror}"
        return CheckLine(
            "permissions", CheckState.NOT_CHECKED, words, "Run esign as the owner of the folder."
        )
    brought = [config.seal.pkcs12, config.seal.private_key, config.server.https_key]
    if file is not None and any(config.find_source(key) == file.name for key in SECRETS):
        brought.append(file)
    for each in brought:
        if each is not None and each.exists() and (mode := each.stat().st_mode) & stat.S_IROTH:
            open_files.append(f"{each} can be read by everybody (mode {stat.S_IMODE(mode):04o})")
    if foreign or open_files:
        words = "files can be used by others, or belong to others"
        remedy = "Take the access of others away, and give all files to the user that esign runs as."
        return CheckLine("permissions", CheckState.WRONG, words, remedy, foreign + open_files)
    return CheckLine("permissions", CheckState.OK, "only one user can read the data and the keys")


def check_disk(config: Config) -> CheckLine:
    """Check that the disk has room."""
    data, spare = config.storage.data_dir, config.storage.spare_mib * 2**20
    try:
        free, found = count_free_bytes(data), os.statvfs(data)
    except OSError as error:
        return CheckLine("disk", CheckState.NOT_CHECKED, f"{data}: {error.strerror}")
    words = f"{free // 2**20:,} MiB of the disk are free"
    if free < spare:
        remedy = "Free some of the disk: uploads are refused until then, and signing goes on."
        return CheckLine("disk", CheckState.WRONG, f"{words}, fewer than storage.spare_mib", remedy)
    if free < max(SCARCE_BYTES, SCARCE_SHARE * found.f_blocks * found.f_frsize):
        return CheckLine("disk", CheckState.WARNING, words, "Free some of the disk, or take a larger one.")
    return CheckLine("disk", CheckState.OK, words)


def check_engine() -> CheckLine:
    """Check that the version of SQLite has no known defect."""
    version = read_engine_version()
    if is_wal_reset_fixed(version):
        return CheckLine("sqlite", CheckState.OK, f"SQLite {'.'.join(map(str, version))} has no known defect")
    words = (
        f"SQLite {'.'.join(map(str, version))} has the WAL-reset bug, which the locks of esign guard against"
    )
    remedy = (
        "Let nothing but esign write the database; the one file of esign has a fixed SQLite: docs/storage.md."
    )
    return CheckLine("sqlite", CheckState.WARNING, words, remedy)


def check_log_size(config: Config) -> CheckLine:
    """Check that no reader keeps the write-ahead log from being cut."""
    path = config.storage.data_dir / f"{FILE}-wal"
    size = path.stat().st_size if path.exists() else 0
    words = f"the log of the database has {size // 2**20:,} MiB"
    if size > LARGE_LOG:
        remedy = "End what reads the database all the time, such as a backup; without one, start esign again."
        return CheckLine("log", CheckState.WARNING, words, remedy)
    return CheckLine("log", CheckState.OK, words)


def check_pictures(pictures: FileCache) -> CheckLine:
    """Check the pictures of pages, which are drawn again where they are damaged."""
    damaged = [str(path) for path in pictures.find_damaged()]
    if damaged:
        words, remedy = "damaged pictures of pages take room", "esign doctor --fix removes them."
        return CheckLine("pictures", CheckState.WARNING, words, remedy, damaged)
    return CheckLine("pictures", CheckState.OK, "the pictures of pages are whole")


def check_confinement() -> CheckLine:
    """Start a worker as those that open PDFs, and say what it cannot do. Blocks for a fifth of a second."""
    name, hardening = "confinement", "docs/hardening.md says what a kernel or a container needs for it."
    try:
        is_complete, sentences = describe_confinement()
    except (OSError, FrameError) as error:
        return CheckLine(
            name, CheckState.WRONG, "no process that opens PDFs can be started", None, [str(error)]
        )
    if is_complete:
        words = "the processes that open PDFs can neither reach files nor start programs nor open connections"
        return CheckLine(name, CheckState.OK, words)
    words = "the processes that open PDFs can do more than they need; esign works all the same"
    return CheckLine(name, CheckState.WARNING, words, hardening, sentences)


def check_quickly(config: Config) -> Iterable[CheckLine]:
    """Yield what is checked at each start, in a few milliseconds.

    The version of SQLite is left to `esign doctor`: most have the bug that our locks guard against.
    """
    yield check_settings(config)
    yield check_permissions(config)
    yield check_disk(config)
    yield check_log_size(config)
