"""`esign clock`: show whether the server trusts the clock of its machine, and confirm that the clock is right."""

from pathlib import Path

import click

from esign.cli.exit_codes import run_command
from esign.cli.installation import load_config, open_database, open_with_key, with_config


@click.group()
def clock() -> None:
    """Show or confirm the clock by which documents expire."""


@clock.command("show")
@with_config
def show_clock(file: Path | None) -> None:
    """Show when the server was last sure of the time, and whether the clock has jumped since."""
    config = load_config(file)

    async def work() -> None:
        from esign.actions.server import clock_watch
        from esign.core.instant import rfc3339
        from esign.store.server import clock_marks
        from esign.system.clock import SystemClock

        async with open_database(config) as db:
            found = await clock_marks.find(db)
        click.echo(f"The clock says {rfc3339(SystemClock().now())}.")
        if found is None:
            click.echo("No server has run here yet.")
            return
        click.echo(f"The server was last sure of the time at {rfc3339(found.mark.at)}.")
        if found.doubt_since is not None and found.doubt_ahead is not None:
            jumped = clock_watch.describe_jump(found.doubt_ahead)
            click.echo(
                f"Since then the clock {jumped}. Nothing expires until you confirm the clock or it is right again."
            )

    run_command(work)


@clock.command("confirm")
@with_config
def confirm_clock(file: Path | None) -> None:
    """Confirm that the clock is right after it has jumped.

    The server follows within seconds. What is due by that clock is then done, and cannot be undone.
    """
    config = load_config(file)

    async def work() -> None:
        from esign.actions.server import clock_watch
        from esign.core.instant import rfc3339
        from esign.system.clock import SystemClock

        now = SystemClock().now()
        async with open_with_key(config) as (db, key):
            asked = await clock_watch.request_confirmation(db, key, now)
        if asked:
            click.echo(f"The server will use {rfc3339(now)}.")
        else:
            click.echo("The server trusts its clock; there is nothing to confirm.", err=True)

    run_command(work)
