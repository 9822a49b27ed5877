"""The command line; its exit codes stand in `exits`.

Each command imports what it needs itself: `esign --version` answers in a few milliseconds.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esign import __version__
from esign.exits import FAILED, USAGE, run, stop

if TYPE_CHECKING:
    from esign.config import Config

with_config = click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The configuration; ./esign.toml if it is there.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="esign", message="%(prog)s %(version)s")
def main() -> None:
    """Electronic signatures from one process and one SQLite file."""


def configured(file: Path | None) -> "Config":
    from esign.config import ConfigError, load

    try:
        return load(file, os.environ)
    except ConfigError as error:
        stop(USAGE, str(error))


@main.command()
@with_config
def serve(file: Path | None) -> None:
    """Serve until told to stop (Ctrl-C or SIGTERM)."""
    config = configured(file)

    async def work() -> None:
        from esign import app, logs

        logs.set_up()
        await app.serve(config)

    run(work)


@main.command()
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), help="Folder for the results.")
@click.option("--exit", "leave", is_flag=True, help="End after the journey instead of serving on.")
@click.option("--webhook", help="Deliver the events to this address as well.")
def demo(into: Path | None, leave: bool, webhook: str | None) -> None:
    """Do the main job for real, in a new folder.

    Creates a contract over the API, signs it for two people, seals and verifies it.
    """

    async def work() -> int:
        from esign.demo.journey import run as journey

        return await journey(into, leave, webhook)

    run(work)


@main.group()
def keys() -> None:
    """API keys of the organisation."""


@keys.command("create")
@click.option("--name", required=True, help="What the key is for; stands in the audit trail.")
@click.option("--test", is_flag=True, help="A key of test mode: nothing has legal effect.")
@click.option("--scope", "scopes", multiple=True, help="Restrict the key; may be given more than once.")
@click.option("--expires-days", type=click.IntRange(1, 3650), help="Days until it ends; never if left out.")
@with_config
def create_key(
    name: str, test: bool, scopes: tuple[str, ...], expires_days: int | None, file: Path | None
) -> None:
    """Make a key: the key alone on stdout, shown this once."""
    from esign.core.apikey import Scope
    from esign.core.document import Mode

    if unknown := [scope for scope in scopes if scope not in set(Scope)]:
        raise click.BadParameter(
            f"{unknown[0]} is no scope; there are: {', '.join(Scope)}", param_hint="--scope"
        )
    if not 1 <= len(name.strip()) <= 100 or not name.isprintable():
        raise click.BadParameter("give a name of 1 to 100 characters", param_hint="--name")
    config = configured(file)

    async def work() -> None:
        from esign.actions import accounts
        from esign.clock import SystemClock

        async with database(config) as db:
            try:
                key, text = await accounts.create_key(
                    db,
                    config,
                    SystemClock().now(),
                    name=name.strip(),
                    mode=Mode.TEST if test else Mode.LIVE,
                    scopes=frozenset(map(Scope, scopes or (Scope.ALL,))),
                    expires_in_days=expires_days,
                )
            except accounts.LiveKeysNotAllowed:
                stop(USAGE, 'server.environment is "test", which issues only test keys; add --test')
        click.echo(
            f"{key.mode.value} key {key.id} ({key.name}). It is shown this once; keep it safe:", err=True
        )
        click.echo(text)

    run(work)


@keys.command("list")
@with_config
def list_keys(file: Path | None) -> None:
    """Every key with its state; never the key itself."""
    config = configured(file)

    async def work() -> None:
        from esign.actions import accounts
        from esign.clock import SystemClock

        now = SystemClock().now()
        async with database(config) as db:
            found = await accounts.list_keys(db)
        for key in found:
            scopes = ",".join(sorted(key.scopes))
            click.echo(f"{key.id}  {key.hint}  {accounts.state_of(key, now)}  {scopes}  {key.name}")
        if not found:
            click.echo("There is no key yet; make one with: esign keys create --name NAME", err=True)

    run(work)


@keys.command("revoke")
@click.argument("key_id", metavar="ID")
@with_config
def revoke_key(key_id: str, file: Path | None) -> None:
    """End a key; it counts from the next request on."""
    config = configured(file)

    async def work() -> None:
        from esign.actions import accounts
        from esign.clock import SystemClock

        async with database(config) as db:
            await accounts.revoke_key(db, key_id, SystemClock().now())
        click.echo(f"Key {key_id} is revoked.", err=True)

    run(work)


@main.command()
@click.argument("pdf", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the whole verification as JSON.")
@click.option(
    "--trust", type=click.Path(path_type=Path, dir_okay=False), multiple=True, help="A root certificate."
)
@with_config
def verify(pdf: Path, as_json: bool, trust: tuple[Path, ...], file: Path | None) -> None:
    """Check the signatures of a PDF; 0 only for "valid"."""
    config = configured(file)

    async def work() -> int:
        from esign.verifying import Unreadable, show, verify_file

        try:
            verification = await verify_file(config, pdf, trust)
        except Unreadable as error:
            stop(USAGE, str(error))
        click.echo(show(verification, as_json))
        return 0 if verification["result"] == "valid" else FAILED

    run(work)


@main.command()
def openapi() -> None:
    """Print the description of the API (OpenAPI 3.1)."""
    import json

    from esign.web.api import describe

    click.echo(json.dumps(describe(), indent=2, ensure_ascii=False))


@main.command()
@click.argument("mail_id", metavar="[ID]", required=False)
@click.option("--last", default=20, type=click.IntRange(1, 1000), help="How many to list.")
@with_config
def outbox(mail_id: str | None, last: int, file: Path | None) -> None:
    """List the mails kept here, or print one.

    They are kept where no mail server is set; with --last N the newest N are listed.
    """
    config = configured(file)

    async def work() -> int:
        from esign import vault
        from esign.actions import outbox as kept
        from esign.core.instant import rfc3339

        async with database(config) as db:
            if mail_id is None:
                mails = await kept.list_mails(db, last)
                for mail in mails:
                    click.echo(f"{mail.id}  {rfc3339(mail.created_at)}  {mail.recipient}  {mail.subject}")
                if not mails:
                    sent = f"; what is sent goes to {config.mail.host}" if config.mail.host else ""
                    click.echo(f"No mail is kept here{sent}.", err=True)
                return 0
            message = await kept.read(db, vault.load_or_make(config.storage.data_dir / "app.key"), mail_id)
        if message is None:
            stop(FAILED, f"there is no kept mail {mail_id}; esign outbox lists them")
        text = message.get_body(("plain",))
        click.echo(
            f"To: {message['To']}\nSubject: {message['Subject']}\n\n{text.get_content() if text else ''}"
        )
        return 0

    run(work)


def database(config: "Config") -> Any:
    """The database of the configuration, beside a running server or before there ever was one."""
    from esign.store import folder
    from esign.store.database import FILE, opened

    return opened(folder.prepare(config.storage.data_dir) / FILE)
