"""`esign upgrade-check`: say what starting this version on this data would do, and change nothing."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from esign.cli.exit_codes import DAMAGED, FAILED, USAGE, run_command, stop_command
from esign.cli.installation import load_config, with_config

if TYPE_CHECKING:
    from esign.store.engine.rehearsal import Rehearsal

KEPT = "Nothing was changed."
ONE_WAY = "Make a backup before you start it: the version before does not open the database afterwards."


@click.command("upgrade-check")
@click.option(
    "--scratch",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder for the copy that migrations are tried on. Default: the folder for temporary files.",
)
@click.option("--no-rehearsal", is_flag=True, help="List the migrations, but do not try them on a copy.")
@with_config
def upgrade_check(scratch: Path | None, no_rehearsal: bool, file: Path | None) -> None:
    """Say what starting this version on this data would do, and change nothing.

    Lists the migrations that a start would apply, and tries them on a copy: whether they succeed, how long they take
    and how much room they need. The server of the version before may run meanwhile. The exit code is 0 only if the
    start would succeed.
    """
    config = load_config(file)

    async def work() -> int:
        import tempfile

        from esign import __version__
        from esign.store.engine import inspection, migration_copy, rehearsal
        from esign.store.engine.connections import FILE
        from esign.system.clock import SystemClock
        from esign.system.disk import count_free_bytes

        path = config.storage.data_dir / FILE
        if not path.exists() or not path.stat().st_size:
            click.echo(f"There is no database in {config.storage.data_dir}: the first start makes it. {KEPT}")
            return 0
        missing = rehearsal.find_missing_migrations(path)
        size = rehearsal.write_size(rehearsal.measure_size(path))
        click.echo(f"esign {__version__} on {path}, {size}:")
        if path.stat().st_size <= inspection.AT_START:
            with rehearsal.open_untouched(path) as connection:
                found = inspection.list_damage(connection)
            if found:
                stop_command(DAMAGED, inspection.describe_damage(path, found))
        if not missing:
            click.echo(f"It has the schema of this version: a start applies no migration. {KEPT}")
            return 0
        click.echo(f"A start applies {count_migrations(len(missing))}:")
        for migration in missing:
            click.echo(f"  {migration}")
        if no_rehearsal:
            click.echo(f"{ONE_WAY} {KEPT}")
            return 0
        try:
            measured = rehearsal.rehearse(path, scratch or Path(tempfile.gettempdir()), SystemClock())
        except rehearsal.NoRoom as error:
            stop_command(USAGE, str(error))
        free, needed = count_free_bytes(path.parent), measured.needed
        if config.storage.backup_before_migration:
            with rehearsal.open_untouched(path) as connection:
                copied = migration_copy.measure_copy(connection)
            needed += copied
            click.echo(
                f"The start first copies the database into {path.parent / migration_copy.FOLDER}, which takes"
                f" {rehearsal.write_size(copied)}."
            )
        click.echo(describe(measured, needed, free))
        if free < needed:
            click.echo(f"TOO LITTLE ROOM: free some of the disk before you start it. {KEPT}")
            return FAILED
        click.echo(f"{ONE_WAY} {KEPT}")
        return 0

    run_command(work)


def count_migrations(number: int) -> str:
    """Return the number of migrations in words."""
    return "1 migration" if number == 1 else f"{number} migrations"


def describe(measured: "Rehearsal", needed: int, free: int) -> str:
    """Return what the rehearsal took, in a sentence."""
    from esign.store.engine.rehearsal import write_size

    return (
        f"On a copy this took {measured.seconds:.1f} s. The database grows by {write_size(max(measured.growth, 0))};"
        f" meanwhile {write_size(needed)} of the disk are needed, and {write_size(free)} are free."
    )
