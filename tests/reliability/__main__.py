"""`python -m tests.reliability [NAME [--NUMBER N …]]`: measures what docs/reliability.md gives figures for.

Without a name all of them, each in its full size; a name may be followed by numbers that make it smaller. `bodies`
and `litestream` say with --help what they do.
"""

import sys
from collections.abc import Callable, Sequence

import click
import uvloop

from tests.reliability import (
    backups,
    bodies,
    full_disk,
    io_faults,
    kills,
    litestream,
    power_cuts,
    slow_clients,
    soak,
    stops,
)
from tests.reliability.figures import Run

FIGURES: dict[str, Run] = {
    "kills": kills.run,
    "power_cuts": power_cuts.run,
    "io_faults": io_faults.run,
    "full_disk": full_disk.run,
    "slow_clients": slow_clients.run,
    "soak": soak.run,
    "stops": stops.run,
    "backups": backups.run,
}
# Each with options of its own; it prints what it found.
CHECKS: dict[str, Callable[[Sequence[str]], int]] = {"bodies": bodies.main, "litestream": litestream.main}


async def measure(names: Sequence[str], numbers: Sequence[str]) -> bool:
    """Print a line for each figure as it comes; return whether all held."""
    held = True
    print("| T | Target | Measured | Command | Date |\n|---|---|---|---|---|", flush=True)
    for name in names:
        figure = await FIGURES[name](numbers)
        held = held and figure.held
        print(figure.describe(), flush=True)
    return held


def main(given: Sequence[str]) -> int:
    """Return the exit code: 0 if all figures held, 1 if one did not, 2 for a wrong command line."""
    if given and given[0] in CHECKS:
        return CHECKS[given[0]](given[1:])
    names = [word for word in given if word in FIGURES]
    numbers = given[len(names) :]
    if list(given[: len(names)]) != names or (numbers and len(names) != 1):
        print(f"python -m tests.reliability NAME [--NUMBER N …], or several of: {', '.join(FIGURES)}")
        return 2
    try:
        return 0 if uvloop.run(measure(names or list(FIGURES), numbers)) else 1
    except click.UsageError as error:
        print(error.format_message())
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
