"""`esign keys`: manage the API keys of the organisation."""

from pathlib import Path

import click

from esign.cli.exit_codes import USAGE, run_command, stop_command
from esign.cli.installation import load_config, open_installation, with_config


@click.group()
def keys() -> None:
    """Manage the API keys of the organisation, and the application key of this installation."""


@keys.command("create")
@click.option("--name", required=True, help="What the key is for, as shown in the audit trail.")
@click.option("--test", is_flag=True, help="Create a key for test mode, where nothing has legal effect.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help="Limit the key to this scope, such as documents:read. Repeat it for more scopes; a wrong one lists them all.",
)
@click.option(
    "--expires-days", type=click.IntRange(1, 3650), help="Days until the key expires. Default: never."
)
@with_config
def create_key(
    name: str, test: bool, scopes: tuple[str, ...], expires_days: int | None, file: Path | None
) -> None:
    """Create a key. Prints only the key on stdout, and never again.

    The key acts for the operator of the server, with the rights of an administrator. A key made in the web
    application acts with the present role of the member who made it.
    """
    from esign.core.actor import Mode
    from esign.core.people.api_key import LIVE_ONLY, Scope

    if unknown := [scope for scope in scopes if scope not in set(Scope)]:
        raise click.BadParameter(
            f"{unknown[0]} is not a scope; choose from: {', '.join(Scope)}", param_hint="--scope"
        )
    if test and (refused := [scope for scope in scopes if scope in LIVE_ONLY]):
        raise click.BadParameter(
            f"a test key cannot have {refused[0]}: members, settings and keys need a live key",
            param_hint="--scope",
        )
    if not 1 <= len(name.strip()) <= 100 or not name.isprintable():
        raise click.BadParameter("give a name of 1 to 100 characters", param_hint="--name")
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import accounts
        from esign.core.instant import DAY

        async with open_installation(config) as installation:
            wish = accounts.KeyWish(
                name.strip(),
                Mode.TEST if test else Mode.LIVE,
                frozenset(map(Scope, scopes or (Scope.ALL,))),
                None if expires_days is None else installation.now + expires_days * DAY,
            )
            try:
                key, text = await accounts.create_key(installation, wish)
            except accounts.LiveKeysNotAllowed:
                stop_command(USAGE, 'server.environment is "test", which issues only test keys; add --test')
        click.echo(
            f"{key.mode.value} key {key.id} ({key.name}), {describe_expiry(key.expires_at)}."
            " It is shown this once; keep it safe:",
            err=True,
        )
        click.echo(text)

    run_command(work)


def describe_expiry(expires_at: int | None) -> str:
    from esign.core.instant import rfc3339

    return "without expiry" if expires_at is None else f"valid until {rfc3339(expires_at)}"


@keys.command("list")
@with_config
def list_keys(file: Path | None) -> None:
    """List the keys with their state, but never the keys themselves.

    A suspended key does not work: the member who made it was removed or disabled.
    """
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import accounts

        async with open_installation(config) as installation:
            found = await accounts.list_keys(installation.db)
        for key in found:
            state, scopes = accounts.name_state(key, installation.now), ",".join(sorted(key.scopes))
            click.echo(f"{key.id}  {key.hint}  {state}  {scopes}  {key.name}")
        if not found:
            place = config.storage.data_dir
            click.echo(
                f"There are no keys in {place}; create one with: esign keys create --name NAME", err=True
            )

    run_command(work)


@keys.command("revoke")
@click.argument("key_id", metavar="ID")
@with_config
def revoke_key(key_id: str, file: Path | None) -> None:
    """Revoke a key. It stops working at once."""
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import accounts

        async with open_installation(config) as installation:
            await accounts.revoke_key(installation, key_id)
        click.echo(f"Key {key_id} is revoked.", err=True)

    run_command(work)
