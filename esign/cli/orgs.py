"""`esign orgs`: manage the organisations of the installation."""

from pathlib import Path

import click

from esign.cli.exit_codes import run_command
from esign.cli.installation import load_config, open_database, open_installation, with_config

PLANS = ("free", "team", "business", "enterprise")


@click.group()
def orgs() -> None:
    """Manage organisations. Most installations have one."""


@orgs.command("create")
@click.option("--name", required=True, help="The name shown on signing pages and in emails.")
@click.option("--plan", type=click.Choice(PLANS), help="Default: the plan in the configuration.")
@with_config
def create_org(name: str, plan: str | None, file: Path | None) -> None:
    """Create another organisation. Prints only its ID on stdout."""
    if not 1 <= len(name.strip()) <= 200 or not name.isprintable():
        raise click.BadParameter("give a name of 1 to 200 characters", param_hint="--name")
    config = load_config(file)

    from esign.actions.people import accounts

    if missing := accounts.find_undrawn(name, config):
        raise click.BadParameter(f"no installed font can print {' '.join(missing)}", param_hint="--name")

    async def work() -> None:
        async with open_installation(config) as installation:
            made = await accounts.create_organisation(installation, name.strip(), plan)
        click.echo(f"Give it an owner with: esign users create --role owner --org {made} …", err=True)
        click.echo(made)

    run_command(work)


@orgs.command("list")
@with_config
def list_orgs(file: Path | None) -> None:
    """List the organisations with their plans, oldest first."""
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import accounts

        async with open_database(config) as db:
            found = await accounts.list_organisations(db)
        for one in found:
            click.echo(f"{one.id}  {accounts.find_plan(one, config)}  {one.name}")
        if not found:
            click.echo(
                f"There is no organisation in {config.storage.data_dir} yet; esign serve creates it.",
                err=True,
            )

    run_command(work)


@orgs.command("set-plan")
@click.argument("organisation", metavar="ID")
@click.argument("plan", type=click.Choice(PLANS))
@with_config
def set_plan(organisation: str, plan: str, file: Path | None) -> None:
    """Change the plan of an organisation."""
    config = load_config(file)

    async def work() -> None:
        from esign.actions.people import accounts

        async with open_installation(config) as installation:
            await accounts.set_plan(installation, organisation, plan)
        click.echo(f"Organisation {organisation} now has the plan {plan}.", err=True)

    run_command(work)
