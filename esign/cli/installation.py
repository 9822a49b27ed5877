"""Open the installation that a command works on: its configuration, and its database without a running server."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import USAGE, stop_command

if TYPE_CHECKING:
    from esign.config import Config
    from esign.runtime import Installation
    from esign.store.engine.database import Database
    from esign.system.vault import Vault

with_config = click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The configuration file. Default: ./esign.toml, if it exists.",
)


def load_config(file: Path | None) -> "Config":
    from esign.config import ConfigError, load_config

    try:
        return load_config(file, os.environ)
    except ConfigError as error:
        stop_command(USAGE, str(error))


@asynccontextmanager
async def open_database(config: "Config") -> AsyncIterator["Database"]:
    """Open the database of the configuration, beside a running server or before the first one. Makes its key first."""
    from esign.store.engine.connections import FILE, open_for_command
    from esign.store.server import installation

    key = load_application_key(config)
    async with open_for_command(config.storage.data_dir / FILE) as db:
        await installation.confirm_key(db, key)
        yield db


@asynccontextmanager
async def open_installation(config: "Config") -> AsyncIterator["Installation"]:
    """Open what an action of the command line works on, with what owners set in the browser.

    Otherwise like `open_database`.
    """
    from esign.actions.server import browser_settings
    from esign.actions.server.clock_watch import read_now
    from esign.runtime import Installation

    async with open_database(config) as db:
        key = load_application_key(config)
        settings = await browser_settings.load(db, key, config)
        yield Installation(settings.config, db, key, await read_now(db))


def load_application_key(config: "Config") -> "Vault":
    from esign.store.engine import folder
    from esign.store.engine.connections import FILE
    from esign.system import vault

    data = folder.prepare(config.storage.data_dir)
    return vault.load_or_make_vault(data / "app.key", data / FILE)
