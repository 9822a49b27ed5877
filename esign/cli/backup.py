"""`esign backup`: write the database, the keys and the configuration into one encrypted file, and check it."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import FOUND, USAGE, ask, run_steps, stop_command
from esign.cli.installation import load_config, try_key, with_config
from esign.cli.scheduled_backup import run_by_hand, run_for_server

if TYPE_CHECKING:
    from esign.backup.encryption import Protection
    from esign.backup.make_backup import BackupReport
    from esign.config import Config
    from esign.system.app_key import KeySource

NO_PROTECTION = (
    "nothing says with what to encrypt the backup; set backup.passphrase or backup.recipients, name a public key with"
    " --recipient, or ask for an unencrypted one with --plain: it holds the keys of this installation"
)


@click.command()
@click.argument("destination", metavar="[DEST]", required=False, type=click.Path(path_type=Path))
@click.option("--plain", is_flag=True, help="Do not encrypt it: whoever has the file has the keys in it.")
@click.option(
    "--recipient",
    "recipients",
    multiple=True,
    metavar="KEY",
    help="Encrypt it for this public key of age or SSH instead of those of the settings.",
)
@click.option(
    "--scratch",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder for the copy that is checked. Default: [backup] scratch, else the folder for temporary files.",
)
@click.option("--from-server", is_flag=True, hidden=True, help="Take the order on standard input.")
@with_config
def backup(
    destination: Path | None,
    plain: bool,
    recipients: tuple[str, ...],
    scratch: Path | None,
    from_server: bool,
    file: Path | None,
) -> None:
    """Write database, keys and configuration into one file, also while the server runs.

    DEST is a new file, or a folder in which the file is named by the time. Without it, the backup goes where [backup]
    to says, as those that the server makes by itself. It is encrypted with the passphrase or the
    public keys of the settings, or with a passphrase that is typed here. Then it is read back, and what is in it is
    checked. The exit code is 0 only if all is well; with 5 the backup was made, and what it holds is damaged.
    """
    if from_server:
        run_for_server()
    config = load_config(file)
    if destination is None:
        if plain or recipients or scratch is not None:
            raise click.UsageError("--plain, --recipient and --scratch need a DEST.")
        require_target(config)
        run_by_hand(config)
    path = destination

    def work() -> int:
        from esign.backup.make_backup import choose_target, make_backup, require_place
        from esign.cli.check_beside import check_first
        from esign.config.reading import FILE as CONFIGURATION
        from esign.store.engine import folder
        from esign.store.engine.connections import FILE
        from esign.system.clock import SystemClock
        from esign.system.idle_priority import give_way

        give_way()  # to the server
        data = config.storage.data_dir
        if not (data / FILE).exists():
            stop_command(USAGE, f"there is no database in {data}; choose the configuration with --config")
        folder.require_own(data)
        now = SystemClock().now()
        target = choose_target(path, now)
        require_place(data, target)
        protection = choose_protection(config, plain, recipients)
        configuration = file or (CONFIGURATION if CONFIGURATION.exists() else None)
        source = try_key(config)
        place = scratch or config.backup.scratch
        made = make_backup(
            data, configuration, target, protection, now, lambda copy: check_first(copy, source), place
        )
        click.echo(describe_backup(made, protection))
        for line in list_left_out(config, source, os.environ):
            click.echo(line)
        for line in made.found:
            click.echo(f"  {line}", err=True)
        if made.found:
            click.echo(
                "esign: the backup is a true copy of data that is damaged: restore what is named above from an"
                " older backup, which you keep",
                err=True,
            )
        return FOUND if made.found else 0

    run_steps(work)


def require_target(config: "Config") -> None:
    """Exit unless the settings name a target, and there is something to back up."""
    from esign.store.engine.connections import FILE

    if config.backup.to is None:
        raise click.UsageError("Missing argument 'DEST': name a file or a folder, or set [backup] to.")
    if not (config.storage.data_dir / FILE).exists():
        stop_command(
            USAGE,
            f"there is no database in {config.storage.data_dir}; choose the configuration with --config",
        )


def choose_protection(config: "Config", plain: bool, recipients: Sequence[str]) -> "Protection":
    """Return with what to encrypt: the options, else the settings, else a passphrase that is typed."""
    from esign.backup.encryption import Protection, parse_recipient

    if plain:
        if recipients:
            stop_command(USAGE, "--plain and --recipient exclude one another; leave one of them out")
        return Protection()
    given = tuple(recipients) or config.backup.recipients
    for key in given:
        try:
            parse_recipient(key)
        except ValueError as error:
            where = "--recipient" if recipients else "backup.recipients"
            stop_command(USAGE, f"{where}: found {key[:80]!r}, which is {error}")
    passphrase = None if recipients else config.backup.secret
    if given or passphrase is not None:
        return Protection(passphrase, given)
    if not sys.stdin.isatty():
        stop_command(USAGE, NO_PROTECTION)
    return Protection(type_passphrase())


def type_passphrase() -> str:
    """Return a passphrase that was typed twice."""
    from esign.config.tables import LEAST_PASSPHRASE

    text = ask("Passphrase of the backup", hide_input=True, confirmation_prompt=True)
    if len(text) < LEAST_PASSPHRASE:
        stop_command(USAGE, f"the passphrase is too short; take {LEAST_PASSPHRASE} or more characters")
    return text


def describe_backup(made: "BackupReport", protection: "Protection") -> str:
    """Return what was written, in a sentence."""
    from esign.backup.container import PASSPHRASE, describe_protection

    what = describe_protection(protection)
    how = "not encrypted" if protection.is_plain() else f"encrypted with {'a ' * (what == PASSPHRASE)}{what}"
    state = "read back and checked" if not made.found else "read back; what it holds is DAMAGED"
    return f"{made.file}: {-(-made.size // 2**20):,} MiB, {made.files} files, {how}, {state}."


def list_left_out(config: "Config", source: "KeySource", environ: Mapping[str, str]) -> list[str]:
    """Return sentences on what an installation like this needs besides its backup.

    `source` is where its key is; a variable that was taken out of `environ` is among the sources of the settings.
    """
    from esign.config.reading import KEYS, OF_PROGRAMS, PREFIX
    from esign.system.app_key import PASSPHRASE

    data = config.storage.data_dir.resolve()
    named = {
        "storage.key_file": config.storage.key_file,
        "seal.pkcs12": config.seal.pkcs12,
        "seal.certificate": config.seal.certificate,
        "seal.key": config.seal.private_key,
        "server.https_certificate": config.server.https_certificate,
        "server.https_key": config.server.https_key,
        "backup.sftp_key": config.backup.sftp_key,
    }
    outside = [
        f"{path} ({key})"
        for key, path in named.items()
        if path is not None and not path.resolve().is_relative_to(data)
    ]
    credentials = [source.path] if source.is_credential else []
    if source.passphrase is None and (passphrase := source.find_credential(PASSPHRASE)) is not None:
        credentials.append(passphrase)
    outside += [
        f"{path} (a credential of systemd)" for path in credentials if path != config.storage.key_file
    ]
    used = {*environ, *filter(None, map(config.find_source, KEYS))}
    variables = sorted(name for name in used if name.startswith(PREFIX) and name not in OF_PROGRAMS)
    found = [f"Not in it, keep a copy: {', '.join(outside)}."] if outside else []
    return found + ([f"Not in it, note them down: {', '.join(variables)}."] if variables else [])
