"""`esign restore`: put a backup into an empty data folder, and let what it holds back go on."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import FOUND, USAGE, ask, run_command, run_steps, stop_command
from esign.cli.installation import load_config, make_key_source, open_installation, with_config

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zipfile import ZipFile

    from esign.actions.server.restoration import HeldItem, HeldReport
    from esign.backup.encryption import Identity
    from esign.config import Config
    from esign.core.instant import Instant
    from esign.store.server.contents import Contents
    from esign.system.app_key import KeySource

TWO_FILES = (
    "These documents have all signatures and no seal in the backup. They may have been sealed and handed out since:"
    " sealed anew, there are two different files of each. Put a file that somebody has back with --sealed FILE, wait,"
    " or seal them with --resume --seal-anew:"
)

BACKUPS_STAY = (
    "The scheduled backups of the server that this backup is of stay in {target}: those of this one have other names,"
    " and it deletes no others. Delete the old ones yourself once nothing in them is needed."
)


@click.command()
@click.argument(
    "sources", metavar="[SRC | FILE...]", nargs=-1, type=click.Path(path_type=Path, dir_okay=False)
)
@click.option(
    "--identity",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The private key of age or SSH, for a backup that was encrypted with public keys.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Restore into this folder instead of that of the settings.",
)
@click.option(
    "--plain",
    is_flag=True,
    help="Take a backup that is not encrypted, although the settings have a passphrase or public keys.",
)
@click.option(
    "--resume", "is_resume", is_flag=True, help="Send the mails and webhooks that a restore held back."
)
@click.option("--drop", is_flag=True, help="With --resume: do not send them, give them up.")
@click.option("--seal-anew", is_flag=True, help="With --resume: seal the documents that were held back, too.")
@click.option(
    "--sealed",
    "is_sealed",
    is_flag=True,
    help="Complete documents with sealed files that somebody kept, instead of restoring a backup.",
)
@with_config
def restore(
    sources: tuple[Path, ...],
    identity: Path | None,
    data_dir: Path | None,
    plain: bool,
    is_resume: bool,
    drop: bool,
    seal_anew: bool,
    is_sealed: bool,
    file: Path | None,
) -> None:
    """Put a backup into the data folder, which must be empty or missing.

    The backup is checked before and after. If the file of --config does not exist, it is written from the backup.
    Mails and webhooks that waited in the backup may have been sent since: they are held back, with the reminders and
    the expiry of documents, until "esign restore --resume" is run, also while the server runs. With exit code 5 the
    backup was restored, and what it holds is damaged.

    With --sealed, each FILE is a document that was sealed here after the backup. If its seal and its audit trail fit,
    the document is completed with these bytes, and nothing is mailed for it. Do this before anything else is done with
    the document. With exit code 1 one or more files were not put back, and are named.
    """
    if is_sealed:
        if not sources:
            raise click.UsageError("Missing argument 'FILE'.")
        if is_resume or drop or seal_anew or plain or identity is not None or data_dir is not None:
            raise click.UsageError("--sealed takes no other option than --config.")
        run_sealed(load_config(file), sources)
        return
    if len(sources) > 1:
        raise click.UsageError("Name one backup.")
    source = sources[0] if sources else None
    if is_resume:
        if source is not None or identity is not None or data_dir is not None or plain:
            raise click.UsageError("--resume takes neither a backup nor --identity, --data-dir or --plain.")
        resume(load_config(file), drop=drop, seal_anew=seal_anew)
        return
    if source is None:
        raise click.UsageError("Missing argument 'SRC'.")
    if drop or seal_anew:
        raise click.UsageError("--drop and --seal-anew belong to --resume.")
    path = source

    def work() -> int:
        return restore_file(path, identity, data_dir, file, plain)

    run_steps(work)


def run_sealed(config: "Config", files: "Sequence[Path]") -> None:
    """Put sealed files back, and exit."""

    async def work() -> int:
        from esign.cli.put_back import put_files_back

        return await put_files_back(config, files)

    run_command(work)


def restore_file(
    source: Path, key: Path | None, data_dir: Path | None, file: Path | None, plain: bool
) -> int:
    """Restore a backup, say what came of it, and return the exit code."""
    from contextlib import ExitStack

    from esign.backup.container import IncrementAbout, open_archive, read_about
    from esign.backup.extract import extract_configuration
    from esign.backup.restore_backup import restore_backup
    from esign.core.instant import parse
    from esign.system.clock import SystemClock
    from esign.system.vault import write_once

    with ExitStack() as stack:
        archive = stack.enter_context(open_archive(stack.enter_context(source.open("rb"))))
        about = read_about(archive)
        made_at, now = parse(about.made_at), SystemClock().now()
        missing = file is not None and not file.exists()
        config = None if missing else load_config(file)
        secret, recipients = find_protection(config, file)
        if not plain:
            require_encryption(about.encrypted_with, is_wanted=bool(key or secret or recipients))
        identity = find_identity(archive, about.encrypted_with, key, secret)
        if missing and file is not None:
            content = extract_configuration(archive, identity)
            if content is None:
                stop_command(USAGE, f"there is no {file}, and none is in the backup; write one: esign init")
            write_once(file, content)
            click.echo(f"{file} was written as it is in the backup.")
        config = config or load_config(file)
        data = data_dir or config.storage.data_dir
        size, key_source, base = source.stat().st_size, make_key_source(config), None
        if isinstance(about, IncrementAbout):
            path = find_base(source, about.base)
            whole = stack.enter_context(open_archive(stack.enter_context(path.open("rb"))))
            protection = read_about(whole).encrypted_with
            if not plain:
                require_encryption(protection, is_wanted=bool(key or secret or recipients))
            base = whole, find_identity(whole, protection, key, secret)
            size += path.stat().st_size
        held, contents, found = restore_backup(
            archive, identity, size, data, lambda folder: prepare_copy(folder, key_source, made_at, now), base
        )
    click.echo(describe_restore(source, about.made_at, about.esign, data, contents))
    click.echo(describe_gap(made_at, now, contents))
    write_held(held)
    if config.backup.to is not None:
        click.echo(BACKUPS_STAY.format(target=config.backup.to.text))
    if data != config.storage.data_dir:
        click.echo(f"The settings name another data folder: set storage.data_dir to {data}.")
    for line in found:
        click.echo(f"  {line}", err=True)
    if found:
        click.echo("esign: what the backup holds is DAMAGED; keep it, and try an older one", err=True)
    return FOUND if found else 0


def find_protection(config: "Config | None", file: Path | None) -> tuple[str | None, Sequence[str]]:
    """Return the passphrase and the public keys of backups: those of the settings, else those of the environment."""
    from esign.config.reading import FILE, read_variable

    if config is not None:
        return config.backup.secret, config.backup.recipients
    folder = (file or FILE).absolute().parent
    recipients = read_variable("backup.recipients", os.environ, folder)
    return read_variable("backup.passphrase", os.environ, folder), [recipients] if recipients else []


def find_base(source: Path, name: str) -> Path:
    """Return the whole backup that an increment needs, which lies beside it. Exit if it is not there."""
    path = source.with_name(Path(name).name)
    if not path.is_file():
        stop_command(
            USAGE, f"{source} holds what has changed since {path.name}; put that backup into the same folder"
        )
    return path


def require_encryption(protection: str, *, is_wanted: bool) -> None:
    """Raise WrongKey for an unencrypted backup where those of this installation are encrypted.

    Whoever can write where backups are kept could have put it there.
    """
    from esign.backup.container import NOTHING
    from esign.backup.encryption import WrongKey

    if protection == NOTHING and is_wanted:
        raise WrongKey("it is not encrypted, as yours are; if you made it yourself, add --plain")


def find_identity(
    archive: "ZipFile", protection: str, key: Path | None, secret: str | None
) -> "Identity | None":
    """Return what decrypts a backup: the key of the option, the passphrase of the settings, or a typed one."""
    from esign.backup.container import KEY, NOTHING, unlock
    from esign.backup.encryption import WrongKey, parse_identity

    if protection == NOTHING:
        return None
    if key is not None:
        return parse_identity(key.read_bytes())
    if KEY not in archive.namelist():
        raise WrongKey("it was encrypted with public keys; name the file of a private one with --identity")
    if secret is None:
        if not sys.stdin.isatty():
            raise WrongKey(
                "it was encrypted with a passphrase; set backup.passphrase, or type it at a terminal"
            )
        secret = ask("Passphrase of the backup", hide_input=True)
    return unlock(archive, secret)


def prepare_copy(
    folder: Path, source: "KeySource", made_at: "Instant", now: "Instant"
) -> "tuple[HeldReport, Contents, list[str]]":
    """Check the extracted files, hold back what waits in them, and return what is held and held in all, and damage."""
    import asyncio

    from esign.cli.check_copy import check_copy, find_key_of_copy

    found = check_copy(folder, source)
    return *asyncio.run(hold_copy(folder, find_key_of_copy(folder, source), made_at, now)), found


async def hold_copy(
    folder: Path, source: "KeySource", made_at: "Instant", now: "Instant"
) -> "tuple[HeldReport, Contents]":
    """Hold back what waits in the database of a folder, and return that with how much there is in all."""
    from esign.actions.server import restoration
    from esign.store.engine.connections import FILE, open_for_command
    from esign.store.server import installation
    from esign.store.server.contents import count_contents
    from esign.system.app_key import open_vault

    vault = open_vault(source)
    async with open_for_command(folder / FILE) as db:
        await installation.confirm_key(db, vault)
        await restoration.hold_all(db, made_at, now)
        return await restoration.report_held(db, vault), await count_contents(db)


def describe_restore(source: Path, made_at: str, version: str, data: Path, contents: "Contents") -> str:
    """Return what was restored, in a sentence."""
    found = (
        f"documents: {contents.documents} (completed: {contents.completed}), organisations:"
        f" {contents.organisations}, users: {contents.users}"
    )
    return f"{source}, made {made_at} by esign {version}, was restored to {data}: {found}."


def describe_gap(made_at: "Instant", now: "Instant", contents: "Contents") -> str:
    """Return what is known of the time between the backup and now."""
    from esign.actions.server.clock_watch import format_span
    from esign.core.instant import rfc3339

    latest = (
        ""
        if contents.latest is None
        else f" Its latest entry of an audit trail is of {rfc3339(contents.latest)}."
    )
    return (
        f"What happened in the {format_span(max(now - made_at, 0))} since the backup is not in it, and cannot be known"
        f" from it.{latest}"
    )


def write_held(held: "HeldReport") -> None:
    """Print what is held back, and what to do."""
    if held.mails or held.deliveries:
        click.echo("Held back, because they may have been sent since; send them with: esign restore --resume")
        for item in held.mails:
            click.echo(describe_item("mail", item))
        for item in held.deliveries:
            click.echo(describe_item("webhook", item))
    if held.restoration is not None:
        click.echo("Until --resume nobody is reminded, and no document expires.")
    if held.unsealed:
        click.echo(TWO_FILES)
        for document_id in held.unsealed:
            click.echo(f"  {document_id}")


def describe_item(kind: str, item: "HeldItem") -> str:
    """Return a line on a mail or a delivery."""
    from esign.core.instant import rfc3339

    about = f", {item.document_id}" if item.document_id else ""
    left_out = "" if item.is_wanted else ": its webhook is gone or off, so it is not sent"
    return f"  {kind} {item.kind} to {item.to or 'a webhook'}{about}, since {rfc3339(item.since)}{left_out}"


def resume(config: "Config", *, drop: bool, seal_anew: bool) -> None:
    """Let go on what a restore held back, list it first, and exit."""

    async def work() -> int:
        from esign.actions.server import restoration
        from esign.store.engine.connections import FILE

        if not (config.storage.data_dir / FILE).exists():
            stop_command(
                USAGE,
                f"there is no database in {config.storage.data_dir}; choose the configuration with --config",
            )
        async with open_installation(config) as installation:
            held = await restoration.report_held(installation.db, installation.vault)
            if held.restoration is None and not held.unsealed:
                click.echo("Nothing is held back.")
                return 0
            await restoration.resume(installation.db, installation.now, drop=drop, seal_anew=seal_anew)
        verb = "given up" if drop else "sent"
        for kind, items in (("mail", held.mails), ("webhook", held.deliveries)):
            for item in items:
                click.echo(describe_item(kind, item))
        wanted = [item for item in held.deliveries if drop or item.is_wanted]
        click.echo(f"{len(held.mails)} mails and {len(wanted)} webhooks that were held back are {verb} now.")
        if held.unsealed and seal_anew:
            click.echo(f"{len(held.unsealed)} documents are sealed anew.")
        elif held.unsealed:
            click.echo(TWO_FILES)
            for document_id in held.unsealed:
                click.echo(f"  {document_id}")
        return 0

    run_command(work)
