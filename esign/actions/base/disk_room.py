"""Refuses new files when the disk is nearly full. The room that is left is reserved for signing."""

from esign.core.errors import Problem
from esign.runtime import Runtime

FULL = "This server’s disk is nearly full. New uploads are paused until there is space; signing continues."
RETRY_SECONDS = 60


def require_room(runtime: Runtime) -> None:
    """Raise `unavailable` if the disk has less room than is reserved for signing."""
    if runtime.room.is_short():
        raise Problem("unavailable", FULL, retry_after=RETRY_SECONDS)
