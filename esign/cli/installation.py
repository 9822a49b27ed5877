"""Open the installation that a command works on: its configuration, and its database without a running server."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import USAGE, stop_command

if TYPE_CHECKING:
    from esign.config import Config
    from esign.runtime import Installation
    from esign.store.engine.database import Database
    from esign.system.app_key import KeySource
    from esign.system.vault import Vault

with_config = click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The configuration file. Default: ./esign.toml, if it exists.",
)


KEY_PASSPHRASE = "ESIGN_STORAGE__KEY_PASSPHRASE"  # noqa: S105 -- the name of a variable


def load_config(file: Path | None) -> "Config":
    """Return the configuration, also when it is read again in the same command. Exit with a sentence if it is wrong."""
    from esign.config import ConfigError, load_config

    try:
        config = load_config(file, take_environment())
    except ConfigError as error:
        stop_command(USAGE, str(error))
    return config


def take_environment() -> dict[str, str]:
    """Return the environment of the command, and take the passphrase of the key out of that of the process.

    Processes that this one starts inherit the rest.
    """
    taken = os.environ.pop(KEY_PASSPHRASE, None)
    context = click.get_current_context(silent=True)
    if context is not None:
        kept = context.find_root().meta
        taken = kept[KEY_PASSPHRASE] = taken if taken is not None else kept.get(KEY_PASSPHRASE)
    return {**os.environ, **({KEY_PASSPHRASE: taken} if taken is not None else {})}


@asynccontextmanager
async def open_database(config: "Config", source: "KeySource | None" = None) -> AsyncIterator["Database"]:
    """Open the database of the configuration, beside a running server or before the first one. Makes its key first.

    `source` is where its key is, if that was asked for before: the configuration forgets the passphrase.
    """
    async with open_with_key(config, source) as (db, _):
        yield db


@asynccontextmanager
async def open_with_key(
    config: "Config", source: "KeySource | None" = None
) -> AsyncIterator[tuple["Database", "Vault"]]:
    """Open the database with its application key, which is not exchanged before the command ends."""
    from esign.store.engine import folder
    from esign.store.engine.connections import FILE, open_for_command
    from esign.store.engine.locks import KeyLock
    from esign.store.server import installation
    from esign.system import app_key

    storage = config.storage
    data = folder.prepare(storage.data_dir)
    with closing(KeyLock(data)) as lock:
        lock.share()
        source = source or app_key.remember_passphrase(make_key_source(config))
        app_key.forget_leftovers(source)
        key = app_key.open_vault(source)
        async with open_for_command(data / FILE, storage.backup_before_migration) as db:
            yield db, await installation.confirm_key(db, key, lambda: app_key.open_vault(source))


@asynccontextmanager
async def open_installation(config: "Config") -> AsyncIterator["Installation"]:
    """Open what an action of the command line works on, with what owners set in the browser.

    Otherwise like `open_database`.
    """
    from esign.actions.server import browser_settings
    from esign.actions.server.clock_watch import read_now
    from esign.runtime import Installation

    async with open_with_key(config) as (db, key):
        settings = await browser_settings.load(db, key, config)
        yield Installation(settings.config, db, key, await read_now(db))


def try_key(config: "Config") -> "KeySource":
    """Return where the application key is, with the passphrase that opens it if it has one, typed or of the settings.

    Raise UnusableKey if that passphrase is missing or another one.
    """
    from esign.system import app_key

    source = app_key.remember_passphrase(make_key_source(config))
    if app_key.is_key_protected(source):
        app_key.read_or_make_key(source)
    return source


def make_key_source(config: "Config") -> "KeySource":
    """Return where the application key is, with the passphrase of the settings, which the configuration forgets."""
    from esign.store.engine.connections import FILE
    from esign.system.app_key import KeySource

    storage = config.storage
    return KeySource(
        storage.data_dir / FILE, storage.key_file, storage.take_key_passphrase(), os.environ, may_ask=True
    )
