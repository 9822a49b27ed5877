"""Serves as `esign serve` does, with `synchronous = NORMAL`: what a power cut takes from it shows that a test bites."""

from collections.abc import Iterator

from esign.cli import main
from esign.store.engine import connections


def weaken(pragmas: tuple[str, ...]) -> Iterator[str]:
    """Yield the settings of a connection that does not wait for the disk at each commit."""
    for pragma in pragmas:
        yield pragma.replace("synchronous = FULL", "synchronous = NORMAL")


if __name__ == "__main__":
    for name in ("PREPARING_PRAGMAS", "SERVING_PRAGMAS"):
        setattr(connections, name, tuple(weaken(getattr(connections, name))))
    main()
