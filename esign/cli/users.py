"""`esign users`: manage the people who sign in to the web application."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import run_command
from esign.cli.installation import load_config, open_database, open_installation, with_config

if TYPE_CHECKING:
    from esign.runtime import Installation

ROLES = ("owner", "admin", "member", "viewer")


@click.group()
def users() -> None:
    """Manage the people who sign in."""


@users.command("create")
@click.option("--email", required=True, help="The address they sign in with.")
@click.option("--name", required=True, help="The name shown on pages and in the audit trail.")
@click.option("--role", type=click.Choice(ROLES), default="member", show_default=True)
@click.option("--org", "organisation", metavar="ID", help="The organisation. Default: the first one.")
@with_config
def create_user(email: str, name: str, role: str, organisation: str | None, file: Path | None) -> None:
    """Invite a person to sign in.

    Prints only a link on stdout, where the person chooses a password.
    """
    from esign.core.people.member import MemberRole

    config = load_config(file)
    email, name = validate_person(email, name)

    async def work() -> None:
        from esign.actions.people import one_time_links
        from esign.actions.people import users as actions
        from esign.core.people.user import Errand

        async with open_installation(config) as installation:
            await prepare_organisation(installation)
            token = await actions.create_invitation(installation, organisation, email, name, MemberRole(role))
            base_url = installation.config.server.base_url
        click.echo(f"{name} can join as {role} with this link, once and within 7 days:", err=True)
        click.echo(one_time_links.make_link(base_url, Errand.INVITATION, token))

    run_command(work)


def validate_person(email: str, name: str) -> tuple[str, str]:
    """Return the address and name after validating them as the API does."""
    from pydantic import ValidationError

    from esign.web.values.account_values import NamedPerson

    try:
        wanted = NamedPerson.model_validate({"email": email, "name": name})
    except ValidationError as error:
        problem = error.errors()[0]
        raise click.BadParameter(
            f"{problem['input']!r} is not valid: {problem['msg']}", param_hint=f"--{problem['loc'][0]}"
        ) from None
    return wanted.email, wanted.name


async def prepare_organisation(installation: "Installation") -> None:
    from esign.actions.people import accounts

    await accounts.ensure_organisation(installation.db, installation.config, installation.now)


@users.command("list")
@with_config
def list_users(file: Path | None) -> None:
    """List all people who sign in, and their roles."""
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import users as actions

        async with open_database(config) as db:
            found = await actions.list_users(db)
        for person in found:
            user = person.user
            state = "disabled" if user.disabled_at else "two factors" if user.totp else "password"
            roles = ", ".join(f"{one.role} of {one.organisation_id}" for one in person.members) or "no role"
            click.echo(f"{user.email}  {state}  {roles}  {user.name}")
        if not found:
            click.echo(f"Nobody signs in to {config.storage.data_dir} yet; {FIRST}.", err=True)

    run_command(work)


FIRST = "create an owner with: esign users create --role owner --email ADDRESS --name NAME"


@users.command("reset-password")
@click.argument("email")
@click.option("--without-second-factor", is_flag=True, help="Also turn off their second factor.")
@with_config
def reset_password(email: str, without_second_factor: bool, file: Path | None) -> None:
    """Let a person choose a new password.

    Signs them out everywhere. Prints only a link on stdout, where the person chooses the password.
    """
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import one_time_links
        from esign.actions.people import users as actions
        from esign.core.people.user import Errand

        async with open_installation(config) as installation:
            token = await actions.reset_password(installation, email, without_factor=without_second_factor)
            base_url = installation.config.server.base_url
        click.echo(f"{email} can choose a new password with this link, once and within an hour:", err=True)
        click.echo(one_time_links.make_link(base_url, Errand.RESET, token))

    run_command(work)


@users.command("disable")
@click.argument("email")
@click.option("--undo", is_flag=True, help="Let them sign in again.")
@with_config
def disable_user(email: str, undo: bool, file: Path | None) -> None:
    """Sign a person out and refuse further sign-ins."""
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import users as actions

        async with open_installation(config) as installation:
            if undo:
                await actions.enable(installation, email)
            else:
                await actions.disable(installation, email)
        click.echo(
            f"{email} {'can sign in again' if undo else 'is signed out and cannot sign in'}.", err=True
        )

    run_command(work)
