"""Whether there is room for new files: where there is hardly any left, it is kept for those who sign."""

from esign.core.errors import Problem
from esign.runtime import Runtime

FULL = "The disk of this server is nearly full: nothing new is taken until there is room. Signing goes on."
RETRY_SECONDS = 60


def require_room(runtime: Runtime) -> None:
    """Raise `unavailable` where the disk has less room than is kept for signing."""
    if runtime.room.is_short():
        raise Problem("unavailable", FULL, retry_after=RETRY_SECONDS)
