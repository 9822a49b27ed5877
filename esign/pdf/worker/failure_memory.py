"""Remember for a while which work killed or exhausted a worker, so that the same file is refused at once."""

from collections import OrderedDict

REMEMBERED = 1024
SECONDS = 3600.0


class FailureMemory:
    """Reasons by the name of the work, which contains a hash of its file.

    The oldest are dropped when there are too many.
    """

    def __init__(self, most: int = REMEMBERED, seconds: float = SECONDS) -> None:
        self._most = most
        self._seconds = seconds
        self._known: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def add(self, name: str, reason: str, now: float) -> None:
        """Remember a failure; `now` is in seconds of a monotonic clock."""
        self._known[name] = (now + self._seconds, reason)
        self._known.move_to_end(name)
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    def find(self, name: str, now: float) -> str | None:
        """Return why the work failed before, or None."""
        ends, reason = self._known.get(name, (now, ""))
        if ends > now:
            return reason
        self._known.pop(name, None)
        return None
