"""`esign keys rotate-app`, `protect-app` and `unprotect-app`: the application key, which encrypts secrets at rest."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import USAGE, ask, run_command, stop_command
from esign.cli.installation import load_config, make_key_source, with_config

if TYPE_CHECKING:
    from esign.config import Config
    from esign.store.engine.locks import KeyLock
    from esign.system.app_key import KeySource

LATER = """\
The new key is in {path}. Nothing is encrypted with the old key alone any more, and both keys open the database.
1. Put the new key where esign reads its key from: {place}
2. Restart esign.
3. Run esign keys rotate-app again: it ends the exchange. Then delete {path}."""
LATER_BY_SYSTEMD = """\
The new key is in {path}. Nothing is encrypted with the old key alone any more, and both keys open the database.
{place} is what systemd hands out at each start, and cannot be changed there.
1. Change what the unit loads: systemctl cat esign names the FILE.
   LoadCredentialEncrypted=app.key:FILE: systemd-creds encrypt --name=app.key {path} FILE
   LoadCredential=app.key:FILE: copy {path} over FILE, and let only root read it.
2. Restart the service: systemctl restart esign.
3. Run esign keys rotate-app again, with the new credential: it ends the exchange. Then delete {path}."""


@click.command("rotate-app")
@click.option(
    "--new-key",
    "new_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the new key to this file, for you to put in place. For keys that esign cannot write.",
)
@with_config
def rotate_app(new_file: Path | None, file: Path | None) -> None:
    """Exchange the application key, and encrypt with the new one all that is stored.

    The server may run meanwhile. A command that was stopped is run again, and goes on.
    """
    config = load_config(file)

    async def work() -> None:
        from esign.actions.server.exchange_app_key import ExchangeStep, KeyExchange
        from esign.store.engine import folder
        from esign.store.engine.connections import FILE, open_for_command
        from esign.system import app_key
        from esign.system.clock import SystemClock
        from esign.system.privileges import find_account

        source, content = read_present(config)
        passphrase = app_key.find_passphrase(source, content) if app_key.is_protected(content) else None
        source = replace(source, passphrase=passphrase)
        present = app_key.read_or_make_key(source)
        data = folder.prepare(config.storage.data_dir)
        with hold_key_file(source, content) as lock:
            async with open_for_command(data / FILE, config.storage.backup_before_migration) as db:
                exchange = KeyExchange(
                    db, source, present, passphrase, SystemClock(), new_file, account=find_account()
                )
                async for step in exchange.run():
                    if step is ExchangeStep.BEGUN:
                        lock.share()
                        click.echo("Both keys are in use.", err=True)
                    elif step is ExchangeStep.CHECKED:
                        count = exchange.count
                        click.echo(
                            f"{count.read} stored secrets were tried, and none needs the old key.", err=True
                        )
                        if count.unreadable:
                            click.echo(
                                f"{count.unreadable} of them could be read with neither key: see esign check"
                                " and esign verify-audit.",
                                err=True,
                            )
                    elif step is ExchangeStep.HANDED_OUT:
                        words = LATER_BY_SYSTEMD if source.is_credential else LATER
                        click.echo(words.format(path=new_file, place=source.path), err=True)
                        return
        click.echo(f"The application key was exchanged; {source.path} is the new one.", err=True)
        if not exchange.wiped:
            click.echo(
                "The old key has another name as well, such as in a backup, and was not overwritten.",
                err=True,
            )
        click.echo("Make a backup now: earlier ones need the old key.", err=True)

    run_command(work)


@click.command("protect-app")
@with_config
def protect_app(file: Path | None) -> None:
    """Encrypt the application key with a passphrase, which every start and command then needs.

    The passphrase is that of storage.key_passphrase, or is typed twice.
    """
    config = load_config(file)

    async def work() -> None:
        from esign.system import app_key

        source, content = read_present(config, writing=True)
        if app_key.is_protected(content):
            stop_command(
                USAGE, f"{source.path} has a passphrase; remove it first with: esign keys unprotect-app"
            )
        key = app_key.open_content(source, source.path, content)
        passphrase = source.read_passphrase() or ask(
            "New passphrase", hide_input=True, confirmation_prompt=True
        )
        if len(passphrase) < app_key.LEAST_PASSPHRASE:
            stop_command(
                USAGE, f"the passphrase is too short; take {app_key.LEAST_PASSPHRASE} characters or more"
            )
        with hold_key_file(source, content):
            write_file(source, app_key.protect(key, passphrase))
        click.echo(f"{source.path} is protected. Without the passphrase, nobody opens it again.", err=True)

    run_command(work)


@click.command("unprotect-app")
@with_config
def unprotect_app(file: Path | None) -> None:
    """Remove the passphrase of the application key."""
    config = load_config(file)

    async def work() -> None:
        from esign.system import app_key

        source, content = read_present(config, writing=True)
        if not app_key.is_protected(content):
            stop_command(USAGE, f"{source.path} has no passphrase")
        key = app_key.open_content(source, source.path, content)
        with hold_key_file(source, content):
            write_file(source, key)
        click.echo(f"{source.path} has no passphrase any more.", err=True)

    run_command(work)


@contextmanager
def hold_key_file(source: "KeySource", content: bytes) -> Iterator["KeyLock"]:
    """Keep other commands from working with the key. Exits if one does, or if the file has another content by now.

    A passphrase may have been typed since it was read: what is written must not bring back a key that was exchanged.
    """
    from esign.store.engine.locks import KeyLock
    from esign.system import app_key

    with closing(KeyLock(source.database.parent)) as lock:
        if not lock.try_hold():
            stop_command(USAGE, "another command of esign works on this database; wait until it ends")
        if app_key.read_file(source) != content:
            stop_command(USAGE, f"{source.path} was changed meanwhile; run the command again")
        yield lock


def read_present(config: "Config", *, writing: bool = False) -> tuple["KeySource", bytes]:
    """Return where the key is, and the content of its file. Exits without one, or where it cannot be written."""
    from esign.store.engine import folder
    from esign.system import app_key

    if config.storage.data_dir.exists():
        folder.require_own(config.storage.data_dir)
    source = make_key_source(config)
    if not source.database.exists() or not source.path.exists():
        stop_command(
            USAGE, f"there is no application key at {source.path}; choose the configuration with --config"
        )
    if writing and (obstacle := app_key.find_obstacle(source)) is not None:
        stop_command(USAGE, obstacle)
    app_key.forget_leftovers(source)
    return source, app_key.read_file(source)


def write_file(source: "KeySource", content: bytes) -> None:
    """Replace the key file, and say if what was there could not be overwritten."""
    from esign.system import app_key

    if not app_key.replace_file(source, content):
        click.echo(f"What was in {source.path} has another name as well, and was not overwritten.", err=True)
