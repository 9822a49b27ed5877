"""`esign restore --sealed`: put sealed files that somebody kept back into a restored installation."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import click

from esign import authority
from esign.actions.server.put_back import CannotPutBack, PutBack, PutBackTools, put_back
from esign.actions.verification import verify_trails
from esign.cli.exit_codes import FAILED, USAGE, stop_command
from esign.cli.installation import open_installation
from esign.config import Config
from esign.core.actor import Mode
from esign.pdf.report import VerificationCase
from esign.pdf.worker.workers import Workers
from esign.runtime import Installation
from esign.store.engine.connections import FILE

MIB = 2**20


async def put_files_back(config: Config, files: Sequence[Path]) -> int:
    """Put each file back, say what came of it, and return the exit code: 1 if one was refused."""
    if not (config.storage.data_dir / FILE).exists():
        stop_command(
            USAGE,
            f"there is no database in {config.storage.data_dir}; choose the configuration with --config",
        )
    done = refused = 0
    workers = Workers()
    try:
        async with open_installation(config) as installation:
            await verify_trails.complete_heads(installation.db, installation.vault)
            tools = make_tools(installation, workers)
            largest = (2 * installation.config.limits.file_mib + 16) * MIB
            for file in files:
                try:
                    found = await put_back(tools, read_file(file, largest))
                except CannotPutBack as refusal:
                    refused += 1
                    click.echo(f"{file}: not put back: {refusal}.", err=True)
                else:
                    done += found.done
                    click.echo(f"{file}: {describe(found)}")
    finally:
        await workers.close()
    if done:
        click.echo("Nothing was mailed for this, and no webhook was called.")
    return FAILED if refused else 0


def make_tools(installation: Installation, workers: Workers) -> PutBackTools:
    """Return what putting back works with. Raises `AuthorityError` if a seal of this installation cannot be read."""
    config = installation.config
    seals = authority.load_or_make_authority(
        config.storage.data_dir,
        config.organisation.name,
        installation.now,
        authority.find_configured_seal(config.seal),
    )
    roots = (*authority.read_trusted_roots(config.seal.trust), *seals.roots)
    return PutBackTools(
        installation.db,
        installation.vault,
        workers,
        VerificationCase(roots, installation.now, seals.own),
        {Mode.LIVE: seals.live, Mode.TEST: seals.test},
        authority.read_changes(config.storage.data_dir),
    )


def read_file(path: Path, largest: int) -> bytes:
    """Return the content of an ordinary file, read once. Raises `CannotPutBack`.

    A link is followed. A pipe or a device is not opened for reading: it might never end.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            told = os.fstat(number)
            if not stat.S_ISREG(told.st_mode):
                raise CannotPutBack("it is not an ordinary file")
            if told.st_size <= largest:
                content = file.read(largest + 1)
                if len(content) <= largest:
                    return content
    except OSError as error:
        raise CannotPutBack(f"it cannot be read: {error.strerror}") from None
    raise CannotPutBack(
        f"it is larger than {largest // MIB} MiB, and so than any file that limits.file_mib lets in and its"
        " certificate"
    )


def describe(found: PutBack) -> str:
    """Return what came of a file, in a sentence."""
    if not found.done:
        return f"{found.document_id} has this sealed file already; nothing was changed."
    if not found.adopted:
        return f"{found.document_id} is completed with this file."
    entries = "1 entry" if found.adopted == 1 else f"{found.adopted} entries"
    return (
        f"{found.document_id} is completed with this file, and {entries} of its audit trail that the backup did not"
        " have were taken over. What was entered in its fields since is in the file only."
    )
