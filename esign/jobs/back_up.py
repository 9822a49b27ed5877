"""Backs the installation up when that is due, and mails owners when no good backup was made for long."""

from esign.actions.server import scheduled_backups
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Make the backup that is due, which can take hours. Return the number of backups made."""
    return await scheduled_backups.run_due(runtime)


async def report(runtime: Runtime) -> int:
    """Tell owners if backups fail. Return the number of mails' causes, 0 or 1."""
    return int(await scheduled_backups.report_failures(runtime))
